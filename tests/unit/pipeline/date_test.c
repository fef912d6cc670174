#include "dataplane/pipeline/date.h"
#include "dataplane/core/clock.h"
#include "tests/support/suite.h"

#include <string.h>

/* A clock that began when the wall clock was a second short of 2026-12-01 07:38:03. */
static struct date begin(void)
{
	struct date date = {.ahead_ns = 1796110682ull * CLOCK_SECOND_NS};

	return date;
}

static void expect(struct date *date, uint64_t now_ns, const char *text)
{
	CU_ASSERT_EQUAL(memcmp(date_text(date, now_ns), text, HTTP1_DATE_BYTES), 0);
}

static void text_follows_the_clock(void)
{
	struct date date = begin();

	expect(&date, 0, "Tue, 01 Dec 2026 07:38:02 GMT");
	expect(&date, CLOCK_SECOND_NS - 1, "Tue, 01 Dec 2026 07:38:02 GMT");
	expect(&date, CLOCK_SECOND_NS, "Tue, 01 Dec 2026 07:38:03 GMT");
	expect(&date, 3600 * CLOCK_SECOND_NS, "Tue, 01 Dec 2026 08:38:02 GMT");
}

static void text_is_made_once_a_second(void)
{
	struct date date = begin();

	date_text(&date, CLOCK_SECOND_NS / 2);
	CU_ASSERT_EQUAL(date.until_ns, CLOCK_SECOND_NS);
	date.text[0] = '#';
	CU_ASSERT_EQUAL(date_text(&date, CLOCK_SECOND_NS - 1)[0], '#');
	CU_ASSERT_EQUAL(date_text(&date, CLOCK_SECOND_NS)[0], 'T');
}

static const struct suite_test tests[] = {
	{"the text is the second of the wall clock", text_follows_the_clock},
	{"the text is made once a second", text_is_made_once_a_second},
};

SUITE_MAIN("date", tests)
