#include "apps/common/json.h"

#include "apps/common/file.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { REAL_DIGITS = 12 };

json_t *json_text(const char *text)
{
	json_t *value = text ? json_string(text) : json_null();
	char *plain;

	if (value)
		return value;
	plain = strdup(text);
	for (char *at = plain; at && *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	value = json_string(plain ? plain : "");
	free(plain);
	return value;
}

json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

void json_set_unknown(json_t *object, const char *name, const char *reason)
{
	char key[96];

	snprintf(key, sizeof(key), "%s_reason", name);
	json_object_set_new(object, name, json_null());
	json_object_set_new(object, key, json_text(reason));
}

void json_print_line(FILE *to, const char *word, json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));

	if (text)
		fprintf(to, "%s%s%s\n", word, *word ? " " : "", text);
	fflush(to);
	free(text);
	json_decref(object);
}

/* Writes a value and ends the line. False if it is no JSON; the stream knows its own errors. */
static bool dump(const json_t *value, size_t style, FILE *to)
{
	bool whole = json_dumpf(value, to, style) == 0 || ferror(to);

	fputc('\n', to);
	return whole;
}

/* Gives the file its name, unless what is in it is not whole. */
static int finish(struct file *file, bool whole, struct tp_error *error)
{
	if (whole)
		return file_commit(file, error);
	file_abandon(file);
	return tp_fail(error, -EINVAL, "cannot write %.300s: not a JSON value", file->path);
}

int json_write_file(const char *path, const json_t *object, unsigned indent, struct tp_error *error)
{
	size_t style =
		JSON_REAL_PRECISION(REAL_DIGITS) | (indent ? JSON_INDENT(indent) : JSON_COMPACT);
	struct file file;
	int rc = file_begin(&file, path, error);

	return rc < 0 ? rc : finish(&file, dump(object, style, file.stream), error);
}

int json_write_lines(const char *path, const json_t *array, struct tp_error *error)
{
	struct file file;
	int rc = file_begin(&file, path, error);
	bool whole = json_is_array(array);
	size_t index;
	json_t *element;

	if (rc < 0)
		return rc;
	json_array_foreach((json_t *)array, index, element)
	{
		whole &=
			dump(element, JSON_REAL_PRECISION(REAL_DIGITS) | JSON_COMPACT, file.stream);
	}
	return finish(&file, whole, error);
}
