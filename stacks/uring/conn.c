#include "stacks/uring/files.h"
#include "stacks/uring/instance.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

void ur_set_state(struct ur_conn *conn, enum ur_state state)
{
	static const uint8_t ways[UR_STATE_COUNT] = {
		[UR_FREE] = 1 << UR_CONNECTING | 1 << UR_OPEN,
		[UR_CONNECTING] = 1 << UR_OPEN | 1 << UR_CLOSED,
		[UR_OPEN] = 1 << UR_CLOSED,
		[UR_CLOSED] = 1 << UR_FREE,
	};

	ASSERT(ways[conn->state] & 1 << state);
	conn->state = (uint8_t)state;
}

/* --- requests --- */

static uint64_t tag_of(const struct ur *ur, const struct ur_conn *conn, enum ur_kind kind)
{
	return (uint64_t)kind << 56 | (uint64_t)(conn->generation & 0xFFFFFF) << 32 |
	       slab_index(&ur->conns, conn);
}

struct io_uring_sqe *ur_conn_sqe(struct ur *ur, struct ur_conn *conn)
{
	struct io_uring_sqe *sqe = ur_queue_sqe(&ur->queue);

	ur->last_sender = NULL;
	if (!sqe)
		ur_conn_attend(ur, conn);
	return sqe;
}

void ur_conn_queue(struct ur *ur, struct ur_conn *conn, struct io_uring_sqe *sqe, enum ur_kind kind)
{
	io_uring_sqe_set_data64(sqe, tag_of(ur, conn, kind));
	conn->requests++;
	ur->requests++;
}

bool ur_conn_cancel(struct ur *ur, struct ur_conn *conn, enum ur_kind kind)
{
	struct io_uring_sqe *sqe = ur_conn_sqe(ur, conn);

	if (!sqe)
		return false;
	io_uring_prep_cancel64(sqe, tag_of(ur, conn, kind), IORING_ASYNC_CANCEL_ALL);
	ur_conn_queue(ur, conn, sqe, UR_CANCEL);
	return true;
}

/* Asks the kernel to tell once when connecting has ended. */
static bool await_connected(struct ur *ur, struct ur_conn *conn)
{
	struct io_uring_sqe *sqe = ur_conn_sqe(ur, conn);

	if (!sqe)
		return false;
	io_uring_prep_poll_add(sqe, conn->fd, POLLOUT);
	ur_conn_queue(ur, conn, sqe, UR_CONNECT);
	conn->connecting = true;
	return true;
}

/*
 * Has the kernel tell of errors while nothing is received, which would find them. It also tells of
 * the peer's end, asked or not, so it is asked once for all: it tells of each change, and does not
 * say again what it said.
 */
static bool watch(struct ur *ur, struct ur_conn *conn)
{
	struct io_uring_sqe *sqe = ur_conn_sqe(ur, conn);

	if (!sqe)
		return false;
	io_uring_prep_poll_multishot(sqe, conn->fd, 0);
	ur_conn_queue(ur, conn, sqe, UR_WATCH);
	conn->watched = true;
	return true;
}

/*
 * Requests still in force keep the socket open behind the descriptor's back, so they are ended
 * first. The descriptor is closed by a request too: it stands behind all that was queued with that
 * number, which by then nobody else can have.
 */
static bool close_descriptor(struct ur *ur, struct ur_conn *conn)
{
	struct io_uring_sqe *sqe;

	if (conn->connecting && !ur_conn_cancel(ur, conn, UR_CONNECT))
		return false;
	if (conn->receiving != UR_RECV_IDLE && !ur_conn_cancel(ur, conn, UR_RECV))
		return false;
	if (conn->flight_sends > 0 && !ur_conn_cancel(ur, conn, UR_SEND))
		return false;
	if (conn->watched && !ur_conn_cancel(ur, conn, UR_WATCH))
		return false;
	if (!ur_files_leave(ur, conn))
		return false;
	if (conn->fd < 0)
		return true;
	sqe = ur_conn_sqe(ur, conn);
	if (!sqe)
		return false;
	io_uring_prep_close(sqe, conn->fd);
	ur_conn_queue(ur, conn, sqe, UR_CLOSE);
	conn->fd = -1;
	return true;
}

bool ur_conn_serve(struct ur *ur, struct ur_conn *conn)
{
	if (conn->state == UR_CLOSED)
		return close_descriptor(ur, conn);
	if (conn->state == UR_CONNECTING)
		return conn->connecting || await_connected(ur, conn);
	if (!ur_files_enter(ur, conn) || !ur_send_serve(ur, conn) || !ur_recv_serve(ur, conn))
		return false;
	return conn->receiving != UR_RECV_IDLE || conn->watched || watch(ur, conn);
}

/* --- a connection's life --- */

struct ur_conn *ur_conn_begin(struct ur *ur, int fd, enum ur_state state, bool is_tcp)
{
	struct ur_conn *conn = slab_acquire(&ur->conns);

	if (!conn)
		return NULL;
	*conn = (struct ur_conn){
		.fd = fd,
		.generation = conn->generation + 1,
		.is_tcp = is_tcp,
		.lent_first = UR_POOL_NONE,
	};
	lease_init(&conn->recv, ur->limits.recv_bytes);
	lease_init(&conn->send, ur->limits.send_bytes);
	list_init(&conn->attend);
	list_init(&conn->lending);
	list_init(&conn->marked);
	list_init(&conn->pending);
	list_init(&conn->live);
	list_push(&ur->live, &conn->live);
	ur_set_state(conn, state);
	ur_conn_attend(ur, conn);
	return conn;
}

void ur_conn_attend(struct ur *ur, struct ur_conn *conn)
{
	if (!list_linked(&conn->attend))
		list_push(&ur->attend, &conn->attend);
}

void ur_conn_note(struct ur *ur, struct ur_conn *conn, uint16_t bits)
{
	conn->bits |= bits;
	if (!list_linked(&conn->pending))
		list_push(&ur->pending, &conn->pending);
}

/*
 * What broke on our side alone is reset: an orderly end would tell the peer that it has everything.
 */
void ur_conn_retire(struct ur *ur, struct ur_conn *conn, enum tp_reason reason)
{
	struct linger at_once = {.l_onoff = 1};

	if (reason != TP_DONE && reason != TP_RESET && reason != TP_REFUSED) {
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		ur->counters.syscalls++;
	}
	if (reason == TP_ABORTED)
		ur_recv_drop(ur, conn);
	conn->wanted_bytes = 0;
	conn->reason = reason;
	list_remove(&conn->marked);
	ur_set_state(conn, UR_CLOSED);
	ur->counters.closed++;
	ur_conn_attend(ur, conn);
	ur_conn_note(ur, conn, TP_CLOSED);
}

void ur_conn_release(struct ur *ur, struct ur_conn *conn)
{
	lease_end(&conn->recv, &ur->recv_blocks);
	lease_end(&conn->send, &ur->send_blocks);
	list_remove(&conn->attend);
	list_remove(&conn->pending);
	list_remove(&conn->live);
	ur_set_state(conn, UR_FREE);
	slab_release(&ur->conns, conn);
}

void ur_conn_forget(struct ur *ur, struct ur_conn *conn)
{
	conn->gone = true;
	ur_recv_drop(ur, conn);
	list_remove(&conn->pending);
	if (conn->requests == 0 && conn->fd < 0)
		ur_conn_release(ur, conn);
}

void ur_conn_answered(struct ur *ur, struct ur_conn *conn)
{
	ASSERT(conn->requests > 0);
	conn->requests--;
	ur->requests--;
	if (conn->gone && conn->requests == 0 && conn->fd < 0)
		ur_conn_release(ur, conn);
}

/* --- what polls of the kernel say --- */

void ur_conn_connected(struct ur *ur, struct ur_conn *conn, int result)
{
	int error_number = result < 0 ? -result : 0;

	conn->connecting = false;
	if (conn->state != UR_CONNECTING)
		return;
	if (result == -EINTR || result == -EAGAIN) {
		ur_conn_attend(ur, conn);
		return;
	}
	if (result > 0 && result & (POLLERR | POLLHUP))
		error_number = socket_error(conn->fd, &ur->counters.syscalls);
	if (error_number) {
		ur_conn_retire(ur, conn, socket_reason(error_number));
		return;
	}
	ur_set_state(conn, UR_OPEN);
	ur->counters.connected++;
	ur->moved = true;
	ur_conn_note(ur, conn, TP_CONNECTED);
	ur_conn_attend(ur, conn);
	ur_send_end_if_due(ur, conn);
}

/*
 * A hang-up without an error is the peer's end, which is told in its place behind the bytes. A
 * receive in force finds an error itself, but one that is being stopped may miss it.
 */
void ur_conn_watched(struct ur *ur, struct ur_conn *conn, const struct io_uring_cqe *cqe)
{
	int error_number;

	conn->watched = (cqe->flags & IORING_CQE_F_MORE) != 0;
	if (conn->state != UR_OPEN)
		return;
	if (!conn->watched && (cqe->res >= 0 || cqe->res == -EINTR || cqe->res == -EAGAIN))
		ur_conn_attend(ur, conn);
	if (conn->receiving == UR_RECV_MULTISHOT || conn->receiving == UR_RECV_SINGLE ||
	    cqe->res < 0 || !(cqe->res & (POLLERR | POLLHUP)))
		return;
	error_number = socket_error(conn->fd, &ur->counters.syscalls);
	if (error_number)
		ur_conn_retire(ur, conn, socket_reason(error_number));
}

/* The request may have been at work just then, and go on: it is told again. */
void ur_conn_cancelled(struct ur *ur, struct ur_conn *conn, int result)
{
	if (result > 0)
		return;
	if (conn->receiving == UR_RECV_STOPPING)
		conn->receiving = UR_RECV_MULTISHOT;
	else if (conn->state != UR_CLOSED || conn->requests == 0)
		return;
	ur_conn_attend(ur, conn);
}

/* --- ending --- */

void ur_finish(struct tp *tp, struct tp_conn *tp_conn)
{
	struct ur_conn *conn = ur_conn_of(tp_conn);

	conn->finishing = true;
	conn->lent_room = 0;
	ur_send_end_if_due(ur_of(tp), conn);
}

void ur_abort(struct tp *tp, struct tp_conn *tp_conn)
{
	struct ur_conn *conn = ur_conn_of(tp_conn);
	struct ur *ur = ur_of(tp);

	if (conn->state != UR_CLOSED)
		ur_conn_retire(ur, conn, TP_ABORTED);
	if (!(conn->bits & TP_CLOSED))
		return; /* its last event was already returned */
	conn->bits = TP_CLOSED;
	conn->reason = TP_ABORTED;
}
