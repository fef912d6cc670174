#include "apps/common/flags.h"

#include "apps/common/address.h"
#include "apps/common/cpus.h"
#include "apps/common/exit.h"
#include "apps/common/json.h"
#include "dataplane/core/units.h"
#include "dataplane/core/check.h"
#include "dataplane/core/nearest.h"

#include <errno.h>
#include <string.h>

enum { HELP_COLUMN = 30 };

static int parse_text(const struct flag *flag, const char *text)
{
	if (*text == '\0')
		return -EINVAL;
	*(const char **)flag->value = text;
	return 0;
}

static int parse_count(const struct flag *flag, const char *text)
{
	uint64_t count;

	if (units_parse_count(text, flag->max, &count) < 0 || count < flag->min)
		return -EINVAL;
	*(uint32_t *)flag->value = (uint32_t)count;
	return 0;
}

static int parse_bytes(const struct flag *flag, const char *text)
{
	uint64_t bytes;

	if (units_parse_bytes(text, flag->max, &bytes) < 0 || bytes < flag->min)
		return -EINVAL;
	*(uint32_t *)flag->value = (uint32_t)bytes;
	return 0;
}

static int parse_ring(const struct flag *flag, const char *text)
{
	uint64_t bytes;

	if (units_parse_bytes(text, flag->max, &bytes) < 0 || bytes < flag->min ||
	    (bytes & (bytes - 1)) != 0)
		return -EINVAL;
	*(uint32_t *)flag->value = (uint32_t)bytes;
	return 0;
}

static int parse_duration(const struct flag *flag, const char *text)
{
	uint64_t ns;

	if (units_parse_duration(text, &ns) < 0 || ns < flag->min || ns > flag->max)
		return -EINVAL;
	*(uint64_t *)flag->value = ns;
	return 0;
}

static int parse_timeout(const struct flag *flag, const char *text)
{
	if (strcmp(text, "off") != 0)
		return parse_duration(flag, text);
	*(uint64_t *)flag->value = 0;
	return 0;
}

static int parse_choice(const struct flag *flag, const char *text)
{
	for (unsigned i = 0; flag->choices[i]; i++) {
		if (strcmp(flag->choices[i], text) == 0) {
			*(unsigned *)flag->value = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_cpus(const struct flag *flag, const char *text)
{
	return cpus_parse(text, flag->value);
}

static int parse_endpoint(const struct flag *flag, const char *text)
{
	return tp_addr_parse(text, flag->value);
}

static int parse_subnet(const struct flag *flag, const char *text)
{
	return address_parse_subnet(text, flag->value);
}

static int parse_switch(const struct flag *flag, const char *text)
{
	*(bool *)flag->value = strcmp(text, "yes") == 0;
	return 0;
}

json_t *flags_locate(const char *text, size_t path_at, const char *folder)
{
	const char *path = text + path_at;

	if (path[0] == '/' || path[0] == '\0' || folder[0] == '\0')
		return json_string(text);
	return json_sprintf("%.*s%s/%s", (int)path_at, text, folder, path);
}

static json_t *locate_path(const json_t *value, const char *folder)
{
	return flags_locate(json_string_value(value), 0, folder);
}

const struct flag_kind flag_text = {
	.metavar = "TEXT", .accepts = "a text that is not empty", .parse = parse_text};
const struct flag_kind flag_path = {.metavar = "FILE",
				    .accepts = "a path that is not empty",
				    .parse = parse_text,
				    .locate = locate_path};
const struct flag_kind flag_count = {.metavar = "N", .number = true, .parse = parse_count};
const struct flag_kind flag_bytes = {
	.metavar = "BYTES", .number = true, .units = true, .parse = parse_bytes};
const struct flag_kind flag_ring = {
	.metavar = "BYTES", .number = true, .units = true, .parse = parse_ring};
const struct flag_kind flag_duration = {.metavar = "TIME", .parse = parse_duration};
const struct flag_kind flag_timeout = {.metavar = "TIME|off", .parse = parse_timeout};
const struct flag_kind flag_choice = {.parse = parse_choice};
const struct flag_kind flag_cpus = {
	.metavar = "LIST", .accepts = "CPUs, each once, like 0,2-3", .parse = parse_cpus};
const struct flag_kind flag_endpoint = {
	.metavar = "IP:PORT|unix:/PATH",
	.accepts = "an endpoint: 127.0.0.1:7878, [::1]:7878, [fe80::1%eth0]:7878 or unix:/PATH (no "
		   "multicast, no broadcast; names are not looked up)",
	.parse = parse_endpoint};
const struct flag_kind flag_subnet = {
	.metavar = "IP/LEN[,IP/LEN]",
	.accepts =
		"a host's address and its prefix length, like 10.0.0.1/24 or fd77::1/64, or one of "
		"each family with a comma between",
	.parse = parse_subnet};
const struct flag_kind flag_switch = {.metavar = "", .accepts = "no value", .parse = parse_switch};

/* "block|spin|default", with `separator` between the choices. */
static void join_choices(const struct flag *flag, const char *separator, char *text, size_t bytes)
{
	size_t length = 0;

	text[0] = '\0';
	for (unsigned i = 0; flag->choices[i] && length < bytes; i++)
		length += (size_t)snprintf(text + length, bytes - length, "%s%s",
					   i ? separator : "", flag->choices[i]);
}

const char *flags_accepts(const struct flag *flag, char text[FLAGS_ACCEPTS_BYTES])
{
	unsigned long long min = flag->min, max = flag->max;
	int length;

	if (flag->kind->accepts)
		return flag->kind->accepts;
	if (flag->choices) {
		length = snprintf(text, FLAGS_ACCEPTS_BYTES, "one of ");
		join_choices(flag, ", ", text + length, FLAGS_ACCEPTS_BYTES - (size_t)length);
	} else if (!flag->kind->number) {
		snprintf(text, FLAGS_ACCEPTS_BYTES,
			 "%sa time with its unit (ns, us, ms, s, m, h) from %g s to %g s, like 3s "
			 "or 200ms",
			 flag->kind == &flag_timeout ? "off, or " : "", (double)min / 1e9,
			 (double)max / 1e9);
	} else {
		snprintf(text, FLAGS_ACCEPTS_BYTES, "a %s from %llu to %llu%s",
			 flag->kind == &flag_ring ? "power of two" : "whole number", min, max,
			 flag->kind->units ? ", KiB, MiB or GiB may follow" : "");
	}
	return text;
}

static struct flag *find(const struct flags *flags, const char *name, size_t name_bytes)
{
	for (unsigned i = 0; i < flags->count; i++)
		if (strlen(flags->table[i].name) == name_bytes &&
		    strncmp(flags->table[i].name, name, name_bytes) == 0)
			return &flags->table[i];
	return NULL;
}

struct flag *flags_find(const struct flags *flags, const char *name)
{
	struct flag *flag = find(flags, name, strlen(name));

	CHECK(flag);
	return flag;
}

static int fail_unknown(const struct flags *flags, const char *argument, size_t name_bytes,
			struct tp_error *error)
{
	const char *names[FLAGS_MAX];
	char name[64], ask[NEAREST_TEXT];

	CHECK(flags->count <= FLAGS_MAX);
	for (unsigned i = 0; i < flags->count; i++)
		names[i] = flags->table[i].name;
	snprintf(name, sizeof(name), "%.*s", (int)name_bytes, argument + 2);
	return tp_fail(error, -EINVAL, "unknown flag '--%s'; %s'%s --help' lists all", name,
		       nearest_ask(name, names, flags->count, "--", ask), flags->program);
}

static int set(const struct flags *flags, struct flag *flag, const char *text,
	       struct tp_error *error)
{
	char accepts[FLAGS_ACCEPTS_BYTES];
	struct flag_fault fault = {.skip = 0};

	if (flag->kind->parse(flag, text) == 0) {
		flag->text = text;
		return 0;
	}
	if (flag->kind->explain && flag->kind->explain(text, &fault))
		return tp_fail(error, -EINVAL, "--%s: %s", flag->name, fault.text);
	return tp_fail(error, -EINVAL, "--%s: '%.100s' is not accepted; wanted: %s", flag->name,
		       text, flags_accepts(flag, accepts));
}

int flags_take(struct flag *flag, const char *text, const char *source, unsigned layer)
{
	bool is_outdone = flag->layer > layer;

	if (flag->kind->parse(flag, text) < 0)
		return -EINVAL;
	if (is_outdone) {
		flag->kind->parse(flag, flag->text);
		return 0;
	}
	flag->text = text;
	flag->given = true;
	flag->source = source;
	flag->layer = layer;
	return 0;
}

/* The switch that `--no-NAME` turns off; NULL if `name` is none of those. */
static struct flag *find_off(const struct flags *flags, const char *name, size_t name_bytes)
{
	static const char no[] = "no-";
	size_t no_bytes = sizeof(no) - 1;
	struct flag *flag = NULL;

	if (name_bytes > no_bytes && strncmp(name, no, no_bytes) == 0)
		flag = find(flags, name + no_bytes, name_bytes - no_bytes);
	return flag && flag->kind == &flag_switch ? flag : NULL;
}

/* Reads the flag at argv[*at] and its value, passing over both. */
static int read_flag(const struct flags *flags, int argc, char **argv, int *at,
		     struct tp_error *error)
{
	const char *argument = argv[(*at)++];
	size_t name_bytes = strcspn(argument, "=");
	char accepts[FLAGS_ACCEPTS_BYTES];
	const char *text, *on = "yes";
	struct flag *flag;

	if (strncmp(argument, "--", 2) != 0 || name_bytes == 2)
		return tp_fail(error, -EINVAL, "'%.100s' is not a flag; '%s --help' lists all",
			       argument, flags->program);
	flag = find(flags, argument + 2, name_bytes - 2);
	if (!flag) {
		flag = find_off(flags, argument + 2, name_bytes - 2);
		on = "no";
	}
	if (!flag)
		return fail_unknown(flags, argument, name_bytes - 2, error);
	if (flag->given && flag->kind == &flag_switch)
		return tp_fail(error, -EINVAL, "--%s is given twice", flag->name);
	if (flag->given && !flag->kind->repeats)
		return tp_fail(error, -EINVAL, "--%s is given twice: '%s' and later", flag->name,
			       flag->text);
	if (flag->kind == &flag_switch && argument[name_bytes])
		return tp_fail(error, -EINVAL, "--%s takes no value", flag->name);
	if (flag->kind == &flag_switch)
		text = on;
	else if (argument[name_bytes])
		text = argument + name_bytes + 1;
	else if (*at < argc)
		text = argv[(*at)++];
	else
		return tp_fail(error, -EINVAL, "--%s needs a value: %s", flag->name,
			       flags_accepts(flag, accepts));
	flag->given = true;
	flag->source = "flag";
	flag->layer = FLAGS_COMMAND_LINE;
	return set(flags, flag, text, error);
}

/* Reads the flag, or the operand, at argv[*at] and passes over it. */
static int read_argument(const struct flags *flags, int argc, char **argv, int *at,
			 struct tp_error *error)
{
	const char *argument = argv[*at];

	if (!flags->operand || argument[0] == '-')
		return read_flag(flags, argc, argv, at, error);
	if (*flags->operand_value)
		return tp_fail(error, -EINVAL, "one %s is wanted; '%.100s' and '%.100s' are given",
			       flags->operand, *flags->operand_value, argument);
	*flags->operand_value = argument;
	(*at)++;
	return 0;
}

enum flags_outcome flags_parse(struct flags *flags, int argc, char **argv, struct tp_error *error)
{
	for (unsigned i = 0; i < flags->count; i++) {
		struct flag *flag = &flags->table[i];

		flag->given = false;
		flag->text = NULL;
		flag->source = "default";
		flag->layer = 0;
		if (flag->initial && set(flags, flag, flag->initial, error) < 0)
			return FLAGS_WRONG;
	}
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return FLAGS_HELP;
	for (int at = 1; at < argc;)
		if (read_argument(flags, argc, argv, &at, error) < 0)
			return FLAGS_WRONG;
	if (flags->operand && !*flags->operand_value) {
		tp_fail(error, -EINVAL, "%s is missing; '%s --help' says what it is",
			flags->operand, flags->program);
		return FLAGS_WRONG;
	}
	return FLAGS_OK;
}

static void print_flag(const struct flag *flag, FILE *to)
{
	char metavar[FLAGS_ACCEPTS_BYTES];
	int width;

	if (flag->kind->metavar)
		snprintf(metavar, sizeof(metavar), "%s", flag->kind->metavar);
	else
		join_choices(flag, "|", metavar, sizeof(metavar));
	width = fprintf(to, "  --%s %s", flag->name, metavar);
	if (width >= HELP_COLUMN)
		fprintf(to, "\n%*s", HELP_COLUMN, "");
	else
		fprintf(to, "%*s", HELP_COLUMN - width, "");
	fprintf(to, "%s", flag->about);
	if (flag->initial && flag->kind != &flag_switch)
		fprintf(to, " (default: %s)", flag->initial);
	fputc('\n', to);
}

void flags_print_help(const struct flags *flags, FILE *to)
{
	fprintf(to, "usage: %s%s%s [--FLAG VALUE]...\n\n%s\n\n", flags->program,
		flags->operand ? " " : "", flags->operand ? flags->operand : "", flags->about);
	for (unsigned i = 0; i < flags->count; i++)
		print_flag(&flags->table[i], to);
	fprintf(to, "  --help%*sprint this\n", HELP_COLUMN - 8, "");
}

void flags_resolve(const struct flags *flags, const char *name, const char *text)
{
	flags_find(flags, name)->text = text;
}

/* What a flag without effect is told. */
static int fail_needed(const struct flag *flag, const char *needed, struct tp_error *error)
{
	char key[FLAGS_KEY_BYTES];

	if (flag->layer == FLAGS_COMMAND_LINE)
		return tp_fail(error, -EINVAL, "--%s has no effect without %s", flag->name, needed);
	return tp_fail(error, -EINVAL, "%s: '%s' has no effect without %s, which nothing says",
		       flag->source, flags_key(flag, key), needed);
}

int flags_drop(struct flags *flags, const char *prefix, const char *needed, struct tp_error *error)
{
	const struct flag *decides = find(flags, needed + 2, strcspn(needed + 2, " "));

	CHECK(decides);
	for (unsigned i = 0; i < flags->count; i++) {
		struct flag *flag = &flags->table[i];

		if (strncmp(flag->name, prefix, strlen(prefix)) != 0)
			continue;
		if (flag->layer == FLAGS_COMMAND_LINE || flag->layer > decides->layer)
			return fail_needed(flag, needed, error);
		flag->text = NULL;
	}
	return 0;
}

bool flags_accept(struct flags *flags, int argc, char **argv, int *status_out)
{
	struct tp_error error;

	switch (flags_parse(flags, argc, argv, &error)) {
	case FLAGS_OK:
		return true;
	case FLAGS_HELP:
		flags_print_help(flags, stdout);
		*status_out = EXIT_PASS;
		break;
	case FLAGS_WRONG:
		*status_out = exit_with(EXIT_USAGE, flags->program, &error);
		break;
	}
	return false;
}

const char *flags_key(const struct flag *flag, char key[FLAGS_KEY_BYTES])
{
	snprintf(key, FLAGS_KEY_BYTES, "%s", flag->name);
	for (char *at = key; *at; at++)
		if (*at == '-')
			*at = '_';
	return key;
}

struct flag *flags_find_key(const struct flags *flags, const char *key)
{
	char own[FLAGS_KEY_BYTES];

	for (unsigned i = 0; i < flags->count; i++)
		if (strcmp(flags_key(&flags->table[i], own), key) == 0)
			return &flags->table[i];
	return NULL;
}

void flags_print_config(const struct flags *flags, FILE *to)
{
	char key[FLAGS_KEY_BYTES];

	for (unsigned i = 0; i < flags->count; i++) {
		const struct flag *flag = &flags->table[i];

		if (flag->text)
			fprintf(to, "config %s=%s (%s)\n", flags_key(flag, key), flag->text,
				flag->source);
	}
	fflush(to);
}

json_t *flags_to_json(const struct flags *flags)
{
	json_t *object = json_object();
	char key[FLAGS_KEY_BYTES];

	for (unsigned i = 0; i < flags->count; i++) {
		const struct flag *flag = &flags->table[i];
		json_t *value = json_null();

		if (flag->text && flag->kind->number)
			value = json_integer(*(const uint32_t *)flag->value);
		else if (flag->text && flag->kind->json)
			value = json_loads(flag->text, 0, NULL);
		else if (flag->text)
			value = json_text(flag->text);
		json_object_set_new(object, flags_key(flag, key), value);
	}
	return object;
}

json_t *flags_sources_to_json(const struct flags *flags)
{
	json_t *object = json_object();
	char key[FLAGS_KEY_BYTES];

	for (unsigned i = 0; i < flags->count; i++) {
		const struct flag *flag = &flags->table[i];

		if (flag->text)
			json_object_set_new(object, flags_key(flag, key), json_text(flag->source));
	}
	return object;
}
