/*
 * fact: what is known of this host, and why the rest is not.
 *
 * A fact is a member of a JSON object. One that cannot be known is null with its reason beside it,
 * as `<name>_reason`, so that no reader takes a lack for a zero.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_APPS_FACT_H
#define WEIR_APPS_FACT_H

#include <jansson.h>
#include <stddef.h>

/* The first line of a file, its newline removed. 0, or negative errno. */
int fact_read_line(const char *path, char *line, size_t line_bytes);

/* Sets `name` to `value` (moved); a NULL value becomes null. */
void fact_set(json_t *facts, const char *name, json_t *value);

/* Sets `name` to null and `<name>_reason` to the text, in the way of printf. */
void fact_unknown(json_t *facts, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets `name` to the first line of `path`, as a text or as a whole number, or to null and why. */
void fact_from_file(json_t *facts, const char *name, const char *path);
void fact_number_from_file(json_t *facts, const char *name, const char *path);

/* Sets `name` to the number behind `key` in `path`, or to null and why. */
void fact_from_keyed(json_t *facts, const char *name, const char *path, const char *key);

#endif
