#include "stacks/uring/files.h"
#include "stacks/uring/instance.h"

#include "dataplane/core/clock.h"

#include <errno.h>

/* --- what the last turn left --- */

static void release_reported(struct ur *ur)
{
	struct list *link;

	while ((link = list_pop(&ur->released)))
		ur_conn_forget(ur, list_member(link, struct ur_conn, pending));
}

static void send_marked(struct ur *ur)
{
	struct list *link;

	while ((link = list_pop(&ur->marked)))
		ur_flush(&ur->base, &list_member(link, struct ur_conn, marked)->base);
}

/*
 * What its reader left goes into a connection's own ring, so that the shared buffers are free for
 * all again. Who could not take in everything stays on the list, and receives no more for now.
 */
static void fold_unread(struct ur *ur)
{
	struct list batch, *link;

	list_init(&batch);
	list_splice(&batch, &ur->lending);
	while (!list_empty(&batch)) {
		struct ur_conn *conn = list_member(batch.next, struct ur_conn, lending);

		ur_recv_fold(ur, conn);
		ur_conn_attend(ur, conn);
		link = &conn->lending;
		if (list_linked(link))
			list_push(&ur->lending, link);
	}
	if (ur->pool.ring)
		ur_pool_publish(&ur->pool);
}

/* Those that find no room stay on the list. */
void ur_serve_all(struct ur *ur)
{
	struct list batch, *link;

	list_init(&batch);
	list_splice(&batch, &ur->attend);
	while ((link = list_pop(&batch)))
		if (!ur_conn_serve(ur, list_member(link, struct ur_conn, attend)))
			break;
	list_splice(&ur->attend, &batch);
}

/* --- accepting --- */

uint64_t ur_listener_tag(const struct ur *ur, const struct ur_listener *listener)
{
	return (uint64_t)UR_ACCEPT << 56 | (uint64_t)(listener - ur->listeners);
}

void ur_accept_serve(struct ur *ur, uint64_t now_ns)
{
	for (unsigned i = 0; i < ur->listener_count; i++) {
		struct ur_listener *listener = &ur->listeners[i];
		struct io_uring_sqe *sqe;

		if (listener->accepting || listener->resume_ns > now_ns || ur->closing)
			continue;
		sqe = ur_queue_sqe(&ur->queue);
		ur->last_sender = NULL;
		if (!sqe)
			return;
		/* Not with SOCK_NONBLOCK: a request on such a socket would fail instead of wait. */
		io_uring_prep_accept(sqe, listener->fd, NULL, NULL, SOCK_CLOEXEC);
		if (ur->multishot)
			sqe->ioprio |= IORING_ACCEPT_MULTISHOT;
		io_uring_sqe_set_data64(sqe, ur_listener_tag(ur, listener));
		listener->accepting = true;
		listener->resume_ns = 0;
		ur->requests++;
	}
}

/* Takes a new descriptor (moved) in, or turns it away. */
static void take_accepted(struct ur *ur, const struct ur_listener *listener, int fd)
{
	struct ur_conn *conn = NULL;

	ur->moved = true;
	if (!ur->closing)
		conn = ur_conn_begin(ur, fd, UR_OPEN, listener->addr.family != TP_UNIX);
	if (!conn) {
		socket_reset(fd, &ur->counters.syscalls);
		ur->counters.accepts_refused++;
		return;
	}
	socket_adopt(fd, &listener->addr, &ur->settings, &ur->counters.syscalls);
	ur->counters.accepted++;
	ur_conn_note(ur, conn, TP_ACCEPTED);
}

static void accept_done(struct ur *ur, struct ur_listener *listener, const struct io_uring_cqe *cqe,
			uint64_t now_ns)
{
	if (!(cqe->flags & IORING_CQE_F_MORE)) {
		ur->details.multishot_ended += ur->multishot;
		listener->accepting = false;
		ur->requests--;
	}
	if (cqe->res >= 0) {
		take_accepted(ur, listener, cqe->res);
		return;
	}
	if (cqe->res == -ECANCELED || socket_accept_verdict(-cqe->res) != SOCKET_ACCEPT_PAUSE)
		return;
	listener->resume_ns = now_ns + SOCKET_ACCEPT_PAUSE_NS;
	ur->details.accept_pauses++;
}

/* --- completions --- */

static void conn_done(struct ur *ur, struct ur_conn *conn, enum ur_kind kind,
		      const struct io_uring_cqe *cqe)
{
	switch (kind) {
	case UR_CONNECT:
		ur_conn_connected(ur, conn, cqe->res);
		break;
	case UR_RECV:
		ur_recv_done(ur, conn, cqe);
		break;
	case UR_SEND:
		ur_send_done(ur, conn, cqe);
		break;
	case UR_WATCH:
		ur_conn_watched(ur, conn, cqe);
		break;
	case UR_CANCEL:
		ur_conn_cancelled(ur, conn, cqe->res);
		break;
	case UR_FILE:
		ur_files_done(ur, conn, cqe->res);
		break;
	default:
		break;
	}
	if (!(cqe->flags & IORING_CQE_F_MORE))
		ur_conn_answered(ur, conn);
}

static void dispatch(struct ur *ur, const struct io_uring_cqe *cqe, uint64_t now_ns)
{
	enum ur_kind kind = (enum ur_kind)(cqe->user_data >> 56);
	struct ur_conn *conn;

	if (cqe->user_data == UR_NOBODY)
		return;
	if (kind == UR_ACCEPT) {
		accept_done(ur, &ur->listeners[(uint32_t)cqe->user_data], cqe, now_ns);
		return;
	}
	conn = slab_at(&ur->conns, (uint32_t)cqe->user_data);
	/* A place is not used again before the kernel has answered all. */
	CHECK((conn->generation & 0xFFFFFF) == (cqe->user_data >> 32 & 0xFFFFFF));
	if (conn->state == UR_CLOSED && kind != UR_CANCEL && kind != UR_CLOSE)
		ur->details.stale_events++;
	conn_done(ur, conn, kind, cqe);
}

unsigned ur_reap(struct ur *ur, uint64_t now_ns)
{
	struct io_uring *ring = &ur->queue.ring;
	unsigned count = io_uring_cq_ready(ring);
	unsigned head = *ring->cq.khead;

	for (unsigned i = 0; i < count; i++)
		dispatch(ur, &ring->cq.cqes[(head + i) & ring->cq.ring_mask], now_ns);
	io_uring_cq_advance(ring, count);
	return count;
}

/* --- waiting --- */

static bool something_at_hand(const struct ur *ur)
{
	return !list_empty(&ur->pending) || !list_empty(&ur->attend) ||
	       io_uring_cq_ready(&ur->queue.ring) > 0;
}

/* The wait, cut to when the first resting listener goes on. */
static uint64_t wait_until_resume(const struct ur *ur, uint64_t wait_ns, uint64_t now_ns)
{
	for (unsigned i = 0; i < ur->listener_count; i++) {
		const struct ur_listener *listener = &ur->listeners[i];
		uint64_t left_ns = listener->resume_ns > now_ns ? listener->resume_ns - now_ns : 0;

		if (listener->resume_ns > 0 && left_ns < wait_ns)
			wait_ns = left_ns;
	}
	return wait_ns;
}

/*
 * Enters the kernel if there is need, sleeping only if nothing is at hand. Not in a call that hands
 * requests over either: sends complete within it, so that it would not sleep, and what it took
 * could not be told from sleep.
 */
static void ask_kernel(struct ur *ur, uint64_t wait_ns, struct tp_turn *turn)
{
	uint64_t before_ns;

	if (wait_ns == 0 || something_at_hand(ur) || ur_queue_has_work(&ur->queue)) {
		ur_queue_enter(&ur->queue, 0);
		turn->now_ns = clock_now_ns();
		return;
	}
	before_ns = clock_now_ns();
	ur_queue_enter(&ur->queue, wait_until_resume(ur, wait_ns, before_ns));
	turn->now_ns = clock_now_ns();
	turn->waited_ns = turn->now_ns - before_ns;
	ur->counters.waits++;
	ur->counters.wait_ns += turn->waited_ns;
	ur->counters.wakeups += io_uring_cq_ready(&ur->queue.ring) > 0;
}

/* --- the turn --- */

static unsigned fill_events(struct ur *ur, struct tp_event *events, unsigned room)
{
	struct list *link;
	unsigned count = 0;

	while (count < room && (link = list_pop(&ur->pending))) {
		struct ur_conn *conn = list_member(link, struct ur_conn, pending);

		events[count++] = (struct tp_event){&conn->base, conn->bits, conn->reason};
		if (conn->bits & TP_CLOSED)
			list_push(&ur->released, &conn->pending);
		conn->bits = 0;
	}
	return count;
}

unsigned ur_poll(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
		 struct tp_turn *turn_out)
{
	struct ur *ur = ur_of(tp);
	struct tp_turn turn = {0};
	unsigned count;

	ur->moved = false;
	release_reported(ur);
	send_marked(ur);
	fold_unread(ur);
	ur_serve_all(ur);
	ur_accept_serve(ur, ur->now_ns);
	ask_kernel(ur, wait_ns, &turn);
	ur->now_ns = turn.now_ns;
	ur->last_sender = NULL;
	ur_reap(ur, turn.now_ns);
	count = fill_events(ur, events, room);
	turn.moved = ur->moved || count > 0;
	ur->counters.polls++;
	ur->counters.empty_polls += !turn.moved;
	*turn_out = turn;
	return count;
}
