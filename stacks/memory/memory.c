#include "stacks/memory/memory.h"

#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/list.h"
#include "dataplane/core/ring.h"
#include "dataplane/core/slab.h"

#include <errno.h>
#include <stdlib.h>

enum { LISTENERS_MAX = 16 };

struct memory_net {
	struct list instances;
};

struct memory {
	struct tp tp;
	struct memory_net *net;
	struct list instances; /* in the net */
	struct tp_limits limits;
	struct slab conns;
	struct slab buffers; /* a connection's receive and send memory, at the connection's index */
	struct list pending; /* connections with events to report, oldest first */
	struct list sending; /* connections with committed bytes or a finish to move */
	struct list dead;    /* CLOSED was reported; released at the next poll */
	uint16_t listeners[LISTENERS_MAX];
	unsigned listener_count;
	struct tp_counters counters;
};

struct memory_conn {
	struct tp_conn base;
	struct memory *owner;
	struct memory_conn *peer; /* NULL when there is none (any more) */
	struct ring recv;
	struct ring send;
	uint32_t lent_bytes;	  /* reserved, not committed */
	uint32_t unwritten_bytes; /* committed since the last write */
	uint32_t refused_bytes;	  /* what reserve could not lend; 0 if nothing is owed */
	uint16_t bits;		  /* events to report */
	uint16_t reason;
	bool finish_wanted; /* our side ends when `send` is empty */
	bool finish_sent;
	bool finish_received;
	bool closed;	     /* CLOSED is among the bits or was reported */
	struct list pending; /* links of the instance's lists */
	struct list sending;
	struct list dead;
};

static struct memory *memory_of(const struct tp *tp)
{
	return (struct memory *)tp;
}

static struct memory_conn *conn_of(struct tp_conn *conn)
{
	return (struct memory_conn *)conn;
}

int memory_net_create(struct memory_net **net_out)
{
	struct memory_net *net = malloc(sizeof(*net));

	if (!net)
		return -ENOMEM;
	list_init(&net->instances);
	*net_out = net;
	return 0;
}

void memory_net_destroy(struct memory_net *net)
{
	CHECK(!net || list_empty(&net->instances));
	free(net);
}

/* --- connections --- */

static struct memory_conn *conn_create(struct memory *memory, void *user)
{
	struct memory_conn *conn = slab_acquire(&memory->conns);
	uint8_t *buffer;

	if (!conn)
		return NULL;
	buffer = slab_acquire(&memory->buffers);
	CHECK(buffer); /* one for each connection */
	*conn = (struct memory_conn){.base.user = user, .owner = memory};
	ring_init(&conn->recv, buffer, memory->limits.recv_bytes);
	ring_init(&conn->send, buffer + memory->limits.recv_bytes, memory->limits.send_bytes);
	list_init(&conn->pending);
	list_init(&conn->sending);
	list_init(&conn->dead);
	return conn;
}

static void conn_destroy(struct memory_conn *conn)
{
	struct memory *memory = conn->owner;

	if (conn->peer)
		conn->peer->peer = NULL;
	list_remove(&conn->pending);
	list_remove(&conn->sending);
	list_remove(&conn->dead);
	slab_release(&memory->buffers, conn->recv.base);
	conn->owner = NULL; /* marks the slot free for memory_close */
	slab_release(&memory->conns, conn);
}

/* Adds to what the connection's next event says. */
static void conn_report(struct memory_conn *conn, enum tp_event_bits bits)
{
	conn->bits |= bits;
	if (!list_linked(&conn->pending))
		list_push(&conn->owner->pending, &conn->pending);
}

/*
 * Ends it; what is still to be sent is dropped, what was received can be read until the handle
 * dies.
 */
static void conn_close(struct memory_conn *conn, enum tp_reason reason)
{
	if (conn->closed)
		return;
	conn->closed = true;
	conn->reason = reason;
	conn->owner->counters.closed++;
	list_remove(&conn->sending);
	conn_report(conn, TP_CLOSED);
}

/* Counts a write, if anything was committed since the last. */
static void count_write(struct memory_conn *conn)
{
	struct tp_counters *counters = &conn->owner->counters;

	if (conn->unwritten_bytes == 0)
		return;
	counters->writes++;
	counters->written_bytes += conn->unwritten_bytes;
	if (conn->unwritten_bytes > counters->largest_write_bytes)
		counters->largest_write_bytes = conn->unwritten_bytes;
	conn->unwritten_bytes = 0;
}

/* An emptied ring starts again at its base, but not under a room that is lent. */
static void sent(struct memory_conn *conn, uint32_t bytes)
{
	if (conn->lent_bytes == 0)
		ring_consume(&conn->send, bytes);
	else
		ring_pass(&conn->send, bytes);
}

/* Copies committed bytes into the peer's receive memory, as far as it has room. */
static void move_bytes(struct memory_conn *from, struct memory_conn *to)
{
	uint32_t used = ring_used(&from->send), room = ring_free(&to->recv);
	uint32_t bytes = used < room ? used : room;
	struct span spans[2];
	struct room rooms[2];
	struct span_reader reader = span_reader_of(spans, ring_spans(&from->send, 0, bytes, spans));
	struct room_writer writer = room_writer_of(rooms, ring_rooms(&to->recv, bytes, rooms));

	if (bytes == 0)
		return;
	while (reader.left > 0) {
		struct span piece = span_reader_piece(&reader);

		room_writer_put(&writer, piece.base, piece.bytes);
		span_reader_skip(&reader, piece.bytes);
	}
	ring_commit(&to->recv, bytes);
	sent(from, bytes);
	from->owner->counters.copied_bytes += bytes;
	to->owner->counters.received_bytes += bytes;
	conn_report(to, TP_READABLE);
}

static void move_finish(struct memory_conn *from, struct memory_conn *to)
{
	from->finish_sent = true;
	to->finish_received = true;
	conn_report(to, TP_FINISHED);
	if (to->finish_sent) {
		conn_close(from, TP_DONE);
		conn_close(to, TP_DONE);
	}
}

/* Moves what can be moved and answers a refused reserve when that made room. */
static void conn_send(struct memory_conn *conn)
{
	if (conn->closed || !conn->peer)
		return;
	count_write(conn);
	move_bytes(conn, conn->peer);
	if (conn->refused_bytes && ring_free(&conn->send) >= conn->refused_bytes) {
		conn->refused_bytes = 0;
		conn_report(conn, TP_WRITABLE);
	}
	if (ring_used(&conn->send) > 0) {
		list_push(&conn->owner->sending, &conn->sending);
		return;
	}
	list_remove(&conn->sending);
	if (conn->finish_wanted && !conn->finish_sent)
		move_finish(conn, conn->peer);
}

/* --- setup --- */

static int memory_open(const struct tp_config *config, struct tp **tp_out, struct tp_error *error)
{
	const struct tp_limits *limits = &config->limits;
	struct memory *memory;

	if (!config->shared)
		return tp_fail(error, -EINVAL,
			       "memory: no network is shared; the stack is for tests");
	memory = calloc(1, sizeof(*memory));
	if (!memory)
		return tp_fail(error, -ENOMEM, "memory: no memory for an instance");
	if (slab_create(&memory->conns, limits->conn_max, sizeof(struct memory_conn)) < 0 ||
	    slab_create(&memory->buffers, limits->conn_max,
			(size_t)limits->recv_bytes + limits->send_bytes) < 0) {
		slab_destroy(&memory->conns);
		free(memory);
		return tp_fail(error, -ENOMEM, "memory: no memory for %u connections",
			       limits->conn_max);
	}
	memory->tp.ops = &memory_ops;
	memory->net = config->shared;
	memory->limits = *limits;
	list_init(&memory->pending);
	list_init(&memory->sending);
	list_init(&memory->dead);
	list_init(&memory->instances);
	list_push(&memory->net->instances, &memory->instances);
	*tp_out = &memory->tp;
	return 0;
}

static bool listens(const struct memory *memory, uint16_t port)
{
	for (unsigned i = 0; i < memory->listener_count; i++)
		if (memory->listeners[i] == port)
			return true;
	return false;
}

static struct memory *find_listener(struct memory_net *net, uint16_t port)
{
	struct list *link;

	for (link = net->instances.next; link != &net->instances; link = link->next) {
		struct memory *memory = list_member(link, struct memory, instances);

		if (listens(memory, port))
			return memory;
	}
	return NULL;
}

static int memory_listen(struct tp *tp, const struct tp_addr *addr, struct tp_error *error)
{
	struct memory *memory = memory_of(tp);
	int code = tp_family_check(&memory_ops, addr, error);

	if (code < 0)
		return code;
	if (find_listener(memory->net, addr->port))
		return tp_fail(error, -EADDRINUSE, "memory: port %u is listened to already",
			       addr->port);
	if (memory->listener_count == LISTENERS_MAX)
		return tp_fail(error, -ENOSPC, "memory: at most %d listeners an instance",
			       LISTENERS_MAX);
	memory->listeners[memory->listener_count++] = addr->port;
	return 0;
}

/* The listener's end of a new pair; NULL (counted) when it has no room. */
static struct memory_conn *accept_peer(struct memory *listener, struct memory_conn *client)
{
	struct memory_conn *peer = conn_create(listener, NULL);

	if (!peer) {
		listener->counters.accepts_refused++;
		return NULL;
	}
	peer->peer = client;
	listener->counters.accepted++;
	conn_report(peer, TP_ACCEPTED);
	return peer;
}

static int memory_connect(struct tp *tp, const struct tp_addr *addr, void *user,
			  struct tp_conn **conn_out, struct tp_error *error)
{
	struct memory *memory = memory_of(tp);
	struct memory *listener = find_listener(memory->net, addr->port);
	int code = tp_family_check(&memory_ops, addr, error);
	struct memory_conn *conn = code == 0 ? conn_create(memory, user) : NULL;

	if (code < 0)
		return code;
	if (!conn)
		return tp_fail(error, -ENOBUFS, "memory: all %u connections are in use",
			       memory->limits.conn_max);
	conn->peer = listener ? accept_peer(listener, conn) : NULL;
	if (conn->peer) {
		memory->counters.connected++;
		conn_report(conn, TP_CONNECTED);
	} else {
		conn_close(conn, TP_REFUSED);
	}
	*conn_out = &conn->base;
	return 0;
}

static void memory_close(struct tp *tp)
{
	struct memory *memory = memory_of(tp);

	for (uint32_t i = 0; i < memory->conns.fresh; i++) {
		struct memory_conn *conn = slab_at(&memory->conns, i);

		if (conn->owner && conn->peer && !conn->closed)
			conn_close(conn->peer, TP_RESET);
		if (conn->owner)
			conn_destroy(conn);
	}
	list_remove(&memory->instances);
	slab_destroy(&memory->buffers);
	slab_destroy(&memory->conns);
	free(memory);
}

/* --- turn --- */

static void release_dead(struct memory *memory)
{
	struct list *link;

	while ((link = list_pop(&memory->dead)))
		conn_destroy(list_member(link, struct memory_conn, dead));
}

static void send_marked(struct memory *memory)
{
	struct list marked, *link;

	list_init(&marked);
	list_splice(&marked, &memory->sending);
	while ((link = list_pop(&marked)))
		conn_send(list_member(link, struct memory_conn, sending));
}

static unsigned report_pending(struct memory *memory, struct tp_event *events, unsigned room)
{
	unsigned count = 0;

	while (count < room && !list_empty(&memory->pending)) {
		struct memory_conn *conn =
			list_member(list_pop(&memory->pending), struct memory_conn, pending);

		events[count++] = (struct tp_event){&conn->base, conn->bits, conn->reason};
		if (conn->bits & TP_CLOSED)
			list_push(&memory->dead, &conn->dead);
		conn->bits = 0;
	}
	return count;
}

static unsigned memory_poll(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
			    struct tp_turn *turn_out)
{
	struct memory *memory = memory_of(tp);
	bool had_marked = !list_empty(&memory->sending);
	unsigned count;

	release_dead(memory);
	send_marked(memory);
	count = report_pending(memory, events, room);
	memory->counters.polls++;
	*turn_out = (struct tp_turn){.now_ns = clock_now_ns(), .moved = count > 0 || had_marked};
	memory->counters.empty_polls += !turn_out->moved;
	return count;
}

static unsigned memory_peek(struct tp *tp, struct tp_conn *handle, struct span *spans,
			    unsigned room)
{
	struct memory_conn *conn = conn_of(handle);
	struct span both[2];
	unsigned count = ring_spans(&conn->recv, 0, ring_used(&conn->recv), both);

	for (unsigned i = 0; i < count && i < room; i++)
		spans[i] = both[i];
	return count < room ? count : room;
}

static void memory_consume(struct tp *tp, struct tp_conn *handle, size_t bytes)
{
	struct memory_conn *conn = conn_of(handle);

	ring_consume(&conn->recv, (uint32_t)bytes);
	/* the peer may have been waiting for this room: its next poll moves more */
	if (conn->peer && ring_used(&conn->peer->send) > 0)
		list_push(&conn->peer->owner->sending, &conn->peer->sending);
}

static unsigned memory_reserve(struct tp *tp, struct tp_conn *handle, size_t bytes,
			       struct room rooms[2])
{
	struct memory_conn *conn = conn_of(handle);

	conn->lent_bytes = 0;
	if (conn->closed || conn->finish_wanted)
		return 0;
	if (ring_free(&conn->send) < bytes) {
		conn->refused_bytes = (uint32_t)bytes;
		conn->owner->counters.reserves_refused++;
		return 0;
	}
	conn->lent_bytes = (uint32_t)bytes;
	return ring_rooms(&conn->send, conn->lent_bytes, rooms);
}

static void memory_commit(struct tp *tp, struct tp_conn *handle, size_t bytes)
{
	struct memory_conn *conn = conn_of(handle);

	if (conn->closed || conn->finish_wanted)
		return;
	CHECK(bytes <= conn->lent_bytes);
	conn->lent_bytes = 0;
	ring_commit(&conn->send, (uint32_t)bytes);
	conn->unwritten_bytes += (uint32_t)bytes;
	if (!list_linked(&conn->sending))
		list_push(&conn->owner->sending, &conn->sending);
}

static void memory_flush(struct tp *tp, struct tp_conn *handle)
{
	conn_send(conn_of(handle));
}

static void memory_finish(struct tp *tp, struct tp_conn *handle)
{
	struct memory_conn *conn = conn_of(handle);

	if (conn->closed || conn->finish_wanted)
		return;
	conn->finish_wanted = true;
	list_push(&conn->owner->sending, &conn->sending);
}

static void memory_abort(struct tp *tp, struct tp_conn *handle)
{
	struct memory_conn *conn = conn_of(handle);

	if (!conn->closed && conn->peer)
		conn_close(conn->peer, TP_RESET);
	conn_close(conn, TP_ABORTED);
	if (!(conn->bits & TP_CLOSED))
		return;		/* its last event was already returned */
	conn->bits = TP_CLOSED; /* nothing else is told about an aborted connection */
	conn->reason = TP_ABORTED;
}

static void memory_counters(const struct tp *tp, struct tp_counters *counters_out)
{
	*counters_out = memory_of(tp)->counters;
}

const struct tp_ops memory_ops = {
	.name = "memory",
	.capabilities = TP_REFUSAL_IS_KNOWN,
	.families = 1 << TP_IPV4,
	.counters_known = TP_KNOWS(polls) | TP_KNOWS(empty_polls) | TP_KNOWS(accepted) |
			  TP_KNOWS(accepts_refused) | TP_KNOWS(connected) | TP_KNOWS(closed) |
			  TP_KNOWS(writes) | TP_KNOWS(written_bytes) |
			  TP_KNOWS(largest_write_bytes) | TP_KNOWS(received_bytes) |
			  TP_KNOWS(copied_bytes) | TP_KNOWS(reserves_refused),
	.open = memory_open,
	.listen = memory_listen,
	.connect = memory_connect,
	.close = memory_close,
	.poll = memory_poll,
	.peek = memory_peek,
	.consume = memory_consume,
	.reserve = memory_reserve,
	.commit = memory_commit,
	.flush = memory_flush,
	.finish = memory_finish,
	.abort = memory_abort,
	.counters = memory_counters,
};
