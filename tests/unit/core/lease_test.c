#include "dataplane/core/lease.h"

#include "tests/support/suite.h"

#include <string.h>

enum { RING_BYTES = 64, RINGS = 3 };

static struct slab blocks;
static struct ring rings[RINGS];

static void open_all(void)
{
	CU_ASSERT_EQUAL_FATAL(slab_create(&blocks, RINGS, RING_BYTES), 0);
	for (unsigned i = 0; i < RINGS; i++)
		lease_init(&rings[i], RING_BYTES);
}

static void put(struct ring *ring, uint8_t byte)
{
	struct room rooms[2];

	lease_take(ring, &blocks);
	CU_ASSERT_EQUAL_FATAL(ring_rooms(ring, 1, rooms), 1);
	memset(rooms[0].base, byte, 1);
	ring_commit(ring, 1);
}

static void a_ring_has_memory_only_while_it_holds_something(void)
{
	open_all();
	CU_ASSERT_EQUAL(blocks.in_use, 0);
	CU_ASSERT_EQUAL(ring_free(&rings[0]), RING_BYTES);
	put(&rings[0], 1);
	put(&rings[0], 2);
	CU_ASSERT_EQUAL(blocks.in_use, 1);
	ring_consume(&rings[0], 1);
	lease_end_if_empty(&rings[0], &blocks);
	CU_ASSERT_EQUAL(blocks.in_use, 1); /* a byte is left */
	ring_consume(&rings[0], 1);
	lease_end_if_empty(&rings[0], &blocks);
	CU_ASSERT_EQUAL(blocks.in_use, 0);
	lease_end_if_empty(&rings[0], &blocks);
	CU_ASSERT_EQUAL(blocks.in_use, 0);
	slab_destroy(&blocks);
}

static void one_after_the_other_use_one_block(void)
{
	uint8_t *first;

	open_all();
	put(&rings[0], 1);
	first = rings[0].base;
	ring_consume(&rings[0], 1);
	lease_end_if_empty(&rings[0], &blocks);
	put(&rings[1], 2);
	CU_ASSERT_PTR_EQUAL(rings[1].base, first);
	lease_end(&rings[1], &blocks);
	slab_destroy(&blocks);
}

static void all_at_once_keep_apart(void)
{
	struct span spans[2];

	open_all();
	for (unsigned i = 0; i < RINGS; i++)
		put(&rings[i], (uint8_t)(i + 1));
	CU_ASSERT_EQUAL(blocks.in_use, RINGS);
	for (unsigned i = 0; i < RINGS; i++) {
		CU_ASSERT_EQUAL_FATAL(ring_spans(&rings[i], 0, 1, spans), 1);
		CU_ASSERT_EQUAL(*(const uint8_t *)spans[0].base, i + 1);
		lease_end(&rings[i], &blocks); /* what it held is dropped */
		CU_ASSERT_EQUAL(ring_used(&rings[i]), 0);
	}
	CU_ASSERT_EQUAL(blocks.in_use, 0);
	slab_destroy(&blocks);
}

static const struct suite_test tests[] = {
	{"a ring has memory only while it holds something",
	 a_ring_has_memory_only_while_it_holds_something},
	{"rings that hold bytes one after the other use one block",
	 one_after_the_other_use_one_block},
	{"rings that hold bytes at once have a block each", all_at_once_keep_apart},
};

SUITE_MAIN("lease", tests)
