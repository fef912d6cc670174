/* Rules about finish, abort and close. */
#include "tests/conformance/rules.h"
#include "tests/conformance/world.h"
#include "tests/support/suite.h"

#include <string.h>

enum { MANY = 100 };

static const struct tp_limits limits = {.conn_max = 128, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;
static uint8_t bytes[60000], back[60000];

static void finish(struct seen *seen)
{
	tp_finish(seen->tp, seen->conn);
}

/* Both ends are to close as done, once. */
static void expect_done(struct seen *client, struct seen *server)
{
	CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
	CU_ASSERT_TRUE(world_until(&world, server, TP_CLOSED));
	world_idle(&world);
	CU_ASSERT_EQUAL(seen_count(client, TP_CLOSED), 1);
	CU_ASSERT_EQUAL(seen_count(server, TP_CLOSED), 1);
	CU_ASSERT_EQUAL(client->reason, TP_DONE);
	CU_ASSERT_EQUAL(server->reason, TP_DONE);
	CU_ASSERT_EQUAL(seen_count(client, TP_FINISHED), 1);
	CU_ASSERT_EQUAL(seen_count(server, TP_FINISHED), 1);
}

void finish_delivers_first(void)
{
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	fill_pattern(bytes, 20100, 9);
	CU_ASSERT_TRUE(seen_write(client, bytes, 20000));
	CU_ASSERT_TRUE(seen_commit(client, bytes + 20000, 100));
	finish(client);
	CU_ASSERT_TRUE(world_until(&world, server, TP_FINISHED));
	CU_ASSERT_TRUE(world_read(&world, server, back, 20100));
	CU_ASSERT_EQUAL(memcmp(bytes, back, 20100), 0);
	CU_ASSERT_EQUAL(seen_readable(server), 0);
	world_close(&world);
}

void half_closed_still_sends(void)
{
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	finish(client);
	CU_ASSERT_TRUE(world_until(&world, server, TP_FINISHED));
	CU_ASSERT_FALSE(server->bits & TP_CLOSED);
	fill_pattern(bytes, sizeof(bytes), 10);
	CU_ASSERT_TRUE(world_transfer(&world, server, client, bytes, sizeof(bytes), 7000));
	CU_ASSERT_FALSE(client->bits & (TP_CLOSED | TP_FINISHED));
	finish(server);
	expect_done(client, server);
	world_close(&world);
}

void both_finished_is_done(void)
{
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	finish(server);
	CU_ASSERT_TRUE(world_until(&world, client, TP_FINISHED));
	world_idle(&world);
	CU_ASSERT_FALSE(client->bits & TP_CLOSED);
	CU_ASSERT_FALSE(server->bits & TP_CLOSED);
	finish(client);
	expect_done(client, server);
	world_close(&world);
}

void finish_at_once_from_both(void)
{
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	CU_ASSERT_TRUE(seen_write(client, bytes, 500));
	CU_ASSERT_TRUE(seen_write(server, bytes, 700));
	finish(client);
	finish(server);
	CU_ASSERT_TRUE(world_until(&world, client, TP_READABLE | TP_FINISHED));
	CU_ASSERT_TRUE(world_until(&world, server, TP_READABLE | TP_FINISHED));
	expect_done(client, server);
	world_close(&world);
}

void finish_twice_is_harmless(void)
{
	struct seen *client, *server;
	struct room rooms[2];

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	CU_ASSERT_TRUE(seen_write(client, bytes, 10));
	finish(client);
	finish(client);
	CU_ASSERT_EQUAL(tp_reserve(client->tp, client->conn, 10, rooms), 0);
	tp_flush(client->tp, client->conn);
	CU_ASSERT_TRUE(world_until(&world, server, TP_FINISHED));
	finish(client);
	CU_ASSERT_EQUAL(seen_readable(server), 10);
	finish(server);
	expect_done(client, server);
	world_close(&world);
}

void abort_resets(void)
{
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	CU_ASSERT_TRUE(seen_write(client, bytes, 100));
	CU_ASSERT_TRUE(world_until(&world, server, TP_READABLE));
	tp_abort(client->tp, client->conn);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
	CU_ASSERT_TRUE(world_until_reset(&world, server));
	world_idle(&world);
	CU_ASSERT_EQUAL(seen_count(client, TP_CLOSED), 1);
	CU_ASSERT_EQUAL(seen_count(server, TP_CLOSED), 1);
	CU_ASSERT_EQUAL(client->reason, TP_ABORTED);
	CU_ASSERT_NOT_EQUAL(server->reason, TP_LINK_DOWN);
	world_close(&world);
}

/* A neighbour is reset before; where a stack knows why, it is told of the neighbour. */
void ends_in_order_have_no_fault(void)
{
	struct seen *clients[3], *servers[3];

	if (!world_open_joined(&world, &limits, &clients[0], &servers[0]))
		return;
	for (unsigned i = 1; i < 3; i++)
		CU_ASSERT_TRUE_FATAL(world_join(&world, &clients[i], &servers[i]));
	tp_abort(servers[0]->tp, servers[0]->conn);
	CU_ASSERT_TRUE(world_until_reset(&world, clients[0]));
	tp_abort(clients[1]->tp, clients[1]->conn);
	CU_ASSERT_TRUE(world_until(&world, clients[1], TP_CLOSED));
	CU_ASSERT_PTR_NULL(tp_fault_of(clients[1]->tp, clients[1]->conn).text);
	finish(servers[2]);
	CU_ASSERT_TRUE(world_until(&world, clients[2], TP_FINISHED));
	finish(clients[2]);
	CU_ASSERT_TRUE(world_until(&world, clients[2], TP_CLOSED));
	CU_ASSERT_PTR_NULL(tp_fault_of(clients[2]->tp, clients[2]->conn).text);
	world_close(&world);
}

void abort_before_connected(void)
{
	struct seen *client, *other, *server;

	if (!world_open(&world, &limits))
		return;
	client = world_connect(&world);
	if (client) {
		tp_abort(client->tp, client->conn);
		CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
		world_idle(&world);
		CU_ASSERT_EQUAL(seen_count(client, TP_CLOSED), 1);
		CU_ASSERT_EQUAL(client->reason, TP_ABORTED);
		world.accepted_count = 0;
		CU_ASSERT_TRUE(world_join(&world, &other, &server));
	}
	world_close(&world);
}

void abort_comes_before_what_was_not_told(void)
{
	struct seen *client, *server, *other_client, *other_server;
	unsigned before, turns = 0;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	CU_ASSERT_TRUE(world_join(&world, &other_client, &other_server));
	/* both clients have bytes and an end to tell, and there is room for one event a poll */
	world.event_room = 1;
	CU_ASSERT_TRUE(seen_write(server, bytes, 100));
	CU_ASSERT_TRUE(seen_write(other_server, bytes, 100));
	finish(server);
	finish(other_server);
	finish(client);
	finish(other_client);
	while (!((client->bits | other_client->bits) & TP_READABLE) && turns++ < 100000)
		world_turn(&world);
	if (client->bits & TP_READABLE)
		client = other_client;
	before = client->bits;
	tp_abort(client->tp, client->conn);
	CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
	CU_ASSERT_EQUAL(client->bits, before | TP_CLOSED);
	CU_ASSERT_EQUAL(client->reason, TP_ABORTED);
	CU_ASSERT_EQUAL(seen_count(client, TP_CLOSED), 1);
	world_close(&world);
}

/* Joins MANY pairs. */
static bool open_many(struct seen *clients[MANY], struct seen *servers[MANY])
{
	if (!world_open(&world, &limits))
		return false;
	for (unsigned i = 0; i < MANY; i++)
		if (!world_join(&world, &clients[i], &servers[i])) {
			world_close(&world);
			return false;
		}
	return true;
}

void many_aborts_reach_all_peers(void)
{
	struct seen *clients[MANY], *servers[MANY];

	if (!open_many(clients, servers))
		return;
	for (unsigned i = 0; i < MANY; i++)
		tp_abort(servers[i]->tp, servers[i]->conn);
	for (unsigned i = 0; i < MANY; i++) {
		CU_ASSERT_TRUE(world_until_reset(&world, clients[i]));
		CU_ASSERT_TRUE(world_until(&world, servers[i], TP_CLOSED));
		CU_ASSERT_NOT_EQUAL(clients[i]->reason, TP_LINK_DOWN);
		CU_ASSERT_EQUAL(servers[i]->reason, TP_ABORTED);
	}
	world_close(&world);
}

void calls_after_the_end_are_not_counted(void)
{
	struct tp_counters client_before, server_before, counters;
	struct seen *client, *server;
	struct room rooms[2];

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	client_before = world_counters(world.pair.client);
	server_before = world_counters(world.pair.server);
	CU_ASSERT_TRUE(tp_reserve(client->tp, client->conn, 10, rooms) > 0);
	CU_ASSERT_TRUE(tp_reserve(server->tp, server->conn, 10, rooms) > 0);
	finish(client);
	tp_abort(server->tp, server->conn);
	tp_commit(client->tp, client->conn, 10);
	tp_commit(server->tp, server->conn, 10);
	tp_flush(client->tp, client->conn);
	tp_flush(server->tp, server->conn);
	CU_ASSERT_EQUAL(tp_reserve(client->tp, client->conn, 10, rooms), 0);
	CU_ASSERT_EQUAL(tp_reserve(server->tp, server->conn, 10, rooms), 0);
	world_idle(&world);
	counters = world_counters(world.pair.client);
	/* the end itself may be a write, unless the other side's abort was faster */
	CU_ASSERT_TRUE(counters.writes - client_before.writes <= rig_seals);
	CU_ASSERT_EQUAL(counters.reserves_refused, 0);
	counters = world_counters(world.pair.server);
	CU_ASSERT_EQUAL(counters.writes, server_before.writes);
	CU_ASSERT_EQUAL(counters.reserves_refused, 0);
	world_close(&world);
}

void close_resets_the_rest(void)
{
	struct seen *clients[MANY], *servers[MANY];

	if (!open_many(clients, servers))
		return;
	world.pair.server->ops->close(world.pair.server);
	world.pair.server = NULL;
	for (unsigned i = 0; i < MANY; i++)
		CU_ASSERT_TRUE(world_until_reset(&world, clients[i]));
	world_close(&world);
}

void unread_bytes_survive_finish(void)
{
	struct seen *client, *server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	fill_pattern(bytes, 3000, 11);
	CU_ASSERT_TRUE(seen_write(client, bytes, 3000));
	finish(client);
	CU_ASSERT_TRUE(world_until(&world, server, TP_FINISHED));
	world_idle(&world);
	CU_ASSERT_TRUE(world_read(&world, server, back, 3000));
	CU_ASSERT_EQUAL(memcmp(bytes, back, 3000), 0);
	world_close(&world);
}

void stranger_does_not_suffer(void)
{
	struct seen *client, *server, *other_client, *other_server;

	if (!world_open_joined(&world, &limits, &client, &server))
		return;
	CU_ASSERT_TRUE(world_join(&world, &other_client, &other_server));
	fill_pattern(bytes, sizeof(bytes), 12);
	CU_ASSERT_TRUE(seen_write(other_client, bytes, 30000));
	tp_abort(server->tp, server->conn);
	CU_ASSERT_TRUE(world_until_reset(&world, client));
	CU_ASSERT_NOT_EQUAL(client->reason, TP_LINK_DOWN);
	CU_ASSERT_TRUE(seen_write(other_client, bytes + 30000, 30000));
	CU_ASSERT_TRUE(world_read(&world, other_server, back, 60000));
	CU_ASSERT_EQUAL(memcmp(bytes, back, 60000), 0);
	world_close(&world);
}
