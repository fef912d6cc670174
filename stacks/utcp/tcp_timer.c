/*
 * tcp_timer: what happens when time passes (RFC 9293 3.8, RFC 6298 5).
 *
 * One timeout a connection, whose meaning follows from what it is waiting for: an ACK, a window or
 * a FIN. Every state that waits for the peer has it running, so no peer that
 * vanishes keeps a place for ever.
 */
#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"
#include "stacks/utcp/seq.h"

enum {
	RETRIES_SYN = 7,   /* 1 + 2 + ... + 32 + 60 + 60 s: above the 3 minutes of RFC 9293 3.8.3 */
	RETRIES_DATA = 10, /* 204 s at the least RTO: above its 100 s */
	BACKOFF_MAX = 16,  /* by then every timeout is at its bound */
};

/* Timers found later than this say that the whole program stood still. */
#define STALL_NS (100ull * 1000 * 1000)

void tcp_start_timeout(struct utcp *utcp, struct utcp_conn *conn, uint64_t at_ns)
{
	conn->timeout_at_ns = at_ns;
	conn->waits = RECOVERY_NONE;
	timer_arm(&utcp->wheel, &conn->timer, at_ns);
}

void tcp_start_keep_alive(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	conn->retries = 0;
	tcp_start_timeout(utcp, conn, now_ns + KEEP_ALIVE_NS);
}

/* Counts a timeout and backs off. */
static void try_later(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	if (conn->retries < UINT8_MAX)
		conn->retries++;
	if (conn->backoff < BACKOFF_MAX)
		conn->backoff++;
	tcp_start_timeout(utcp, conn, now_ns + rtt_timeout(&conn->rtt, conn->backoff));
	utcp_mark(utcp, conn);
}

/* A handshake's timeout; false if that was the last and the connection is gone. */
static bool try_handshake(struct utcp *utcp, struct utcp_conn *conn, unsigned limit,
			  uint64_t now_ns)
{
	if (conn->retries >= limit) { /* RFC 9293 3.9.2.2: what a router said is told at the end */
		close_conn(utcp, conn, conn->advised ? UTCP_UNREACHABLE : UTCP_TIMEOUT);
		return false;
	}
	try_later(utcp, conn, now_ns);
	return true;
}

/* The same while data or a FIN waits: the user timeout, where there is one, takes the place of R2
 * (RFC 9293 3.8.3). */
static bool try_data(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	if (utcp->config.user_timeout_ns > 0) {
		liveness_stalled(utcp, conn, rtt_timeout(&conn->rtt, conn->backoff), now_ns);
	} else if (conn->retries >= RETRIES_DATA) {
		close_conn(utcp, conn, UTCP_TIMEOUT);
		return false;
	}
	try_later(utcp, conn, now_ns);
	return true;
}

static bool syn_timeout(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	utcp->counters.timeouts++;
	conn->syn_due = true;
	if (conn->state == CONN_SYN_SENT)
		open_find_again(utcp, conn, now_ns);
	return try_handshake(utcp, conn, RETRIES_SYN, now_ns);
}

/* RFC 6298 5.4 to 5.6; what is lost is sent again as the window allows. */
static bool data_timeout(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	utcp->counters.timeouts++;
	if (conn->retries == 0)
		recovery_note_cut(utcp, conn);
	congestion_timeout(&conn->congestion, conn->mss, conn->snd_max - conn->snd_una,
			   conn->snd_max, conn->retries == 0);
	recovery_time_out(utcp, conn, now_ns);
	conn->congestion.cwnd += conn_pipe(conn); /* besides, the loss window */
	return try_data(utcp, conn, now_ns);
}

/* RFC 9293 3.8.6.1: a peer that answers may keep its window shut for as long as the user timeout
 * lets it (RFC 6429); one that does not is given up. */
static bool window_timeout(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	if (conn->snd_wnd > 0) {
		conn->push_small = true;
	} else {
		conn->probe_due = true;
		flight_lose_all(&utcp->flights, &conn->flight); /* it found no room */
	}
	return try_data(utcp, conn, now_ns);
}

static bool keep_alive_timeout(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	if (conn->retries >= KEEP_ALIVE_TRIES) {
		close_conn(utcp, conn, UTCP_TIMEOUT);
		return false;
	}
	conn->retries++;
	conn->probe_due = true;
	tcp_start_timeout(utcp, conn, now_ns + KEEP_ALIVE_NS);
	utcp_mark(utcp, conn);
	return true;
}

/* The connection's timeout is due; false if that ended it. */
static bool run_timeout(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	conn->timeout_at_ns = TIMER_NEVER;
	switch (conn->state) {
	case CONN_SYN_SENT:
	case CONN_SYN_RECEIVED:
		return syn_timeout(utcp, conn, now_ns);
	case CONN_FIN_WAIT_2:
		return keep_alive_timeout(utcp, conn, now_ns);
	default:
		if (conn->snd_una == conn->snd_max && !conn_has_unsent(conn))
			return true;
		if (conn->snd_wnd > 0 && conn->waits != RECOVERY_NONE) {
			recovery_wait_over(utcp, conn, now_ns);
			return true;
		}
		if (conn->snd_wnd > 0 && conn->snd_una != conn->snd_max)
			return data_timeout(utcp, conn, now_ns);
		return window_timeout(utcp, conn, now_ns);
	}
}

static void run_timer(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	uint64_t next_ns;

	if (now_ns >= conn->ack_at_ns) {
		conn->ack_at_ns = TIMER_NEVER;
		tcp_ack_soon(utcp, conn);
	}
	if (now_ns >= conn->timeout_at_ns && !run_timeout(utcp, conn, now_ns))
		return;
	if (now_ns >= conn->liveness.look_at_ns && !liveness_look(utcp, conn, now_ns))
		return;
	next_ns = conn->ack_at_ns < conn->timeout_at_ns ? conn->ack_at_ns : conn->timeout_at_ns;
	if (conn->liveness.look_at_ns < next_ns)
		next_ns = conn->liveness.look_at_ns;
	timer_arm(&utcp->wheel, &conn->timer, next_ns);
}

void tcp_note_stall(struct utcp *utcp, uint64_t now_ns)
{
	uint64_t next = timer_next(&utcp->wheel), calls = calls_deadline(&utcp->calls);

	if (calls < next)
		next = calls;
	if (now_ns > next && now_ns - next > STALL_NS)
		utcp->stalled_at_ns = now_ns;
}

bool tcp_end_round_trip(struct utcp *utcp, struct utcp_conn *conn, const struct flight_news *news)
{
	uint64_t measured_ns = news->now_ns - news->timed_at_ns;

	if (!news->timed)
		return false;
	if (measured_ns > STALL_NS)
		tcp_note_stall(utcp,
			       news->now_ns); /* input comes before the timers that would tell */
	if (news->timed_at_ns < utcp->stalled_at_ns)
		return false;
	conn->backoff = 0; /* not before: an ACK of what was sent twice says nothing of the path
			      (Karn 1987) */
	if (!rtt_is_due(&conn->rtt, conn->snd_una, conn->snd_max))
		return false;
	conn->rtt.timed_to = conn->snd_max;
	rtt_sample(&conn->rtt, measured_ns, utcp->config.rto_min_ns);
	return true;
}

void utcp_advance(struct utcp *utcp, uint64_t now_ns)
{
	struct list due, *link;

	utcp_settle(utcp);
	neighbours_advance(utcp, now_ns);
	if (now_ns >> TIMER_TICK_SHIFT != utcp->wheel.tick)
		tcp_note_stall(utcp, now_ns);
	calls_advance(utcp, now_ns);
	time_waits_advance(utcp, now_ns);
	if (now_ns >> TIMER_TICK_SHIFT == utcp->wheel.tick)
		return;
	list_init(&due);
	timer_advance(&utcp->wheel, now_ns, &due);
	while ((link = list_pop(&due)))
		run_timer(utcp, list_member(link, struct utcp_conn, timer.link), now_ns);
}
