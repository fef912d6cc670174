/* Rules about send_file, for the stacks that declare it. */
#include "tests/conformance/rules.h"
#include "tests/conformance/world.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 12 * 1000 * 1000 /* more than the kernel holds */ };

static const struct tp_limits limits = {.conn_max = 16, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;
static struct seen *client, *server;
static uint8_t bytes[FILE_BYTES], back[FILE_BYTES];
static int file = -1;
static void (*before)(int); /* the disposition of SIGPIPE */

/* A joined pair, and a file of FILE_BYTES whose bytes differ from place to place. */
static bool open_all(void)
{
	char name[] = "/tmp/weir-conformance-file-XXXXXX";

	if (!world_open_joined(&world, &limits, &client, &server))
		return false;
	before = signal(SIGPIPE, SIG_IGN); /* as send_file asks of the process */
	file = mkstemp(name);
	CU_ASSERT_TRUE_FATAL(file >= 0);
	unlink(name);
	fill_pattern(bytes, FILE_BYTES, 77);
	CU_ASSERT_EQUAL_FATAL(write(file, bytes, FILE_BYTES), FILE_BYTES);
	return true;
}

static void close_all(void)
{
	signal(SIGPIPE, before);
	close(file);
	world_close(&world);
}

static int64_t send_file(uint64_t offset, size_t count)
{
	return client->tp->ops->send_file(client->tp, client->conn, file, offset, count);
}

/* Sends the file from `offset` on to its end, the peer reading along; what the last call said. */
static int64_t send_all(uint64_t offset, size_t *read_bytes)
{
	int64_t sent = 0;

	while (offset < FILE_BYTES && sent >= 0) {
		sent = send_file(offset, FILE_BYTES - offset);
		offset += sent > 0 ? (uint64_t)sent : 0;
		world_turn(&world);
		*read_bytes += seen_read(server, back + *read_bytes, FILE_BYTES - *read_bytes);
	}
	return sent;
}

void files_arrive_behind_what_was_committed(void)
{
	struct tp_counters earlier, later;
	size_t count = 0;

	if (!open_all())
		return;
	earlier = world_counters(world.pair.client);
	/* the first 5,000 come from memory, marked and not flushed */
	CU_ASSERT_TRUE(seen_commit(client, bytes, 5000));
	CU_ASSERT_TRUE(send_all(5000, &count) >= 0);
	CU_ASSERT_TRUE(world_read(&world, server, back + count, FILE_BYTES - count));
	CU_ASSERT_EQUAL(memcmp(bytes, back, FILE_BYTES), 0);
	later = world_counters(world.pair.client);
	CU_ASSERT_EQUAL(later.written_bytes - earlier.written_bytes, FILE_BYTES);
	CU_ASSERT_TRUE(later.writes >= earlier.writes + 2);
	/* and memory follows a file */
	CU_ASSERT_TRUE(seen_write(client, bytes, 100));
	CU_ASSERT_TRUE(world_read(&world, server, back, 100));
	CU_ASSERT_EQUAL(memcmp(bytes, back, 100), 0);
	close_all();
}

/* Sends what is taken until nothing is; how much that was. */
static uint64_t fill_peer(void)
{
	uint64_t offset = 0;
	int64_t sent;

	for (unsigned idle = 0; idle < 3; idle += sent == 0) {
		sent = send_file(offset % FILE_BYTES, FILE_BYTES - offset % FILE_BYTES);
		CU_ASSERT_TRUE_FATAL(sent >= 0);
		offset += (uint64_t)sent;
		if (sent == 0)
			world_idle(&world);
	}
	return offset;
}

void a_file_without_room_is_told_once(void)
{
	uint64_t unread;

	if (!open_all())
		return;
	unread = fill_peer();
	world_idle(&world);
	client->bits = 0;
	memset(client->count, 0, sizeof(client->count));
	CU_ASSERT_EQUAL(send_file(0, 1000), 0);
	world_idle(&world);
	CU_ASSERT_EQUAL(seen_count(client, TP_WRITABLE), 0);
	while (unread > 0 && !(client->bits & TP_WRITABLE)) {
		unread -= seen_read(server, back, 65536);
		world_turn(&world);
	}
	CU_ASSERT_TRUE(client->bits & TP_WRITABLE);
	CU_ASSERT_TRUE(send_file(0, 1000) > 0);
	for (unsigned i = 0; i < 200; i++) {
		seen_read(server, back, sizeof(back));
		world_idle(&world);
	}
	CU_ASSERT_EQUAL(seen_count(client, TP_WRITABLE), 1);
	close_all();
}

void a_file_behind_full_memory_waits_for_it(void)
{
	size_t committed = 0, count = 0;
	bool told = false;

	if (!open_all())
		return;
	for (unsigned idle = 0; idle < 3;) {
		if (committed + 4096 <= FILE_BYTES && seen_write(client, bytes + committed, 4096)) {
			committed += 4096;
			idle = 0;
		} else {
			world_idle(&world);
			idle++;
		}
	}
	client->bits = 0;
	CU_ASSERT_EQUAL(send_file(committed, 10), 0);
	while (count < committed) {
		count += seen_read(server, back + count, committed - count);
		world_turn(&world);
		told |= (client->bits & TP_WRITABLE) != 0;
	}
	CU_ASSERT_TRUE(told || world_until(&world, client, TP_WRITABLE));
	CU_ASSERT_EQUAL(send_file(committed, 10), 10);
	CU_ASSERT_TRUE(world_read(&world, server, back + count, 10));
	CU_ASSERT_EQUAL(memcmp(bytes, back, committed + 10), 0);
	close_all();
}

void a_file_before_the_connection_is_told_once(void)
{
	if (!open_all())
		return;
	client = world_connect(&world);
	CU_ASSERT_PTR_NOT_NULL_FATAL(client);
	CU_ASSERT_EQUAL(send_file(0, 10), 0);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CONNECTED | TP_WRITABLE));
	CU_ASSERT_EQUAL(send_file(0, 10), 10);
	world_idle(&world);
	CU_ASSERT_EQUAL(seen_count(client, TP_WRITABLE), 1);
	close_all();
}

/* A room that is lent stays where it is, whatever a file does; its bytes follow. */
void a_file_leaves_a_lent_room(void)
{
	struct room rooms[2];
	struct room_writer writer;
	unsigned count;

	if (!open_all())
		return;
	CU_ASSERT_TRUE(seen_commit(client, bytes, 100));
	count = tp_reserve(client->tp, client->conn, 300, rooms);
	CU_ASSERT_TRUE_FATAL(count > 0);
	CU_ASSERT_EQUAL(send_file(100, 200), 200);
	writer = room_writer_of(rooms, count);
	room_writer_put(&writer, bytes + 300, 300);
	tp_commit(client->tp, client->conn, 300);
	CU_ASSERT_TRUE(world_read(&world, server, back, 600));
	CU_ASSERT_EQUAL(memcmp(bytes, back, 600), 0);
	close_all();
}

void what_is_no_longer_in_the_file_is_said(void)
{
	if (!open_all())
		return;
	CU_ASSERT_EQUAL(ftruncate(file, 1000), 0);
	CU_ASSERT_EQUAL(send_file(0, 5000), 1000);
	CU_ASSERT_EQUAL(send_file(1000, 4000), -ENODATA);
	close(file);
	CU_ASSERT_EQUAL(send_file(0, 1000), -EBADF);
	/* the connection is as before */
	CU_ASSERT_TRUE(seen_write(client, bytes + 1000, 500));
	CU_ASSERT_TRUE(world_read(&world, server, back, 1500));
	CU_ASSERT_EQUAL(memcmp(bytes, back, 1500), 0);
	file = dup(0);
	close_all();
}

void nothing_is_sent_after_the_end(void)
{
	struct tp_counters earlier, later;

	if (!open_all())
		return;
	tp_finish(client->tp, client->conn);
	earlier = world_counters(world.pair.client);
	CU_ASSERT_EQUAL(send_file(0, 1000), 0);
	CU_ASSERT_TRUE(world_until(&world, server, TP_FINISHED));
	CU_ASSERT_EQUAL(seen_readable(server), 0);
	later = world_counters(world.pair.client);
	CU_ASSERT_EQUAL(later.writes, earlier.writes);
	tp_abort(client->tp, client->conn);
	CU_ASSERT_EQUAL(send_file(0, 1000), 0);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
	close_all();
}

void a_peer_that_reset_ends_it_without_a_signal(void)
{
	if (!open_all())
		return;
	tp_abort(server->tp, server->conn);
	for (unsigned i = 0; i < 1000 && !(client->bits & TP_CLOSED); i++) {
		CU_ASSERT_TRUE(send_file(0, FILE_BYTES) >= 0);
		world_turn(&world);
	}
	CU_ASSERT_TRUE(client->bits & TP_CLOSED);
	close_all();
}
