/*
 * place: line and column of a value in a JSON text.
 *
 * The parser tells where malformed text goes wrong, but forgets where well-formed values stood. A
 * message about such a value names its place all the same: this finds it again by the way to it.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_PLACE_H
#define WEIR_APPS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * One step down: a member of an object by its key, or, if `key` is NULL, an element of an array by
 * its index.
 */
struct place_step {
	const char *key;
	size_t index;
};

struct place {
	unsigned line;	 /* from 1 */
	unsigned column; /* from 1, in characters (UTF-8) */
};

/*
 * Finds the value at the end of `steps`, or its key if `want_key`, in `text`, which must be
 * well-formed JSON ended by a NUL. If there is no such value, the place is that of the last step
 * that there is.
 */
struct place place_find(const char *text, const struct place_step *steps, unsigned count,
			bool want_key);

/* Line and column of a place within the text. */
struct place place_of(const char *text, const char *at);

/*
 * A key that ends `end` bytes into the text and stands in its object for the second time: copies it
 * to `key`, and finds both. The text must be well-formed up to there. False if there is none.
 */
bool place_find_twin(const char *text, size_t end, char *key, size_t key_bytes,
		     struct place *first_out, struct place *second_out);

#endif
