#include "apps/run/sample/activity.h"
#include "tests/support/suite.h"

#include <math.h>
#include <unistd.h>

static struct activity reading(uint64_t all, uint64_t own, uint64_t at_ns)
{
	return (struct activity){.known = true, .all_ticks = all, .own_ticks = own, .at_ns = at_ns};
}

static void counts_what_others_did(void)
{
	uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK);
	struct activity before = reading(1000, 50, 1000000000);
	struct activity after = reading(1000 + 4 * second, 50 + 3 * second, 3000000000);

	CU_ASSERT(fabs(activity_other_cpus(&before, &after) - 0.5) < 1e-9);
	/* Our own ticks may be counted a little earlier than the host's. */
	after.all_ticks = before.all_ticks + 3 * second - 2;
	CU_ASSERT_EQUAL(activity_other_cpus(&before, &after), 0);
}

static void the_runner_is_none_of_the_others(void)
{
	uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK);
	struct activity before = reading(1000, 0, 1000000000);
	struct activity after = reading(1000 + 2 * second, 0, 3000000000);

	after.runner_ns = 500000000;
	after.rest_ticks = second;
	CU_ASSERT(fabs(activity_runner_share(&before, &after) - 0.25) < 1e-9);
	CU_ASSERT(fabs(activity_other_cpus(&before, &after) - 0.75) < 1e-9);
	CU_ASSERT(fabs(activity_rest_cpus(&before, &after) - 0.5) < 1e-9);
}

static void says_when_it_does_not_know(void)
{
	struct activity before = reading(1000, 50, 1000000000),
			after = reading(2000, 60, 1000000000);

	CU_ASSERT(activity_other_cpus(&before, &after) < 0);
	CU_ASSERT(activity_rest_cpus(&before, &after) < 0);
	CU_ASSERT(activity_runner_share(&before, &after) < 0);
	after.at_ns++;
	CU_ASSERT(activity_other_cpus(&before, &after) >= 0);
	before.known = false;
	CU_ASSERT(activity_other_cpus(&before, &after) < 0);
}

/* This process burns CPU between two readings in which it counts as the sample's own. */
static void reads_this_host(void)
{
	static const struct pins pins = {.server = {.count = 0}};
	struct activity_pids own = {getpid(), getpid(), 0}, gone = {getpid(), 0x7fffffff, 0};
	struct activity before, after;
	volatile unsigned long spins = 0;

	activity_take(&before, &own, &pins);
	CU_ASSERT_FATAL(before.known);
	do {
		for (unsigned i = 0; i < 1000000; i++)
			spins++;
		activity_take(&after, &own, &pins);
	} while (after.own_ticks < before.own_ticks + 4);
	CU_ASSERT(after.all_ticks >= before.all_ticks + 1);
	CU_ASSERT(after.at_ns > before.at_ns);
	CU_ASSERT_EQUAL(after.rest_ticks, after.all_ticks); /* no CPU is the sample's */
	CU_ASSERT(activity_runner_share(&before, &after) > 0);
	CU_ASSERT(activity_runner_share(&before, &after) < 1.01);
	activity_take(&after, &gone, &pins);
	CU_ASSERT_FALSE(after.known);
}

static const struct suite_test tests[] = {
	{"what others did is all work less our own", counts_what_others_did},
	{"the runner's own work is apart", the_runner_is_none_of_the_others},
	{"what is not known is not a zero", says_when_it_does_not_know},
	{"this host can be read", reads_this_host},
};

SUITE_MAIN("run activity", tests)
