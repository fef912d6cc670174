/* Rules about poll itself, and about the accounts. */
#include "dataplane/core/clock.h"
#include "tests/conformance/rules.h"
#include "tests/conformance/world.h"
#include "tests/support/suite.h"

#include <string.h>
#include <time.h>

static const struct tp_limits limits = {.conn_max = 64, .recv_bytes = 65536, .send_bytes = 65536};
static struct world world;
static uint8_t bytes[60000];

void room_for_one_event_loses_none(void)
{
	enum { CONNS = 20 };
	struct seen *clients[CONNS], *servers[CONNS];

	if (!world_open(&world, &limits))
		return;
	world.event_room = 1;
	for (unsigned i = 0; i < CONNS; i++)
		clients[i] = world_connect(&world);
	for (unsigned i = 0; i < CONNS && clients[i]; i++)
		CU_ASSERT_TRUE(world_until(&world, clients[i], TP_CONNECTED));
	for (unsigned i = 0; i < 1000 && world.accepted_count < CONNS; i++)
		world_idle(&world);
	CU_ASSERT_EQUAL_FATAL(world.accepted_count, CONNS);
	memcpy(servers, world.accepted, sizeof(servers));
	for (unsigned i = 0; i < CONNS; i++)
		CU_ASSERT_TRUE(seen_write(servers[i], bytes, 10));
	for (unsigned i = 0; i < CONNS; i++)
		tp_finish(servers[i]->tp, servers[i]->conn);
	for (unsigned i = 0; i < CONNS; i++) {
		CU_ASSERT_TRUE(world_until(&world, clients[i], TP_READABLE | TP_FINISHED));
		CU_ASSERT_EQUAL(seen_readable(clients[i]), 10);
		tp_finish(clients[i]->tp, clients[i]->conn);
	}
	for (unsigned i = 0; i < CONNS; i++) {
		CU_ASSERT_TRUE(world_until(&world, clients[i], TP_CLOSED));
		CU_ASSERT_TRUE(world_until(&world, servers[i], TP_CLOSED));
	}
	world_close(&world);
}

void waiting_is_what_is_declared(void)
{
	struct tp_event events[8];
	struct tp_turn turn;
	bool can_block;
	unsigned count;

	if (!world_open(&world, &limits))
		return;
	world_idle(&world);
	can_block = world.pair.server->ops->capabilities & TP_CAN_BLOCK;
	count = tp_poll(world.pair.server, events, 8, 20 * CLOCK_MS_NS, &turn);
	CU_ASSERT_EQUAL(count, 0);
	if (can_block)
		CU_ASSERT_TRUE(turn.waited_ns >= 10 * CLOCK_MS_NS);
	if (!can_block)
		CU_ASSERT_EQUAL(turn.waited_ns, 0);
	count = tp_poll(world.pair.server, events, 8, 0, &turn);
	CU_ASSERT_EQUAL(count, 0);
	CU_ASSERT_EQUAL(turn.waited_ns, 0);
	CU_ASSERT_FALSE(turn.moved);
	world_close(&world);
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * CLOCK_SECOND_NS + (uint64_t)used.tv_nsec;
}

void waits_are_counted(void)
{
	struct tp_counters before, after;
	struct tp_event events[8];
	struct tp_turn turn, next;

	if (!world_open(&world, &limits))
		return;
	world_idle(&world);
	before = world_counters(world.pair.server);
	tp_poll(world.pair.server, events, 8, 0, &turn);
	tp_poll(world.pair.server, events, 8, 5 * CLOCK_MS_NS, &next);
	after = world_counters(world.pair.server);
	CU_ASSERT_TRUE(next.now_ns - turn.now_ns >= next.waited_ns);
	CU_ASSERT_EQUAL(after.wait_ns - before.wait_ns, next.waited_ns);
	CU_ASSERT_EQUAL(after.waits - before.waits, next.waited_ns > 0);
	CU_ASSERT_EQUAL(after.wakeups, before.wakeups); /* nothing came */
	CU_ASSERT_EQUAL(after.empty_polls - before.empty_polls, 2);
	world_close(&world);
}

void waiting_leaves_the_cpu(void)
{
	struct tp_event events[8];
	struct tp_turn turn;
	uint64_t cpu_ns, wall_ns;

	if (!world_open(&world, &limits))
		return;
	world_idle(&world);
	wall_ns = clock_now_ns();
	cpu_ns = thread_cpu_ns();
	tp_poll(world.pair.server, events, 8, 200 * CLOCK_MS_NS, &turn);
	cpu_ns = thread_cpu_ns() - cpu_ns;
	wall_ns = clock_now_ns() - wall_ns;
	if (world.pair.server->ops->capabilities & TP_CAN_BLOCK) {
		CU_ASSERT_TRUE(turn.waited_ns > wall_ns / 2);
		CU_ASSERT_TRUE(cpu_ns < wall_ns / 2);
	}
	world_close(&world);
}

void events_end_a_wait(void)
{
	struct tp_counters before, after;
	struct seen *client, *server;
	uint64_t start_ns;

	if (!world_open(&world, &limits))
		return;
	if (world_join(&world, &client, &server)) {
		world_idle(&world);
		before = world_counters(server->tp);
		start_ns = clock_now_ns();
		CU_ASSERT_TRUE(seen_write(client, bytes, 10));
		/* a write may stay until its own side's next poll, which comes at once */
		world.pair.server = NULL;
		world_turn(&world);
		world.pair.server = server->tp;
		world.pair.client = NULL; /* the other side alone turns */
		world.wait_ns = 10 * CLOCK_SECOND_NS;
		CU_ASSERT_TRUE(world_until(&world, server, TP_READABLE));
		CU_ASSERT_TRUE(clock_now_ns() - start_ns < 8 * CLOCK_SECOND_NS);
		after = world_counters(server->tp);
		/* each sleep was ended by something */
		CU_ASSERT_EQUAL(after.wakeups - before.wakeups, after.waits - before.waits);
		world.pair.client = client->tp;
	}
	world_close(&world);
}

void counters_balance(void)
{
	struct tp_counters sent, received;
	struct seen *client, *server;

	if (!world_open(&world, &limits))
		return;
	if (world_join(&world, &client, &server)) {
		fill_pattern(bytes, sizeof(bytes), 13);
		CU_ASSERT_TRUE(world_transfer(&world, client, server, bytes, sizeof(bytes), 999));
		tp_finish(client->tp, client->conn);
		tp_finish(server->tp, server->conn);
		CU_ASSERT_TRUE(world_until(&world, client, TP_CLOSED));
		CU_ASSERT_TRUE(world_until(&world, server, TP_CLOSED));
	}
	sent = world_counters(world.pair.client);
	received = world_counters(world.pair.server);
	CU_ASSERT_EQUAL(sent.connected, 1);
	CU_ASSERT_EQUAL(received.accepted, 1);
	CU_ASSERT_EQUAL(sent.closed, 1);
	CU_ASSERT_EQUAL(received.closed, 1);
	CU_ASSERT_EQUAL(sent.written_bytes, received.received_bytes);
	CU_ASSERT_EQUAL(received.written_bytes, sent.received_bytes);
	CU_ASSERT_TRUE(rig_seals || sent.written_bytes == sizeof(bytes));
	CU_ASSERT_TRUE(rig_seals || received.written_bytes == 0);
	CU_ASSERT_TRUE(sent.polls >= sent.empty_polls);
	CU_ASSERT_TRUE(received.polls > 0);
	CU_ASSERT_TRUE(world.pair.client->ops->counters_known & TP_KNOWS(writes));
	world_close(&world);
}
