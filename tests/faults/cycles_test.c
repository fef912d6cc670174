/* Connections come and go for long: nothing may be left of them. */
#include "dataplane/core/clock.h"
#include "tests/faults/ground.h"
#include "tests/support/loopback.h"
#include "tests/support/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	CYCLES = 20000,
	SETTLED = 4000, /* by then all memory has been touched */
	CONN_MAX = 128,
	ROOM = 64,
	GREETING_BYTES = 100,
	GROWTH_BYTES = 4 << 20, /* 16,000 leaked rings would be 16 times this and more */
};

#define DEADLINE_NS (120 * CLOCK_SECOND_NS)

/* How a connection ends, in turns. */
enum way {
	CLIENT_ABORTS,
	CLIENT_ABORTS_AT_ONCE,
	SERVER_ABORTS,
	CLIENT_ABORTS_UNREAD, /* with bytes that came and were not read */
	CLIENT_ENDS,
	SERVER_ENDS,
	WAYS,
};

static struct tp *server, *client;
static struct tp_addr addr;
static struct {
	unsigned begun;
	unsigned client_closed;
	unsigned accepted;
	unsigned server_closed;
} seen;

/* The way, one more, as the user pointer: the server's side learns it from the first byte. */
static void *user_of(enum way way)
{
	return (void *)(uintptr_t)(way + 1);
}

static enum way way_of(const struct tp_conn *conn)
{
	return (enum way)((uintptr_t)conn->user - 1);
}

static void greet(struct tp *tp, struct tp_conn *conn, enum way way)
{
	uint8_t greeting[GREETING_BYTES];
	struct room rooms[2];
	struct room_writer writer;
	unsigned count = tp_reserve(tp, conn, sizeof(greeting), rooms);

	memset(greeting, way, sizeof(greeting));
	if (count == 0)
		return;
	writer = room_writer_of(rooms, count);
	room_writer_put(&writer, greeting, sizeof(greeting));
	tp_commit(tp, conn, sizeof(greeting));
	tp_flush(tp, conn);
}

/* Reads all; the last byte, or -1. */
static int drain(struct tp *tp, struct tp_conn *conn)
{
	struct span spans[2];
	unsigned count = tp_peek(tp, conn, spans, 2);
	int last = -1;

	for (unsigned i = 0; i < count; i++) {
		last = spans[i].base[spans[i].bytes - 1];
		tp_consume(tp, conn, spans[i].bytes);
	}
	return last;
}

static void client_event(const struct tp_event *event)
{
	enum way way = way_of(event->conn);

	if (event->bits & TP_CLOSED) {
		seen.client_closed++;
		return;
	}
	if (event->bits & TP_CONNECTED)
		greet(client, event->conn, way);
	if (event->bits & TP_READABLE) {
		if (way != CLIENT_ABORTS_UNREAD)
			drain(client, event->conn);
		if (way == CLIENT_ABORTS || way == CLIENT_ABORTS_UNREAD) {
			tp_abort(client, event->conn);
			return;
		}
		if (way == CLIENT_ENDS)
			tp_finish(client, event->conn);
	}
	if (event->bits & TP_FINISHED)
		tp_finish(client, event->conn);
}

static void server_event(const struct tp_event *event)
{
	seen.accepted += (event->bits & TP_ACCEPTED) != 0;
	if (event->bits & TP_CLOSED) {
		seen.server_closed++;
		return;
	}
	if (event->bits & TP_READABLE) {
		int way = drain(server, event->conn);

		if (way == SERVER_ABORTS) {
			tp_abort(server, event->conn);
			return;
		}
		greet(server, event->conn, (enum way)way);
		if (way == SERVER_ENDS)
			tp_finish(server, event->conn);
	}
	if (event->bits & TP_FINISHED)
		tp_finish(server, event->conn);
}

static void turn(void)
{
	struct tp_event events[ROOM];
	struct tp_turn moved;
	unsigned count = tp_poll(client, events, ROOM, 0, &moved);

	for (unsigned i = 0; i < count; i++)
		client_event(&events[i]);
	count = tp_poll(server, events, ROOM, count == 0 ? CLOCK_MS_NS : 0, &moved);
	for (unsigned i = 0; i < count; i++)
		server_event(&events[i]);
}

static void begin(enum way way)
{
	struct tp_conn *conn;
	struct tp_error error;
	int code = client->ops->connect(client, &addr, user_of(way), &conn, &error);

	if (code < 0) {
		printf("# connect: %s\n", error.text);
		CU_FAIL_FATAL("a connection cannot be opened");
	}
	seen.begun++;
	if (way == CLIENT_ABORTS_AT_ONCE)
		tp_abort(client, conn);
}

static bool all_ended(void)
{
	return seen.client_closed == seen.begun && seen.server_closed == seen.accepted;
}

static bool turn_until_ended(void)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;

	while (!all_ended() && clock_now_ns() < until_ns)
		turn();
	return all_ended();
}

static bool run_cycles(unsigned until)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;

	while (seen.begun < until && clock_now_ns() < until_ns) {
		/* half of what there is room for: a server may learn of an end later */
		if (seen.begun - seen.client_closed < CONN_MAX / 4)
			begin((enum way)(seen.begun % WAYS));
		if (seen.begun % 8 == 0 || seen.begun - seen.client_closed >= CONN_MAX / 4)
			turn();
	}
	return turn_until_ended() && seen.begun == until;
}

static bool open_pair(void)
{
	const struct tp_limits limits = {CONN_MAX, 4096, 4096};
	struct tp_error error;
	int code = ground_open(FAULT_STACK, &limits, &server, &error);

	if (code > 0) {
		suite_skip("%s", error.text);
		return false;
	}
	memset(&seen, 0, sizeof(seen));
	addr = (struct tp_addr){.ip = loopback_ip(), .port = loopback_port()};
	CU_ASSERT_EQUAL_FATAL(code, 0);
	CU_ASSERT_EQUAL_FATAL(ground_open(FAULT_STACK, &limits, &client, &error), 0);
	CU_ASSERT_EQUAL_FATAL(server->ops->listen(server, &addr, &error), 0);
	return true;
}

static void judge_counters(void)
{
	struct tp_counters on_client = {0}, on_server = {0};

	client->ops->counters(client, &on_client);
	server->ops->counters(server, &on_server);
	CU_ASSERT_EQUAL(on_client.closed, seen.begun);
	CU_ASSERT_EQUAL(on_server.accepted, seen.accepted);
	CU_ASSERT_EQUAL(on_server.closed, seen.accepted);
	CU_ASSERT_TRUE(seen.accepted + on_server.accepts_refused > seen.begun / 2);
}

/* Every place of the tables is free again: as many connections stand at once as may. */
static void expect_full_tables(void)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;
	unsigned accepted = seen.accepted;

	for (unsigned i = 0; i < CONN_MAX; i++)
		begin(WAYS);
	while (seen.accepted - accepted < CONN_MAX && clock_now_ns() < until_ns)
		turn();
	CU_ASSERT_EQUAL(seen.accepted - accepted, CONN_MAX);
}

static void cycles_leave_nothing(void)
{
	unsigned before = ground_descriptors(), opened;
	uint64_t resident;

	clock_start();
	if (!open_pair())
		return;
	opened = ground_descriptors();
	CU_ASSERT_TRUE(run_cycles(SETTLED));
	resident = ground_resident();
	CU_ASSERT_TRUE(run_cycles(CYCLES));
	for (unsigned i = 0; i < 100; i++) /* accepts that nobody waits for, closes under way */
		turn();
	CU_ASSERT_TRUE(turn_until_ended());
	judge_counters();
	CU_ASSERT_EQUAL(ground_descriptors(), opened);
	printf("# %u opened, %u accepted; %lld KiB more resident than after %u\n", seen.begun,
	       seen.accepted, (long long)(ground_resident() - resident) / 1024, SETTLED);
	CU_ASSERT_TRUE(ground_resident() < resident + GROWTH_BYTES);
	expect_full_tables();
	client->ops->close(client);
	server->ops->close(server);
	CU_ASSERT_EQUAL(ground_descriptors(), before);
}

static const struct suite_test tests[] = {
	{"twenty thousand connections that end in six ways leave no descriptor and no memory",
	 cycles_leave_nothing},
};

SUITE_MAIN(FAULT_STACK " cycles", tests)
