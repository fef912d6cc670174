/*
 * flight_cost: what an acknowledgement may cost at most (recovery.h), counted in runs looked at.
 *
 * The sources stand in here once more, so that each look can be counted.
 */
#include "stacks/utcp/flight.h"

static unsigned looks;

static struct flight_run *counted_at(const struct flight_pool *pool, uint32_t index)
{
	looks++;
	return flight_at(pool, index);
}

#define flight_at counted_at
#include "stacks/utcp/flight.c"
#include "stacks/utcp/rack.c"

#include "apps/sim/random.h"
#include "tests/support/suite.h"

enum {
	BASE = (int)0xffff8000, /* the flight is across the wrap */
	SEGMENT = 1000,
	WALKS = 7,    /* one for each of four blocks, for room, for losses, and to join */
	STEPS = 8,    /* for each run that changes: */
	CHANGES = 16, /* the two cuts of each block, and what they leave */
	BLOCKS = 4,
};

#define MS 1000000ull

static struct flight_pool pool;
static struct flight flight;

static uint32_t at(uint32_t offset)
{
	return (uint32_t)BASE + offset;
}

/* As many runs as a connection may have, a segment each. */
static void open_full(void)
{
	CU_ASSERT_FATAL(flight_pool_create(&pool, 1) == 0);
	flight_init(&flight);
	for (uint32_t i = 0; i < FLIGHT_RUNS_MAX; i++)
		flight_push(&pool, &flight, at(i * SEGMENT), at((i + 1) * SEGMENT),
			    1000 * MS + i * MS, 0);
	CU_ASSERT_FATAL(flight.count == FLIGHT_RUNS_MAX);
}

static void close_full(void)
{
	flight_clear(&pool, &flight);
	flight_pool_destroy(&pool);
}

/* Takes an acknowledgement with these blocks, as offsets; whether it kept to the bound. */
static bool keeps_bound(const uint32_t blocks[BLOCKS][2], uint64_t now_ns)
{
	struct flight_news news = {.now_ns = now_ns, .forward = at(0)};
	struct rack rack = rack_of_new(at(0));
	struct rack_path path = rack_path_of_new();
	uint32_t lost = flight.lost_bytes, changed;

	looks = 0;
	for (unsigned i = 0; i < BLOCKS; i++)
		flight_sack(&pool, &flight, at(blocks[i][0]), at(blocks[i][1]), &news);
	rack_take(&rack, &path, &news);
	rack_detect(&rack, &pool, &flight, 0, now_ns);
	changed = news.bytes / SEGMENT + CHANGES;
	if (flight.lost_bytes > lost)
		changed += (flight.lost_bytes - lost) / SEGMENT;
	return looks <= WALKS * FLIGHT_RUNS_MAX + STEPS * changed;
}

/* Each second segment has arrived but for the last, so room is far to seek; then blocks want cuts
 * at both of their ends. */
static void room_is_made_once(void)
{
	struct flight_news news = {.now_ns = 2000 * MS, .forward = at(0)};
	uint32_t blocks[BLOCKS][2];

	open_full();
	for (uint32_t i = 1; i < FLIGHT_RUNS_MAX - 6; i += 2)
		flight_sack(&pool, &flight, at(i * SEGMENT), at((i + 1) * SEGMENT), &news);
	CU_ASSERT(flight.count == FLIGHT_RUNS_MAX);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		blocks[i][0] = (112 + 2 * i) * SEGMENT + 100;
		blocks[i][1] = blocks[i][0] + SEGMENT - 200;
	}
	CU_ASSERT(keeps_bound(blocks, 1100 * MS));
	close_full();
}

/* A range within the flight, the shorter the larger `part` is. */
static void draw_block(struct random *random, uint32_t block[2], unsigned part)
{
	const uint32_t end = FLIGHT_RUNS_MAX * SEGMENT;

	block[0] = (uint32_t)random_below(random, end - 1);
	block[1] = block[0] + 1 + (uint32_t)random_below(random, end - block[0] - 1) / part;
}

static void any_blocks_keep_the_bound(void)
{
	struct random random = {.state = 7};

	for (unsigned round = 0; round < 200; round++) {
		open_full();
		for (unsigned ack = 0; ack < 40; ack++) {
			uint32_t blocks[BLOCKS][2];

			for (unsigned i = 0; i < BLOCKS; i++)
				draw_block(&random, blocks[i], 1 + round);
			CU_ASSERT(keeps_bound(blocks, 1050 * MS + ack * MS));
		}
		close_full();
	}
}

static const struct suite_test tests[] = {
	{"an acknowledgement makes room for its blocks in one walk", room_is_made_once},
	{"no blocks cost more than seven walks and what they change", any_blocks_keep_the_bound},
};

SUITE_MAIN("flight_cost", tests)
