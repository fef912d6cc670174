#include "apps/provenance/fact.h"

#include "apps/common/json.h"
#include "apps/common/process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fact_read_line(const char *path, char *line, size_t line_bytes)
{
	FILE *file = fopen(path, "re");
	int code = 0;

	if (!file)
		return -errno;
	if (!fgets(line, (int)line_bytes, file))
		code = ferror(file) ? -EIO : -ENODATA;
	else
		line[strcspn(line, "\n")] = '\0';
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
