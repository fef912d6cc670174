#include "apps/common/problems.h"

#include "tests/support/suite.h"

#include <string.h>

static struct problems problems;
static char line[2 * sizeof(problems.text)];

/* A line of `bytes` bytes. */
static const char *line_of(size_t bytes)
{
	memset(line, 'x', bytes);
	line[bytes] = '\0';
	return line;
}

static void begin(void)
{
	memset(&problems, 0, sizeof(problems));
	problems_add(&problems, "%s", "first");
}

static void lines_stand_below_each_other(void)
{
	begin();
	problems_add(&problems, "second %d", 2);
	CU_ASSERT_EQUAL(problems.count, 2);
	CU_ASSERT_STRING_EQUAL(problems.text, "first\nsecond 2\n");
}

static void what_does_not_fit_is_cut(void)
{
	size_t room = sizeof(problems.text) - strlen("first\n") - strlen("\n") - 1;

	for (size_t bytes = room - 4; bytes < room + 5; bytes++) {
		size_t end = sizeof(problems.text) - 1;

		begin();
		problems_add(&problems, "%s", line_of(bytes));
		if (bytes <= room) {
			CU_ASSERT_EQUAL(strlen(problems.text), strlen("first\n") + bytes + 1);
			CU_ASSERT_PTR_NULL(strstr(problems.text, "..."));
		} else {
			CU_ASSERT_EQUAL(strlen(problems.text), end);
			CU_ASSERT_STRING_EQUAL(problems.text + end - 6, "xx...\n");
		}
		CU_ASSERT_EQUAL(strncmp(problems.text, "first\nxxx", 9), 0);
	}
}

static void what_comes_behind_is_counted(void)
{
	begin();
	problems_add(&problems, "%s", line_of(sizeof(line) - 1));
	for (unsigned i = 0; i < 3; i++)
		problems_add(&problems, "lost %u", i);
	CU_ASSERT_EQUAL(problems.count, 5);
	CU_ASSERT_PTR_NULL(strstr(problems.text, "lost"));
	CU_ASSERT_EQUAL(strlen(problems.text), sizeof(problems.text) - 1);
}

static const struct suite_test tests[] = {
	{"each problem is a line", lines_stand_below_each_other},
	{"a problem that does not fit is cut, not left out", what_does_not_fit_is_cut},
	{"problems behind a full text are counted", what_comes_behind_is_counted},
};

SUITE_MAIN("problems", tests)
