#include "dataplane/pipeline/wait.h"

#include "tests/support/suite.h"

#include <errno.h>

static void names_are_read_and_written(void)
{
	static const char *const wrong[] = {"",
					    "sleep",
					    "Block",
					    "adaptive:",
					    "adaptive:0us",
					    "adaptive:50",
					    "adaptive:2s",
					    "adaptive:-1us",
					    "adaptivee"};
	static const char *const names[] = {"block",	       "spin",		"adaptive:50us",
					    "adaptive:1500ns", "adaptive:20ms", "adaptive:1s"};
	struct wait wait = {.kind = WAIT_SPIN};
	char text[WAIT_TEXT];

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(wait_parse(wrong[i], &wait), -EINVAL);
	CU_ASSERT_EQUAL(wait.kind, WAIT_SPIN);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CU_ASSERT_EQUAL(wait_parse(names[i], &wait), 0);
		CU_ASSERT_STRING_EQUAL(wait_print(&wait, text), names[i]);
	}
	CU_ASSERT_EQUAL(wait_parse("adaptive", &wait), 0);
	CU_ASSERT_STRING_EQUAL(wait_print(&wait, text), "adaptive:50us");
	CU_ASSERT_EQUAL(wait_parse("adaptive:1000000us", &wait), 0);
	CU_ASSERT_STRING_EQUAL(wait_print(&wait, text), "adaptive:1s");
}

static void only_adaptive_looks_at_the_account(void)
{
	struct wait block = {.kind = WAIT_BLOCK}, spin = {.kind = WAIT_SPIN};
	struct busy idle = {.end_ns = 5000, .moved_ns = 0}, at_work = {.end_ns = 5, .moved_ns = 5};

	CU_ASSERT_EQUAL(wait_ns(&block, &at_work, 77), 77);
	CU_ASSERT_EQUAL(wait_ns(&block, &idle, 77), 77);
	CU_ASSERT_EQUAL(wait_ns(&spin, &at_work, 77), 0);
	CU_ASSERT_EQUAL(wait_ns(&spin, &idle, 77), 0);
}

static void adaptive_blocks_once_nothing_moved_for_its_time(void)
{
	struct wait wait = {.kind = WAIT_ADAPTIVE, .spin_ns = 1000};
	struct busy busy = {.end_ns = 10000, .moved_ns = 10000};

	CU_ASSERT_EQUAL(wait_ns(&wait, &busy, 77), 0);
	busy.end_ns += 999;
	CU_ASSERT_EQUAL(wait_ns(&wait, &busy, 77), 0);
	busy.end_ns += 1;
	CU_ASSERT_EQUAL(wait_ns(&wait, &busy, 77), 77);
	busy.moved_ns = busy.end_ns; /* something came: it spins again */
	CU_ASSERT_EQUAL(wait_ns(&wait, &busy, 77), 0);
}

static void turns_that_move_set_the_time(void)
{
	struct tp_turn moved = {.moved = true}, still = {0};
	struct busy busy = {0};
	uint64_t moved_ns;

	clock_start();
	busy_account(&busy, &moved);
	moved_ns = busy.moved_ns;
	CU_ASSERT_EQUAL(moved_ns, busy.end_ns);
	CU_ASSERT(moved_ns > 0);
	busy_account(&busy, &still);
	CU_ASSERT_EQUAL(busy.moved_ns, moved_ns);
}

static const struct suite_test tests[] = {
	{"a wait is written as it is read", names_are_read_and_written},
	{"block and spin look at nothing", only_adaptive_looks_at_the_account},
	{"adaptive blocks once nothing moved for its time",
	 adaptive_blocks_once_nothing_moved_for_its_time},
	{"turns that move something begin the time anew", turns_that_move_set_the_time},
};

SUITE_MAIN("wait", tests)
