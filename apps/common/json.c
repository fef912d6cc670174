#include "apps/common/json.h"

#include "apps/common/file.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { REAL_DIGITS = 12 };

/* Two readings of one number, each rounded to REAL_DIGITS on its way through a file. */
#define REAL_TOLERANCE 1e-10

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

void json_append_text(json_t *array, const char *format, ...)
{
	char text[JSON_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_array_append_new(array, json_text(text));
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

/* 0, or -EINVAL with `error` filled if `value` is no object of the schema. Takes it over if not. */
static int judge(const char *where, const char *schema, json_t *value, struct tp_error *error)
{
	const char *said = json_string_value(json_object_get(value, "schema"));
	int code = 0;

	if (!json_is_object(value))
		code = tp_fail(error, -EINVAL, "%s: no object {...}", where);
	else if (schema && !said)
		code = tp_fail(error, -EINVAL, "%s: names no schema; %s is expected", where,
			       schema);
	else if (schema && strcmp(said, schema) != 0)
		code = tp_fail(error, -EINVAL,
			       "%s: its schema is '%.60s'; this weir reads %s: use the weir that "
			       "wrote it",
			       where, said, schema);
	if (code < 0)
		json_decref(value);
	return code;
}

/* An object in `text`; `first_line` is its line in the file. */
static int parse(const char *path, unsigned first_line, const char *text, size_t bytes,
		 const char *schema, json_t **object_out, struct tp_error *error)
{
	char where[FILE_PATH_BYTES + 16];
	json_error_t fault;
	json_t *value = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &fault);
	int code;

	snprintf(where, sizeof(where), "%.300s:%u", path,
		 first_line + (value || fault.line < 1 ? 1u : (unsigned)fault.line) - 1);
	if (!value) {
		/* The parser quotes the text near the fault, line ends and all. */
		fault.text[strcspn(fault.text, "\r\n")] = '\0';
		return tp_fail(error, -EINVAL, "%s: %s", where, fault.text);
	}
	code = judge(where, schema, value, error);
	if (code == 0)
		*object_out = value;
	return code;
}

/* What is no regular file could block, or have no end. */
static int read_regular(const char *path, size_t max_bytes, char **text_out, size_t *bytes_out,
			struct tp_error *error)
{
	struct stat about;

	if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
		return tp_fail(error, -EINVAL, "%.300s: not a regular file", path);
	return file_read(path, max_bytes, text_out, bytes_out, error);
}

int json_read_file(const char *path, size_t max_bytes, const char *schema, json_t **object_out,
		   struct tp_error *error)
{
	size_t bytes;
	char *text;
	int code = read_regular(path, max_bytes, &text, &bytes, error);

	if (code < 0)
		return code;
	code = parse(path, 1, text, bytes, schema, object_out, error);
	free(text);
	return code;
}

/* Every line of `text` into `array`. */
static int parse_lines(const char *path, const char *text, size_t bytes, const char *schema,
		       json_t *array, struct tp_error *error)
{
	const char *end = text + bytes;
	unsigned line = 1;

	for (const char *at = text; at < end; line++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		json_t *object;
		int code;

		if (!stop)
			return tp_fail(error, -EINVAL, "%.300s:%u: the line has no end: cut off",
				       path, line);
		code = parse(path, line, at, (size_t)(stop - at), schema, &object, error);
		if (code < 0)
			return code;
		json_array_append_new(array, object);
		at = stop + 1;
	}
	return 0;
}

int json_read_lines(const char *path, size_t max_bytes, const char *schema, json_t **array_out,
		    struct tp_error *error)
{
	json_t *array = json_array();
	size_t bytes;
	char *text;
	int code = read_regular(path, max_bytes, &text, &bytes, error);

	if (code == 0) {
		code = parse_lines(path, text, bytes, schema, array, error);
		free(text);
	}
	if (code < 0)
		json_decref(array);
	else
		*array_out = array;
	return code;
}

static bool numbers_alike(double a, double b)
{
	double largest = fmax(fabs(a), fabs(b));

	return fabs(a - b) <= largest * REAL_TOLERANCE;
}

static bool arrays_alike(const json_t *a, const json_t *b)
{
	size_t count = json_array_size(a);
	bool alike = count == json_array_size(b);

	for (size_t i = 0; alike && i < count; i++)
		alike = json_alike(json_array_get(a, i), json_array_get(b, i));
	return alike;
}

static bool objects_alike(const json_t *a, const json_t *b)
{
	bool alike = json_object_size(a) == json_object_size(b);
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)a, key, value)
	{
		const json_t *other = json_object_get(b, key);

		alike = alike && other && json_alike(value, other);
	}
	return alike;
}

bool json_alike(const json_t *a, const json_t *b)
{
	if (json_is_real(a) && json_is_real(b))
		return numbers_alike(json_real_value(a), json_real_value(b));
	if (json_is_array(a) && json_is_array(b))
		return arrays_alike(a, b);
	if (json_is_object(a) && json_is_object(b))
		return objects_alike(a, b);
	return json_equal(a, b);
}
