#include "dataplane/core/clock.h"
#include "tests/support/suite.h"

#include <time.h>

static void never_goes_back(void)
{
	uint64_t last = clock_now_ns();

	for (int i = 0; i < 100000; i++) {
		uint64_t now = clock_now_ns();

		CU_ASSERT_TRUE_FATAL(now >= last);
		last = now;
	}
}

static void agrees_with_the_kernel(void)
{
	struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
	uint64_t ours, theirs;

	ours = clock_now_ns();
	theirs = clock_monotonic_ns();
	nanosleep(&pause, NULL);
	ours = clock_now_ns() - ours;
	theirs = clock_monotonic_ns() - theirs;
	/* a ratio: within one per cent over the same tenth of a second */
	CU_ASSERT_TRUE(ours > theirs / 100 * 99 && ours < theirs / 100 * 101);
}

static const struct suite_test tests[] = {
	{"the clock never goes back", never_goes_back},
	{"the clock runs at the rate of CLOCK_MONOTONIC", agrees_with_the_kernel},
};

int main(int argc, char **argv)
{
	clock_start();
	return suite_run("clock", tests, 2, argc, argv);
}
