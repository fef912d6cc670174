/* Rules about reserve, commit and flush. */
#include "tests/conformance/rules.h"
#include "tests/conformance/world.h"
#include "tests/support/suite.h"

#include <string.h>

static const struct tp_limits limits = {.conn_max = 16, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;
static uint8_t bytes[1 << 18], back[1 << 18];

void reserve_lends_exactly_or_nothing(void)
{
	static const size_t sizes[] = {1, 2, 88, 1460, 4096, 16384 + 24, 65535, 65536};
	struct seen *client, *server;
	struct room rooms[2];
	unsigned count;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		count = tp_reserve(client->tp, client->conn, sizes[i], rooms);
		CU_ASSERT_TRUE(count == 1 || count == 2);
		CU_ASSERT_EQUAL(room_writer_of(rooms, count).left, sizes[i]);
	}
	/* with less than all free, all is refused and a part is lent */
	CU_ASSERT_TRUE(seen_commit(client, bytes, 1));
	CU_ASSERT_EQUAL(tp_reserve(client->tp, client->conn, limits.send_bytes, rooms), 0);
	count = tp_reserve(client->tp, client->conn, limits.send_bytes - 1, rooms);
	CU_ASSERT_EQUAL(room_writer_of(rooms, count).left, limits.send_bytes - 1);
	world_close(&world);
}

void refused_reserve_is_answered_once(void)
{
	struct seen *client, *server;
	struct room rooms[2];
	size_t sent = 0;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	/* fill until nothing moves any more: the next reserve is refused and stays so */
	for (unsigned idle = 0; idle < 3;) {
		if (seen_write(client, bytes, 8192)) {
			sent += 8192;
			idle = 0;
		} else {
			world_idle(&world);
			idle++;
		}
	}
	world_idle(&world);
	client->bits = 0;
	memset(client->count, 0, sizeof(client->count));
	CU_ASSERT_EQUAL(tp_reserve(client->tp, client->conn, 8192, rooms), 0);
	world_idle(&world);
	CU_ASSERT_EQUAL(seen_count(client, TP_WRITABLE), 0);
	while (sent > 0 && !(client->bits & TP_WRITABLE)) {
		size_t step = seen_read(server, back, 4096);

		sent -= step;
		world_turn(&world);
	}
	CU_ASSERT_TRUE(client->bits & TP_WRITABLE);
	CU_ASSERT_NOT_EQUAL(tp_reserve(client->tp, client->conn, 8192, rooms), 0);
	CU_ASSERT_TRUE(world_read(&world, server, back, 0));
	for (unsigned i = 0; i < 50; i++) {
		seen_read(server, back, sizeof(back));
		world_idle(&world);
	}
	CU_ASSERT_EQUAL(seen_count(client, TP_WRITABLE), 1);
	world_close(&world);
}

void commit_may_be_less_than_reserved(void)
{
	struct seen *client, *server;
	struct room rooms[2];
	unsigned count;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	count = tp_reserve(client->tp, client->conn, 1000, rooms);
	CU_ASSERT_EQUAL(count, 1);
	memset(rooms[0].base, 'x', 1000);
	tp_commit(client->tp, client->conn, 10);
	tp_flush(client->tp, client->conn);
	CU_ASSERT_TRUE(seen_write(client, (const uint8_t *)"end", 3));
	CU_ASSERT_TRUE(world_read(&world, server, back, 13));
	CU_ASSERT_EQUAL(memcmp(back, "xxxxxxxxxxend", 13), 0);
	world_idle(&world);
	CU_ASSERT_EQUAL(seen_readable(server), 0);
	world_close(&world);
}

/* The first bytes leave, so that a ring may be empty, while the room for the second is lent. */
void flush_leaves_a_lent_room(void)
{
	enum { ROUNDS = 40, FIRST = 100, SECOND = 5000, TURNS_MAX = 1000 * 1000 };
	struct seen *client, *server;
	struct room rooms[2];
	unsigned count;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	fill_pattern(bytes, FIRST + SECOND, 9);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct room_writer writer;

		CU_ASSERT_TRUE(seen_commit(client, bytes, FIRST));
		count = tp_reserve(client->tp, client->conn, SECOND, rooms);
		/* a kernel that copies nothing may still hold what earlier rounds sent */
		for (unsigned turns = 0; count == 0 && turns < TURNS_MAX; turns++) {
			world_turn(&world);
			count = tp_reserve(client->tp, client->conn, SECOND, rooms);
		}
		CU_ASSERT_TRUE_FATAL(count > 0);
		tp_flush(client->tp, client->conn);
		writer = room_writer_of(rooms, count);
		room_writer_put(&writer, bytes + FIRST, SECOND);
		tp_commit(client->tp, client->conn, SECOND);
		CU_ASSERT_TRUE(world_read(&world, server, back, FIRST + SECOND));
		CU_ASSERT_EQUAL(memcmp(bytes, back, FIRST + SECOND), 0);
		memset(back, 0, FIRST + SECOND);
	}
	world_close(&world);
}

void commits_leave_at_the_next_poll(void)
{
	struct seen *client, *server;
	uint64_t before;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	before = world_counters(world.pair.client).writes;
	CU_ASSERT_TRUE(seen_commit(client, (const uint8_t *)"marked", 6));
	CU_ASSERT_TRUE(world_read(&world, server, back, 6));
	CU_ASSERT_EQUAL(memcmp(back, "marked", 6), 0);
	CU_ASSERT_EQUAL(world_counters(world.pair.client).writes, before + 1);
	world_close(&world);
}

/* The wire's bytes for those committed: the same, or at least as many where they are sealed. */
static bool carries(uint64_t wire_bytes, uint64_t committed_bytes)
{
	return rig_seals ? wire_bytes > committed_bytes : wire_bytes == committed_bytes;
}

void commits_keep_their_order(void)
{
	struct tp_counters before, after;
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	before = world_counters(world.pair.client);
	fill_pattern(bytes, 3000, 8);
	for (unsigned i = 0; i < 30; i++)
		CU_ASSERT_TRUE(seen_commit(client, bytes + i * 100, 100));
	tp_flush(client->tp, client->conn);
	CU_ASSERT_TRUE(world_read(&world, server, back, 3000));
	CU_ASSERT_EQUAL(memcmp(bytes, back, 3000), 0);
	after = world_counters(world.pair.client);
	CU_ASSERT_EQUAL(after.writes, before.writes + 1);
	CU_ASSERT_TRUE(carries(after.largest_write_bytes, 3000));
	world_close(&world);
}

void flushes_are_writes(void)
{
	struct seen *client, *server;
	struct tp_counters before, after;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	before = world_counters(world.pair.client);
	tp_flush(client->tp, client->conn);
	for (size_t size = 1; size <= 64; size++)
		CU_ASSERT_TRUE(seen_write(client, bytes, size));
	tp_flush(client->tp, client->conn);
	world_idle(&world);
	after = world_counters(world.pair.client);
	CU_ASSERT_EQUAL(after.writes, before.writes + 64);
	CU_ASSERT_TRUE(carries(after.written_bytes - before.written_bytes, 64 * 65 / 2));
	CU_ASSERT_TRUE(carries(after.largest_write_bytes, 64));
	CU_ASSERT_TRUE(world_read(&world, server, back, 64 * 65 / 2));
	world_close(&world);
}

void large_write_crosses_the_ring(void)
{
	static const size_t pieces[] = {1, 3, 65521, 32749, 65536, 40000};
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		size_t count = pieces[i] < 100 ? 2000 : sizeof(bytes);

		fill_pattern(bytes, count, 100 + i);
		CU_ASSERT_TRUE(world_transfer(&world, client, server, bytes, count, pieces[i]));
	}
	world_close(&world);
}

/* What they then do is judged by files.c. */
void files_are_sent_where_declared(void)
{
	if (!world_open(&world, &limits))
		return;
	CU_ASSERT_EQUAL(world.pair.client->ops->send_file != NULL,
			(world.pair.client->ops->capabilities & TP_SENDS_FILES) != 0);
	world_close(&world);
}
