#include "stacks/utcp/reassembly.h"

#include "apps/sim/random.h"
#include "tests/support/suite.h"

#include <string.h>

enum { SPACE = 400 };

static bool in_order_and_apart(const struct reassembly *kept)
{
	for (uint32_t i = 0; i < kept->count; i++)
		if (kept->ranges[i].end - kept->ranges[i].begin - 1 >= SPACE ||
		    (i > 0 && (int32_t)(kept->ranges[i].begin - kept->ranges[i - 1].end) <= 0))
			return false;
	return kept->count <= REASSEMBLY_RANGES;
}

static void joins(void)
{
	struct reassembly kept = {0};

	CU_ASSERT(reassembly_add(&kept, 10, 20) && reassembly_add(&kept, 30, 40));
	CU_ASSERT(kept.count == 2);
	CU_ASSERT(reassembly_add(&kept, 20, 30));
	CU_ASSERT(kept.count == 1 && kept.ranges[0].begin == 10 && kept.ranges[0].end == 40);
	CU_ASSERT(reassembly_take(&kept, 9) == 9 && kept.count == 1);
	CU_ASSERT(reassembly_take(&kept, 10) == 40 && kept.count == 0);
}

static void bounded(void)
{
	struct reassembly kept = {0};

	for (uint32_t i = 0; i < 1000; i++)
		CU_ASSERT(reassembly_add(&kept, 2 * i, 2 * i + 1) == (i < REASSEMBLY_RANGES));
	CU_ASSERT(kept.count == REASSEMBLY_RANGES && kept.ranges[0].begin == 0);
	CU_ASSERT(kept.ranges[REASSEMBLY_RANGES - 1].end == 2 * REASSEMBLY_RANGES - 1);
}

/* RFC 2018 8: what was told stays, and may grow and be joined. */
static void nothing_is_withdrawn(void)
{
	uint32_t far = 2 * REASSEMBLY_RANGES;
	struct reassembly kept = {0};

	for (uint32_t i = far; i > REASSEMBLY_RANGES; i--)
		CU_ASSERT(reassembly_add(&kept, 2 * i, 2 * i + 1));
	CU_ASSERT(!reassembly_add(&kept, 1, 2)); /* nearer than all */
	CU_ASSERT(kept.ranges[REASSEMBLY_RANGES - 1].end == 2 * far + 1);
	CU_ASSERT(reassembly_add(&kept, 2 * far - 1, 2 * far + 2));
	CU_ASSERT(kept.count == REASSEMBLY_RANGES - 1);
	CU_ASSERT(reassembly_add(&kept, 1, 2) && kept.count == REASSEMBLY_RANGES);
}

static void tells_the_latest(void)
{
	struct reassembly kept = {.clock = REASSEMBLY_CLOCK_MAX - 4};
	struct seq_range told[2];

	for (uint32_t i = 1; i < 5; i++) {
		CU_ASSERT(reassembly_add(&kept, 10 * i, 10 * i + 5));
		CU_ASSERT(reassembly_latest(&kept, told, 1) == 1 && told[0].begin == 10 * i);
	}
	CU_ASSERT(reassembly_latest(&kept, told, 2) == 2 && told[1].begin == 30);
	CU_ASSERT(reassembly_add(&kept, 20, 25)); /* and the clock begins anew */
	CU_ASSERT(reassembly_latest(&kept, told, 2) == 2 && told[0].begin == 20);
	CU_ASSERT(reassembly_add(&kept, 40, 45));
	CU_ASSERT(reassembly_latest(&kept, told, 2) == 2);
	CU_ASSERT(told[0].begin == 40 && told[1].begin == 20);
}

/* Against one flag a byte, across the wrap; few enough ranges that none is refused. */
static void agrees_with_a_map(void)
{
	struct random random = {7};

	for (unsigned round = 0; round < 3000; round++) {
		uint32_t base = (uint32_t)-100, next = base, reach;
		struct reassembly kept = {0};
		bool map[SPACE + 1] = {0};

		for (unsigned i = 0; i < REASSEMBLY_RANGES; i++) {
			uint32_t begin = 1 + (uint32_t)random_below(&random, SPACE - 1);
			uint32_t bytes = 1 + (uint32_t)random_below(&random, 40);

			if (begin + bytes > SPACE)
				bytes = SPACE - begin;
			CU_ASSERT(reassembly_add(&kept, base + begin, base + begin + bytes));
			memset(map + begin, true, bytes);
			CU_ASSERT_FATAL(in_order_and_apart(&kept));
		}
		next = 1 + (uint32_t)random_below(&random, SPACE - 1);
		for (reach = next; map[reach]; reach++)
			;
		CU_ASSERT_FATAL(reassembly_take(&kept, base + next) - base == reach ||
				reach < next + 1);
	}
}

static const struct suite_test tests[] = {
	{"touching ranges become one", joins},
	{"a flood of one-byte ranges stays bounded", bounded},
	{"what is kept is not withdrawn for what comes nearer", nothing_is_withdrawn},
	{"the ranges last added to are told, however many were before", tells_the_latest},
	{"ranges equal a map of bytes, over the wrap", agrees_with_a_map},
};

SUITE_MAIN("reassembly", tests)
