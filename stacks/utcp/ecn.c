#include "stacks/utcp/ecn.h"

#include "stacks/utcp/instance.h"

/* An ECN-setup SYN has both flags, an ECN-setup SYN-ACK but one, so that a peer that merely mirrors
 * what it does not know agrees to nothing (RFC 3168 6.1.1, 6.1.1.2). */
static bool is_setup(const struct segment *segment)
{
	uint16_t wanted = segment->flags & TCP_ACKS ? TCP_ECE : TCP_ECE | TCP_CWR;

	return (segment->flags & (TCP_ECE | TCP_CWR)) == wanted;
}

/* A call that found no answer is made again without ECN, which some hosts and boxes do not let
 * through (RFC 3168 6.1.1.1). */
static bool calls_plainly(const struct utcp_conn *conn)
{
	return conn->active && conn->backoff > 0;
}

uint8_t ecn_syn_flags(const struct utcp *utcp, const struct utcp_conn *conn)
{
	if (conn->state == CONN_SYN_RECEIVED)
		return conn->ecn & ECN_TELLS ? TCP_ECE : 0;
	return utcp->config.ecn && !calls_plainly(conn) ? TCP_ECE | TCP_CWR : 0;
}

uint8_t ecn_answer_flags(const struct utcp *utcp, uint8_t syn_flags)
{
	bool agreed = (syn_flags & (TCP_ECE | TCP_CWR)) == (TCP_ECE | TCP_CWR);

	return utcp->config.ecn && agreed ? TCP_ECE : 0;
}

/* RFC 3168 6.1.1: who ever sent a plain SYN must not send what can be marked, but tells of marks as
 * it once offered. */
void ecn_take_syn(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment)
{
	if (!utcp->config.ecn || !is_setup(segment))
		return;
	conn->ecn = ECN_TELLS;
	if (!calls_plainly(conn))
		conn->ecn |= ECN_SENDS;
	if (utcp->config.congestion == UTCP_DCTCP)
		conn->ecn |= ECN_EXACT;
}

void ecn_take_again(struct utcp_conn *conn, const struct segment *segment)
{
	if (!is_setup(segment))
		conn->ecn = 0;
}

/*
 * RFC 8257 3.2: a change is told at once. What came before it, and has no ACK yet, is first
 * acknowledged by itself, or its bytes would be counted on the wrong side. In between, segments are
 * as usual when they are marked as the last.
 */
static void take_change(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	if (conn->rcv_acked != conn->rcv_nxt)
		tcp_ack_now(utcp, conn, now_ns);
	conn->ecn ^= ECN_ECHOES;
	conn->usual_flags ^= SEGMENT_CE;
	tcp_ack_soon(utcp, conn);
}

void ecn_take_data(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		   uint64_t now_ns)
{
	bool marked = segment->flags & SEGMENT_CE;

	if (!(conn->ecn & ECN_TELLS))
		return;
	utcp->counters.ce_segments += marked;
	if (conn->ecn & ECN_EXACT) {
		if (marked != !!(conn->ecn & ECN_ECHOES))
			take_change(utcp, conn, now_ns);
		return;
	}
	/* RFC 3168 6.1.3; a segment may both say that the window was cut and be marked again. */
	if (segment->flags & TCP_CWR)
		conn->ecn &= (uint8_t)~ECN_ECHOES;
	if (marked)
		conn->ecn |= ECN_ECHOES;
}

void ecn_put_data(struct utcp *utcp, struct utcp_conn *conn, struct segment_fields *fields)
{
	if (!(conn->ecn & ECN_SENDS))
		return;
	fields->ecn = IP_ECT_0; /* RFC 3168 6.1.2 */
	if (conn->congestion.cwr_due) {
		fields->flags |= TCP_CWR;
		conn->congestion.cwr_due = false;
		utcp->counters.cwr_segments++;
	}
}
