#include "dataplane/proto/http1_set.h"
#include "dataplane/core/check.h"

#include <string.h>

#define ALPHA_AND_DIGIT ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true

/* RFC 9110 section 5.6.2: tchar. */
struct http1_set http1_set_token = {
	.has = {ALPHA_AND_DIGIT, ['!'] = true, ['#' ... '\''] = true, ['*' ... '+'] = true,
		['-' ... '.'] = true, ['^' ... '`'] = true, ['|'] = true, ['~'] = true},
};

/* RFC 9110 section 5.5: visible characters, obs-text, space and tab. */
struct http1_set http1_set_value = {
	.has = {['\t'] = true, [' ' ... '~'] = true, [0x80 ... 0xFF] = true},
};

/*
 * Visible characters but '#', which begins a fragment, and '\\', which some read as '/'. A few that
 * RFC 3986 does not allow are taken, for browsers send them and nobody reads them in two ways.
 */
struct http1_set http1_set_target = {
	.has = {['!' ... '"'] = true, ['$' ... '['] = true, [']' ... '~'] = true},
};

struct http1_set http1_set_path = {
	.has = {['!' ... '"'] = true,
		['$'] = true,
		['&' ... '>'] = true,
		['@' ... '['] = true,
		[']' ... '~'] = true},
};

/* RFC 3986 section 3.2.2: unreserved and sub-delims. */
struct http1_set http1_set_host = {
	.has = {ALPHA_AND_DIGIT, ['!'] = true, ['$'] = true,
		['&' ... '.'] = true, [';'] = true, ['='] = true, ['_'] = true, ['~'] = true},
};

/*
 * Bit r of low[l] says that 16 * r + l is in the set, for the rows of ASCII. No set has anything of
 * row 1, so its bit speaks for the upper rows, of which a set has all or nothing.
 */
static void draw_nibbles(struct http1_set *set)
{
	memset(set->low, 0, sizeof(set->low));
	memset(set->high, 0, sizeof(set->high));
	for (unsigned byte = 0; byte < 0x80; byte++) {
		CHECK(!set->has[byte] || byte >> 4 != 1);
		if (set->has[byte])
			set->low[byte & 15] |= (uint8_t)(1 << (byte >> 4));
	}
	for (unsigned row = 0; row < HTTP1_NIBBLES; row++) {
		set->low[row] |= 1 << 1;
		if (row < 8 && row != 1)
			set->high[row] = (uint8_t)(1 << row);
		else if (row >= 8)
			set->high[row] = set->has[0x80] ? 1 << 1 : 0;
	}
}

void http1_sets_draw(void)
{
	struct http1_set *sets[] = {&http1_set_token, &http1_set_value, &http1_set_target,
				    &http1_set_path, &http1_set_host};

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		draw_nibbles(sets[i]);
}
