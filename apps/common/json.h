/*
 * json: what the programs add to jansson.
 *
 * A value not known is null with the reason beside it under NAME_reason, never 0 and never left
 * out.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_APPS_JSON_H
#define WEIR_APPS_JSON_H

#include "dataplane/transport/transport.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_TEXT_BYTES = 4096 + 256 };

/* A string, or null for NULL; bytes that are not UTF-8 become '?'. Owned by the caller. */
json_t *json_text(const char *text);

/* A real number, or null where it is not finite. Owned by the caller. */
json_t *json_number(double value);

static inline json_t *json_count(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* Sets object[name] to null and object[name_reason] to the reason. */
void json_set_unknown(json_t *object, const char *name, const char *reason);

/* Appends a string, cut at JSON_TEXT_BYTES; bytes that are not UTF-8 become '?'. */
void json_append_text(json_t *array, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Prints `word` and the object on one line, flushed. A broken stream is not an error here.
 * Takes the object over.
 */
void json_print_line(FILE *to, const char *word, json_t *object);

/*
 * Reads a whole object of at most `max_bytes` in which no key stands twice; `schema` is what its
 * "schema" must be, or NULL. 0 with a new reference; or negative errno with `error` naming the file
 * and, where it is no such object, what is wrong with it (-EINVAL).
 */
int json_read_file(const char *path, size_t max_bytes, const char *schema, json_t **object_out,
		   struct tp_error *error);

/*
 * Reads a file of such objects, one a line, into an array; `schema` is each one's. As
 * json_read_file.
 */
int json_read_lines(const char *path, size_t max_bytes, const char *schema, json_t **array_out,
		    struct tp_error *error);

/* Whether they say the same; real numbers to the precision that files keep of them. */
bool json_alike(const json_t *a, const json_t *b);

/*
 * Writes a whole file (file.h): indented by `indent` spaces, or on one line for 0. 0 or
 * negative errno with `error` filled. The object stays the caller's.
 */
int json_write_file(const char *path, const json_t *object, unsigned indent,
		    struct tp_error *error);

/* Likewise, with each element of the array on a line of its own. */
int json_write_lines(const char *path, const json_t *array, struct tp_error *error);

#endif
