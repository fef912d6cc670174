#include "stacks/uring/files.h"
#include "stacks/uring/instance.h"

#include <errno.h>
#include <sys/socket.h>

/* Tells a writer that was refused, once its bytes are free. */
static void offer_room(struct ur *ur, struct ur_conn *conn)
{
	if (conn->wanted_bytes == 0 || ring_free(&conn->send) < conn->wanted_bytes)
		return;
	conn->wanted_bytes = 0;
	ur_conn_note(ur, conn, TP_WRITABLE);
}

/* Ends our side once all has left. If the peer's side has ended too, closing does both. */
void ur_send_end_if_due(struct ur *ur, struct ur_conn *conn)
{
	if (!conn->finishing || conn->ended || conn->state != UR_OPEN ||
	    ring_used(&conn->send) > conn->held_bytes)
		return;
	conn->ended = true;
	if (conn->peer_ended) {
		ur_conn_retire(ur, conn, TP_DONE);
		return;
	}
	/*
	 * As a request it would go to a thread of the kernel's, which costs more than this call. It
	 * can only fail on a connection that is broken, which receiving finds out too.
	 */
	shutdown(conn->fd, SHUT_WR);
	ur->counters.syscalls++;
}

/* --- queueing --- */

static bool spares_copy(const struct ur *ur, const struct ur_conn *conn, uint32_t bytes)
{
	return bytes >= ur->zero_copy_bytes && conn->is_tcp;
}

/*
 * Prepares the sending of `bytes` that stand behind what is in flight. MSG_WAITALL lets the kernel
 * go on until all is sent, and break the chain if it cannot.
 */
static void prepare(struct ur *ur, struct ur_conn *conn, struct io_uring_sqe *sqe, uint32_t bytes)
{
	const int flags = MSG_NOSIGNAL | MSG_WAITALL;
	struct span spans[2];
	unsigned count =
		ring_spans(&conn->send, conn->held_bytes + conn->flight_bytes, bytes, spans);

	if (count == 2) {
		conn->pieces[0] = (struct iovec){(void *)spans[0].base, spans[0].bytes};
		conn->pieces[1] = (struct iovec){(void *)spans[1].base, spans[1].bytes};
		conn->message = (struct msghdr){.msg_iov = conn->pieces, .msg_iovlen = 2};
		io_uring_prep_sendmsg(sqe, conn->fd, &conn->message, (unsigned)flags);
	} else if (spares_copy(ur, conn, bytes)) {
		io_uring_prep_send_zc(sqe, conn->fd, spans[0].base, bytes, flags,
				      ur->reports_copies ? IORING_SEND_ZC_REPORT_USAGE : 0);
		ur->details.zc_sends++;
	} else {
		io_uring_prep_send(sqe, conn->fd, spans[0].base, bytes, flags);
	}
}

static void queue_send(struct ur *ur, struct ur_conn *conn, struct io_uring_sqe *sqe,
		       uint32_t bytes)
{
	prepare(ur, conn, sqe, bytes);
	ur_files_use(ur, conn, sqe);
	ur_conn_queue(ur, conn, sqe, UR_SEND);
	conn->flight_bytes += bytes;
	conn->flight_sends++;
	ur->details.sends++;
	ur->last_sender = spares_copy(ur, conn, bytes) ? NULL : conn;
	ur->last_send = sqe;
}

bool ur_send_serve(struct ur *ur, struct ur_conn *conn)
{
	uint32_t bytes = ur_send_waiting(conn);
	struct io_uring_sqe *sqe;

	if (conn->flight_sends > 0 || bytes == 0)
		return true;
	sqe = ur_conn_sqe(ur, conn);
	if (!sqe)
		return false;
	queue_send(ur, conn, sqe, bytes);
	return true;
}

/* The first send of a chain, which must not be torn apart by a hand-over for want of room. */
static void begin_chain(struct ur *ur, struct ur_conn *conn)
{
	if (ur_queue_room(&ur->queue) < ur->chain_room) {
		ur_queue_submit(&ur->queue);
		ur->last_sender = NULL;
	}
	ur_send_serve(ur, conn);
}

/*
 * One more send in the chain, if the last request queued is this connection's and was not handed
 * over yet: then nothing can come between the two. A zero-copy send stands in no chain: where a
 * chain breaks, the kernel's answer to such a link does not say whether another one follows that
 * tells of its memory.
 */
static void extend_chain(struct ur *ur, struct ur_conn *conn, uint32_t bytes)
{
	struct io_uring_sqe *before = ur->last_send;
	struct io_uring_sqe *sqe;

	if (ur->last_sender != conn || ur_queue_room(&ur->queue) == 0 ||
	    ur_send_waiting(conn) != bytes || spares_copy(ur, conn, bytes))
		return;
	sqe = io_uring_get_sqe(&ur->queue.ring);
	before->flags |= IOSQE_IO_LINK;
	ur_queue_expect(&ur->queue, conn->flight_sends == 1 ? 2 : 1);
	ur->details.chained_sends++;
	queue_send(ur, conn, sqe, bytes);
}

void ur_flush(struct tp *tp, struct tp_conn *tp_conn)
{
	struct ur_conn *conn = ur_conn_of(tp_conn);
	struct ur *ur = ur_of(tp);
	uint32_t bytes = conn->marked_bytes;

	if (bytes == 0 || conn->state == UR_CLOSED)
		return;
	conn->marked_bytes = 0;
	list_remove(&conn->marked);
	ur->counters.writes++;
	ur->counters.written_bytes += bytes;
	if (bytes > ur->counters.largest_write_bytes)
		ur->counters.largest_write_bytes = bytes;
	if (conn->state != UR_OPEN)
		return;
	if (conn->flight_sends == 0)
		begin_chain(ur, conn);
	else
		extend_chain(ur, conn, bytes);
}

/* --- what became of it --- */

/*
 * Frees sent bytes. An emptied ring starts again at its base, but not under a room that is lent:
 * its bytes will be committed where they stand.
 */
static void free_bytes(struct ur *ur, struct ur_conn *conn, uint32_t bytes)
{
	if (conn->lent_room == 0) {
		ring_consume(&conn->send, bytes);
		lease_end_if_empty(&conn->send, &ur->send_blocks);
	} else {
		ring_pass(&conn->send, bytes);
	}
	offer_room(ur, conn);
}

/* The kernel lets go of a zero-copy send's memory; all of it is freed with the last one's. */
static void notice(struct ur *ur, struct ur_conn *conn, const struct io_uring_cqe *cqe)
{
	uint32_t bytes = conn->held_bytes;

	ASSERT(conn->notices > 0);
	ur->details.zc_copied += ((uint32_t)cqe->res & IORING_NOTIF_USAGE_ZC_COPIED) != 0;
	if (--conn->notices > 0)
		return;
	conn->held_bytes = 0;
	free_bytes(ur, conn, bytes);
}

/* The outstanding send is over, the whole chain of it. */
static void flight_over(struct ur *ur, struct ur_conn *conn)
{
	uint32_t bytes = conn->flight_sent;

	ur->details.short_sends += bytes < conn->flight_bytes;
	conn->flight_bytes = conn->flight_sent = 0;
	if (conn->send_error) {
		ur_conn_retire(ur, conn, socket_reason(conn->send_error));
		return;
	}
	if (conn->notices > 0)
		conn->held_bytes += bytes;
	else
		free_bytes(ur, conn, bytes);
	ur->moved = true;
	if (ur_send_waiting(conn) > 0)
		ur_conn_attend(ur, conn);
	ur_send_end_if_due(ur, conn);
}

void ur_send_done(struct ur *ur, struct ur_conn *conn, const struct io_uring_cqe *cqe)
{
	if (cqe->flags & IORING_CQE_F_NOTIF) {
		notice(ur, conn, cqe);
		return;
	}
	conn->notices += (cqe->flags & IORING_CQE_F_MORE) != 0;
	conn->flight_sends--;
	if (cqe->res >= 0)
		conn->flight_sent += (uint32_t)cqe->res;
	else if (cqe->res != -ECANCELED && cqe->res != -EINTR && cqe->res != -EAGAIN)
		conn->send_error = -cqe->res;
	if (conn->flight_sends == 0 && conn->state == UR_OPEN)
		flight_over(ur, conn);
}

/* --- writing --- */

unsigned ur_reserve(struct tp *tp, struct tp_conn *tp_conn, size_t bytes, struct room rooms[2])
{
	struct ur_conn *conn = ur_conn_of(tp_conn);
	struct ur *ur = ur_of(tp);

	ASSERT(bytes > 0 && bytes <= ur->limits.send_bytes);
	conn->lent_room = 0;
	if (conn->state == UR_CLOSED || conn->finishing)
		return 0;
	if (ring_free(&conn->send) < bytes) {
		conn->wanted_bytes = (uint32_t)bytes;
		ur->counters.reserves_refused++;
		return 0;
	}
	conn->lent_room = (uint32_t)bytes;
	lease_take(&conn->send, &ur->send_blocks);
	return ring_rooms(&conn->send, conn->lent_room, rooms);
}

void ur_commit(struct tp *tp, struct tp_conn *tp_conn, size_t bytes)
{
	struct ur_conn *conn = ur_conn_of(tp_conn);

	if (conn->state == UR_CLOSED || conn->finishing)
		return;
	CHECK(bytes <= conn->lent_room);
	conn->lent_room = 0;
	if (bytes == 0)
		return;
	ring_commit(&conn->send, (uint32_t)bytes);
	conn->marked_bytes += (uint32_t)bytes;
	if (!list_linked(&conn->marked))
		list_push(&ur_of(tp)->marked, &conn->marked);
}
