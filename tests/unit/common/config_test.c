#include "apps/common/config.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct values {
	uint32_t count;
	uint32_t bytes;
	uint32_t ring;
	uint64_t time_ns;
	uint64_t patience_ns;
	unsigned choice;
	struct tp_addr endpoint;
	const char *path;
	const char *pair;
	bool loud;
	bool check;
};

static struct values values;
static struct config config;

/* A kind that knows which part of its value is wrong: every element is to be 1. */
static int parse_ones(const struct flag *flag, const char *text)
{
	if (strcmp(text, "[1]") != 0 && strcmp(text, "[1,1]") != 0)
		return -EINVAL;
	*(const char **)flag->value = text;
	return 0;
}

static bool explain_ones(const char *text, struct flag_fault *fault)
{
	json_t *array = json_loads(text, 0, NULL), *number;
	bool is_wrong = false;
	size_t i;

	json_array_foreach(array, i, number)
	{
		if (json_integer_value(number) == 1 || fault->skip-- > 0)
			continue;
		fault->steps[0] = (struct place_step){.index = i};
		fault->step_count = 1;
		snprintf(fault->text, sizeof(fault->text), "number %zu is no 1", i);
		is_wrong = true;
		break;
	}
	json_decref(array);
	return is_wrong;
}

static const struct flag_kind ones = {
	.metavar = "JSON", .json = true, .parse = parse_ones, .explain = explain_ones};

static const char *const choices[] = {"block", "spin", NULL};
static struct flag table[] = {
	{.name = "config", .kind = &flag_config, .value = &config, .about = "files"},
	{.name = "check", .kind = &flag_switch, .value = &values.check, .command_line = true},
	{.name = "conn-max",
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
	{.name = "recv-bytes",
	 .kind = &flag_ring,
	 .value = &values.ring,
	 .initial = "64KiB",
	 .min = 32768,
	 .max = 1 << 20,
	 .about = "how much"},
	{.name = "duration",
	 .kind = &flag_duration,
	 .value = &values.time_ns,
	 .initial = "3s",
	 .min = 1000,
	 .max = 10000000000,
	 .about = "how long"},
	{.name = "head-timeout",
	 .kind = &flag_timeout,
	 .value = &values.patience_ns,
	 .initial = "10s",
	 .min = 1000000,
	 .max = 60000000000,
	 .about = "how long at most"},
	{.name = "wait",
	 .kind = &flag_choice,
	 .value = &values.choice,
	 .choices = choices,
	 .initial = "spin",
	 .about = "how to wait"},
	{.name = "listen",
	 .kind = &flag_endpoint,
	 .value = &values.endpoint,
	 .initial = "127.0.0.1:7878",
	 .about = "at what"},
	{.name = "tls-cert", .kind = &flag_path, .value = &values.path, .about = "which"},
	{.name = "ones", .kind = &ones, .value = &values.pair, .about = "ones"},
	{.name = "loud", .kind = &flag_switch, .value = &values.loud, .about = "loudly"},
};
static struct flags flags = {.program = "weir try",
			     .about = "Tries.",
			     .table = table,
			     .count = sizeof(table) / sizeof(table[0])};
static struct problems problems;

/* --- a folder to stand in --------------------------------------------------------------------- */

static char folder[64];

static void begin(void)
{
	strcpy(folder, "/tmp/weir-config-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
	CU_ASSERT_FATAL(chdir(folder) == 0 && mkdir("sub", 0700) == 0);
}

static void end(void)
{
	static const char *const left[] = {"weir.json", "a.json",     "b.json",
					   "tcp",	"sub/c.json", "configs/tcp.json"};

	for (unsigned i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		remove(left[i]);
	rmdir("configs");
	CU_ASSERT_EQUAL(rmdir("sub"), 0);
	CU_ASSERT_EQUAL(chdir("/"), 0);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static void put_bytes(const char *path, const char *bytes, size_t count)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(write(fd, bytes, count) == (ssize_t)count);
	close(fd);
}

static void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

/* Reads the files by a command line of words ended by NULL; what config_read returns. */
static int read_with(const char *const *words)
{
	char *argv[16] = {"try"};
	struct tp_error error;
	int argc = 1;

	memset(&values, 0, sizeof(values));
	memset(&config, 0, sizeof(config));
	memset(&problems, 0, sizeof(problems));
	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)words[argc - 1];
	CU_ASSERT_EQUAL_FATAL(flags_parse(&flags, argc, argv, &error), FLAGS_OK);
	return config_read(&config, &flags, &problems);
}

#define READ(...) read_with((const char *const[]){__VA_ARGS__, NULL})

static void expect_problem(const char *says)
{
	CU_ASSERT_EQUAL(problems.count, 1);
	if (!strstr(problems.text, says)) {
		printf("# wanted '%s' in '%s'\n", says, problems.text);
		CU_FAIL("a message does not say what is wrong");
	}
	config_fini(&config);
}

/* Expects that a.json is refused with this in the message. */
static void expect_refusal_of_bytes(const char *bytes, size_t count, const char *says)
{
	put_bytes("a.json", bytes, count);
	CU_ASSERT_EQUAL(READ("--config", "a.json"), -EINVAL);
	expect_problem(says);
}

static void expect_refusal(const char *text, const char *says)
{
	expect_refusal_of_bytes(text, strlen(text), says);
}

static const char *source_of(const char *name)
{
	return flags_find(&flags, name)->source;
}

/* --- layers ----------------------------------------------------------------------------------- */

static void each_layer_goes_before_those_beneath(void)
{
	begin();
	put("weir.json", "{\"conn_max\": 1, \"response_bytes\": 1, \"duration\": \"1s\", "
			 "\"wait\": \"block\"}");
	put("a.json", "{\"conn_max\": 2, \"response_bytes\": 2, \"duration\": \"2s\"}");
	put("b.json", "{\"conn_max\": 3, \"response_bytes\": \"3KiB\"}");
	CU_ASSERT_EQUAL(READ("--conn-max", "4", "--config", "a.json", "--config=b.json"), 0);
	CU_ASSERT_EQUAL(values.count, 4);
	CU_ASSERT_EQUAL(values.bytes, 3072);
	CU_ASSERT_EQUAL(values.time_ns, 2000000000);
	CU_ASSERT_EQUAL(values.choice, 0);
	CU_ASSERT_EQUAL(values.ring, 65536);
	CU_ASSERT_STRING_EQUAL(source_of("conn-max"), "flag");
	CU_ASSERT_STRING_EQUAL(source_of("response-bytes"), "b.json");
	CU_ASSERT_STRING_EQUAL(source_of("duration"), "a.json");
	CU_ASSERT_STRING_EQUAL(source_of("wait"), "weir.json");
	CU_ASSERT_STRING_EQUAL(source_of("recv-bytes"), "default");
	CU_ASSERT_FALSE(flags_find(&flags, "recv-bytes")->given);
	CU_ASSERT_TRUE(flags_find(&flags, "wait")->given);
	config_fini(&config);
	end();
}

/* With neither a file here nor a name there is nothing but defaults and flags. */
static void no_file_is_needed(void)
{
	begin();
	CU_ASSERT_EQUAL(READ("--loud"), 0);
	CU_ASSERT_TRUE(values.loud);
	CU_ASSERT_EQUAL(values.count, 64);
	config_fini(&config);
	end();
}

static void a_switch_is_turned_off_again(void)
{
	begin();
	put("a.json", "{\"loud\": true}");
	put("b.json", "{\"loud\": false}");
	CU_ASSERT_EQUAL(READ("--config", "a.json"), 0);
	CU_ASSERT_TRUE(values.loud);
	config_fini(&config);
	CU_ASSERT_EQUAL(READ("--config", "a.json", "--config", "b.json"), 0);
	CU_ASSERT_FALSE(values.loud);
	CU_ASSERT_STRING_EQUAL(flags_find(&flags, "loud")->text, "no");
	config_fini(&config);
	CU_ASSERT_EQUAL(READ("--config", "a.json", "--no-loud"), 0);
	CU_ASSERT_FALSE(values.loud);
	CU_ASSERT_STRING_EQUAL(source_of("loud"), "flag");
	config_fini(&config);
	end();
}

static void every_type_is_read(void)
{
	json_t *json;

	begin();
	put("a.json",
	    "{\"schema\": \"weir.config/1\",\r\n \"conn_max\": 7, \"response_bytes\": 5,\r\n"
	    " \"recv_bytes\": \"32KiB\", \"head_timeout\": \"off\", \"listen\": \"1.2.3.4:5\","
	    " \"ones\": [1, 1], \"loud\": true}");
	CU_ASSERT_EQUAL(READ("--config", "a.json"), 0);
	CU_ASSERT_TRUE(values.count == 7 && values.bytes == 5 && values.ring == 32768);
	CU_ASSERT_EQUAL(values.patience_ns, 0);
	CU_ASSERT_TRUE(values.endpoint.ip == 0x01020304 && values.endpoint.port == 5);
	CU_ASSERT_STRING_EQUAL(values.pair, "[1,1]");
	json = flags_to_json(&flags);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(json, "ones")), 2);
	json_decref(json);
	json = flags_sources_to_json(&flags);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "ones")), "a.json");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "wait")), "default");
	CU_ASSERT_PTR_NULL(json_object_get(json, "tls_cert"));
	json_decref(json);
	config_fini(&config);
	end();
}

/* As the file stands where what it names does; the command line's are from the current folder. */
static void a_relative_path_begins_at_its_file(void)
{
	begin();
	put("sub/c.json", "{\"tls_cert\": \"x.pem\"}");
	CU_ASSERT_EQUAL(READ("--config", "sub/c.json"), 0);
	CU_ASSERT_STRING_EQUAL(values.path, "sub/x.pem");
	config_fini(&config);
	CU_ASSERT_EQUAL(READ("--config", "sub/c.json", "--tls-cert", "y.pem"), 0);
	CU_ASSERT_STRING_EQUAL(values.path, "y.pem");
	config_fini(&config);
	put("sub/c.json", "{\"tls_cert\": \"/etc/x.pem\"}");
	CU_ASSERT_EQUAL(READ("--config", "sub/c.json"), 0);
	CU_ASSERT_STRING_EQUAL(values.path, "/etc/x.pem");
	config_fini(&config);
	put("a.json", "{\"tls_cert\": \"x.pem\"}");
	CU_ASSERT_EQUAL(READ("--config", "a.json"), 0);
	CU_ASSERT_STRING_EQUAL(values.path, "x.pem");
	config_fini(&config);
	end();
}

/* It stands in JSON, which has no other bytes. */
static void a_name_is_a_text(void)
{
	begin();
	put("a.json", "{}");
	CU_ASSERT_EQUAL(READ("--config", "a\xff.json", "--config", "a.json"), -EINVAL);
	expect_problem("a?.json: the name is not UTF-8, and could not be recorded\n");
	CU_ASSERT_STRING_EQUAL(config.files, "a.json");
	end();
}

/* Each at its place. */
static void all_that_is_wrong_within_a_value_is_told(void)
{
	begin();
	put("a.json", "{\"ones\": [1, 2, 1, 3], \"loud\": 7}");
	CU_ASSERT_EQUAL(READ("--config", "a.json"), -EINVAL);
	CU_ASSERT_EQUAL(problems.count, 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "a.json:1:14: number 1 is no 1\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "a.json:1:20: number 3 is no 1\n"));
	config_fini(&config);
	end();
}

static void a_shipped_file_is_found_by_its_name(void)
{
	begin();
	setenv("WEIR_ROOT", folder, 1);
	CU_ASSERT_FATAL(mkdir("configs", 0700) == 0);
	put("configs/tcp.json", "{\"conn_max\": 9}");
	CU_ASSERT_EQUAL(READ("--config", "tcp"), 0);
	CU_ASSERT_EQUAL(values.count, 9);
	CU_ASSERT_STRING_EQUAL(source_of("conn-max"), "configs/tcp.json");
	config_fini(&config);
	CU_ASSERT_EQUAL(READ("--config", "tpc"), -EINVAL);
	expect_problem("tpc: neither a file here nor a shipped configuration; these are shipped: "
		       "tcp\n");
	CU_ASSERT_FATAL(mkdir("tcp", 0700) == 0); /* is none */
	CU_ASSERT_EQUAL(READ("--config", "tcp"), 0);
	CU_ASSERT_EQUAL(values.count, 9);
	config_fini(&config);
	CU_ASSERT_EQUAL(rmdir("tcp"), 0);
	put("tcp", "{\"conn_max\": 8}");
	CU_ASSERT_EQUAL(READ("--config", "tcp"), 0);
	CU_ASSERT_EQUAL(values.count, 8);
	CU_ASSERT_STRING_EQUAL(source_of("conn-max"), "tcp");
	config_fini(&config);
	unsetenv("WEIR_ROOT");
	end();
}

/* --- faults ----------------------------------------------------------------------------------- */

/* Each a text and what must be said of it; the place stands behind the file's name. */
static const struct {
	const char *text;
	const char *says;
} bad[] = {
	/* Keys. */
	{"{\"conn_mx\": 3}", "a.json:1:2: unknown key 'conn_mx'; did you mean 'conn_max'?"},
	{"{\n  \"conn-max\": 3}", "a.json:2:3: unknown key 'conn-max'; did you mean 'conn_max'?"},
	{"{\"galaxies\": 3}", "a.json:1:2: unknown key 'galaxies'; 'weir try --help' lists them"},
	{"{\"check\": true}", "a.json:1:2: unknown key 'check'"},
	{"{\"config\": \"b.json\"}", "a.json:1:2: unknown key 'config'"},
	{"{\"conn_max\": 3,\n \"conn_max\": 4}",
	 "a.json:2:2: the key 'conn_max' stands twice in one object: here, and before in line 1, "
	 "column 2"},
	/* Types. */
	{"{\"conn_max\": \"3\"}",
	 "a.json:1:14: 'conn_max' is \"3\"; accepted: a whole number from 1 to 100"},
	{"{\"conn_max\": null}", "a.json:1:14: 'conn_max' is null; accepted: a whole number"},
	{"{\"conn_max\": [3]}", "a.json:1:14: 'conn_max' is [3]; accepted: a whole number"},
	{"{\"loud\": \"yes\"}", "a.json:1:10: 'loud' is \"yes\"; accepted: true or false"},
	{"{\"wait\": 1}", "a.json:1:10: 'wait' is 1; accepted: one of block, spin"},
	{"{\"tls_cert\": true}", "a.json:1:14: 'tls_cert' is true; accepted: a path"},
	{"{\"tls_cert\": \"\"}", "a.json:1:14: 'tls_cert' is \"\"; accepted: a path"},
	{"{\"conn_max\": 7,}", "a.json:1:16: string or '}' expected near '}'; no comma stands"},
	{"{\"ones\": [1,]}", "unexpected token near ']'; no comma stands"},
	{"{ // so\n\"conn_max\": 7}", "expected near '/'; JSON has no comments"},
	{"{\"ones\": [1, 2]}", "a.json:1:14: number 1 is no 1"},
	/* Ranges and units. */
	{"{\"conn_max\": 0}", "a.json:1:14: 'conn_max' is 0; accepted: a whole number from 1"},
	{"{\"conn_max\": 101}", "a.json:1:14: 'conn_max' is 101; accepted: a whole number from 1"},
	{"{\"conn_max\": -1}", "a.json:1:14: 'conn_max' is -1; accepted"},
	{"{\"conn_max\": 1.5}", "a.json:1:14: 'conn_max' is 1.5; accepted"},
	{"{\"conn_max\": 1e1}", "a.json:1:14: 'conn_max' is 10.0; accepted"},
	{"{\"conn_max\": 9223372036854775807}", "a.json:1:14: 'conn_max' is 9223372036854775807;"},
	{"{\"conn_max\": 99999999999999999999}",
	 "a.json:1:14: 99999999999999999999 is no value in JSON: 'conn_max' is"},
	{"{\"conn_max\": 08}",
	 "a.json:1:14: 08 is no value in JSON: 'conn_max' is \"08\"; accepted:"},
	{"{\"conn_max\": NaN}", "a.json:1:14: NaN is no value in JSON: 'conn_max' is \"NaN\";"},
	{"{\"conn_max\": -Infinity}", "a.json:1:14: -Infinity is no value in JSON"},
	{"{\"conn_max\": 1e400}", "a.json:1:14: 1e400 is no value in JSON"},
	{"{\"response_bytes\": \"1MB\"}", "a.json:1:20: 'response_bytes' is \"1MB\"; accepted: a "
					  "whole number from 0 to 1048576, KiB, MiB or GiB may"},
	{"{\"recv_bytes\": 50000}", "a.json:1:16: 'recv_bytes' is 50000; accepted: a power of two "
				    "from 32768 to 1048576"},
	{"{\"recv_bytes\": \"16KiB\"}", "accepted: a power of two from 32768"},
	{"{\"duration\": 10}", "a.json:1:14: 'duration' is 10; accepted: a time with its unit"},
	{"{\"duration\": \"10\"}", "a.json:1:14: 'duration' is \"10\"; accepted: a time with its"},
	{"{\"head_timeout\": 0}", "'head_timeout' is 0; accepted: off, or a time with its unit"},
	{"{\"listen\": \"127.0.0.1:0\"}", "a.json:1:12: 'listen' is \"127.0.0.1:0\"; accepted: an"},
	{"{\"listen\": \"127.0.0.1:70000\"}", "a.json:1:12: 'listen' is \"127.0.0.1:70000\""},
	/* The whole. */
	{"", "a.json:1:1: the file is empty; an object {...} is expected"},
	{"[]", "a.json:1:1: an object {...} is expected"},
	{"{} {}", "a.json:1:4: end of file expected near '{'"},
	{"{\"conn_max\": 3", "a.json:1:14: '}' expected near end of file"},
	{"{\"conn_max\" 3}", "a.json:1:13: ':' expected near '3'"},
	{"{\"a\": \"\xff\"}", "a.json:1:"},
	{"\xef\xbb\xbf{}", "a.json:1:1: the file begins with a byte order mark"},
	{"{\"tls_cert\": \"a\\u0000b\"}", "a.json:1:"},
	/* Another version: nothing else of it is judged. */
	{"{\"schema\": \"weir.config/2\", \"galaxies\": 3}",
	 "a.json:1:12: 'schema' is \"weir.config/2\"; this version reads \"weir.config/1\" only"},
	{"{\"schema\": 1}", "a.json:1:12: 'schema' is no text; accepted: \"weir.config/1\""},
};

static void every_fault_is_named_with_its_place_and_what_is_accepted(void)
{
	begin();
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_refusal(bad[i].text, bad[i].says);
	expect_refusal_of_bytes("{\"wait\": \"a\0b\"}", 15, "a.json:1:");
	expect_refusal_of_bytes("{}\0", 3, "a.json:1:");
	end();
}

static void all_faults_of_all_files_are_said_at_once(void)
{
	begin();
	put("weir.json", "{\"conn_max\": 0, \"wait\": 1}");
	put("a.json", "{\"lud\": true}");
	CU_ASSERT_EQUAL(READ("--config", "a.json", "--config", "gone.json", "--conn-max", "3"),
			-EINVAL);
	CU_ASSERT_EQUAL(problems.count, 4);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "weir.json:1:14: 'conn_max' is 0"));
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "a.json:1:2: unknown key 'lud'"));
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "gone.json: No such file"));
	config_fini(&config);
	end();
}

static void what_is_no_plain_file_is_refused(void)
{
	begin();
	CU_ASSERT_FATAL(mkdir("a.json", 0700) == 0);
	CU_ASSERT_EQUAL(READ("--config", "a.json"), -EINVAL);
	expect_problem("a.json: not a regular file but a folder; name a file in it\n");
	CU_ASSERT_FATAL(rmdir("a.json") == 0 && mkfifo("weir.json", 0600) == 0);
	CU_ASSERT_EQUAL(READ("--loud"), -EINVAL);
	expect_problem("weir.json: not a regular file");
	CU_ASSERT_FATAL(unlink("weir.json") == 0 && symlink("gone", "weir.json") == 0);
	CU_ASSERT_EQUAL(READ("--loud"), -EINVAL);
	expect_problem("weir.json: No such file");
	CU_ASSERT_EQUAL(unlink("weir.json"), 0);
	end();
}

static void a_file_that_may_not_be_read_is_named(void)
{
	if (geteuid() != 0) {
		suite_skip("only root can become somebody who may not read");
		return;
	}
	begin();
	put("a.json", "{}");
	CU_ASSERT_FATAL(chmod(folder, 0755) == 0 && chmod("a.json", 0) == 0);
	CU_ASSERT_FATAL(seteuid(65534) == 0);
	CU_ASSERT_EQUAL(READ("--config", "a.json"), -EINVAL);
	CU_ASSERT_FATAL(seteuid(0) == 0);
	expect_problem("a.json: Permission denied");
	end();
}

/* Larger than 1 MiB, or nested deeper than anything that means something. */
static void size_and_nesting_have_bounds(void)
{
	enum { BYTES = 1024 * 1024 + 1 };
	char *text = malloc(BYTES);

	CU_ASSERT_FATAL(text != NULL);
	begin();
	memset(text, ' ', BYTES);
	text[0] = '{';
	text[BYTES - 1] = '}';
	expect_refusal_of_bytes(text, BYTES, "a.json: larger than 1048576 bytes");
	memset(text, '[', BYTES - 1);
	memcpy(text, "{\"ones\": ", 9);
	expect_refusal_of_bytes(text, BYTES - 1, "maximum parsing depth reached");
	free(text);
	end();
}

/* Whatever bytes are changed, a file is read or refused, and the place is within it. */
static void no_change_of_a_byte_does_harm(void)
{
	static const char text[] = "{\"conn_max\": 7, \"ones\": [1, 1], \"loud\": true}";
	static const char bytes[] = "{}[]\",:\\0-e\xff";

	begin();
	for (unsigned at = 0; at < sizeof(text) - 1; at++)
		for (unsigned i = 0; i < sizeof(bytes); i++) {
			char changed[sizeof(text)];

			memcpy(changed, text, sizeof(text));
			changed[at] = bytes[i];
			put_bytes("a.json", changed, sizeof(text) - 1);
			if (READ("--config", "a.json") < 0)
				CU_ASSERT_EQUAL(strncmp(problems.text, "a.json:1:", 9), 0);
			config_fini(&config);
		}
	end();
}

static const struct suite_test tests[] = {
	{"each layer goes before those beneath", each_layer_goes_before_those_beneath},
	{"no file is needed", no_file_is_needed},
	{"a switch is turned off again", a_switch_is_turned_off_again},
	{"every type is read", every_type_is_read},
	{"a relative path begins at its file", a_relative_path_begins_at_its_file},
	{"a file's name is a text", a_name_is_a_text},
	{"all that is wrong within a value is told", all_that_is_wrong_within_a_value_is_told},
	{"a shipped file is found by its name", a_shipped_file_is_found_by_its_name},
	{"every fault is named with its place and what is accepted",
	 every_fault_is_named_with_its_place_and_what_is_accepted},
	{"all faults of all files are said at once", all_faults_of_all_files_are_said_at_once},
	{"what is no plain file is refused", what_is_no_plain_file_is_refused},
	{"a file that may not be read is named", a_file_that_may_not_be_read_is_named},
	{"size and nesting have bounds", size_and_nesting_have_bounds},
	{"no change of a byte does harm", no_change_of_a_byte_does_harm},
};

SUITE_MAIN("config", tests)
