#include "tests/conformance/world.h"

#include "dataplane/core/clock.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { EVENT_ROOM_MAX = 64, IDLE_TURNS = 200 };

#define DEADLINE_NS (20 * CLOCK_SECOND_NS)
#define IDLE_NS (30 * CLOCK_MS_NS)

bool world_open(struct world *world, const struct tp_limits *limits)
{
	return world_open_uneven(world, limits, limits);
}

bool world_open_uneven(struct world *world, const struct tp_limits *server,
		       const struct tp_limits *client)
{
	struct tp_error error;
	int status;

	clock_start();
	memset(world, 0, sizeof(*world));
	world->event_room = EVENT_ROOM_MAX;
	status = rig_open(server, client, &world->pair, &error);
	if (status > 0) {
		suite_skip("%s", error.text);
		return false;
	}
	if (status < 0) {
		printf("# rig_open: %s\n", error.text);
		CU_FAIL("the pair cannot be opened");
		return false;
	}
	status = world->pair.server->ops->listen(world->pair.server, &world->pair.addr, &error);
	if (status < 0)
		printf("# listen: %s\n", error.text);
	CU_ASSERT_EQUAL(status, 0);
	world->listening = status == 0;
	return true;
}

bool world_open_joined(struct world *world, const struct tp_limits *limits,
		       struct seen **client_out, struct seen **server_out)
{
	if (!world_open(world, limits))
		return false;
	if (world_join(world, client_out, server_out))
		return true;
	world_close(world);
	return false;
}

void world_close(struct world *world)
{
	rig_close(&world->pair);
	CU_ASSERT_FALSE(world->broken_rule);
}

static struct seen *new_seen(struct world *world, struct tp *tp, struct tp_conn *conn)
{
	struct seen *seen = &world->seen[world->seen_count];

	if (world->seen_count == WORLD_CONNS)
		abort(); /* a test asks for more connections than it may */
	world->seen_count++;
	*seen = (struct seen){.tp = tp, .conn = conn};
	return seen;
}

/* Notes a rule that no event of any stack may break. */
static void rule(struct world *world, bool holds, const char *what)
{
	if (holds)
		return;
	printf("# rule broken: %s\n", what);
	world->broken_rule = true;
}

static void enter(struct world *world, struct tp *tp, const struct tp_event *event)
{
	struct seen *seen = event->conn->user;

	rule(world, event->bits != 0, "an event says something");
	if (event->bits & TP_ACCEPTED) {
		rule(world, seen == NULL, "an accepted connection has no user");
		seen = new_seen(world, tp, event->conn);
		event->conn->user = seen;
		world->accepted[world->accepted_count++] = seen;
	}
	rule(world, seen != NULL, "the user pointer given is the one found");
	if (!seen)
		return;
	if (!seen->conn)
		seen->conn = event->conn;
	rule(world, seen->conn == event->conn, "a handle does not move");
	rule(world, !(seen->bits & TP_CLOSED), "closed is the last event");
	for (unsigned kind = 0; kind < WORLD_EVENT_KINDS; kind++)
		seen->count[kind] += event->bits >> kind & 1;
	seen->bits |= event->bits;
	if (event->bits & TP_CLOSED)
		seen->reason = event->reason;
}

/* Handles whose CLOSED came with an earlier poll are dead once their instance is polled again. */
static void bury(struct world *world, const struct tp *tp)
{
	for (unsigned i = 0; i < world->seen_count; i++)
		if (world->seen[i].tp == tp && world->seen[i].bits & TP_CLOSED)
			world->seen[i].gone = true;
}

static void poll_side(struct world *world, struct tp *tp, unsigned side)
{
	struct tp_event events[EVENT_ROOM_MAX];
	struct tp_turn turn = {0};
	unsigned count;

	if (!tp)
		return;
	bury(world, tp);
	count = tp_poll(tp, events, world->event_room, world->wait_ns, &turn);
	rule(world, count <= world->event_room, "no more events than there is room for");
	rule(world, turn.now_ns >= world->last_now_ns[side], "a turn's time never goes back");
	rule(world, count == 0 || turn.moved, "a turn with events has moved something");
	world->last_now_ns[side] = turn.now_ns;
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < i; j++)
			rule(world, events[i].conn != events[j].conn,
			     "one event a connection and poll");
		enter(world, tp, &events[i]);
	}
}

void world_turn(struct world *world)
{
	poll_side(world, world->pair.client, 0);
	poll_side(world, world->pair.server, 1);
}

struct seen *world_connect(struct world *world)
{
	struct tp *tp = world->pair.client;
	struct seen *seen = new_seen(world, tp, NULL);
	struct tp_error error;
	int status = tp->ops->connect(tp, &world->pair.addr, seen, &seen->conn, &error);

	CU_ASSERT_EQUAL(status, 0);
	if (status == 0)
		return seen;
	printf("# connect: %s\n", error.text);
	return NULL;
}

bool world_join(struct world *world, struct seen **client_out, struct seen **server_out)
{
	unsigned before = world->accepted_count;
	struct seen *client = world_connect(world);
	uint64_t deadline = clock_now_ns() + DEADLINE_NS;
	bool joined;

	if (!client || !world_until(world, client, TP_CONNECTED)) {
		CU_FAIL("connect does not lead to CONNECTED");
		return false;
	}
	while (world->accepted_count == before && clock_now_ns() < deadline)
		world_turn(world);
	joined = world->accepted_count > before;
	CU_ASSERT_TRUE(joined);
	if (!joined)
		return false;
	*client_out = client;
	*server_out = world->accepted[before];
	return true;
}

bool world_until(struct world *world, const struct seen *seen, unsigned bits)
{
	uint64_t deadline = clock_now_ns() + DEADLINE_NS;

	while ((seen->bits & bits) != bits && clock_now_ns() < deadline)
		world_turn(world);
	return (seen->bits & bits) == bits;
}

/* FINISHED comes first where the peer's abort is an end; CLOSED may come at once or after. */
static void answer_end(struct world *world, struct seen *seen)
{
	uint64_t deadline = clock_now_ns() + DEADLINE_NS;

	while (!(seen->bits & (TP_FINISHED | TP_CLOSED)) && clock_now_ns() < deadline)
		world_turn(world);
	if (!(seen->bits & TP_CLOSED))
		tp_finish(seen->tp, seen->conn);
}

bool world_until_reset(struct world *world, struct seen *seen)
{
	bool ended;

	if (!rig_resets)
		answer_end(world, seen);
	ended = world_until(world, seen, TP_CLOSED);
	CU_ASSERT_EQUAL(seen_count(seen, TP_CLOSED), 1);
	if (rig_resets)
		CU_ASSERT_TRUE(seen->reason == TP_RESET || seen->reason == TP_LINK_DOWN);
	if (!rig_resets)
		CU_ASSERT_TRUE(seen->reason == TP_RESET || seen->reason == TP_DONE);
	return ended;
}

void world_idle(struct world *world)
{
	uint64_t until = clock_now_ns() + IDLE_NS;

	for (unsigned i = 0; i < IDLE_TURNS || clock_now_ns() < until; i++)
		world_turn(world);
}

unsigned seen_count(const struct seen *seen, enum tp_event_bits bit)
{
	return seen->count[__builtin_ctz(bit)];
}

bool seen_commit(struct seen *seen, const uint8_t *from, size_t bytes)
{
	struct room rooms[2];
	struct room_writer writer;
	unsigned count;

	if (seen->gone || seen->bits & TP_CLOSED)
		return false;
	count = tp_reserve(seen->tp, seen->conn, bytes, rooms);
	if (count == 0)
		return false;
	writer = room_writer_of(rooms, count);
	CU_ASSERT_EQUAL(writer.left, bytes);
	room_writer_put(&writer, from, bytes);
	tp_commit(seen->tp, seen->conn, bytes);
	return true;
}

bool seen_write(struct seen *seen, const uint8_t *from, size_t bytes)
{
	if (!seen_commit(seen, from, bytes))
		return false;
	tp_flush(seen->tp, seen->conn);
	return true;
}

static struct span_reader lend(struct seen *seen, struct span spans[16])
{
	unsigned count = seen->gone ? 0 : tp_peek(seen->tp, seen->conn, spans, 16);

	return span_reader_of(spans, count);
}

size_t seen_readable(struct seen *seen)
{
	struct span spans[16];

	return lend(seen, spans).left;
}

size_t seen_read(struct seen *seen, uint8_t *to, size_t bytes)
{
	struct span spans[16];
	struct span_reader reader = lend(seen, spans);
	size_t step = reader.left < bytes ? reader.left : bytes;

	if (step == 0)
		return 0;
	span_reader_copy(&reader, to, step);
	tp_consume(seen->tp, seen->conn, step);
	return step;
}

bool world_read(struct world *world, struct seen *seen, uint8_t *to, size_t bytes)
{
	uint64_t deadline = clock_now_ns() + DEADLINE_NS;
	size_t done = seen_read(seen, to, bytes);

	while (done < bytes && clock_now_ns() < deadline) {
		world_turn(world);
		done += seen_read(seen, to + done, bytes - done);
	}
	return done == bytes;
}

bool world_transfer(struct world *world, struct seen *from, struct seen *to, const uint8_t *bytes,
		    size_t count, size_t piece)
{
	uint64_t deadline = clock_now_ns() + DEADLINE_NS;
	uint8_t *arrived = malloc(count);
	size_t sent = 0, received = 0;
	bool same;

	while (arrived && received < count && clock_now_ns() < deadline) {
		size_t step = count - sent < piece ? count - sent : piece;

		if (step > 0 && seen_write(from, bytes + sent, step))
			sent += step;
		world_turn(world);
		received += seen_read(to, arrived + received, count - received);
	}
	same = arrived && received == count && memcmp(arrived, bytes, count) == 0;
	free(arrived);
	return same;
}

struct tp_counters world_counters(const struct tp *tp)
{
	struct tp_counters counters = {0};

	tp->ops->counters(tp, &counters);
	return counters;
}

void fill_pattern(uint8_t *to, size_t bytes, uint64_t seed)
{
	uint64_t state = seed * 2862933555777941757ull + 3037000493ull;

	for (size_t i = 0; i < bytes; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		to[i] = (uint8_t)(state >> 56);
	}
}
