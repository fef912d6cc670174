/*
 * tcp_in: what an arriving segment does, in the steps of RFC 9293 3.10.7.
 *
 * The common segment, next in order on an established connection with no odd flags, is told by one
 * boolean and skips the steps; it uses the same leaves as they do.
 */
#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"
#include "stacks/utcp/receive.h"
#include "stacks/utcp/seq.h"

/* --- leaves ---------------------------------------------------------------------------------- */

/*
 * RFC 9293 3.10.7.4, the send window: only from a segment that is no older than the last by its
 * number, and acknowledges all that ever was. So SND.WL2 needs no place: it is no more than
 * SND.UNA, which stands for it.
 */
static void take_window(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment)
{
	uint32_t window = (uint32_t)segment->window << conn->snd_scale;

	if (seq_before(segment->seq, conn->snd_wl1))
		return;
	conn->snd_wl1 = segment->seq;
	if (seq_before(segment->ack, conn->snd_una))
		return;
	if (__builtin_expect(conn->snd_wnd == 0 && window > 0, 0)) {
		conn->backoff = conn->retries = 0;
		if (conn_pipe(conn) == 0 && conn_sending(conn))
			conn->timeout_at_ns = TIMER_NEVER; /* it was the probes' */
		utcp_mark(utcp, conn);
	}
	conn->snd_wnd = window;
	if (window > conn->snd_wnd_max)
		conn->snd_wnd_max = window;
}

/* --- the common segment ---------------------------------------------------------------------- */

static inline bool is_predicted(const struct utcp_conn *conn, const struct segment *segment)
{
	return conn->state == CONN_ESTABLISHED &&
	       (segment->flags & ~TCP_PSH) == conn->usual_flags &&
	       times_fit(&conn->times, segment) && segment->seq == conn->rcv_nxt &&
	       conn->gaps == SLAB_NONE && !conn->fin_known && segment->bytes <= conn_window(conn) &&
	       seq_within(segment->ack, conn->snd_una, conn->snd_max) &&
	       (segment->bytes > 0 || segment->ack != conn->snd_una); /* no duplicate ACK */
}

static void input_predicted(struct utcp *utcp, struct utcp_conn *conn,
			    const struct segment *segment, uint64_t now_ns)
{
	times_take(&conn->times, segment, conn->rcv_acked, now_ns);
	if (segment->ack != conn->snd_una || (segment->sack_count > 0 && conn->sack_ok))
		recovery_take_ack(utcp, conn, segment, now_ns);
	take_window(utcp, conn, segment);
	if (segment->bytes > 0) {
		receive_note_size(conn, segment);
		receive_store(&conn->recv, 0, segment->data, segment->bytes);
		receive_deliver(utcp, conn, segment->bytes);
		receive_schedule_ack(utcp, conn, now_ns);
	}
	if (conn_has_unsent(conn))
		utcp_mark(utcp, conn);
}

/* --- 3.10.7.3, SYN-SENT ---------------------------------------------------------------------- */

static void input_syn_sent(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
			   uint64_t now_ns)
{
	bool has_ack = segment->flags & TCP_ACKS;

	/* First: our SYN is the only thing that can be acknowledged, once it was sent. */
	if (has_ack && (segment->ack != conn->iss + 1 || conn->snd_max == conn->iss)) {
		tcp_refuse(utcp, segment);
		return;
	}
	if (segment->flags & TCP_RST) {
		if (has_ack)
			close_conn(utcp, conn, UTCP_REFUSED);
		return;
	}
	if (!(segment->flags & TCP_SYN))
		return;
	open_take_syn(utcp, conn, segment, now_ns);
	if (has_ack) {
		open_established(utcp, conn, segment, now_ns);
		tcp_ack_soon(utcp, conn);
	} else { /* simultaneous open (3.5, figure 8): our SYN again, now with an ACK */
		conn_set_state(conn, CONN_SYN_RECEIVED);
		conn->syn_due = true;
		utcp_mark(utcp, conn);
	}
}

/* --- 3.10.7.4, all other states: one function a step; false ends the segment ----------------- */

/* A peer that does not hear us may have changed its hardware address: a segment that can be its own
 * says where it is, and its numbers must tell that. */
static void follow_peer(struct utcp_conn *conn, const struct segment *segment)
{
	int32_t ahead = seq_diff(segment->seq, conn->rcv_nxt);

	if (ahead >= -(int32_t)conn->recv.capacity && ahead <= (int32_t)conn->recv.capacity)
		memcpy(conn->head.bytes + ETH_DESTINATION, segment->frame + ETH_SOURCE, MAC_BYTES);
}

/*
 * Data sent again needs its ACK. Empty segments get a bounded number, so that two confused ends do
 * not answer each other for ever.
 */
static void answer_unacceptable(struct utcp *utcp, struct utcp_conn *conn,
				const struct segment *segment, uint64_t now_ns)
{
	if (segment->flags & TCP_SYN
		    ? challenge_allowed(utcp, &conn->challenges, now_ns)
		    : segment->bytes > 0 ||
			      challenge_answer_allowed(utcp, &conn->challenges, now_ns))
		tcp_ack_soon(utcp, conn);
}

/* Before all, the timestamps (RFC 7323 5.3, R1, and 3.2 for a segment that lacks them): a RST is
 * judged by its number alone. */
static bool step_times(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		       uint64_t now_ns)
{
	if (!conn->times.on || segment->flags & TCP_RST)
		return true;
	if (!segment->has_times) {
		if (segment->flags & TCP_SYN) /* a peer that began anew: step_syn tells it */
			return true;
		utcp->counters.times_missing++;
		return false;
	}
	if (!times_is_old(&conn->times, segment, now_ns))
		return true;
	utcp->counters.times_old++;
	answer_unacceptable(utcp, conn, segment, now_ns);
	return false;
}

/* A shut window lets nothing in, but what a segment at the next number says beside is heard: its
 * ACK and its RST (RFC 9293 3.10.7.4, first step, and MUST-66). */
static bool is_shut_out(const struct utcp_conn *conn, const struct segment *segment)
{
	return conn_window(conn) == 0 && segment->seq == conn->rcv_nxt &&
	       segment_length(segment) > 0 && !(segment->flags & TCP_SYN);
}

/* A peer that tries a shut window with a byte counts it as sent: its bare ACKs stand behind it, and
 * are heard as if they did not. */
static void hear_behind_probe(const struct utcp_conn *conn, struct segment *segment)
{
	if (conn_window(conn) == 0 && segment->seq == conn->rcv_nxt + 1 &&
	    segment_length(segment) == 0 && !(segment->flags & TCP_RST))
		segment->seq = conn->rcv_nxt;
}

/* First, the sequence number. What is unacceptable is answered with an ACK, so that both sides
 * agree again. */
static bool step_sequence(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
			  uint64_t now_ns)
{
	if (segment_is_acceptable(segment, conn->rcv_nxt, conn_window(conn)))
		return true;
	utcp->counters.old_segments++;
	if (is_shut_out(conn, segment)) {
		if (!(segment->flags & TCP_RST))
			answer_unacceptable(utcp, conn, segment, now_ns);
		return true;
	}
	if (segment->flags & TCP_RST)
		return false;
	if (conn->state == CONN_SYN_RECEIVED && segment->seq == conn->irs &&
	    (segment->flags & (TCP_SYN | TCP_ACKS)) == TCP_SYN) {
		conn->syn_due = true; /* the peer has not seen our SYN-ACK */
		ecn_take_again(conn, segment);
		follow_peer(conn, segment);
		utcp_mark(utcp, conn);
		return false;
	}
	if (!(segment->flags & TCP_SYN))
		receive_note_twice(utcp, conn, segment);
	answer_unacceptable(utcp, conn, segment, now_ns);
	return false;
}

/*
 * What an accepted RST means. In CLOSING and LAST-ACK the peer has finished too, so if it has
 * acknowledged all data and only forgot the connection before our FIN reached it again, nothing is
 * lost (RFC 9293 3.10.7.4: no error to the user).
 */
static enum utcp_reason reset_reason(const struct utcp_conn *conn)
{
	if (conn->state == CONN_SYN_RECEIVED)
		return UTCP_REFUSED;
	if ((conn->state == CONN_CLOSING || conn->state == CONN_LAST_ACK) && conn->fin_sent &&
	    ring_used(&conn->send) == 0)
		return UTCP_DONE;
	return UTCP_RESET;
}

/* Second, RST (RFC 5961 3.2): only the exact number resets, a near one is challenged. */
static bool step_reset(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		       uint64_t now_ns)
{
	if (!(segment->flags & TCP_RST))
		return true;
	if (segment->seq != conn->rcv_nxt)
		challenge_send(utcp, conn, now_ns);
	else
		close_conn(utcp, conn, reset_reason(conn));
	return false;
}

/* Fourth, SYN (RFC 5961 4.2). */
static bool step_syn(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		     uint64_t now_ns)
{
	if (!(segment->flags & TCP_SYN))
		return true;
	challenge_send(utcp, conn, now_ns);
	return false;
}

/* A duplicate ACK as RFC 5681 2 defines it, or that of a tail probe (RFC 8985 7.4.2), for which
 * nothing need be in flight. */
static bool is_duplicate(const struct utcp_conn *conn, const struct segment *segment)
{
	return segment->ack == conn->snd_una &&
	       (conn->snd_una != conn->snd_max || conn->recovery != SLAB_NONE) &&
	       segment_length(segment) == 0 &&
	       (uint32_t)segment->window << conn->snd_scale == conn->snd_wnd;
}

/* An acknowledgement that can be one, of new bytes or not. */
static void take_ack(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		     uint64_t now_ns)
{
	bool duplicate = is_duplicate(conn, segment);

	utcp->counters.dup_acks += duplicate;
	if (seq_before(segment->ack, conn->snd_una))
		return;
	if (segment->ack != conn->snd_una || (segment->sack_count > 0 && conn->sack_ok))
		recovery_take_ack(utcp, conn, segment, now_ns);
	else if (duplicate)
		recovery_take_duplicate(utcp, conn);
}

/* What the ACK of our FIN brings about; false if that was the end. */
static bool take_fin_ack(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	if (!conn_fin_acked(conn))
		return true;
	switch (conn->state) {
	case CONN_FIN_WAIT_1:
		conn_set_state(conn, CONN_FIN_WAIT_2);
		/* fall through */
	case CONN_FIN_WAIT_2: /* the peer spoke, so it lives */
		tcp_start_keep_alive(utcp, conn, now_ns);
		return true;
	case CONN_CLOSING:
		close_enter_time_wait(utcp, conn, now_ns);
		return false;
	case CONN_LAST_ACK:
		close_conn(utcp, conn, UTCP_DONE);
		return false;
	default:
		return true;
	}
}

/* Fifth, ACK. */
static bool step_ack(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		     uint64_t now_ns)
{
	if (!(segment->flags & TCP_ACKS))
		return false;
	if (conn->state == CONN_SYN_RECEIVED) {
		if (segment->ack != conn->iss + 1 || conn->snd_max == conn->iss) {
			tcp_refuse(utcp, segment);
			return false;
		}
		open_established(utcp, conn, segment, now_ns);
	}
	if (seq_after(segment->ack, conn->snd_max) ||
	    seq_before(segment->ack, conn->snd_una - conn->snd_wnd_max)) { /* RFC 5961 5.2 */
		challenge_send(utcp, conn, now_ns);
		return false;
	}
	times_take(&conn->times, segment, conn->rcv_acked, now_ns);
	if (conn->snd_wnd == 0)
		conn->retries = 0; /* it answers our probes, */
	conn->liveness.probes = 0; /* of either kind */
	take_ack(utcp, conn, segment, now_ns);
	take_window(utcp, conn, segment);
	return take_fin_ack(utcp, conn, now_ns);
}

/* The SYN-ACK of a simultaneous open (3.5, figure 8): the SYN that we have, with an ACK of ours,
 * which must have left. */
static bool completes_both(const struct utcp_conn *conn, const struct segment *segment)
{
	return conn->state == CONN_SYN_RECEIVED && conn->active &&
	       (segment->flags & (TCP_SYN | TCP_ACKS)) == (TCP_SYN | TCP_ACKS) &&
	       segment->seq == conn->irs && segment->ack == conn->iss + 1 &&
	       conn->snd_max != conn->iss;
}

static void input_steps(struct utcp *utcp, struct utcp_conn *conn, struct segment *segment,
			uint64_t now_ns)
{
	if (conn->retries > 0 && (segment->flags & (TCP_ACKS | TCP_RST)) == TCP_ACKS &&
	    seq_within(segment->ack, conn->snd_una, conn->snd_max))
		follow_peer(conn, segment);
	if (completes_both(conn, segment)) {
		ecn_take_again(conn, segment);
		open_established(utcp, conn, segment, now_ns);
		tcp_ack_soon(utcp, conn);
		return;
	}
	hear_behind_probe(conn, segment);
	if (!step_times(utcp, conn, segment, now_ns) ||
	    !step_sequence(utcp, conn, segment, now_ns) ||
	    !step_reset(utcp, conn, segment, now_ns) || !step_syn(utcp, conn, segment, now_ns) ||
	    !step_ack(utcp, conn, segment, now_ns))
		return;
	/* After the peer's FIN there is nothing to receive. */
	if (conn_receiving(conn) && !is_shut_out(conn, segment)) {
		if (segment->bytes > 0)
			ecn_take_data(utcp, conn, segment, now_ns);
		receive_payload(utcp, conn, segment, now_ns);
		receive_fin(utcp, conn, segment, now_ns);
	}
	if (conn_sending(conn) && conn_has_unsent(conn))
		utcp_mark(utcp, conn);
}

/* --- demultiplexing -------------------------------------------------------------------------- */

/* 3.10.7.1 and 3.10.7.2: CLOSED and LISTEN; and TIME-WAIT. */
static bool input_nobody(struct utcp *utcp, struct segment *segment, uint64_t now_ns)
{
	enum calls_answer answer = CALLS_STRANGER;
	struct segment_ends ends = segment_ends(segment);
	struct time_wait *old = time_waits_find(utcp, &ends);
	struct utcp_conn *conn;

	if (old)
		return time_waits_input(utcp, old, segment, now_ns);
	if (utcp_listens(utcp, segment->own_port))
		answer = calls_input(utcp, segment, now_ns, &conn);
	if (answer == CALLS_OPENED) {
		input_steps(utcp, conn, segment, now_ns);
	} else if (answer == CALLS_STRANGER) {
		utcp->counters.no_listener++;
		tcp_refuse(utcp, segment);
	}
	return answer != CALLS_FULL;
}

bool tcp_input(struct utcp *utcp, struct segment *segment, uint64_t now_ns)
{
	struct utcp_conn *conn = tuples_find_segment(&utcp->tuples, &utcp->conns, segment);

	if (__builtin_expect(!conn, 0))
		return input_nobody(utcp, segment, now_ns);
	if (__builtin_expect(is_predicted(conn, segment), 1)) {
		input_predicted(utcp, conn, segment, now_ns);
	} else if (conn->state == CONN_SYN_SENT) {
		input_syn_sent(utcp, conn, segment, now_ns);
	} else {
		input_steps(utcp, conn, segment, now_ns);
	}
	return true;
}
