#include "dataplane/core/nearest.h"

#include <stdio.h>
#include <string.h>

enum { WORD_BYTES_MAX = 64 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

/* Edits that turn `a` into `b`; what is beyond WORD_BYTES_MAX of either is not looked at. */
static unsigned edit_distance(const char *a, const char *b)
{
	size_t a_bytes = strnlen(a, WORD_BYTES_MAX), b_bytes = strnlen(b, WORD_BYTES_MAX);
	unsigned row[WORD_BYTES_MAX + 1];

	for (unsigned j = 0; j <= b_bytes; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a_bytes; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= b_bytes; j++) {
			unsigned above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_bytes];
}

const char *nearest_of(const char *word, const char *const *names, unsigned count)
{
	unsigned least = (unsigned)(strnlen(word, WORD_BYTES_MAX) + 2) / 3 + 1;
	const char *best = NULL;

	for (unsigned i = 0; i < count; i++) {
		unsigned distance = edit_distance(word, names[i]);

		if (distance >= least)
			continue;
		least = distance;
		best = names[i];
	}
	return best;
}

const char *nearest_ask(const char *word, const char *const *names, unsigned count,
			const char *dashes, char text[NEAREST_TEXT])
{
	const char *name = nearest_of(word, names, count);

	text[0] = '\0';
	if (name)
		snprintf(text, NEAREST_TEXT, "did you mean '%s%s'? ", dashes, name);
	return text;
}
