#include "dataplane/core/ring.h"
#include "tests/support/suite.h"

enum { CAPACITY = 16 };

static void push_bytes(struct ring *ring, uint8_t *next, uint32_t bytes)
{
	struct room rooms[2];
	struct room_writer writer = room_writer_of(rooms, ring_rooms(ring, bytes, rooms));

	for (uint32_t i = 0; i < bytes; i++)
		room_writer_fill(&writer, (*next)++, 1);
	ring_commit(ring, bytes);
}

/* Consumes and returns whether the bytes were the expected ones. */
static bool pull_bytes(struct ring *ring, uint8_t *next, uint32_t bytes)
{
	struct span spans[2];
	struct span_reader reader = span_reader_of(spans, ring_spans(ring, 0, bytes, spans));
	bool same = reader.left == bytes;

	while (reader.left > 0) {
		uint8_t byte;

		span_reader_copy(&reader, &byte, 1);
		same &= byte == (*next)++;
	}
	ring_consume(ring, bytes);
	return same;
}

static void keeps_order_over_the_edge(void)
{
	uint8_t memory[CAPACITY], in = 0, out = 0;
	struct ring ring;

	ring_init(&ring, memory, CAPACITY);
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t push = i * 7 % (ring_free(&ring) + 1);
		uint32_t pull;

		push_bytes(&ring, &in, push);
		pull = i * 5 % (ring_used(&ring) + 1);
		CU_ASSERT_TRUE(pull_bytes(&ring, &out, pull));
		CU_ASSERT_EQUAL(ring_used(&ring) + ring_free(&ring), CAPACITY);
	}
}

static void fills_to_the_last_byte(void)
{
	uint8_t memory[CAPACITY], in = 0, out = 0;
	struct room rooms[2];
	struct ring ring;

	ring_init(&ring, memory, CAPACITY);
	push_bytes(&ring, &in, 5);
	CU_ASSERT_TRUE(pull_bytes(&ring, &out, 4));
	push_bytes(&ring, &in, CAPACITY - 1);
	CU_ASSERT_EQUAL(ring_free(&ring), 0);
	CU_ASSERT_EQUAL(ring_rooms(&ring, 0, rooms), 0);
	CU_ASSERT_TRUE(pull_bytes(&ring, &out, CAPACITY));
	CU_ASSERT_EQUAL(ring_used(&ring), 0);
}

static void starts_again_when_emptied(void)
{
	uint8_t memory[CAPACITY], in = 0, out = 0;
	struct room rooms[2];
	struct ring ring;

	ring_init(&ring, memory, CAPACITY);
	for (unsigned i = 0; i < 100; i++) {
		push_bytes(&ring, &in, 11);
		CU_ASSERT_TRUE(pull_bytes(&ring, &out, 11));
		CU_ASSERT_EQUAL(ring_rooms(&ring, CAPACITY, rooms), 1);
		CU_ASSERT_PTR_EQUAL(rooms[0].base, memory);
	}
}

static void lends_from_an_offset(void)
{
	uint8_t memory[CAPACITY], in = 0, out = 0;
	struct span spans[2];
	struct ring ring;

	ring_init(&ring, memory, CAPACITY);
	push_bytes(&ring, &in, 12);
	CU_ASSERT_TRUE(pull_bytes(&ring, &out, 8));
	push_bytes(&ring, &in, 12);
	CU_ASSERT_EQUAL(ring_spans(&ring, 6, 10, spans), 2);
	CU_ASSERT_EQUAL(spans[0].base[0], 14);
	CU_ASSERT_EQUAL(spans[0].bytes, 2);
	CU_ASSERT_EQUAL(ring_spans(&ring, 8, 8, spans), 1);
	CU_ASSERT_EQUAL(spans[0].base[0], 16);
	CU_ASSERT_EQUAL(ring_spans(&ring, 0, 16, spans), 2);
	CU_ASSERT_EQUAL(spans[1].base[0], 16);
	CU_ASSERT_EQUAL(ring_spans(&ring, 0, 0, spans), 0);
}

static const struct suite_test tests[] = {
	{"bytes keep their order over the edge", keeps_order_over_the_edge},
	{"a ring fills to the last byte", fills_to_the_last_byte},
	{"a ring that was emptied starts again at its base, in one piece",
	 starts_again_when_emptied},
	{"bytes are lent from any offset", lends_from_an_offset},
};

SUITE_MAIN("ring", tests)
