#include "dataplane/core/nearest.h"

#include "dataplane/core/check.h"

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
	const char *best = names[0];

	CHECK(count > 0);
	for (unsigned i = 1; i < count; i++)
		if (edit_distance(word, names[i]) < edit_distance(word, best))
			best = names[i];
	return best;
}
