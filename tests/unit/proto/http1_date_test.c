#include "dataplane/proto/http1_date.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static int parse(const char *text, int64_t *seconds)
{
	return http1_date_parse((struct span){(const uint8_t *)text, strlen(text)}, seconds);
}

static void three_forms_are_read(void)
{
	static const char *const forms[] = {"Sun, 06 Nov 1994 08:49:37 GMT",
					    "Sunday, 06-Nov-94 08:49:37 GMT",
					    "Sun Nov  6 08:49:37 1994"};
	int64_t seconds;

	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		seconds = 0;
		CU_ASSERT_EQUAL(parse(forms[i], &seconds), 0);
		CU_ASSERT_EQUAL(seconds, 784111777);
	}
}

static void anything_else_is_refused(void)
{
	static const char *const wrong[] = {"",
					    "Sun",
					    "784111777",
					    "Sun, 06 Nov 1994 08:49:37",
					    "Sun, 06 Nov 1994 08:49:37 UTC",
					    "Sun, 06 Nov 1994 08:49:37 GMT ",
					    "Sun, 6 Nov 1994 08:49:37 GMT",
					    "Sun, 06 nov 1994 08:49:37 GMT",
					    "Sun, 00 Nov 1994 08:49:37 GMT",
					    "Sun, 32 Nov 1994 08:49:37 GMT",
					    "Sun, 06 Nov 1994 24:49:37 GMT",
					    "Sun, 06 Nov 1994 08:60:37 GMT",
					    "Sun, 06 Nov 1994 08:49:61 GMT",
					    "Sun, 06 Nov 94 08:49:37 GMT",
					    "Sunday, 06-Nov-1994 08:49:37 GMT"};
	int64_t seconds = 5;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(parse(wrong[i], &seconds), -EINVAL);
	CU_ASSERT_EQUAL(seconds, 5);
}

/* The C library is the oracle. */
static void printed_dates_are_those_of_the_calendar(void)
{
	for (int64_t day = -30000; day < 80000; day += 13) {
		int64_t seconds = day * 86400 + (day * 7919 % 86400 + 86400) % 86400, back = 0;
		char printed[HTTP1_DATE_BYTES + 1] = "", expected[64];
		time_t time = (time_t)seconds;
		struct tm tm;

		gmtime_r(&time, &tm);
		strftime(expected, sizeof(expected), "%a, %d %b %Y %H:%M:%S GMT", &tm);
		http1_date_print(seconds, printed);
		CU_ASSERT_STRING_EQUAL(printed, expected);
		CU_ASSERT_EQUAL(parse(printed, &back), 0);
		CU_ASSERT_EQUAL(back, seconds);
	}
}

static const struct suite_test tests[] = {
	{"the three forms of a date are read", three_forms_are_read},
	{"anything else is refused", anything_else_is_refused},
	{"printed dates are those of the calendar", printed_dates_are_those_of_the_calendar},
};

SUITE_MAIN("http1_date", tests)
