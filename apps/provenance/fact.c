#include "apps/provenance/fact.h"

#include "apps/common/json.h"
#include "apps/common/process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Removes blanks and line ends from the end of a text. */
static void cut_blanks(char *text)
{
	size_t bytes = strlen(text);

	while (bytes > 0 && strchr(" \t\n", text[bytes - 1]))
		text[--bytes] = '\0';
}

int fact_read_line(const char *path, char *line, size_t line_bytes)
{
	FILE *file = fopen(path, "re");
	int code = 0;

	if (!file)
		return -errno;
	if (!fgets(line, (int)line_bytes, file))
		code = ferror(file) ? -EIO : -ENODATA;
	else
		cut_blanks(line);
	fclose(file);
	return code;
}

void fact_set(json_t *facts, const char *name, json_t *value)
{
	json_object_set_new(facts, name, value ? value : json_null());
}

void fact_unknown(json_t *facts, const char *name, const char *format, ...)
{
	char reason[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	json_set_unknown(facts, name, reason);
}

void fact_from_file(json_t *facts, const char *name, const char *path)
{
	char line[512];
	int code = fact_read_line(path, line, sizeof(line));

	if (code == 0)
		fact_set(facts, name, json_text(line));
	else
		fact_unknown(facts, name, "%s: %s", path, strerror(-code));
}

void fact_number_from_file(json_t *facts, const char *name, const char *path)
{
	char line[128], *end = line;
	int code = fact_read_line(path, line, sizeof(line));
	long long number = code == 0 ? strtoll(line, &end, 10) : 0;

	if (code == 0 && end > line)
		fact_set(facts, name, json_integer(number));
	else
		fact_unknown(facts, name, "%s: %s", path,
			     code < 0 ? strerror(-code) : "not a number");
}

void fact_from_keyed(json_t *facts, const char *name, const char *path, const char *key)
{
	long value = process_read_number(path, key);

	if (value >= 0)
		fact_set(facts, name, json_integer(value));
	else
		fact_unknown(facts, name, "%s has no '%s'", path, key);
}

int fact_read_text(const char *path, const char *key, char separator, char *text, size_t text_bytes)
{
	FILE *file = fopen(path, "re");
	int code = -ENOENT;
	char line[4096];

	if (!file)
		return -errno;
	while (code < 0 && fgets(line, sizeof(line), file)) {
		char *value = strchr(line, separator);
		size_t key_bytes = strlen(key);

		if (!value || value < line + key_bytes || strncmp(line, key, key_bytes) != 0 ||
		    strspn(line + key_bytes, " \t") < (size_t)(value - line) - key_bytes)
			continue;
		value += 1 + strspn(value + 1, " \t\"");
		value[strcspn(value, "\"\n")] = '\0';
		snprintf(text, text_bytes, "%s", value);
		code = 0;
	}
	fclose(file);
	return code;
}

void fact_add_to_ranges(char *text, size_t text_bytes, unsigned number)
{
	size_t bytes = strlen(text);
	char *comma = strrchr(text, ',');
	char *range = comma ? comma + 1 : text;
	char *dash = strchr(range, '-');

	if (bytes == 0) {
		snprintf(text, text_bytes, "%u", number);
		return;
	}
	if (strtoul(dash ? dash + 1 : range, NULL, 10) + 1 != number)
		snprintf(text + bytes, text_bytes - bytes, ",%u", number);
	else if (dash)
		snprintf(dash, text_bytes - (size_t)(dash - text), "-%u", number);
	else
		snprintf(text + bytes, text_bytes - bytes, "-%u", number);
}

/* Adds a number to the ranges of a value. */
static void add_to_spread(json_t *spread, const char *value, unsigned number)
{
	char ranges[FACT_RANGES_BYTES];
	const char *before = json_string_value(json_object_get(spread, value));

	snprintf(ranges, sizeof(ranges), "%s", before ? before : "");
	fact_add_to_ranges(ranges, sizeof(ranges), number);
	json_object_set_new(spread, value, json_string(ranges));
}

void fact_spread(json_t *facts, const char *name, const char *folder, const char *file,
		 const unsigned *numbers, unsigned count)
{
	json_t *spread = json_object();
	char path[256], line[256];
	int code = -ENOENT;

	snprintf(path, sizeof(path), "%s*%s", folder, file);
	for (unsigned i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s%u%s", folder, numbers[i], file);
		code = fact_read_line(path, line, sizeof(line));
		if (code == 0)
			add_to_spread(spread, line, numbers[i]);
	}
	if (json_object_size(spread) > 0) {
		fact_set(facts, name, spread);
		return;
	}
	json_decref(spread);
	fact_unknown(facts, name, "%s: %s", path, strerror(-code));
}
