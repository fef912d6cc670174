/*
 * The turn: poll, and what a worker does to connections between two polls.
 *
 * Frames that flush builds wait in the port until there are PORT_BURST of them or the next poll
 * begins, whose first act is to send them: at most one turn, and no timer.
 *
 * A poll that may sleep and finds nothing sleeps in pieces, each ended by a frame, a timer that is
 * due, the next look at the link, or (see doze.h) a nap's length; after each it makes a whole pass.
 */
#include "stacks/dpdk/instance.h"

#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"

#include <rte_prefetch.h>

enum {
	TURN_BURSTS_IN = 4,    /* bursts received in one poll */
	TURN_FRAMES_OUT = 256, /* frames that one poll pulls out of utcp */
	TURN_EVENTS = 64,      /* events fetched from utcp in one go */
};

#define SAME_BIT(name) ((int)TP_##name == (int)UTCP_##name)
_Static_assert(SAME_BIT(ACCEPTED) && SAME_BIT(CONNECTED) && SAME_BIT(READABLE) &&
		       SAME_BIT(WRITABLE) && SAME_BIT(FINISHED) && SAME_BIT(CLOSED),
	       "utcp's event bits pass through unchanged");

void dpdk_conn_clear(struct dpdk *dpdk, struct dpdk_conn *conn)
{
	if (conn->rest)
		slab_release(&dpdk->rests, conn->rest);
	conn->rest = NULL;
	list_remove(&conn->dirty);
	list_remove(&conn->ending);
}

void dpdk_conn_begin(struct dpdk *dpdk, struct utcp_conn *handle, void *user)
{
	struct dpdk_conn *conn = dpdk_conn_at(dpdk, handle);

	dpdk_conn_clear(dpdk, conn);
	*conn = (struct dpdk_conn){.base.user = user, .handle = handle, .open = true};
	list_init(&conn->dirty);
	list_init(&conn->ending);
}

unsigned dpdk_output(struct dpdk *dpdk, uint64_t now_ns, unsigned frames_max)
{
	unsigned count = 0;

	while (count < frames_max) {
		uint8_t *frame = port_frame(dpdk->port);
		size_t bytes = frame ? utcp_output(dpdk->utcp, frame, now_ns) : 0;

		if (bytes == 0)
			break;
		port_put(dpdk->port, bytes);
		count++;
	}
	return count;
}

_Static_assert((int)PORT_BURST <= (int)UTCP_EXPECT_MAX, "all frames of a burst can be told ahead");

/* Tells utcp which frames it is about to get, of a chained one the first piece. */
static void expect_frames(const struct dpdk *dpdk, struct rte_mbuf *const *frames, unsigned count)
{
	struct span heads[PORT_BURST];

	for (unsigned i = 0; i < count; i++) {
		heads[i] = (struct span){rte_pktmbuf_mtod(frames[i], const uint8_t *),
					 frames[i]->data_len};
		rte_prefetch0(heads[i].base);
	}
	utcp_expect(dpdk->utcp, heads, count);
}

/* Hands received frames to utcp, at most TURN_BURSTS_IN bursts; returns their number. */
static unsigned take_input(struct dpdk *dpdk, uint64_t now_ns)
{
	struct rte_mbuf *frames[PORT_BURST];
	unsigned total = 0;

	for (unsigned burst = 0; burst < TURN_BURSTS_IN; burst++) {
		unsigned count = port_receive(dpdk->port, frames);

		if (utcp_expect_pays(dpdk->utcp))
			expect_frames(dpdk, frames, count);
		for (unsigned i = 0; i < count; i++) {
			const uint8_t *bytes = port_linear(dpdk->port, frames[i]);

			if (i + 1 < count)
				rte_prefetch0(rte_pktmbuf_mtod(frames[i + 1], void *));
			if (bytes)
				utcp_input(dpdk->utcp, bytes, frames[i]->pkt_len, now_ns);
		}
		port_done(dpdk->port, frames, count);
		total += count;
		if (count < PORT_BURST)
			break;
	}
	return total;
}

static uint16_t reason_of(const struct dpdk *dpdk, unsigned reason)
{
	static const uint8_t reasons[] = {
		[UTCP_DONE] = TP_DONE,
		[UTCP_RESET] = TP_RESET,
		[UTCP_REFUSED] = TP_REFUSED,
		[UTCP_TIMEOUT] = TP_TIMEOUT,
		[UTCP_UNREACHABLE] = TP_UNREACHABLE,
		[UTCP_ABORTED] = TP_ABORTED,
	};

	if (reason == UTCP_ABORTED && dpdk->link_lost)
		return TP_LINK_DOWN;
	return reason < sizeof(reasons) ? reasons[reason] : TP_FAILED;
}

/* Both sides finished: what is unread will be taken out of utcp's way at the next poll. */
static void note_ending(struct dpdk *dpdk, struct dpdk_conn *conn)
{
	if (conn->open && conn->finished && conn->peer_finished && !conn->rest)
		list_push(&dpdk->ending, &conn->ending);
}

/*
 * utcp tells of the end when all was read, the contract when both sides finished. So what is unread
 * moves aside, where peek finds it as long as the handle lives; nothing can come after it.
 */
static void set_rest_aside(struct dpdk *dpdk, struct dpdk_conn *conn)
{
	struct span spans[2];
	struct span_reader reader =
		span_reader_of(spans, utcp_peek(dpdk->utcp, conn->handle, spans));

	if (reader.left == 0)
		return;
	conn->rest = slab_acquire(&dpdk->rests);
	CHECK(conn->rest); /* one for each connection */
	conn->rest_bytes = (uint32_t)reader.left;
	dpdk->counters.copied_bytes += reader.left;
	span_reader_copy(&reader, conn->rest, reader.left);
	utcp_consume(dpdk->utcp, conn->handle, conn->rest_bytes);
}

static void set_rests_aside(struct dpdk *dpdk)
{
	struct list *link;

	while ((link = list_pop(&dpdk->ending)))
		set_rest_aside(dpdk, list_member(link, struct dpdk_conn, ending));
}

static void translate(struct dpdk *dpdk, const struct utcp_event *from, struct tp_event *event)
{
	struct dpdk_conn *conn = dpdk_conn_at(dpdk, from->conn);

	if (from->bits & UTCP_ACCEPTED) {
		dpdk_conn_begin(dpdk, from->conn, NULL);
		dpdk->counters.accepted++;
	}
	*event = (struct tp_event){.conn = &conn->base, .bits = from->bits};
	if (from->bits & UTCP_CONNECTED)
		dpdk->counters.connected++;
	if (from->bits & UTCP_FINISHED) {
		conn->peer_finished = true;
		note_ending(dpdk, conn);
	}
	if (from->bits & UTCP_CLOSED) {
		event->reason = reason_of(dpdk, from->reason);
		if (conn->aborted) /* whatever else was to be told */
			*event = (struct tp_event){&conn->base, TP_CLOSED, TP_ABORTED};
		conn->open = false;
		list_remove(&conn->dirty);
		list_remove(&conn->ending);
		dpdk->counters.closed++;
	}
}

static unsigned fetch_events(struct dpdk *dpdk, struct tp_event *events, unsigned room)
{
	struct utcp_event raw[TURN_EVENTS];
	unsigned count = 0;

	while (count < room) {
		unsigned want = room - count < TURN_EVENTS ? room - count : TURN_EVENTS;
		unsigned got = utcp_events(dpdk->utcp, raw, want);

		for (unsigned i = 0; i < got; i++)
			translate(dpdk, &raw[i], &events[count + i]);
		count += got;
		if (got < want) {
			dpdk->link_lost = false;
			break;
		}
	}
	return count;
}

/* The other side went away: nothing of what is open can go on. */
static void lose_link(struct dpdk *dpdk, uint64_t now_ns)
{
	dpdk->link_lost = true;
	for (uint32_t i = 0; i < dpdk->conn_max; i++)
		if (dpdk->conns[i].open)
			utcp_abort(dpdk->utcp, dpdk->conns[i].handle);
	/* the resets have nobody to go to, nor has what waits */
	do
		port_give_up(dpdk->port);
	while (dpdk_output(dpdk, now_ns, PORT_WAITING_MAX) > 0);
}

bool dpdk_note_link(struct dpdk *dpdk, uint64_t now_ns)
{
	if (__builtin_expect(dpdk->port->link.downs == dpdk->downs_seen, 1))
		return false;
	dpdk->downs_seen = dpdk->port->link.downs;
	dpdk->base.device_gone = dpdk->port->link.gone != NULL;
	dpdk->base.gone_part = dpdk->port->link.gone;
	lose_link(dpdk, now_ns);
	return true;
}

static void flush_dirty(struct dpdk *dpdk)
{
	while (!list_empty(&dpdk->dirty))
		dpdk_flush(&dpdk->base,
			   &list_member(dpdk->dirty.next, struct dpdk_conn, dirty)->base);
}

/* Moves all that can move at `now_ns`; the number of events. */
static unsigned pass(struct dpdk *dpdk, struct tp_event *events, unsigned room, uint64_t now_ns,
		     struct tp_turn *turn)
{
	uint64_t frames_out = dpdk->port->counters.frames_out;
	unsigned count, moved;

	dpdk->now_ns = now_ns;
	port_turn(dpdk->port, now_ns);
	moved = dpdk_note_link(dpdk, now_ns);
	if (link_usable(&dpdk->port->link)) {
		flush_dirty(dpdk);
		dpdk_output(dpdk, now_ns, TURN_FRAMES_OUT);
		port_send(dpdk->port);
		moved += take_input(dpdk, now_ns);
	}
	utcp_advance(dpdk->utcp, now_ns);
	count = fetch_events(dpdk, events, room);
	turn->now_ns = now_ns;
	turn->moved = moved + count > 0 || dpdk->port->counters.frames_out != frames_out;
	return count;
}

/* How long nothing can become due of itself: timers, the look at the link, the caller's bound. */
static uint64_t idle_bound(const struct dpdk *dpdk, uint64_t now_ns, uint64_t until_ns)
{
	uint64_t next_ns = utcp_deadline(dpdk->utcp);

	/* a link that is not usable is looked at after each nap */
	if (link_usable(&dpdk->port->link) && dpdk->port->link.next_ns < next_ns)
		next_ns = dpdk->port->link.next_ns;
	if (until_ns < next_ns)
		next_ns = until_ns;
	return next_ns > now_ns ? next_ns - now_ns : 0;
}

/* Sleeps and looks again until something moves or `wait_ns` are over; the number of events. */
static unsigned wait_for_more(struct dpdk *dpdk, struct tp_event *events, unsigned room,
			      uint64_t wait_ns, struct tp_turn *turn)
{
	uint64_t before_ns = clock_now_ns(), now_ns;
	uint64_t until_ns = wait_ns < UINT64_MAX - before_ns ? before_ns + wait_ns : UINT64_MAX;
	unsigned count;

	for (;;) {
		port_sleep(dpdk->port, idle_bound(dpdk, before_ns, until_ns));
		now_ns = clock_now_ns();
		turn->waited_ns += now_ns - before_ns;
		count = pass(dpdk, events, room, now_ns, turn);
		before_ns = clock_now_ns();
		if (turn->moved || before_ns >= until_ns)
			break;
	}
	dpdk->counters.waits++;
	dpdk->counters.wait_ns += turn->waited_ns;
	dpdk->counters.wakeups += turn->moved;
	return count;
}

unsigned dpdk_poll(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
		   struct tp_turn *turn_out)
{
	struct dpdk *dpdk = dpdk_of(tp);
	struct tp_turn turn = {0};
	unsigned count;

	set_rests_aside(dpdk);
	count = pass(dpdk, events, room, clock_now_ns(), &turn);
	if (wait_ns > 0 && !turn.moved)
		count = wait_for_more(dpdk, events, room, wait_ns, &turn);
	dpdk->counters.polls++;
	dpdk->counters.empty_polls += !turn.moved;
	*turn_out = turn;
	return count;
}

unsigned dpdk_peek(struct tp *tp, struct tp_conn *conn, struct span *spans, unsigned room)
{
	struct dpdk_conn *dpdk_conn = dpdk_conn_of(conn);
	struct span pieces[2] = {{0}};
	unsigned count = dpdk_conn->rest_bytes > 0;

	if (dpdk_conn->rest)
		pieces[0] = (struct span){dpdk_conn->rest + dpdk_conn->rest_offset,
					  dpdk_conn->rest_bytes};
	else
		count = utcp_peek(dpdk_of(tp)->utcp, dpdk_conn->handle, pieces);
	if (count > room)
		count = room;
	for (unsigned i = 0; i < count; i++)
		spans[i] = pieces[i];
	return count;
}

void dpdk_consume(struct tp *tp, struct tp_conn *conn, size_t bytes)
{
	struct dpdk_conn *dpdk_conn = dpdk_conn_of(conn);

	if (!dpdk_conn->rest) {
		utcp_consume(dpdk_of(tp)->utcp, dpdk_conn->handle, bytes);
		return;
	}
	CHECK(bytes <= dpdk_conn->rest_bytes);
	dpdk_conn->rest_offset += (uint32_t)bytes;
	dpdk_conn->rest_bytes -= (uint32_t)bytes;
}

unsigned dpdk_reserve(struct tp *tp, struct tp_conn *conn, size_t bytes, struct room rooms[2])
{
	return utcp_reserve(dpdk_of(tp)->utcp, dpdk_conn_of(conn)->handle, bytes, rooms);
}

void dpdk_commit(struct tp *tp, struct tp_conn *conn, size_t bytes)
{
	struct dpdk *dpdk = dpdk_of(tp);
	struct dpdk_conn *dpdk_conn = dpdk_conn_of(conn);

	if (bytes == 0 || !dpdk_conn->open || !utcp_commit(dpdk->utcp, dpdk_conn->handle, bytes))
		return;
	if (dpdk_conn->committed_bytes == 0)
		list_push(&dpdk->dirty, &dpdk_conn->dirty);
	dpdk_conn->committed_bytes += (uint32_t)bytes;
}

static void count_write(struct tp_counters *counters, uint32_t bytes)
{
	counters->writes++;
	counters->written_bytes += bytes;
	if (bytes > counters->largest_write_bytes)
		counters->largest_write_bytes = bytes;
}

void dpdk_flush(struct tp *tp, struct tp_conn *conn)
{
	struct dpdk *dpdk = dpdk_of(tp);
	struct dpdk_conn *dpdk_conn = dpdk_conn_of(conn);

	if (dpdk_conn->committed_bytes == 0)
		return;
	count_write(&dpdk->counters, dpdk_conn->committed_bytes);
	dpdk_conn->committed_bytes = 0;
	list_remove(&dpdk_conn->dirty);
	for (;;) {
		uint8_t *frame = port_frame(dpdk->port);
		size_t bytes = 0;

		if (frame)
			bytes = utcp_conn_output(dpdk->utcp, dpdk_conn->handle, frame,
						 dpdk->now_ns);
		if (bytes == 0)
			return;
		port_put(dpdk->port, bytes);
	}
}

void dpdk_finish(struct tp *tp, struct tp_conn *conn)
{
	struct dpdk_conn *dpdk_conn = dpdk_conn_of(conn);

	if (!dpdk_conn->open)
		return;
	utcp_finish(dpdk_of(tp)->utcp, dpdk_conn->handle);
	dpdk_conn->finished = true;
	note_ending(dpdk_of(tp), dpdk_conn);
}

void dpdk_abort(struct tp *tp, struct tp_conn *conn)
{
	struct dpdk_conn *dpdk_conn = dpdk_conn_of(conn);

	if (!dpdk_conn->open)
		return;
	dpdk_conn->aborted = true;
	dpdk_conn->committed_bytes = 0;
	list_remove(&dpdk_conn->dirty);
	utcp_abort(dpdk_of(tp)->utcp, dpdk_conn->handle);
}
