#include "dataplane/proto/http1_run.h"
#include "tests/support/suite.h"
#include "tests/unit/proto/http1_feed.h"

#if defined(__x86_64__)
#include "dataplane/proto/http1_vector.h"
#endif

#include <stdlib.h>
#include <string.h>

static const struct http1_set *const sets[] = {&http1_set_token, &http1_set_value,
					       &http1_set_target, &http1_set_path, &http1_set_host};
enum { SET_COUNT = sizeof(sets) / sizeof(sets[0]) };

/* By the names that http1_choose has for them. */
static const struct {
	const char *name;
	http1_run_function *run;
} ways[] = {
	{"scalar", http1_run_scalar},
#if defined(__x86_64__)
	{"sse4.2", http1_run_sse42},
	{"avx2", http1_run_avx2},
#endif
};

static http1_run_function *run;

/* That a run ends where the scalar one does, from every place on. */
static void compare(const uint8_t *bytes, size_t count)
{
	for (size_t set = 0; set < SET_COUNT; set++)
		for (size_t at = 0; at <= count; at++)
			CU_ASSERT_PTR_EQUAL(
				run(sets[set], bytes, bytes + at, bytes + count),
				http1_run_scalar(sets[set], bytes, bytes + at, bytes + count));
}

/* Bytes of all sets but one that is in `place`. */
static void compare_every_place(void)
{
	uint8_t text[70];

	for (size_t count = 0; count < sizeof(text); count++) {
		for (size_t place = 0; place <= count; place++) {
			memset(text, 'a', sizeof(text));
			text[place] = '\r';
			compare(http1_feed_at_border(text, count), count);
		}
	}
}

static void compare_every_byte(void)
{
	for (unsigned byte = 0; byte < 256; byte++) {
		uint8_t text[33];

		memset(text, 'a', sizeof(text));
		text[7] = (uint8_t)byte;
		compare(http1_feed_at_border(text, 9), 9);
		compare(http1_feed_at_border(text, 20), 20);
		compare(http1_feed_at_border(text, 33), 33);
	}
}

static void every_way_agrees(void)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!http1_choose(ways[i].name))
			continue;
		run = ways[i].run;
		compare_every_place();
		compare_every_byte();
	}
}

static void chooses_by_name_or_the_best(void)
{
	const char *best = http1_choose(NULL), *last = NULL;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (http1_choose(ways[i].name))
			last = ways[i].name;
	CU_ASSERT_PTR_NOT_NULL_FATAL(best);
	CU_ASSERT_STRING_EQUAL(best, last);
	CU_ASSERT_PTR_NULL(http1_choose("neon"));
	CU_ASSERT_STRING_EQUAL(http1_choose("scalar"), "scalar");
}

/* RFC 9110's characters, written down a second time. */
static void sets_hold_what_the_grammar_has(void)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789"
				    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char host[] = "-._~!$&'()*+,;=0123456789"
				   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (int c = 0; c < 256; c++) {
		bool is_visible = c > 0x20 && c < 0x7F;

		CU_ASSERT_EQUAL(http1_set_token.has[c], c && strchr(token, c));
		CU_ASSERT_EQUAL(http1_set_host.has[c], c && strchr(host, c));
		CU_ASSERT_EQUAL(http1_set_value.has[c],
				is_visible || c == ' ' || c == '\t' || c >= 0x80);
		CU_ASSERT_EQUAL(http1_set_target.has[c], is_visible && c != '#' && c != '\\');
		CU_ASSERT_EQUAL(http1_set_path.has[c], is_visible && !strchr("#%?\\", c));
	}
}

static const struct suite_test tests[] = {
	{"the sets hold what the grammar has", sets_hold_what_the_grammar_has},
	{"every way to scan ends where the scalar one does and reads nothing behind the end",
	 every_way_agrees},
	{"a way is chosen by its name, or else the best that is here", chooses_by_name_or_the_best},
};

SUITE_MAIN("http1_set", tests)
