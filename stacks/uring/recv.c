#include "stacks/uring/instance.h"

#include <errno.h>
#include <string.h>

/* --- the buffers that a connection lends --- */

static void lend(struct ur *ur, struct ur_conn *conn, uint16_t id, uint32_t bytes)
{
	ur->pool.buffers[id] = (struct ur_buffer){.bytes = bytes, .next = UR_POOL_NONE};
	if (conn->lent_count == 0)
		conn->lent_first = id;
	else
		ur->pool.buffers[conn->lent_last].next = id;
	conn->lent_last = id;
	conn->lent_count++;
	conn->lent_bytes += bytes;
	if (!list_linked(&conn->lending))
		list_push(&ur->lending, &conn->lending);
}

/* The unread bytes of the first buffer. */
static struct span first_lent(const struct ur *ur, const struct ur_conn *conn)
{
	uint16_t id = conn->lent_first;

	return (struct span){ur_pool_at(&ur->pool, id) + conn->lent_offset,
			     ur->pool.buffers[id].bytes - conn->lent_offset};
}

/* Passes over bytes of the first buffer; one that is read to its end goes back. */
static void pass_lent(struct ur *ur, struct ur_conn *conn, uint32_t bytes)
{
	uint16_t id = conn->lent_first;

	conn->lent_offset += bytes;
	conn->lent_bytes -= bytes;
	if (conn->lent_offset < ur->pool.buffers[id].bytes)
		return;
	conn->lent_offset = 0;
	conn->lent_count--;
	conn->lent_first = ur->pool.buffers[id].next;
	if (conn->lent_count == 0)
		list_remove(&conn->lending);
	ur_pool_give(&ur->pool, id);
}

void ur_recv_fold(struct ur *ur, struct ur_conn *conn)
{
	bool was_surplus = conn->surplus;
	struct room rooms[2];

	while (conn->lent_count > 0 && ring_free(&conn->recv) > 0) {
		struct span span = first_lent(ur, conn);
		uint32_t free = ring_free(&conn->recv);
		uint32_t bytes = span.bytes < free ? (uint32_t)span.bytes : free;
		struct room_writer writer;

		lease_take(&conn->recv, &ur->recv_blocks);
		writer = room_writer_of(rooms, ring_rooms(&conn->recv, bytes, rooms));
		room_writer_put(&writer, span.base, bytes);
		ring_commit(&conn->recv, bytes);
		pass_lent(ur, conn, bytes);
		ur->details.copied_unread_bytes += bytes;
		/* What stood behind the limit of peek comes into sight. */
		if (was_surplus)
			ur_conn_note(ur, conn, TP_READABLE);
	}
	conn->surplus = conn->lent_count > 0;
}

void ur_recv_drop(struct ur *ur, struct ur_conn *conn)
{
	while (conn->lent_count > 0)
		pass_lent(ur, conn, (uint32_t)first_lent(ur, conn).bytes);
}

/* --- asking --- */

static uint32_t unread(const struct ur_conn *conn)
{
	return ring_used(&conn->recv) + conn->lent_bytes;
}

/* Whether its reader keeps up, so that bytes come to be lent and not to be kept. */
static bool keeps_up(const struct ur_conn *conn)
{
	return unread(conn) <= conn->recv.capacity / 4;
}

static bool ask_multishot(struct ur *ur, struct ur_conn *conn)
{
	struct io_uring_sqe *sqe = ur_conn_sqe(ur, conn);

	if (!sqe)
		return false;
	io_uring_prep_recv_multishot(sqe, conn->fd, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = UR_POOL_GROUP;
	ur_conn_queue(ur, conn, sqe, UR_RECV);
	conn->receiving = UR_RECV_MULTISHOT;
	return true;
}

/* Into the connection's own ring: never more than it has room for, whatever others hold. */
static bool ask_single(struct ur *ur, struct ur_conn *conn)
{
	struct io_uring_sqe *sqe = ur_conn_sqe(ur, conn);
	struct room rooms[2];

	if (!sqe)
		return false;
	lease_take(&conn->recv, &ur->recv_blocks);
	ring_rooms(&conn->recv, ring_free(&conn->recv), rooms);
	io_uring_prep_recv(sqe, conn->fd, rooms[0].base, rooms[0].bytes, 0);
	ur_conn_queue(ur, conn, sqe, UR_RECV);
	conn->receiving = UR_RECV_SINGLE;
	return true;
}

/* Ends a multishot whose connection has enough; what arrives before it ends is kept. */
static bool stop(struct ur *ur, struct ur_conn *conn)
{
	if (!ur_conn_cancel(ur, conn, UR_RECV))
		return false;
	conn->receiving = UR_RECV_STOPPING;
	return true;
}

bool ur_recv_serve(struct ur *ur, struct ur_conn *conn)
{
	bool lacked = conn->lacked;

	if (conn->receiving == UR_RECV_MULTISHOT)
		return unread(conn) < conn->recv.capacity || stop(ur, conn);
	if (conn->receiving != UR_RECV_IDLE || conn->peer_ended || conn->lent_count > 0)
		return true;
	if (ur->pooled && keeps_up(conn) && ur->pool.with_kernel > 0 && !lacked)
		return ask_multishot(ur, conn);
	conn->lacked = false;
	return ring_free(&conn->recv) == 0 || ask_single(ur, conn);
}

/* --- what came --- */

static void peer_ended(struct ur *ur, struct ur_conn *conn)
{
	conn->peer_ended = true;
	ur_conn_note(ur, conn, TP_FINISHED);
	if (conn->ended)
		ur_conn_retire(ur, conn, TP_DONE);
}

static void receive_failed(struct ur *ur, struct ur_conn *conn, int error_number)
{
	switch (error_number) {
	case ENOBUFS:
		ur->details.buffers_lacked++;
		conn->lacked = true;
		break;
	case ECANCELED:
	case EINTR:
	case EAGAIN:
		break;
	default:
		ur_conn_retire(ur, conn, socket_reason(error_number));
	}
}

static void received(struct ur *ur, struct ur_conn *conn, uint32_t bytes)
{
	ur->counters.received_bytes += bytes;
	ur->details.receives++;
	ur->moved = true;
	ur_conn_note(ur, conn, TP_READABLE);
}

/* Bytes in a buffer of the pool. */
static void take_buffer(struct ur *ur, struct ur_conn *conn, const struct io_uring_cqe *cqe)
{
	uint16_t id = ur_pool_take(&ur->pool, cqe);

	if (conn->state == UR_CLOSED || cqe->res <= 0) {
		ur_pool_give(&ur->pool, id);
		return;
	}
	if (conn->lent_count == UR_LENT_MAX)
		ur_recv_fold(ur, conn);
	lend(ur, conn, id, (uint32_t)cqe->res);
	received(ur, conn, (uint32_t)cqe->res);
}

void ur_recv_done(struct ur *ur, struct ur_conn *conn, const struct io_uring_cqe *cqe)
{
	bool single = conn->receiving == UR_RECV_SINGLE;
	bool closed = conn->state == UR_CLOSED;

	if (!(cqe->flags & IORING_CQE_F_MORE)) {
		ur->details.multishot_ended += !single;
		conn->receiving = UR_RECV_IDLE;
	}
	if (cqe->flags & IORING_CQE_F_BUFFER)
		take_buffer(ur, conn, cqe);
	else if (cqe->res > 0 && !closed) {
		ring_commit(&conn->recv, (uint32_t)cqe->res);
		ur->details.ring_receives++;
		received(ur, conn, (uint32_t)cqe->res);
	}
	if (conn->receiving != UR_RECV_SINGLE)
		lease_end_if_empty(&conn->recv, &ur->recv_blocks);
	if (closed)
		return;
	if (cqe->res == 0)
		peer_ended(ur, conn);
	else if (cqe->res < 0)
		receive_failed(ur, conn, -cqe->res);
	if (conn->receiving == UR_RECV_IDLE || unread(conn) >= conn->recv.capacity)
		ur_conn_attend(ur, conn);
}

/* --- reading --- */

/*
 * Never lends more than the ring could hold. What a multishot brought beyond that before it ended
 * stays behind the limit until there is room. Who consumes what is in sight need not look again, so
 * the rest is told of when it comes into sight.
 */
unsigned ur_peek(struct tp *tp, struct tp_conn *tp_conn, struct span *spans, unsigned room)
{
	struct ur_conn *conn = ur_conn_of(tp_conn);
	const struct ur *ur = ur_of(tp);
	bool hidden = unread(conn) > conn->recv.capacity;
	uint32_t left = conn->recv.capacity - ring_used(&conn->recv);
	uint32_t offset = conn->lent_offset;
	struct span pieces[2];
	unsigned count = ring_spans(&conn->recv, 0, ring_used(&conn->recv), pieces);

	conn->hidden = hidden;
	conn->surplus &= hidden;
	if (count > room)
		count = room;
	for (unsigned i = 0; i < count; i++)
		spans[i] = pieces[i];
	for (uint16_t id = conn->lent_first, i = 0; i < conn->lent_count; i++) {
		uint32_t bytes = ur->pool.buffers[id].bytes - offset;

		if (count == room || left == 0)
			break;
		bytes = bytes < left ? bytes : left;
		spans[count++] = (struct span){ur_pool_at(&ur->pool, id) + offset, bytes};
		left -= bytes;
		offset = 0;
		id = ur->pool.buffers[id].next;
	}
	return count;
}

/*
 * An emptied ring starts again at its base, but not while the kernel may be writing behind its end.
 */
static void consume_ring(struct ur *ur, struct ur_conn *conn, uint32_t bytes)
{
	if (conn->receiving == UR_RECV_SINGLE) {
		conn->recv.head += bytes;
		return;
	}
	ring_consume(&conn->recv, bytes);
	lease_end_if_empty(&conn->recv, &ur->recv_blocks);
}

void ur_consume(struct tp *tp, struct tp_conn *tp_conn, size_t bytes)
{
	struct ur_conn *conn = ur_conn_of(tp_conn);
	struct ur *ur = ur_of(tp);
	uint32_t from_ring = ring_used(&conn->recv);

	CHECK(bytes <= unread(conn));
	conn->surplus |= conn->hidden && bytes > 0;
	if (from_ring > bytes)
		from_ring = (uint32_t)bytes;
	consume_ring(ur, conn, from_ring);
	for (bytes -= from_ring; bytes > 0;) {
		size_t piece = first_lent(ur, conn).bytes;
		size_t step = piece < bytes ? piece : bytes;

		pass_lent(ur, conn, (uint32_t)step);
		bytes -= step;
	}
	if (conn->state == UR_OPEN && conn->receiving == UR_RECV_IDLE && !conn->peer_ended)
		ur_conn_attend(ur, conn);
}
