#include "stacks/epoll/instance.h"

#include "dataplane/core/clock.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>

/* --- what the last turn left --- */

static void release_reported(struct ep *ep)
{
	struct list *link;

	while ((link = list_pop(&ep->released)))
		ep_conn_release(ep, list_member(link, struct ep_conn, pending));
}

static void send_marked(struct ep *ep)
{
	struct list *link;

	while ((link = list_pop(&ep->marked)))
		ep_flush(&ep->base, &list_member(link, struct ep_conn, marked)->base);
}

/* --- waiting --- */

static bool accept_at_hand(const struct ep *ep)
{
	for (unsigned i = 0; i < ep->listener_count; i++)
		if (ep->listeners[i].waiting && ep->listeners[i].resume_ns == 0)
			return true;
	return false;
}

/* The wait, cut to when the first resting listener goes on. */
static uint64_t wait_until_resume(const struct ep *ep, uint64_t wait_ns, uint64_t now_ns)
{
	for (unsigned i = 0; i < ep->listener_count; i++) {
		const struct ep_listener *listener = &ep->listeners[i];
		uint64_t left_ns = listener->resume_ns > now_ns ? listener->resume_ns - now_ns : 0;

		if (listener->waiting && left_ns < wait_ns)
			wait_ns = left_ns;
	}
	return wait_ns;
}

static int wait_ms(uint64_t wait_ns)
{
	uint64_t ms = wait_ns / CLOCK_MS_NS + (wait_ns % CLOCK_MS_NS > 0);

	return wait_ns == TP_WAIT_FOREVER ? -1 : ms > INT32_MAX ? INT32_MAX : (int)ms;
}

/* Up to `wait_ns`, which an event or a signal ends; what epoll_wait returns. */
static int sleep_in_kernel(struct ep *ep, uint64_t wait_ns)
{
	struct timespec timeout = {
		.tv_sec = (time_t)(wait_ns / CLOCK_SECOND_NS),
		.tv_nsec = (long)(wait_ns % CLOCK_SECOND_NS),
	};
	int count = -1;

	if (!ep->no_pwait2) {
		ep->counters.syscalls++;
		count = epoll_pwait2(ep->epoll_fd, ep->kernel_events, LIMIT_TURN_EVENTS,
				     wait_ns == TP_WAIT_FOREVER ? NULL : &timeout, NULL);
		/* EPERM: a filter of system calls that does not know it yet */
		ep->no_pwait2 = count < 0 && (errno == ENOSYS || errno == EPERM);
	}
	if (ep->no_pwait2) {
		ep->counters.syscalls++;
		count = epoll_wait(ep->epoll_fd, ep->kernel_events, LIMIT_TURN_EVENTS,
				   wait_ms(wait_ns));
	}
	return count;
}

static int look_in_kernel(struct ep *ep)
{
	ep->counters.syscalls++;
	return epoll_wait(ep->epoll_fd, ep->kernel_events, LIMIT_TURN_EVENTS, 0);
}

/* Sleeps, and counts that. The time is looked at anew. */
static int wait_in_kernel(struct ep *ep, uint64_t wait_ns, struct tp_turn *turn)
{
	uint64_t before_ns = turn->now_ns;
	int count;

	wait_ns = wait_until_resume(ep, wait_ns, before_ns);
	if (wait_ns == 0)
		return 0;
	count = sleep_in_kernel(ep, wait_ns);
	turn->now_ns = clock_now_ns();
	turn->waited_ns = turn->now_ns - before_ns;
	ep->counters.waits++;
	ep->counters.wait_ns += turn->waited_ns;
	ep->counters.wakeups += count > 0;
	return count;
}

/*
 * Asks the kernel, sleeping only if nothing is at hand; the number of its events. It is asked
 * without sleeping first, since a call that may sleep does not tell whether it did: the counters
 * would take time at work for time asleep. That costs a call in those turns alone that then sleep.
 */
static unsigned ask_kernel(struct ep *ep, uint64_t wait_ns, struct tp_turn *turn)
{
	bool at_hand = !list_empty(&ep->ready) || !list_empty(&ep->pending) || accept_at_hand(ep);
	int count = look_in_kernel(ep);

	turn->now_ns = clock_now_ns();
	if (count == 0 && wait_ns > 0 && !at_hand)
		count = wait_in_kernel(ep, wait_ns, turn);
	return count < 0 ? 0 : (unsigned)count; /* a signal: the caller's loop looks at it */
}

/* --- what the kernel reported --- */

/* A connection attempt has ended. */
static void end_connecting(struct ep *ep, struct ep_conn *conn, uint32_t events)
{
	int error_number = 0;

	if (events & (EPOLLERR | EPOLLHUP))
		error_number = socket_error(conn->fd, &ep->counters.syscalls);
	if (error_number) {
		ep_conn_retire(ep, conn, socket_reason(error_number));
		return;
	}
	if (!(events & EPOLLOUT))
		return;
	ep_set_state(conn, EP_OPEN);
	ep->counters.connected++;
	ep->moved = true;
	ep_conn_note(ep, conn, TP_CONNECTED);
	ep_conn_send(ep, conn);
	if (conn->state == EP_OPEN && !conn->blocked)
		ep_conn_rewatch(ep, conn, false);
}

/*
 * After an error it is left to the read to find it, behind what the peer sent before; unless no
 * read can follow.
 */
static void take_event(struct ep *ep, struct ep_conn *conn, uint32_t events)
{
	const uint32_t doubts = EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI;

	if (conn->state == EP_CONNECTING)
		end_connecting(ep, conn, events);
	if (conn->state != EP_OPEN)
		return;
	conn->broken |= (events & EPOLLERR) != 0;
	if (conn->broken && (conn->peer_ended || ring_free(&conn->recv) == 0) &&
	    !ep_conn_check(ep, conn))
		return;
	if (conn->blocked && events & EPOLLOUT && !conn->broken)
		ep_conn_send(ep, conn);
	if (conn->state != EP_OPEN || conn->peer_ended || !(events & (EPOLLIN | doubts)))
		return;
	conn->unread = true;
	conn->doubtful |= (events & doubts) != 0;
	if (ring_free(&conn->recv) > 0)
		list_push(&ep->ready, &conn->ready);
}

/*
 * A descriptor that we closed can still be reported if a copy of it lives on (a child process,
 * dup): its memory may by then serve another connection, whose generation differs.
 */
static void dispatch(struct ep *ep, const struct epoll_event *event)
{
	uint64_t tag = event->data.u64;
	struct ep_conn *conn;

	if (tag & EP_LISTENER_TAG) {
		ep->listeners[tag & ~EP_LISTENER_TAG].waiting = true;
		return;
	}
	conn = slab_at(&ep->conns, (uint32_t)tag);
	if ((conn->generation & INT32_MAX) == tag >> 32 && conn->state != EP_CLOSED &&
	    conn->state != EP_FREE)
		take_event(ep, conn, event->events);
	else
		ep->details.stale_events++;
}

/* --- accepting --- */

/* Takes a new descriptor (moved) in, or turns it away. */
static void take_accepted(struct ep *ep, const struct ep_listener *listener, int fd)
{
	struct ep_conn *conn = ep_conn_begin(ep, fd, EP_OPEN);

	if (conn && ep_conn_watch(ep, conn, false) < 0) {
		ep_set_state(conn, EP_CLOSED);
		ep_conn_release(ep, conn);
		conn = NULL;
	}
	if (!conn) {
		socket_reset(fd, &ep->counters.syscalls);
		ep->counters.accepts_refused++;
		return;
	}
	socket_adopt(fd, &listener->addr, &ep->settings, &ep->counters.syscalls);
	ep->counters.accepted++;
	ep_conn_note(ep, conn, TP_ACCEPTED);
}

static void accept_batch(struct ep *ep, struct ep_listener *listener, uint64_t now_ns)
{
	for (unsigned i = 0; i < ep->accept_batch; i++) {
		int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		enum socket_accept verdict;

		ep->counters.syscalls++;
		if (fd >= 0) {
			ep->moved = true;
			take_accepted(ep, listener, fd);
			continue;
		}
		verdict = socket_accept_verdict(errno);
		if (verdict == SOCKET_ACCEPT_NEXT)
			continue;
		listener->waiting = verdict == SOCKET_ACCEPT_PAUSE;
		if (listener->waiting) {
			listener->resume_ns = now_ns + SOCKET_ACCEPT_PAUSE_NS;
			ep->details.accept_pauses++;
		}
		return;
	}
}

static void accept_waiting(struct ep *ep, uint64_t now_ns)
{
	for (unsigned i = 0; i < ep->listener_count; i++) {
		struct ep_listener *listener = &ep->listeners[i];

		if (!listener->waiting || listener->resume_ns > now_ns)
			continue;
		listener->resume_ns = 0;
		accept_batch(ep, listener, now_ns);
	}
}

/* --- the turn --- */

/*
 * Receives once for each connection that was ready when the call began, a bounded number of them.
 */
static void receive_ready(struct ep *ep)
{
	struct list batch, *link;

	list_init(&batch);
	list_splice(&batch, &ep->ready);
	for (unsigned i = 0; i < EP_TURN_RECEIVES && (link = list_pop(&batch)); i++)
		ep_conn_receive(ep, list_member(link, struct ep_conn, ready));
	/* Those not reached go first next time. */
	list_splice(&batch, &ep->ready);
	list_splice(&ep->ready, &batch);
}

static unsigned fill_events(struct ep *ep, struct tp_event *events, unsigned room)
{
	struct list *link;
	unsigned count = 0;

	while (count < room && (link = list_pop(&ep->pending))) {
		struct ep_conn *conn = list_member(link, struct ep_conn, pending);

		events[count++] = (struct tp_event){&conn->base, conn->bits, conn->reason};
		if (conn->bits & TP_CLOSED)
			list_push(&ep->released, &conn->pending);
		conn->bits = 0;
	}
	return count;
}

unsigned ep_poll(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
		 struct tp_turn *turn_out)
{
	struct ep *ep = ep_of(tp);
	struct tp_turn turn = {0};
	unsigned reported, count;

	ep->moved = false;
	release_reported(ep);
	send_marked(ep);
	reported = ask_kernel(ep, wait_ns, &turn);
	for (unsigned i = 0; i < reported; i++)
		dispatch(ep, &ep->kernel_events[i]);
	accept_waiting(ep, turn.now_ns);
	receive_ready(ep);
	count = fill_events(ep, events, room);
	turn.moved = ep->moved || count > 0;
	ep->counters.polls++;
	ep->counters.empty_polls += !turn.moved;
	*turn_out = turn;
	return count;
}
