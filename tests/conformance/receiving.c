/* Rules about received bytes. */
#include "dataplane/core/limits.h"
#include "tests/conformance/rules.h"
#include "tests/conformance/world.h"
#include "tests/support/suite.h"

#include <string.h>

static const struct tp_limits limits = {.conn_max = 16, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;
static uint8_t bytes[1 << 20], back[1 << 20];

void bytes_arrive_in_order(void)
{
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	fill_pattern(bytes, sizeof(bytes), 1);
	CU_ASSERT_TRUE(world_transfer(&world, client, server, bytes, sizeof(bytes), 10007));
	fill_pattern(bytes, sizeof(bytes), 2);
	CU_ASSERT_TRUE(world_transfer(&world, server, client, bytes, sizeof(bytes), 16384));
	world_close(&world);
}

void bytes_arrive_one_at_a_time(void)
{
	enum { BYTES = 500 };
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	fill_pattern(bytes, BYTES, 3);
	for (unsigned i = 0; i < BYTES; i++)
		CU_ASSERT_TRUE(seen_write(client, bytes + i, 1));
	for (unsigned i = 0; i < BYTES; i++)
		CU_ASSERT_TRUE(world_read(&world, server, back + i, 1));
	CU_ASSERT_EQUAL(memcmp(bytes, back, BYTES), 0);
	world_close(&world);
}

void readable_is_not_repeated(void)
{
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	CU_ASSERT_TRUE(seen_write(client, bytes, 100));
	CU_ASSERT_TRUE(world_until(&world, server, TP_READABLE));
	world_idle(&world);
	CU_ASSERT_EQUAL(seen_count(server, TP_READABLE), 1);
	CU_ASSERT_EQUAL(seen_read(server, back, 50), 50);
	world_idle(&world);
	CU_ASSERT_EQUAL(seen_count(server, TP_READABLE), 1);
	CU_ASSERT_TRUE(seen_write(client, bytes, 1));
	for (unsigned i = 0; i < 1000 && seen_count(server, TP_READABLE) < 2; i++)
		world_idle(&world);
	CU_ASSERT_EQUAL(seen_count(server, TP_READABLE), 2);
	world_close(&world);
}

void unread_bytes_stay(void)
{
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	fill_pattern(bytes, 300, 4);
	CU_ASSERT_TRUE(seen_write(client, bytes, 100));
	CU_ASSERT_TRUE(world_read(&world, server, back, 30));
	CU_ASSERT_TRUE(seen_write(client, bytes + 100, 200));
	CU_ASSERT_TRUE(world_read(&world, server, back + 30, 270));
	CU_ASSERT_EQUAL(memcmp(bytes, back, 300), 0);
	CU_ASSERT_EQUAL(seen_readable(server), 0);
	world_close(&world);
}

void peek_does_not_consume(void)
{
	struct span spans[2], again[2];
	struct seen *client, *server;
	unsigned count;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	fill_pattern(bytes, 100, 5);
	CU_ASSERT_TRUE(seen_write(client, bytes, 100));
	CU_ASSERT_TRUE(world_until(&world, server, TP_READABLE));
	count = tp_peek(server->tp, server->conn, spans, 2);
	CU_ASSERT_EQUAL(tp_peek(server->tp, server->conn, again, 2), count);
	CU_ASSERT_EQUAL(memcmp(spans, again, count * sizeof(spans[0])), 0);
	CU_ASSERT_TRUE(world_read(&world, server, back, 100));
	CU_ASSERT_EQUAL(memcmp(bytes, back, 100), 0);
	world_close(&world);
}

/* Writes until the sender is refused for as long as an idle spell; how many bytes went in. */
static size_t fill_up(struct seen *from, size_t bound)
{
	size_t sent = 0;

	for (unsigned idle = 0; idle < 3 && sent < bound;) {
		if (seen_write(from, bytes + sent % 65536, 1000)) {
			sent += 1000;
			idle = 0;
		} else {
			world_idle(&world);
			idle++;
		}
	}
	return sent;
}

void peek_lends_enough_in_few_spans(void)
{
	struct span spans[LIMIT_SPANS], more[256];
	struct seen *client, *server;
	size_t few, all;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	/* small pieces, and a start in the middle of the memory */
	for (unsigned i = 0; i < 600; i++) {
		CU_ASSERT_TRUE(seen_write(client, bytes, 100));
		world_turn(&world);
		if (i == 300)
			CU_ASSERT_TRUE(world_read(&world, server, back, 20000));
	}
	world_idle(&world);
	few = span_reader_of(spans, tp_peek(server->tp, server->conn, spans, LIMIT_SPANS)).left;
	all = span_reader_of(more, tp_peek(server->tp, server->conn, more, 256)).left;
	CU_ASSERT_EQUAL(all, 40000);
	CU_ASSERT_TRUE(few == all || few >= 2 * LIMIT_CHUNK_BYTES);
	world_close(&world);
}

void only_consumption_reopens_the_window(void)
{
	enum { BOUND = 64 << 20 };
	struct seen *client, *server;
	size_t sent, received = 0, step;
	bool same = true;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	fill_pattern(bytes, sizeof(bytes), 6);
	sent = fill_up(client, BOUND);
	CU_ASSERT_TRUE(sent < BOUND);
	CU_ASSERT_TRUE(sent >= limits.send_bytes / 2);
	CU_ASSERT_TRUE(seen_readable(server) <= limits.recv_bytes);
	for (unsigned turns = 0; turns < 1000000 && received < sent; turns++) {
		world_turn(&world);
		while ((step = seen_read(server, back, 1000 - received % 1000)) > 0) {
			size_t at = (received - received % 1000) % 65536 + received % 1000;

			same &= memcmp(back, bytes + at, step) == 0;
			received += step;
		}
	}
	CU_ASSERT_EQUAL(received, sent);
	CU_ASSERT_TRUE(same);
	world_close(&world);
}
