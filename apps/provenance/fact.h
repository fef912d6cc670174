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

enum { FACT_RANGES_BYTES = 5120 }; /* every other of 1024 numbers */

/* The first line of a file without the blanks at its end. 0, or negative errno. */
int fact_read_line(const char *path, char *line, size_t line_bytes);

/* Sets `name` to `value` (moved); a NULL value becomes null. */
void fact_set(json_t *facts, const char *name, json_t *value);

/* Sets `name` to null and `<name>_reason` to the text, in the way of printf. */
void fact_unknown(json_t *facts, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets `name` to the first line of `path`, as a text or as a whole number, or to null and why. */
void fact_from_file(json_t *facts, const char *name, const char *path);
void fact_number_from_file(json_t *facts, const char *name, const char *path);

/*
 * The text behind `key` and its separator in a file of "key: text" or key="text" lines, without
 * quotes. 0; -ENOENT if no line has the key; or another negative errno.
 */
int fact_read_text(const char *path, const char *key, char separator, char *text,
		   size_t text_bytes);

/*
 * Sets `name` to what the files FOLDER<number>FILE say for these numbers, as {"VALUE": "0-3,5"}, or
 * to null and why if none is there. Numbers are ascending.
 */
void fact_spread(json_t *facts, const char *name, const char *folder, const char *file,
		 const unsigned *numbers, unsigned count);

/* Appends a number to a text of ranges in ascending order: "0-2" and 3 make "0-3". */
void fact_add_to_ranges(char *text, size_t text_bytes, unsigned number);

/* Sets `name` to the number behind `key` in `path`, or to null and why. */
void fact_from_keyed(json_t *facts, const char *name, const char *path, const char *key);

#endif
