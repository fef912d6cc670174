#include "dataplane/transport/option.h"

#include "dataplane/core/nearest.h"
#include "dataplane/core/units.h"
#include "dataplane/transport/transport.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 32, VALUE_BYTES = 64 };

static const char *const switch_words[] = {"off", "on", NULL};

/* The index of a word in a list that NULL ends. */
static int find_word(const char *const *words, const char *word, uint64_t *index_out)
{
	for (unsigned i = 0; words[i]; i++) {
		if (strcmp(words[i], word) != 0)
			continue;
		*index_out = i;
		return 0;
	}
	return -EINVAL;
}

/* What the option's word stands for. */
static uint64_t value_of_word(const struct tp_option *option)
{
	return option->kind == TP_OPTION_DURATION ? 0 : option->max;
}

/* The most that is written as a number. */
static uint64_t greatest_number(const struct tp_option *option)
{
	return option->word && value_of_word(option) == option->max ? option->max - 1 : option->max;
}

static int parse_number(const struct tp_option *option, const char *text, uint64_t *value_out)
{
	if (option->kind == TP_OPTION_BYTES)
		return units_parse_bytes(text, option->max, value_out);
	if (option->kind == TP_OPTION_DURATION && strcmp(text, "0") != 0)
		return units_parse_duration(text, value_out);
	return units_parse_count(text, greatest_number(option), value_out);
}

static int parse_value(const struct tp_option *option, const char *text, uint64_t *value_out)
{
	uint64_t value;
	int code;

	if (option->kind == TP_OPTION_SWITCH)
		return find_word(switch_words, text, value_out);
	if (option->kind == TP_OPTION_CHOICE)
		return find_word(option->choices, text, value_out);
	if (option->word && strcmp(text, option->word) == 0) {
		*value_out = value_of_word(option);
		return 0;
	}
	code = parse_number(option, text, &value);
	if (code < 0 || value < option->min || value > option->max)
		return -EINVAL;
	*value_out = value;
	return 0;
}

static void join_words(const char *const *words, char text[128])
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; words[i] && used < 100; i++)
		used += (size_t)snprintf(text + used, 128 - used, "%s%s",
					 i == 0		? ""
					 : words[i + 1] ? ", "
							: " or ",
					 words[i]);
}

const char *tp_option_accepted(const struct tp_option *option, char text[128])
{
	char least[TP_OPTION_TEXT], most[TP_OPTION_TEXT];

	if (option->kind == TP_OPTION_SWITCH)
		join_words(switch_words, text);
	else if (option->kind == TP_OPTION_CHOICE)
		join_words(option->choices, text);
	else
		snprintf(text, 128, "%s to %s%s%s", tp_option_print(option, option->min, least),
			 tp_option_print(option, greatest_number(option), most),
			 option->word ? ", or " : "", option->word ? option->word : "");
	return text;
}

const char *tp_option_print(const struct tp_option *option, uint64_t value,
			    char text[TP_OPTION_TEXT])
{
	switch (option->kind) {
	case TP_OPTION_SWITCH:
		snprintf(text, TP_OPTION_TEXT, "%s", switch_words[value != 0]);
		break;
	case TP_OPTION_CHOICE:
		snprintf(text, TP_OPTION_TEXT, "%s", option->choices[value]);
		break;
	case TP_OPTION_BYTES:
		units_print_bytes(value, text);
		break;
	case TP_OPTION_DURATION:
		if (value == 0)
			snprintf(text, TP_OPTION_TEXT, "%s", option->word ? option->word : "0");
		else
			units_print_duration(value, text);
		break;
	case TP_OPTION_COUNT:
		if (option->word && value == option->max)
			snprintf(text, TP_OPTION_TEXT, "%s", option->word);
		else
			snprintf(text, TP_OPTION_TEXT, "%" PRIu64, value);
		break;
	}
	return text;
}

static int fail_unknown(const struct tp_ops *ops, const char *name, struct tp_error *error)
{
	const char *names[TP_OPTIONS_MAX];
	char ask[NEAREST_TEXT];

	if (ops->option_count == 0)
		return tp_fail(error, -EINVAL, "the stack '%s' has no options, so no '%s'",
			       ops->name, name);
	for (unsigned i = 0; i < ops->option_count; i++)
		names[i] = ops->options[i].name;
	return tp_fail(error, -EINVAL,
		       "the stack '%s' has no option '%s'; %s`weir stacks` lists all", ops->name,
		       name, nearest_ask(name, names, ops->option_count, "", ask));
}

static int fail_value(const struct tp_ops *ops, const struct tp_option *option, const char *value,
		      struct tp_error *error)
{
	char accepted[128];

	return tp_fail(error, -EINVAL, "the stack '%s': %s=%s: %s is accepted", ops->name,
		       option->name, value, tp_option_accepted(option, accepted));
}

/* Takes "KEY=VALUE" of `bytes` characters in. */
static int parse_pair(const struct tp_ops *ops, const char *pair, size_t bytes, uint64_t *given,
		      uint64_t values[TP_OPTIONS_MAX], struct tp_error *error)
{
	const char *equals = memchr(pair, '=', bytes);
	char name[NAME_BYTES], value[VALUE_BYTES];
	size_t name_bytes = equals ? (size_t)(equals - pair) : 0;

	if (!equals || name_bytes == 0 || name_bytes >= NAME_BYTES ||
	    bytes - name_bytes - 1 >= VALUE_BYTES)
		return tp_fail(error, -EINVAL,
			       "'%.*s' behind the stack '%s' is no option: NAME=VALUE is expected",
			       (int)bytes, pair, ops->name);
	snprintf(name, sizeof(name), "%.*s", (int)name_bytes, pair);
	snprintf(value, sizeof(value), "%.*s", (int)(bytes - name_bytes - 1), equals + 1);
	for (unsigned i = 0; i < ops->option_count; i++) {
		if (strcmp(ops->options[i].name, name) != 0)
			continue;
		if (*given >> i & 1)
			return tp_fail(error, -EINVAL, "the stack '%s': %s is given twice",
				       ops->name, name);
		*given |= 1ull << i;
		if (parse_value(&ops->options[i], value, &values[i]) < 0)
			return fail_value(ops, &ops->options[i], value, error);
		return 0;
	}
	return fail_unknown(ops, name, error);
}

int tp_options_parse(const struct tp_ops *ops, const char *text,
		     uint64_t values_out[TP_OPTIONS_MAX], struct tp_error *error)
{
	uint64_t values[TP_OPTIONS_MAX] = {0}, given = 0;
	int code = 0;

	for (unsigned i = 0; i < ops->option_count; i++)
		values[i] = ops->options[i].initial;
	while (*text && code == 0) {
		size_t bytes = strcspn(text, ",");

		code = parse_pair(ops, text, bytes, &given, values, error);
		text += bytes + (text[bytes] == ',');
	}
	if (code == 0)
		memcpy(values_out, values, sizeof(values));
	return code;
}
