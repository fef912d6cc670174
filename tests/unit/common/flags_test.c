#include "apps/common/address.h"
#include "apps/common/cpus.h"
#include "apps/common/flags.h"

#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

struct values {
	const char *name;
	uint32_t count;
	uint32_t bytes;
	uint64_t time_ns;
	unsigned choice;
	struct cpus cpus;
	struct tp_addr endpoint;
	struct subnet subnet;
	bool loud;
	uint32_t ring;
	uint64_t patience_ns;
};

static const char *const choices[] = {"block", "spin", NULL};
static struct values values;
static struct flag table[] = {
	{.name = "name", .kind = &flag_text, .value = &values.name, .about = "a name"},
	{.name = "connections",
	 .kind = &flag_count,
	 .value = &values.count,
	 .initial = "64",
	 .min = 1,
	 .max = 100,
	 .about = "how many"},
	{.name = "response-bytes",
	 .kind = &flag_bytes,
	 .value = &values.bytes,
	 .initial = "1KiB",
	 .max = 1 << 20,
	 .about = "how large"},
	{.name = "duration",
	 .kind = &flag_duration,
	 .value = &values.time_ns,
	 .initial = "3s",
	 .min = 1000,
	 .max = 10000000000,
	 .about = "how long"},
	{.name = "wait",
	 .kind = &flag_choice,
	 .value = &values.choice,
	 .choices = choices,
	 .initial = "spin",
	 .about = "how to wait"},
	{.name = "cpus", .kind = &flag_cpus, .value = &values.cpus, .about = "where"},
	{.name = "listen", .kind = &flag_endpoint, .value = &values.endpoint, .about = "at what"},
	{.name = "address", .kind = &flag_subnet, .value = &values.subnet, .about = "as whom"},
	{.name = "loud", .kind = &flag_switch, .value = &values.loud, .about = "loudly"},
	{.name = "ring",
	 .kind = &flag_ring,
	 .value = &values.ring,
	 .min = 32768,
	 .max = 1 << 20,
	 .about = "how much"},
	{.name = "patience",
	 .kind = &flag_timeout,
	 .value = &values.patience_ns,
	 .min = 1000000,
	 .max = 60000000000,
	 .about = "how long at most"},
};
static struct flags flags = {.program = "weir try",
			     .about = "Tries.",
			     .table = table,
			     .count = sizeof(table) / sizeof(table[0])};

/* Parses words ended by NULL behind the verb's name. */
static enum flags_outcome parse(const char *const *words, struct tp_error *error)
{
	char *argv[32] = {"try"};
	int argc = 1;

	memset(&values, 0, sizeof(values));
	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)words[argc - 1];
	return flags_parse(&flags, argc, argv, error);
}

#define PARSE(error, ...) parse((const char *const[]){__VA_ARGS__, NULL}, error)

static void test_defaults(void)
{
	struct tp_error error;

	CU_ASSERT_EQUAL(parse((const char *const[]){NULL}, &error), FLAGS_OK);
	CU_ASSERT_PTR_NULL(values.name);
	CU_ASSERT_EQUAL(values.count, 64);
	CU_ASSERT_EQUAL(values.bytes, 1024);
	CU_ASSERT_EQUAL(values.time_ns, 3000000000);
	CU_ASSERT_EQUAL(values.choice, 1);
	CU_ASSERT_FALSE(values.loud);
}

static void test_values(void)
{
	struct tp_error error;

	CU_ASSERT_EQUAL(PARSE(&error, "--name", "x=y", "--connections=7", "--response-bytes",
			      "2KiB", "--duration", "0.5s", "--wait=block", "--cpus", "0,2-3",
			      "--listen", "1.2.3.4:5", "--address=10.0.0.1/24", "--loud", "--ring",
			      "128KiB", "--patience", "2s"),
			FLAGS_OK);
	CU_ASSERT_STRING_EQUAL(values.name, "x=y");
	CU_ASSERT_EQUAL(values.count, 7);
	CU_ASSERT_EQUAL(values.bytes, 2048);
	CU_ASSERT_EQUAL(values.time_ns, 500000000);
	CU_ASSERT_EQUAL(values.choice, 0);
	CU_ASSERT_TRUE(values.cpus.count == 3 && values.cpus.cpu[2] == 3);
	CU_ASSERT_TRUE(values.endpoint.ip == 0x01020304 && values.endpoint.port == 5);
	CU_ASSERT_EQUAL(values.subnet.prefix_bits, 24);
	CU_ASSERT_TRUE(values.loud);
	CU_ASSERT_EQUAL(values.ring, 131072);
	CU_ASSERT_EQUAL(values.patience_ns, 2000000000);
	CU_ASSERT_EQUAL(PARSE(&error, "--no-loud", "--patience=off"), FLAGS_OK);
	CU_ASSERT_FALSE(values.loud);
	CU_ASSERT_EQUAL(values.patience_ns, 0);
}

/* Each line is one wrong command line and a part of what must be said about it. */
static void test_wrong(void)
{
	static const struct {
		const char *words[5];
		const char *says;
	} rows[] = {
		{{"--conections", "3"}, "did you mean '--connections'?"},
		{{"--weit=spin"}, "did you mean '--wait'?"},
		{{"--connections", "0"},
		 "--connections: '0' is not accepted; wanted: a whole number from 1 to 100"},
		{{"--connections", "101"}, "from 1 to 100"},
		{{"--connections", "-1"}, "'-1' is not accepted"},
		{{"--connections", ""}, "'' is not accepted"},
		{{"--connections"}, "--connections needs a value"},
		{{"--duration", "3"}, "a time with its unit"},
		{{"--duration", "11s"}, "to 10 s"},
		{{"--wait", "sleep"}, "one of block, spin"},
		{{"--cpus", "0,0"}, "CPUs, each once"},
		{{"--listen", "here"}, "an endpoint: 127.0.0.1:7878"},
		{{"--address", "10.0.0.0/24"}, "prefix length"},
		{{"--loud=yes"}, "--loud takes no value"},
		{{"--no-loud=yes"}, "--loud takes no value"},
		{{"--loud", "--no-loud"}, "--loud is given twice"},
		{{"--no-wait"}, "unknown flag '--no-wait'"},
		{{"--ring", "100000"}, "a power of two from 32768 to 1048576, KiB, MiB or GiB may"},
		{{"--patience", "0s"}, "wanted: off, or a time with its unit"},
		{{"--connections", "3", "--connections=4"}, "--connections is given twice: '3'"},
		{{"--name="}, "a text that is not empty"},
		{{"stray"}, "'stray' is not a flag"},
		{{"-x"}, "'-x' is not a flag"},
		{{"--"}, "'--' is not a flag"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_error error = {""};

		CU_ASSERT_EQUAL(parse(rows[i].words, &error), FLAGS_WRONG);
		if (!strstr(error.text, rows[i].says)) {
			printf("# wanted '%s' in '%s'\n", rows[i].says, error.text);
			CU_FAIL("a message does not say what is wrong");
		}
	}
}

/* What a printer writes, as text; owned by the caller. */
static char *printed(void (*print)(const struct flags *flags, FILE *to))
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	print(&flags, to);
	fclose(to);
	return text;
}

static void test_help(void)
{
	struct tp_error error;
	char *help;

	CU_ASSERT_EQUAL(PARSE(&error, "--connections", "3", "--help"), FLAGS_HELP);
	help = printed(flags_print_help);
	for (unsigned i = 0; i < flags.count; i++)
		CU_ASSERT_PTR_NOT_NULL(strstr(help, table[i].name));
	CU_ASSERT_PTR_NOT_NULL(strstr(help, "--wait block|spin"));
	CU_ASSERT_PTR_NOT_NULL(strstr(help, "how many (default: 64)"));
	free(help);
}

static void test_config(void)
{
	struct tp_error error;
	char *config;
	json_t *json;

	CU_ASSERT_EQUAL(PARSE(&error, "--connections", "3", "--wait", "spin"), FLAGS_OK);
	flags_resolve(&flags, "wait", "block");
	config = printed(flags_print_config);
	CU_ASSERT_STRING_EQUAL(config, "config connections=3 (flag)\n"
				       "config response_bytes=1KiB (default)\n"
				       "config duration=3s (default)\n"
				       "config wait=block (flag)\n");
	free(config);
	json = flags_to_json(&flags);
	CU_ASSERT_EQUAL(json_object_size(json), flags.count);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json, "connections")), 3);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json, "response_bytes")), 1024);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "wait")), "block");
	CU_ASSERT_TRUE(json_is_null(json_object_get(json, "name")));
	json_decref(json);
	json = flags_sources_to_json(&flags);
	CU_ASSERT_EQUAL(json_object_size(json), 4);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "wait")), "flag");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "duration")), "default");
	json_decref(json);
}

static void test_foreign_bytes(void)
{
	struct tp_error error;
	json_t *json;

	CU_ASSERT_EQUAL(PARSE(&error, "--name", "\xff\xfe"), FLAGS_OK);
	json = flags_to_json(&flags);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "name")), "??");
	json_decref(json);
}

static int count_call(const struct flag *flag, const char *text)
{
	++*(unsigned *)flag->value;
	return 0;
}

/* One operand, and a flag that may repeat, in any order. */
static void test_operand(void)
{
	static const struct flag_kind repeating = {
		.metavar = "TEXT", .repeats = true, .parse = count_call};
	const char *operand = NULL;
	unsigned calls = 0;
	struct flag rows[] = {{.name = "set", .kind = &repeating, .value = &calls, .about = "set"}};
	struct flags with = {.program = "weir try",
			     .about = "Tries.",
			     .operand = "DIR",
			     .operand_value = &operand,
			     .table = rows,
			     .count = 1};
	char *right[] = {"try", "--set", "a", "here", "--set=b"};
	char *twice[] = {"try", "here", "there"};
	struct tp_error error;

	CU_ASSERT_EQUAL(flags_parse(&with, 5, right, &error), FLAGS_OK);
	CU_ASSERT_STRING_EQUAL(operand, "here");
	CU_ASSERT_EQUAL(calls, 2);
	operand = NULL;
	CU_ASSERT_EQUAL(flags_parse(&with, 3, twice, &error), FLAGS_WRONG);
	CU_ASSERT_STRING_EQUAL(error.text, "one DIR is wanted; 'here' and 'there' are given");
	operand = NULL;
	CU_ASSERT_EQUAL(flags_parse(&with, 1, right, &error), FLAGS_WRONG);
	CU_ASSERT_STRING_EQUAL(error.text, "DIR is missing; 'weir try --help' says what it is");
}

static const struct suite_test tests[] = {
	{"without arguments every flag has its default", test_defaults},
	{"every kind of value is read, behind a space or an equals sign", test_values},
	{"a wrong command line is told what would be right", test_wrong},
	{"an operand stands once among the flags, and some flags may repeat", test_operand},
	{"the help names every flag, its values and its default", test_help},
	{"the effective configuration names values and sources", test_config},
	{"bytes that are not UTF-8 do not break the JSON", test_foreign_bytes},
};

SUITE_MAIN("flags", tests)
