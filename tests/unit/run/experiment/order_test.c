#include "apps/run/experiment/order.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

enum { CELLS_MAX = 13, RUNS_MAX = 40 };

static void make(enum order_kind kind, uint64_t seed, unsigned runs, unsigned run, unsigned cells,
		 unsigned *places)
{
	const struct order order = {.kind = kind, .seed = seed};

	order_make(&order, runs, run, cells, 1, places);
}

static void expect(enum order_kind kind, unsigned runs, unsigned run, unsigned cells,
		   const unsigned *expected)
{
	unsigned got[CELLS_MAX];

	make(kind, 1, runs, run, cells, got);
	CU_ASSERT_EQUAL(memcmp(got, expected, cells * sizeof(*expected)), 0);
}

/* Two scenarios with two variants each: 0 and 1 are compared, and 2 and 3. */
static void what_is_compared_takes_turns(void)
{
	static const unsigned expected[][4] = {
		{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 1, 2, 3}, {3, 2, 1, 0}};
	const struct order order = {.kind = ORDER_ROTATE};
	unsigned places[6], seen;

	for (unsigned run = 0; run < 4; run++) {
		order_make(&order, 4, run, 4, 2, places);
		CU_ASSERT_EQUAL(memcmp(places, expected[run], sizeof(expected[run])), 0);
	}
	for (unsigned run = 0; run < 9; run++) {
		order_make(&order, 9, run, 6, 3, places);
		seen = 0;
		for (unsigned i = 0; i < 6; i++)
			seen |= 1u << places[i];
		CU_ASSERT_EQUAL(seen, 0x3f);
		for (unsigned i = 0; i < 6; i += 3) /* a group stays together */
			CU_ASSERT_EQUAL(places[i] / 3, places[i + 2] / 3);
		CU_ASSERT_EQUAL(places[0] % 3, run % 3);
	}
}

static void every_run_has_every_cell_once(void)
{
	unsigned places[CELLS_MAX];

	for (unsigned kind = 0; kind < ORDER_KINDS; kind++) {
		for (unsigned cells = 1; cells <= CELLS_MAX; cells++) {
			for (unsigned run = 0; run < RUNS_MAX; run++) {
				unsigned seen = 0;

				make(kind, 7, RUNS_MAX, run, cells, places);
				for (unsigned i = 0; i < cells; i++)
					seen |= 1u << places[i];
				CU_ASSERT_EQUAL(seen, (1u << cells) - 1);
			}
		}
	}
}

static void rotates_from_run_to_run(void)
{
	expect(ORDER_ROTATE, 3, 0, 6, (unsigned[]){0, 1, 2, 3, 4, 5});
	expect(ORDER_ROTATE, 3, 1, 6, (unsigned[]){2, 3, 4, 5, 0, 1});
	expect(ORDER_ROTATE, 3, 2, 6, (unsigned[]){4, 5, 0, 1, 2, 3});
	/* More runs than cells: one further each time, around and around. */
	expect(ORDER_ROTATE, 5, 4, 3, (unsigned[]){1, 2, 0});
	expect(ORDER_ROTATE, 5, 1, 1, (unsigned[]){0});
}

static void rotation_puts_a_cell_in_different_places(void)
{
	unsigned places[CELLS_MAX];

	for (unsigned cells = 1; cells <= CELLS_MAX; cells++) {
		for (unsigned runs = 1; runs <= cells; runs++) {
			uint64_t seen[CELLS_MAX] = {0}; /* of each cell, a bit for each place */

			for (unsigned run = 0; run < runs; run++) {
				make(ORDER_ROTATE, 0, runs, run, cells, places);
				for (unsigned i = 0; i < cells; i++) {
					CU_ASSERT_FALSE(seen[places[i]] & 1u << i);
					seen[places[i]] |= 1u << i;
				}
			}
		}
	}
}

static void abba_goes_in_blocks_of_four(void)
{
	expect(ORDER_ABBA, 8, 0, 3, (unsigned[]){0, 1, 2});
	expect(ORDER_ABBA, 8, 1, 3, (unsigned[]){2, 1, 0});
	expect(ORDER_ABBA, 8, 2, 3, (unsigned[]){2, 1, 0});
	expect(ORDER_ABBA, 8, 3, 3, (unsigned[]){0, 1, 2});
	expect(ORDER_ABBA, 8, 4, 3, (unsigned[]){0, 1, 2});
	expect(ORDER_ABBA, 2, 1, 1, (unsigned[]){0});
}

/* How often each cell comes right behind each other one, and how often it is at each place. */
struct counts {
	unsigned behind[CELLS_MAX][CELLS_MAX];
	unsigned at[CELLS_MAX][CELLS_MAX];
};

static void count(enum order_kind kind, unsigned runs, unsigned cells, struct counts *counts_out)
{
	unsigned places[CELLS_MAX];

	*counts_out = (struct counts){{{0}}};
	for (unsigned run = 0; run < runs; run++) {
		make(kind, 1, runs, run, cells, places);
		for (unsigned i = 0; i < cells; i++) {
			counts_out->at[places[i]][i]++;
			if (i)
				counts_out->behind[places[i - 1]][places[i]]++;
		}
	}
}

static void abba_turns_neighbours_around(void)
{
	struct counts counts;

	for (unsigned cells = 2; cells <= CELLS_MAX; cells++) {
		count(ORDER_ABBA, 4, cells, &counts);
		for (unsigned i = 0; i + 1 < cells; i++) {
			CU_ASSERT_EQUAL(counts.behind[i][i + 1], 2);
			CU_ASSERT_EQUAL(counts.behind[i + 1][i], 2);
		}
	}
}

static void balance_is_in_places_and_neighbours(void)
{
	struct counts counts;

	for (unsigned cells = 2; cells <= CELLS_MAX; cells++) {
		unsigned times = cells % 2 ? 2 : 1;

		CU_ASSERT_EQUAL(order_period(ORDER_BALANCED, cells), times * cells);
		count(ORDER_BALANCED, times * cells, cells, &counts);
		for (unsigned a = 0; a < cells; a++) {
			for (unsigned b = 0; b < cells; b++) {
				CU_ASSERT_EQUAL(counts.at[a][b], times);
				CU_ASSERT_EQUAL(counts.behind[a][b], a == b ? 0 : times);
			}
		}
	}
}

static void random_repeats_with_its_seed(void)
{
	unsigned first[12], again[12], other_run[12], other_seed[12];

	for (uint64_t seed = 0; seed < 50; seed++) {
		make(ORDER_RANDOM, seed, 3, 0, 12, first);
		make(ORDER_RANDOM, seed, 3, 0, 12, again);
		make(ORDER_RANDOM, seed, 3, 1, 12, other_run);
		make(ORDER_RANDOM, seed + 1, 3, 0, 12, other_seed);
		CU_ASSERT_EQUAL(memcmp(first, again, sizeof(first)), 0);
		CU_ASSERT_NOT_EQUAL(memcmp(first, other_run, sizeof(first)), 0);
		CU_ASSERT_NOT_EQUAL(memcmp(first, other_seed, sizeof(first)), 0);
	}
}

static void reads_its_names(void)
{
	static const char *const wrong[] = {
		"",	      "shuffle",    "random(",
		"random()",   "random(-1)", "random(1",
		"random(1)x", "random(08)", "random(9223372036854775808)"};
	struct order order = {.kind = ORDER_RANDOM, .seed = 5};
	bool seeded;

	for (unsigned kind = 0; kind < ORDER_KINDS; kind++) {
		CU_ASSERT_EQUAL(order_parse(order_name(kind), &order, &seeded), 0);
		CU_ASSERT_EQUAL(order.kind, kind);
		CU_ASSERT_EQUAL(order.seed, 5);
		CU_ASSERT_FALSE(seeded);
	}
	CU_ASSERT_EQUAL(order_parse("random(7)", &order, &seeded), 0);
	CU_ASSERT_EQUAL(order.kind, ORDER_RANDOM);
	CU_ASSERT_EQUAL(order.seed, 7);
	CU_ASSERT_TRUE(seeded);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(order_parse(wrong[i], &order, &seeded), -EINVAL);
	CU_ASSERT_EQUAL(order.seed, 7);
}

static const struct suite_test tests[] = {
	{"of cells that are compared, each is first in its turn", what_is_compared_takes_turns},
	{"every run of every order has every cell once", every_run_has_every_cell_once},
	{"each run begins further on in the list of cells", rotates_from_run_to_run},
	{"in a rotation no cell is twice in one place", rotation_puts_a_cell_in_different_places},
	{"abba goes forward, backward, backward, forward", abba_goes_in_blocks_of_four},
	{"in four runs of abba neighbours stand equally often each way around",
	 abba_turns_neighbours_around},
	{"a balanced order has each cell in each place and behind each other equally often",
	 balance_is_in_places_and_neighbours},
	{"a random order is each run's own and repeats with its seed",
	 random_repeats_with_its_seed},
	{"an order is read by its name, random with its seed", reads_its_names},
};

SUITE_MAIN("run order", tests)
