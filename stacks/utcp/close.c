/*
 * close: how connections end, in one place.
 */
#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"

void close_release(struct utcp *utcp, struct utcp_conn *conn)
{
	if (conn_alive(conn))
		return;
	ASSERT(!list_linked(&conn->event_link) && !list_linked(&conn->out_link));
	conn->handle = HANDLE_NONE;
	slab_release(&utcp->rings, conn->recv.base);
	slab_release(&utcp->conns, conn);
}

void close_report(struct utcp *utcp, struct utcp_conn *conn, enum utcp_reason reason)
{
	if (conn->handle != HANDLE_HELD)
		return;
	conn->handle = HANDLE_CLOSING;
	conn->reason = (uint16_t)reason;
	conn->send_wanted = 0;
	utcp->counters.closed++;
	close_after_consume(utcp, conn);
}

void close_after_consume(struct utcp *utcp, struct utcp_conn *conn)
{
	if (conn->handle == HANDLE_CLOSING &&
	    (conn->reason != UTCP_DONE || ring_used(&conn->recv) == 0))
		utcp_post(utcp, conn, UTCP_CLOSED);
}

void close_conn(struct utcp *utcp, struct utcp_conn *conn, enum utcp_reason reason)
{
	tuples_remove(&utcp->tuples, &utcp->conns, conn);
	timer_cancel(&utcp->wheel, &conn->timer);
	list_remove(&conn->out_link);
	conn->timeout_at_ns = conn->ack_at_ns = conn->liveness.look_at_ns = TIMER_NEVER;
	flight_clear(&utcp->flights, &conn->flight);
	recovery_end(utcp, conn);
	gaps_drop(&utcp->gaps, &conn->gaps);
	conn_set_state(conn, CONN_CLOSED);
	close_report(utcp, conn, reason);
	close_release(utcp, conn);
}

void close_enter_time_wait(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	time_waits_add(utcp, conn, now_ns);
	close_conn(utcp, conn, UTCP_DONE);
}
