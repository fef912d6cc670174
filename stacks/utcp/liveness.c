#include "stacks/utcp/liveness.h"

#include "stacks/utcp/instance.h"

#define MS_NS (1000ull * 1000)

/* While something waits, timeouts are at most a minute apart: a mark that is this much older than
 * the limit is of another wait, 2^32 bytes ago, or the program stood still. */
#define MARK_LIFE_NS (2 * RTT_RTO_MAX_NS)

/* Both sides' progress in one number: neither ever goes back. */
static uint32_t progress(const struct utcp_conn *conn)
{
	return conn->snd_una + conn->rcv_nxt;
}

/* Nothing is under way or waiting, so no other timer would notice that the peer is gone. */
static bool is_idle(const struct utcp_conn *conn)
{
	return conn->snd_una == conn->snd_max && !conn_has_unsent(conn);
}

static void look_again(struct utcp *utcp, struct utcp_conn *conn, uint64_t at_ns)
{
	conn->liveness.look_at_ns = at_ns;
	timer_arm(&utcp->wheel, &conn->timer, at_ns);
}

void liveness_begin(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	conn->liveness.stalled_una = conn->iss; /* where it is not any more */
	if (utcp->config.keepalive_ns == 0)
		return;
	conn->liveness.mark = progress(conn);
	look_again(utcp, conn, now_ns + utcp->config.keepalive_ns);
}

static uint64_t stalled_for(const struct utcp_conn *conn, uint64_t now_ns)
{
	return (uint64_t)((uint32_t)(now_ns / MS_NS) - conn->liveness.stalled_ms) * MS_NS;
}

void liveness_stalled(struct utcp *utcp, struct utcp_conn *conn, uint64_t waited_ns,
		      uint64_t now_ns)
{
	struct liveness *liveness = &conn->liveness;
	uint64_t limit_ns = utcp->config.user_timeout_ns, end_ns;

	if (liveness->stalled_una != conn->snd_una ||
	    stalled_for(conn, now_ns) > limit_ns + MARK_LIFE_NS) {
		liveness->stalled_una = conn->snd_una;
		liveness->stalled_ms = (uint32_t)((now_ns - waited_ns) / MS_NS);
	}
	end_ns = now_ns + limit_ns - stalled_for(conn, now_ns);
	if (stalled_for(conn, now_ns) >= limit_ns)
		end_ns = now_ns;
	if (end_ns < liveness->look_at_ns)
		look_again(utcp, conn, end_ns);
}

/* Whether what was waiting for the peer at the last timeout has waited for longer than it may. */
static bool waited_too_long(const struct utcp *utcp, const struct utcp_conn *conn, uint64_t now_ns)
{
	return utcp->config.user_timeout_ns > 0 && !is_idle(conn) &&
	       conn->liveness.stalled_una == conn->snd_una &&
	       stalled_for(conn, now_ns) >= utcp->config.user_timeout_ns;
}

/* Asks a peer that may be gone; false if it was asked often enough. */
static bool probe(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	uint64_t every_ns = utcp->config.keepalive_ns;

	if (conn->liveness.probes == KEEP_ALIVE_TRIES) {
		close_conn(utcp, conn, UTCP_TIMEOUT);
		return false;
	}
	conn->liveness.probes++;
	conn->probe_due = true;
	utcp->counters.keepalives++;
	utcp_mark(utcp, conn);
	look_again(utcp, conn, now_ns + (every_ns < KEEP_ALIVE_NS ? every_ns : KEEP_ALIVE_NS));
	return true;
}

bool liveness_look(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	struct liveness *liveness = &conn->liveness;
	bool unmoved = liveness->mark == progress(conn) && is_idle(conn);

	liveness->look_at_ns = TIMER_NEVER;
	if (waited_too_long(utcp, conn, now_ns)) {
		utcp->counters.user_timeouts++;
		close_conn(utcp, conn, UTCP_TIMEOUT);
		return false;
	}
	if (utcp->config.keepalive_ns == 0 ||
	    (conn->state != CONN_ESTABLISHED && conn->state != CONN_CLOSE_WAIT))
		return true; /* the closing states have timeouts of their own */
	if (unmoved)
		return probe(utcp, conn, now_ns);
	liveness->mark = progress(conn);
	liveness->probes = 0;
	look_again(utcp, conn, now_ns + utcp->config.keepalive_ns);
	return true;
}
