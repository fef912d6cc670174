#include "apps/common/json.h"

#include "apps/common/file.h"

#include <errno.h>
#include <math.h>
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

int json_write_file(const char *path, const json_t *object, unsigned indent, struct tp_error *error)
{
	size_t style =
		JSON_REAL_PRECISION(REAL_DIGITS) | (indent ? JSON_INDENT(indent) : JSON_COMPACT);
	struct file file;
	int rc = file_begin(&file, path, error);

	if (rc < 0)
		return rc;
	errno = 0;
	if (json_dumpf(object, file.stream, style) < 0 && !ferror(file.stream)) {
		file_abandon(&file);
		return tp_fail(error, -EINVAL, "cannot write %.300s: not a JSON value", path);
	}
	fputc('\n', file.stream);
	return file_commit(&file, error);
}
