#include "dataplane/core/timer.h"

#include "apps/sim/random.h"
#include "tests/support/suite.h"

#define TICK (1ull << TIMER_TICK_SHIFT)

enum { COUNT = 500 };

static unsigned fire(struct timer_wheel *wheel, uint64_t now_ns)
{
	struct list due;
	unsigned count = 0;

	list_init(&due);
	timer_advance(wheel, now_ns, &due);
	while (list_pop(&due))
		count++;
	return count;
}

static void fires_in_time(void)
{
	static const uint64_t distances[] = {0,
					     1,
					     TICK,
					     63 * TICK,
					     64 * TICK,
					     65 * TICK + 7,
					     4097 * TICK,
					     300000 * TICK,
					     20000000 * TICK,
					     2000000000 * TICK};
	struct timer_wheel wheel;
	struct timer timer;

	for (unsigned i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		uint64_t start = 12345 * TICK + 99, at = start + distances[i], now = start;

		timer_wheel_init(&wheel, start);
		timer_init(&timer);
		timer_arm(&wheel, &timer, at);
		while (timer.at_ns != TIMER_NEVER) {
			uint64_t next = timer_next(&wheel);

			CU_ASSERT_FATAL(next != TIMER_NEVER && next > now - TICK);
			now = next;
			if (fire(&wheel, now))
				break;
		}
		CU_ASSERT(now >= at && now < at + 2 * TICK);
		CU_ASSERT(timer_next(&wheel) == TIMER_NEVER);
	}
}

static void is_lazy(void)
{
	struct timer_wheel wheel;
	struct timer timer;

	timer_wheel_init(&wheel, 0);
	timer_init(&timer);
	timer_arm(&wheel, &timer, 100 * TICK);
	timer_arm(&wheel, &timer, 200 * TICK);
	CU_ASSERT(timer.at_ns == 100 * TICK);
	timer_arm(&wheel, &timer, 50 * TICK);
	CU_ASSERT(fire(&wheel, 49 * TICK) == 0);
	CU_ASSERT(fire(&wheel, 50 * TICK) == 1);
	CU_ASSERT(fire(&wheel, 1000 * TICK) == 0);
}

static void cancels(void)
{
	struct timer_wheel wheel;
	struct timer one, two;

	timer_wheel_init(&wheel, 0);
	timer_init(&one);
	timer_init(&two);
	timer_arm(&wheel, &one, 10 * TICK);
	timer_arm(&wheel, &two, 10 * TICK);
	timer_cancel(&wheel, &one);
	timer_cancel(&wheel, &one);
	CU_ASSERT(fire(&wheel, 10 * TICK) == 1);
	CU_ASSERT(timer_next(&wheel) == TIMER_NEVER);
}

/* Against a plain array of deadlines, with steps of every size. */
static void agrees_with_a_list(void)
{
	static struct timer timers[COUNT];
	struct random random = {42};
	struct timer_wheel wheel;
	uint64_t now = 5 * TICK;

	timer_wheel_init(&wheel, now);
	for (unsigned i = 0; i < COUNT; i++)
		timer_init(&timers[i]);
	for (unsigned round = 0; round < 2000; round++) {
		uint64_t earliest = TIMER_NEVER;
		unsigned late = 0;

		for (unsigned i = 0; i < 20; i++)
			timer_arm(&wheel, &timers[random_below(&random, COUNT)],
				  now + random_below(&random, TICK << random_below(&random, 26)));
		timer_cancel(&wheel, &timers[random_below(&random, COUNT)]);
		for (unsigned i = 0; i < COUNT; i++)
			if (timers[i].at_ns < earliest)
				earliest = timers[i].at_ns;
		CU_ASSERT(timer_next(&wheel) < earliest + 2 * TICK || earliest == TIMER_NEVER);
		now += random_below(&random, TICK << random_below(&random, 24));
		fire(&wheel, now);
		for (unsigned i = 0; i < COUNT; i++)
			late += timers[i].at_ns != TIMER_NEVER && timers[i].at_ns + 2 * TICK <= now;
		CU_ASSERT_FATAL(late == 0);
	}
}

static const struct suite_test tests[] = {
	{"a timer fires at its tick, near or hours away", fires_in_time},
	{"a timer moves only to an earlier time", is_lazy},
	{"a cancelled timer does not fire", cancels},
	{"after any step no timer is late", agrees_with_a_list},
};

SUITE_MAIN("timer", tests)
