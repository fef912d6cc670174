/* Rules about how connections come about, and about their number. */
#include "tests/conformance/rules.h"
#include "tests/conformance/world.h"
#include "tests/support/suite.h"

#include <malloc.h>
#include <errno.h>
#include <string.h>

static const struct tp_limits limits = {.conn_max = 256, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;

void connect_leads_to_connected_and_accepted(void)
{
	struct seen *client, *server;

	if (!world_open(&world, &limits))
		return;
	if (world_join(&world, &client, &server)) {
		world_idle(&world);
		CU_ASSERT_EQUAL(client->bits, TP_CONNECTED);
		CU_ASSERT_EQUAL(seen_count(client, TP_CONNECTED), 1);
		CU_ASSERT_EQUAL(server->bits, TP_ACCEPTED);
		CU_ASSERT_EQUAL(seen_count(server, TP_ACCEPTED), 1);
	}
	world_close(&world);
}

void connect_to_nobody_is_refused(void)
{
	struct seen *client;

	if (!world_open(&world, &limits))
		return;
	if (!(world.pair.client->ops->capabilities & TP_REFUSAL_IS_KNOWN))
		suite_skip("the stack does not declare that refusal is known");
	world.pair.addr = world.pair.nobody;
	client = world_connect(&world);
	if (client) {
		CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
		world_idle(&world);
		CU_ASSERT_EQUAL(client->bits, TP_CLOSED);
		CU_ASSERT_EQUAL(seen_count(client, TP_CLOSED), 1);
		CU_ASSERT_EQUAL(client->reason, TP_REFUSED);
	}
	world_close(&world);
}

/* The second one, since the first may bring the C library's own in. */
void connect_takes_no_memory(void)
{
	struct seen *client, *server;
	struct mallinfo2 before, after;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	before = mallinfo2();
	client = world_connect(&world);
	after = mallinfo2();
	CU_ASSERT_TRUE(rig_seals || after.uordblks == before.uordblks);
	CU_ASSERT_TRUE(rig_seals || after.hblkhd == before.hblkhd);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CONNECTED));
	world_close(&world);
}

void listening_twice_is_refused(void)
{
	struct tp_error error = {{0}};
	struct tp *tp;

	if (!world_open(&world, &limits))
		return;
	tp = world.pair.server;
	CU_ASSERT_EQUAL(tp->ops->listen(tp, &world.pair.addr, &error), -EADDRINUSE);
	CU_ASSERT_NOT_EQUAL(error.text[0], '\0');
	world_close(&world);
}

void full_client_refuses_connect(void)
{
	static const struct tp_limits small = {
		.conn_max = 4, .recv_bytes = 65536, .send_bytes = 65536};
	struct seen *client, *server;
	struct tp_error error = {{0}};
	struct tp_conn *conn = NULL;
	struct tp *tp;

	if (!world_open(&world, &small))
		return;
	tp = world.pair.client;
	for (unsigned i = 0; i < small.conn_max; i++)
		CU_ASSERT_TRUE(world_join(&world, &client, &server));
	CU_ASSERT_EQUAL(tp->ops->connect(tp, &world.pair.addr, NULL, &conn, &error), -ENOBUFS);
	CU_ASSERT_PTR_NULL(conn);
	CU_ASSERT_NOT_EQUAL(error.text[0], '\0');
	tp_abort(tp, client->conn);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
	CU_ASSERT_TRUE(world_until_reset(&world, server));
	world_idle(&world);
	CU_ASSERT_TRUE(world_join(&world, &client, &server));
	world_close(&world);
}

void full_server_refuses_newcomers(void)
{
	static const struct tp_limits small = {
		.conn_max = 2, .recv_bytes = 65536, .send_bytes = 65536};
	struct seen *first_client, *first_server, *client, *server, *extra, *later;
	uint8_t bytes[1000];

	if (!world_open_uneven(&world, &small, &limits))
		return;
	CU_ASSERT_TRUE_FATAL(world_join(&world, &first_client, &first_server));
	CU_ASSERT_TRUE_FATAL(world_join(&world, &client, &server));
	extra = world_connect(&world);
	CU_ASSERT_PTR_NOT_NULL_FATAL(extra);
	world_idle(&world);
	CU_ASSERT_EQUAL(world.accepted_count, 2);
	CU_ASSERT_TRUE(world_counters(world.pair.server).accepts_refused > 0);
	fill_pattern(bytes, sizeof(bytes), 7);
	CU_ASSERT_TRUE(world_transfer(&world, client, server, bytes, sizeof(bytes), 100));
	/*
	 * a place becomes free: the newcomer gets it if its stack still tries, else the next one
	 * does
	 */
	tp_abort(first_client->tp, first_client->conn);
	CU_ASSERT_TRUE(world_until_reset(&world, first_server));
	world_idle(&world);
	later = extra->bits & (TP_CLOSED | TP_FINISHED) ? world_connect(&world) : extra;
	CU_ASSERT_PTR_NOT_NULL_FATAL(later);
	CU_ASSERT_TRUE(world_until(&world, later, TP_CONNECTED));
	CU_ASSERT_FALSE(server->bits & TP_CLOSED);
	world_close(&world);
}

void many_connections_keep_apart(void)
{
	enum { CONNS = 64, BYTES = 20000 };
	static struct seen *clients[CONNS], *servers[CONNS];
	static uint8_t bytes[BYTES], back[BYTES];

	if (!world_open(&world, &limits))
		return;
	for (unsigned i = 0; i < CONNS; i++)
		if (!world_join(&world, &clients[i], &servers[i]))
			goto out;
	for (unsigned i = 0; i < CONNS; i++) {
		fill_pattern(bytes, BYTES, i);
		CU_ASSERT_TRUE(seen_write(clients[i], bytes, BYTES));
	}
	for (unsigned i = CONNS; i-- > 0;) {
		fill_pattern(bytes, BYTES, i);
		CU_ASSERT_TRUE(world_read(&world, servers[i], back, BYTES));
		CU_ASSERT_EQUAL(memcmp(bytes, back, BYTES), 0);
	}
out:
	world_close(&world);
}

void slots_are_reused(void)
{
	enum { CYCLES = 500 };
	static const struct tp_limits small = {
		.conn_max = 8, .recv_bytes = 65536, .send_bytes = 65536};
	struct seen *client, *server;
	uint8_t bytes[100], back[100];

	if (!world_open(&world, &small))
		return;
	for (unsigned i = 0; i < CYCLES; i++) {
		if (!world_join(&world, &client, &server))
			break;
		fill_pattern(bytes, sizeof(bytes), i);
		CU_ASSERT_TRUE(seen_write(client, bytes, sizeof(bytes)));
		CU_ASSERT_TRUE(world_read(&world, server, back, sizeof(back)));
		CU_ASSERT_EQUAL(memcmp(bytes, back, sizeof(bytes)), 0);
		CU_ASSERT_EQUAL(seen_readable(client), 0);
		/*
		 * who ends first alternates, so that neither side collects all the waiting states
		 */
		tp_finish(i % 2 ? client->tp : server->tp, i % 2 ? client->conn : server->conn);
		CU_ASSERT_TRUE(world_until(&world, i % 2 ? server : client, TP_FINISHED));
		tp_finish(i % 2 ? server->tp : client->tp, i % 2 ? server->conn : client->conn);
		if (!world_until(&world, client, TP_CLOSED) ||
		    !world_until(&world, server, TP_CLOSED)) {
			CU_FAIL("a cycle does not close");
			break;
		}
	}
	CU_ASSERT_EQUAL(world_counters(world.pair.client).closed, CYCLES);
	CU_ASSERT_EQUAL(world_counters(world.pair.server).closed, CYCLES);
	world_close(&world);
}
