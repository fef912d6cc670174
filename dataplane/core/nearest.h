/*
 * nearest: the known name that a mistyped one most likely meant.
 *
 * Plane: setup.
 */
#ifndef WEIR_CORE_NEAREST_H
#define WEIR_CORE_NEAREST_H

enum { NEAREST_TEXT = 128 };

/*
 * The name with the smallest edit distance (Levenshtein 1966) to `word`, the first of equals; NULL
 * if that is more than a third of the word's length, rounded up: it is then no slip of the fingers,
 * and a guess would mislead.
 */
const char *nearest_of(const char *word, const char *const *names, unsigned count);

/*
 * "did you mean '--NAME'? " for messages, `dashes` being what stands before the name; "" if no name
 * is near. Returns `text`.
 */
const char *nearest_ask(const char *word, const char *const *names, unsigned count,
			const char *dashes, char text[NEAREST_TEXT]);

#endif
