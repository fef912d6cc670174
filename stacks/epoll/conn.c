#include "stacks/epoll/instance.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

void ep_set_state(struct ep_conn *conn, enum ep_state state)
{
	static const uint8_t ways[EP_STATE_COUNT] = {
		[EP_FREE] = 1 << EP_CONNECTING | 1 << EP_OPEN,
		[EP_CONNECTING] = 1 << EP_OPEN | 1 << EP_CLOSED,
		[EP_OPEN] = 1 << EP_CLOSED,
		[EP_CLOSED] = 1 << EP_FREE,
	};

	ASSERT(ways[conn->state] & 1 << state);
	conn->state = (uint8_t)state;
}

struct ep_conn *ep_conn_begin(struct ep *ep, int fd, enum ep_state state)
{
	struct ep_conn *conn = slab_acquire(&ep->conns);

	if (!conn)
		return NULL;
	*conn = (struct ep_conn){.fd = fd, .generation = conn->generation + 1};
	lease_init(&conn->recv, ep->limits.recv_bytes);
	lease_init(&conn->send, ep->limits.send_bytes);
	list_init(&conn->ready);
	list_init(&conn->marked);
	list_init(&conn->pending);
	list_init(&conn->live);
	list_push(&ep->live, &conn->live);
	ep_set_state(conn, state);
	return conn;
}

/*
 * What the kernel is to report.
 *
 * Writability is watched only while somebody waits for it: a socket is nearly always writable, and
 * epoll would report that alone each time that a byte had come and was already read.
 *
 * By level, readiness is repeated until it is gone. Where nothing more can be read (the ring is
 * full, the peer has ended) it would be repeated for ever, hang-ups and errors even unasked; such a
 * connection is watched by edge until that changes.
 */
static uint32_t events_of(const struct ep *ep, const struct ep_conn *conn)
{
	uint32_t events = conn->watches_writable ? EPOLLOUT : 0;

	if (!ep->by_level)
		return events | EPOLLIN | EPOLLRDHUP | EPOLLPRI | EPOLLET;
	if (conn->peer_ended || ring_free(&conn->recv) == 0)
		return events | EPOLLET;
	return events | EPOLLIN;
}

static int ask_for(struct ep *ep, struct ep_conn *conn, int operation)
{
	uint64_t generation = conn->generation & INT32_MAX; /* the top bit is EP_LISTENER_TAG's */
	struct epoll_event event = {
		.events = events_of(ep, conn),
		.data.u64 = generation << 32 | slab_index(&ep->conns, conn),
	};

	conn->watched = event.events;
	ep->counters.syscalls++;
	return epoll_ctl(ep->epoll_fd, operation, conn->fd, &event) < 0 ? -errno : 0;
}

int ep_conn_watch(struct ep *ep, struct ep_conn *conn, bool writable)
{
	conn->watches_writable = writable;
	return ask_for(ep, conn, EPOLL_CTL_ADD);
}

void ep_conn_rewatch(struct ep *ep, struct ep_conn *conn, bool writable)
{
	conn->watches_writable = writable;
	if (conn->watched != events_of(ep, conn) && ask_for(ep, conn, EPOLL_CTL_MOD) < 0)
		ep_conn_retire(ep, conn, TP_FAILED);
}

void ep_conn_release(struct ep *ep, struct ep_conn *conn)
{
	list_remove(&conn->pending);
	list_remove(&conn->live);
	lease_end(&conn->recv, &ep->recv_blocks);
	lease_end(&conn->send, &ep->send_blocks);
	ep_set_state(conn, EP_FREE);
	slab_release(&ep->conns, conn);
}

void ep_conn_note(struct ep *ep, struct ep_conn *conn, uint16_t bits)
{
	conn->bits |= bits;
	if (!list_linked(&conn->pending))
		list_push(&ep->pending, &conn->pending);
}

/*
 * A descriptor that is closed leaves the epoll set with it, so nothing is to be removed there. What
 * broke on our side alone is reset: an orderly end would tell the peer that it has everything.
 */
void ep_conn_retire(struct ep *ep, struct ep_conn *conn, enum tp_reason reason)
{
	if (reason != TP_DONE && reason != TP_RESET && reason != TP_REFUSED) {
		socket_reset(conn->fd, &ep->counters.syscalls);
	} else {
		close(conn->fd);
		ep->counters.syscalls++;
	}
	conn->fd = -1;
	conn->unread = false;
	conn->wanted_bytes = 0;
	conn->reason = reason;
	list_remove(&conn->ready);
	list_remove(&conn->marked);
	ep_set_state(conn, EP_CLOSED);
	ep->counters.closed++;
	ep_conn_note(ep, conn, TP_CLOSED);
}

/* --- receiving --- */

bool ep_conn_check(struct ep *ep, struct ep_conn *conn)
{
	int error_number = conn->broken ? socket_error(conn->fd, &ep->counters.syscalls) : 0;

	conn->broken = false;
	if (error_number)
		ep_conn_retire(ep, conn, socket_reason(error_number));
	return error_number == 0;
}

/*
 * The peer ended its side and all it sent is in the ring. An error behind the end is not shown by
 * any further read, so it is asked for.
 */
static void peer_ended(struct ep *ep, struct ep_conn *conn)
{
	conn->unread = false;
	if (!conn->peer_ended)
		ep_conn_note(ep, conn, TP_FINISHED);
	conn->peer_ended = true;
	if (ep_conn_check(ep, conn) && conn->ended)
		ep_conn_retire(ep, conn, TP_DONE);
}

/* No bytes, no end. If the kernel had reported an error that is not there, a writer may go on. */
static void drained(struct ep *ep, struct ep_conn *conn)
{
	conn->unread = conn->doubtful = false;
	if (conn->broken && ep_conn_check(ep, conn) && conn->blocked)
		ep_conn_send(ep, conn);
}

static void receive_failed(struct ep *ep, struct ep_conn *conn, int error_number)
{
	if (error_number == EAGAIN)
		drained(ep, conn);
	else if (error_number != EINTR)
		ep_conn_retire(ep, conn, socket_reason(error_number));
}

/*
 * Less than asked for means that the kernel has no more: what comes later is a new edge. Not so at
 * a mark of urgent data, and behind the last byte stands an end that only a further call shows.
 */
static void received(struct ep *ep, struct ep_conn *conn, uint32_t bytes, uint32_t asked)
{
	ring_commit(&conn->recv, bytes);
	ep->counters.received_bytes += bytes;
	ep->details.reads++;
	ep->moved = true;
	if (bytes < asked && !conn->doubtful)
		conn->unread = false;
	ep_conn_note(ep, conn, TP_READABLE);
}

static ssize_t receive_into(int fd, struct room rooms[2], unsigned count)
{
	struct iovec pieces[2] = {{rooms[0].base, rooms[0].bytes}, {rooms[1].base, rooms[1].bytes}};

	return count == 1 ? recv(fd, rooms[0].base, rooms[0].bytes, 0) : readv(fd, pieces, 2);
}

static void receive_once(struct ep *ep, struct ep_conn *conn)
{
	uint32_t asked = ring_free(&conn->recv);
	struct room rooms[2];
	ssize_t bytes;

	ASSERT(asked > 0);
	lease_take(&conn->recv, &ep->recv_blocks);
	bytes = receive_into(conn->fd, rooms, ring_rooms(&conn->recv, asked, rooms));
	ep->counters.syscalls++;
	if (bytes > 0)
		received(ep, conn, (uint32_t)bytes, asked);
	else if (bytes == 0)
		peer_ended(ep, conn);
	else
		receive_failed(ep, conn, errno);
	lease_end_if_empty(&conn->recv, &ep->recv_blocks);
	if (!conn->unread)
		return;
	if (ring_free(&conn->recv) > 0)
		list_push(&ep->ready, &conn->ready);
	else if (conn->broken)
		ep_conn_check(ep, conn);
}

void ep_conn_receive(struct ep *ep, struct ep_conn *conn)
{
	receive_once(ep, conn);
	if (ep->by_level && conn->state == EP_OPEN)
		ep_conn_rewatch(ep, conn, conn->watches_writable);
}

unsigned ep_peek(struct tp *tp, struct tp_conn *tp_conn, struct span *spans, unsigned room)
{
	struct ep_conn *conn = ep_conn_of(tp_conn);
	struct span pieces[2];
	unsigned count = ring_spans(&conn->recv, 0, ring_used(&conn->recv), pieces);

	if (count > room)
		count = room;
	for (unsigned i = 0; i < count; i++)
		spans[i] = pieces[i];
	return count;
}

void ep_consume(struct tp *tp, struct tp_conn *tp_conn, size_t bytes)
{
	struct ep_conn *conn = ep_conn_of(tp_conn);
	struct ep *ep = ep_of(tp);

	CHECK(bytes <= ring_used(&conn->recv));
	ring_consume(&conn->recv, (uint32_t)bytes);
	lease_end_if_empty(&conn->recv, &ep->recv_blocks);
	if (conn->unread && bytes > 0 && !list_linked(&conn->ready))
		list_push(&ep->ready, &conn->ready);
}

/* --- sending --- */

/* Tells a writer that was refused, once its bytes are free. */
static void offer_room(struct ep *ep, struct ep_conn *conn)
{
	if (conn->wanted_bytes == 0 || ring_free(&conn->send) < conn->wanted_bytes)
		return;
	conn->wanted_bytes = 0;
	ep_conn_note(ep, conn, TP_WRITABLE);
}

/* Ends our side once all has left. If the peer's side has ended too, closing does both. */
static void end_if_due(struct ep *ep, struct ep_conn *conn)
{
	if (!conn->finishing || conn->ended || conn->state != EP_OPEN || ring_used(&conn->send) > 0)
		return;
	conn->ended = true;
	if (conn->peer_ended) {
		ep_conn_retire(ep, conn, TP_DONE);
		return;
	}
	/* It can only fail on a connection that is broken, which epoll reports too. */
	shutdown(conn->fd, SHUT_WR);
	ep->counters.syscalls++;
}

/*
 * An emptied ring starts again at its base, but not under a room that is lent: its bytes will be
 * committed where they stand.
 */
static void sent(struct ep *ep, struct ep_conn *conn, uint32_t bytes)
{
	if (conn->lent_bytes == 0) {
		ring_consume(&conn->send, bytes);
		lease_end_if_empty(&conn->send, &ep->send_blocks);
	} else {
		ring_pass(&conn->send, bytes);
	}
	ep->moved = true;
	offer_room(ep, conn);
}

/* One gathered send; a signal promises no event, so what it interrupted is tried again. */
static ssize_t send_spans(struct ep *ep, int fd, struct span spans[2], unsigned count)
{
	struct iovec pieces[2] = {{(void *)spans[0].base, spans[0].bytes},
				  {(void *)spans[1].base, spans[1].bytes}};
	struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
	ssize_t bytes;

	do {
		ep->counters.syscalls++;
		if (count == 1)
			bytes = send(fd, spans[0].base, spans[0].bytes, MSG_NOSIGNAL);
		else
			bytes = sendmsg(fd, &message, MSG_NOSIGNAL);
	} while (bytes < 0 && errno == EINTR);
	return bytes;
}

/*
 * The kernel took less than was offered. If there is room again by now, setting the watch reports
 * that. Who was blocked once will be again, so by edge the watch stays; by level it would be
 * reported all the time.
 */
void ep_conn_block(struct ep *ep, struct ep_conn *conn)
{
	conn->blocked = true;
	ep->details.short_writes++;
	ep_conn_rewatch(ep, conn, true);
}

/* By level, room that nobody waits for would be reported for ever. */
static void unwatch(struct ep *ep, struct ep_conn *conn)
{
	if (ep->by_level && conn->watches_writable)
		ep_conn_rewatch(ep, conn, false);
}

void ep_conn_send(struct ep *ep, struct ep_conn *conn)
{
	uint32_t offered = ring_used(&conn->send);
	struct span spans[2];
	ssize_t bytes;

	if (offered > 0) {
		bytes = send_spans(ep, conn->fd, spans, ring_spans(&conn->send, 0, offered, spans));
		if (bytes < 0 && errno != EAGAIN) {
			ep_conn_retire(ep, conn, socket_reason(errno));
			return;
		}
		conn->blocked = false;
		if (bytes > 0)
			sent(ep, conn, (uint32_t)bytes);
		if (bytes < offered)
			ep_conn_block(ep, conn);
		else
			unwatch(ep, conn);
	} else { /* a file may have found no room, or have come before the connection */
		conn->blocked = false;
		offer_room(ep, conn);
		unwatch(ep, conn);
	}
	end_if_due(ep, conn);
}

unsigned ep_reserve(struct tp *tp, struct tp_conn *tp_conn, size_t bytes, struct room rooms[2])
{
	struct ep_conn *conn = ep_conn_of(tp_conn);
	struct ep *ep = ep_of(tp);

	ASSERT(bytes > 0 && bytes <= ep->limits.send_bytes);
	conn->lent_bytes = 0;
	if (conn->state == EP_CLOSED || conn->finishing)
		return 0;
	if (ring_free(&conn->send) < bytes) {
		conn->wanted_bytes = (uint32_t)bytes;
		ep->counters.reserves_refused++;
		return 0;
	}
	conn->lent_bytes = (uint32_t)bytes;
	lease_take(&conn->send, &ep->send_blocks);
	return ring_rooms(&conn->send, conn->lent_bytes, rooms);
}

void ep_commit(struct tp *tp, struct tp_conn *tp_conn, size_t bytes)
{
	struct ep_conn *conn = ep_conn_of(tp_conn);

	if (conn->state == EP_CLOSED || conn->finishing)
		return;
	CHECK(bytes <= conn->lent_bytes);
	conn->lent_bytes = 0;
	if (bytes == 0)
		return;
	ring_commit(&conn->send, (uint32_t)bytes);
	conn->marked_bytes += (uint32_t)bytes;
	if (!list_linked(&conn->marked))
		list_push(&ep_of(tp)->marked, &conn->marked);
}

void ep_count_write(struct ep *ep, size_t bytes)
{
	ep->counters.writes++;
	ep->counters.written_bytes += bytes;
	if (bytes > ep->counters.largest_write_bytes)
		ep->counters.largest_write_bytes = bytes;
}

void ep_flush(struct tp *tp, struct tp_conn *tp_conn)
{
	struct ep_conn *conn = ep_conn_of(tp_conn);
	struct ep *ep = ep_of(tp);
	uint32_t bytes = conn->marked_bytes;

	if (bytes == 0 || conn->state == EP_CLOSED)
		return;
	conn->marked_bytes = 0;
	list_remove(&conn->marked);
	ep_count_write(ep, bytes);
	if (conn->state == EP_OPEN && !conn->blocked)
		ep_conn_send(ep, conn);
}

/* --- ending --- */

void ep_finish(struct tp *tp, struct tp_conn *tp_conn)
{
	struct ep_conn *conn = ep_conn_of(tp_conn);

	conn->finishing = true;
	conn->lent_bytes = 0;
	end_if_due(ep_of(tp), conn);
}

void ep_abort(struct tp *tp, struct tp_conn *tp_conn)
{
	struct ep_conn *conn = ep_conn_of(tp_conn);
	struct ep *ep = ep_of(tp);

	if (conn->state != EP_CLOSED)
		ep_conn_retire(ep, conn, TP_ABORTED);
	if (!(conn->bits & TP_CLOSED))
		return; /* its last event was already returned */
	conn->bits = TP_CLOSED;
	conn->reason = TP_ABORTED;
}
