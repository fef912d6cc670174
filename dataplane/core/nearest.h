/*
 * nearest: the known name that a mistyped one most likely meant.
 *
 * Plane: setup.
 */
#ifndef WEIR_CORE_NEAREST_H
#define WEIR_CORE_NEAREST_H

/*
 * The name with the smallest edit distance (Levenshtein 1966) to `word`; the first of equals.
 * `count` is at least 1.
 */
const char *nearest_of(const char *word, const char *const *names, unsigned count);

#endif
