#include "dataplane/tls/instance.h"

/* --- what the last turn left --- */

static void release_dead(struct tls *tls)
{
	struct list *link;

	while ((link = list_pop(&tls->dead))) {
		struct tls_conn *conn = list_member(link, struct tls_conn, dead);

		conn->released = true;
		tls_conn_settle(conn);
	}
}

static void send_marked(struct tls *tls)
{
	struct list *link;

	while ((link = list_pop(&tls->marked)))
		tls_conn_send(list_member(link, struct tls_conn, marked));
}

/* Goes on where the user made room and with handshakes; some of them may have to wait again. */
static void resume(struct tls *tls)
{
	struct list ready, *link;

	list_init(&ready);
	list_splice(&ready, &tls->runnable);
	while ((link = list_pop(&ready)))
		tls_conn_advance(list_member(link, struct tls_conn, runnable));
}

/* --- what the lower transport reported --- */

/*
 * Takes a connection in, or resets it when there is no room for it or when too many are in
 * handshake and none of them stands still.
 */
static struct tls_conn *accept_lower(struct tls *tls, struct tp_conn *lower)
{
	bool may_begin = tls->handshaking < tls->handshakes_max || tls_conn_evict(tls);
	struct tls_conn *conn = may_begin ? tls_conn_begin(tls, TLS_HANDSHAKE, false) : NULL;

	if (!conn) {
		tls->counters.handshakes_refused += !may_begin;
		tls->counters.conns_refused += may_begin;
		tp_abort(tls->lower, lower);
		return NULL;
	}
	conn->lower = lower;
	lower->user = conn;
	tls_conn_start(conn);
	return conn;
}

static void take_plain_event(struct tls_conn *conn, const struct tp_event *event)
{
	unsigned others = event->bits & ~(unsigned)TP_CLOSED;

	if (others)
		tls_conn_report(conn, others);
	if (event->bits & TP_CLOSED)
		tls_conn_lower_gone(conn, event->reason);
}

static void take_event(struct tls *tls, const struct tp_event *event)
{
	struct tls_conn *conn =
		event->bits & TP_ACCEPTED ? accept_lower(tls, event->conn) : event->conn->user;

	if (!conn)
		return; /* refused, or dropped before */
	if (!conn->ssl) {
		take_plain_event(conn, event);
		return;
	}
	if (event->bits & TP_CONNECTED)
		tls_conn_start(conn);
	conn->lower_finished |= (event->bits & TP_FINISHED) != 0;
	conn->lower_closed |= (event->bits & TP_CLOSED) != 0;
	tls_conn_advance(conn);
	if (event->bits & TP_CLOSED)
		tls_conn_lower_gone(conn, event->reason);
	tls_conn_settle(conn);
}

/* --- the turn --- */

static void expire_due(struct tls *tls)
{
	struct list due, *link;

	list_init(&due);
	timer_advance(&tls->timers, tls->now_ns, &due);
	while ((link = list_pop(&due))) {
		struct tls_conn *conn = list_member(link, struct tls_conn, timer.link);

		if (conn->deadline_ns <= tls->now_ns)
			tls_conn_expire(conn);
		else if (conn->deadline_ns != TIMER_NEVER)
			timer_arm(&tls->timers, &conn->timer, conn->deadline_ns);
	}
}

/* The wait, cut to the next deadline; none while there is something to tell or to go on with. */
static uint64_t bound_wait(const struct tls *tls, uint64_t wait_ns)
{
	uint64_t next_ns = timer_next(&tls->timers);
	uint64_t left_ns = next_ns > tls->now_ns ? next_ns - tls->now_ns : 0;

	if (!list_empty(&tls->pending) || !list_empty(&tls->runnable))
		return 0;
	return next_ns != TIMER_NEVER && left_ns < wait_ns ? left_ns : wait_ns;
}

static unsigned report_pending(struct tls *tls, struct tp_event *events, unsigned room)
{
	unsigned count = 0;
	struct list *link;

	while (count < room && (link = list_pop(&tls->pending))) {
		struct tls_conn *conn = list_member(link, struct tls_conn, pending);

		events[count++] = (struct tp_event){&conn->base, conn->bits, conn->reason};
		if (conn->bits & TP_CLOSED)
			list_push(&tls->dead, &conn->dead);
		conn->bits = 0;
		tls->pending_count--;
	}
	return count;
}

/*
 * The lower transport is asked for no more events than can be told in this turn behind those that
 * wait, so that what it lends with its last event of a connection is still there.
 */
static unsigned lower_room(const struct tls *tls, unsigned room)
{
	unsigned left = room > tls->pending_count ? room - tls->pending_count : 0;

	return left < LIMIT_TURN_EVENTS ? left : LIMIT_TURN_EVENTS;
}

unsigned tls_poll(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
		  struct tp_turn *turn_out)
{
	struct tls *tls = (struct tls *)tp;
	bool had_work = !list_empty(&tls->marked) || !list_empty(&tls->runnable);
	unsigned count;

	tls->steps_left = TLS_TURN_STEPS;
	release_dead(tls);
	send_marked(tls);
	resume(tls);
	count = tp_poll(tls->lower, tls->lower_events, lower_room(tls, room),
			bound_wait(tls, wait_ns), turn_out);
	tls->now_ns = turn_out->now_ns;
	for (unsigned i = 0; i < count; i++)
		take_event(tls, &tls->lower_events[i]);
	expire_due(tls);
	tp->device_gone = tls->lower->device_gone;
	tp->gone_part = tls->lower->gone_part;
	count = report_pending(tls, events, room);
	turn_out->moved |= had_work || count > 0;
	return count;
}
