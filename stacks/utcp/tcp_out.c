/*
 * tcp_out: what leaves, and when (RFC 9293 3.8.6, RFC 5681, RFC 6582).
 */
#include "dataplane/core/bytes.h"
#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"
#include "stacks/utcp/least.h"
#include "stacks/utcp/seq.h"

/*
 * The window field. The right edge moves only when it has something to say: receiver SWS avoidance
 * (RFC 9293 3.8.6.2.2). It never moves back, since what lies before it stays free for the peer.
 */
static uint16_t take_window(struct utcp_conn *conn)
{
	uint32_t edge = conn->rcv_nxt + ring_free(&conn->recv);
	uint32_t worth = least(conn->mss, conn->recv.capacity / 2), field;

	if (seq_diff(edge, conn->rcv_edge) < (int32_t)worth)
		edge = conn->rcv_edge;
	if (seq_before(edge, conn->rcv_nxt))
		edge = conn->rcv_nxt;
	field = least((edge - conn->rcv_nxt) >> conn->rcv_scale, UINT16_MAX);
	conn->rcv_edge = seq_max(conn->rcv_edge, conn->rcv_nxt + (field << conn->rcv_scale));
	return (uint16_t)field;
}

/* SACK blocks, of which there are some, in at most `room` bytes (RFC 2018 4); their length. */
static unsigned put_sack(struct utcp *utcp, struct utcp_conn *conn, uint8_t *to, unsigned room)
{
	struct seq_range blocks[OPTIONS_SACK_MAX];
	unsigned fit = options_sack_fit(room), count;

	if (fit == 0)
		return 0;
	utcp->counters.sacks_sent++;
	utcp->counters.dsacks_sent += gaps_owe_report(&utcp->gaps, conn->gaps);
	count = gaps_report(&utcp->gaps, &conn->gaps, blocks, fit);
	return options_put_sack(to, blocks, count);
}

/*
 * The options of a segment with `payload_bytes`; how many bytes they take. A full segment has no
 * room for SACK blocks: each segment behind a gap gets an ACK of its own, which has.
 */
static uint16_t put_options(struct utcp *utcp, struct utcp_conn *conn, uint8_t *to,
			    uint32_t payload_bytes, uint64_t now_ns)
{
	unsigned bytes = 0;

	if (conn->times.on) {
		options_put_times(to, times_now(&conn->times, now_ns), conn->times.recent);
		bytes = OPTIONS_TIMES_BYTES;
	}
	if (__builtin_expect(conn->gaps != SLAB_NONE, 0) && conn->sack_ok)
		bytes += put_sack(utcp, conn, to + bytes,
				  least(OPTIONS_MAX - bytes, conn->mss - payload_bytes));
	return (uint16_t)bytes;
}

/* Closes a frame whose payload stands behind its headers; it carries the current ACK, so none is
 * pending after, but for a report that found no room. */
static size_t seal(struct utcp *utcp, struct utcp_conn *conn, uint8_t *frame,
		   struct segment_fields *fields)
{
	fields->ack = conn->rcv_nxt;
	fields->window = take_window(conn);
	fields->flags |= TCP_ACKS | (conn->ecn & ECN_ECHOES ? TCP_ECE : 0);
	conn->ack_now = gaps_owe_report(&utcp->gaps, conn->gaps); /* it had no room for that */
	conn->ack_at_ns = TIMER_NEVER;
	conn->rcv_acked = conn->rcv_nxt;
	utcp->counters.out_segments++;
	return segment_seal(&conn->head, frame, fields);
}

/* Sendings of about the same time share a run, so that a window of them has some dozens. */
enum { GRAINS_SHIFT = 6 };

/* Starts what a transmission of [begin, end) starts: the timeout if nothing was under way, or if it
 * waits for the first or for more than a lone segment. That of a SYN waits on: a peer that calls
 * again and again, and has ours sent each time, does not keep the call. */
static void note_sent(struct utcp *utcp, struct utcp_conn *conn, uint32_t begin, uint32_t end,
		      uint64_t now_ns)
{
	uint32_t before = conn->snd_max - conn->snd_una;
	bool wait = conn->timeout_at_ns == TIMER_NEVER || conn_pipe(conn) == 0 ||
		    (begin == conn->snd_una && before > 0 && conn_synchronized(conn));

	conn->sent_at_ns = now_ns;
	if (__builtin_expect(conn->recovery != SLAB_NONE, 0))
		recovery_note_sent(utcp, conn, end - begin);
	if (begin != conn->snd_max) {
		utcp->counters.retransmits++;
		if (conn->recovery != SLAB_NONE)
			recovery_note_resent(utcp, conn, end, now_ns);
		flight_resent(&utcp->flights, &conn->flight, begin, end, now_ns);
	} else {
		flight_push(&utcp->flights, &conn->flight, begin, end, now_ns,
			    conn->rtt.smoothed_ns >> GRAINS_SHIFT);
		conn->snd_max = end;
		wait |= conn->waits == RECOVERY_TAIL && before <= conn->mss;
	}
	if (wait)
		recovery_wait(utcp, conn, now_ns);
}

/* SYN, or SYN-ACK. Never data: they would stand at the SYN's number. */
static size_t build_syn(struct utcp *utcp, struct utcp_conn *conn, uint8_t *frame, uint64_t now_ns)
{
	bool answer = conn->state == CONN_SYN_RECEIVED;
	struct options_syn syn = {.mss = segment_head_mss(&conn->head, utcp->config.mtu),
				  .scale = !answer || conn->scale_ok ? (int8_t)conn->rcv_scale
								     : -1, /* RFC 7323 2.2 */
				  .sack = answer ? conn->sack_ok : !utcp->config.sack_off,
				  .times = answer ? conn->times.on : !utcp->config.timestamps_off,
				  .times_value = times_now(&conn->times, now_ns),
				  .times_echo = conn->times.recent};
	struct segment_fields fields = {.seq = conn->iss,
					.ack = answer ? conn->rcv_nxt : 0,
					.window = (uint16_t)least(conn->recv.capacity, UINT16_MAX),
					.flags = TCP_SYN | (answer ? TCP_ACKS : 0) |
						 ecn_syn_flags(utcp, conn)};

	fields.options_bytes =
		(uint16_t)options_put_syn(frame + segment_head_bytes(&conn->head), &syn);
	note_sent(utcp, conn, conn->iss, conn->iss + 1, now_ns);
	conn->syn_due = false;
	conn->ack_now = false;
	utcp->counters.out_segments++;
	return segment_seal(&conn->head, frame, &fields);
}

/* An ACK and no more; as a probe it repeats an old number, which makes any peer answer (RFC
 * 9293 3.8.4). */
static size_t build_ack(struct utcp *utcp, struct utcp_conn *conn, uint8_t *frame, uint64_t now_ns)
{
	/* A peer that shrank its window takes nothing beyond it. */
	struct segment_fields fields = {
		.seq = seq_min(conn->snd_max, conn->snd_una + conn->snd_wnd),
		.options_bytes = put_options(utcp, conn, frame + segment_head_bytes(&conn->head), 0,
					     now_ns)};

	if (conn->probe_due) {
		fields.seq = conn->snd_una - 1;
		conn->probe_due = false;
		utcp->counters.probes++;
	} else {
		utcp->counters.out_acks++;
	}
	return seal(utcp, conn, frame, &fields);
}

void tcp_ack_now(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	uint8_t *frame = answers_reserve(&utcp->answers);

	if (frame)
		answers_commit(&utcp->answers, build_ack(utcp, conn, frame, now_ns));
	else
		utcp->counters.out_lost++;
}

/* What of the send ring goes into one segment. */
struct plan {
	uint32_t offset;
	uint32_t bytes;
	bool fin;
};

/* Copies a plan's payload and seals its segment. */
static size_t build_planned(struct utcp *utcp, struct utcp_conn *conn, uint8_t *frame,
			    const struct plan *plan, uint64_t now_ns)
{
	uint32_t seq = conn->snd_una + plan->offset, end = seq + plan->bytes;
	struct span spans[2];
	bool last;
	unsigned count = ring_spans(&conn->send, plan->offset, plan->bytes, spans);
	struct segment_fields fields = {
		.seq = seq,
		.flags = plan->fin ? TCP_FIN : 0,
		.options_bytes = put_options(utcp, conn, frame + segment_head_bytes(&conn->head),
					     plan->bytes, now_ns),
		.payload_bytes = plan->bytes};
	uint8_t *payload = frame + segment_head_bytes(&conn->head) + fields.options_bytes;

	if (count > 0)
		memcpy(payload, spans[0].base, spans[0].bytes);
	if (count > 1)
		memcpy(payload + spans[0].bytes, spans[1].base, spans[1].bytes);
	if (seq == conn->snd_max && plan->bytes > 0) {
		utcp->counters.out_bytes += plan->bytes;
		ecn_put_data(utcp, conn, &fields);
	}
	note_sent(utcp, conn, seq, end + plan->fin, now_ns);
	conn->fin_sent |= plan->fin;
	conn->push_small = false;
	last = plan->offset + plan->bytes == ring_used(&conn->send);
	if (last && plan->bytes > 0)
		fields.flags |= TCP_PSH;
	return seal(utcp, conn, frame, &fields);
}

/* The room that congestion control leaves. */
static uint32_t congestion_room(const struct utcp_conn *conn)
{
	uint32_t window = conn->congestion.cwnd, pipe = conn_pipe_guessed(conn);

	return window > pipe ? window - pipe : 0;
}

/* The room that the peer's window leaves behind `offset` from the first unacknowledged byte. */
static uint32_t peer_room(const struct utcp_conn *conn, uint32_t offset)
{
	return conn->snd_wnd > offset ? conn->snd_wnd - offset : 0;
}

/* Plans the first lost segment again; false if none is, or none may leave. */
static bool plan_resend(const struct utcp *utcp, const struct utcp_conn *conn, struct plan *plan)
{
	const struct flight_run *run = flight_first_lost(&utcp->flights, &conn->flight);
	uint32_t used = ring_used(&conn->send), lost, room;

	if (!run)
		return false;
	lost = run->end - run->begin;
	plan->offset = run->begin - conn->snd_una;
	room = peer_room(conn, plan->offset);
	plan->bytes = least(least(lost, used - plan->offset), least(conn->mss, room));
	plan->fin = plan->offset + plan->bytes == used && lost > plan->bytes && room > plan->bytes;
	return (plan->bytes > 0 || plan->fin) && congestion_room(conn) >= plan->bytes;
}

/*
 * Sender SWS avoidance (RFC 9293 3.8.6.2.1) without Nagle's wait: what is complete leaves at once,
 * a piece that only the peer's window cuts short waits, unless it is half of the largest window
 * ever seen or the override fired.
 */
static bool is_silly(const struct utcp_conn *conn, uint32_t bytes, uint32_t unsent)
{
	return bytes < conn->mss && bytes < unsent && bytes < conn->snd_wnd_max / 2 &&
	       !conn->push_small;
}

/* Plans the next new segment; false if nothing is left or nothing may leave, `room` being what
 * congestion control leaves. A FIN takes room in the window as a byte does. */
static bool plan_next(const struct utcp_conn *conn, uint32_t room, struct plan *plan)
{
	uint32_t sent = conn->snd_max - conn->snd_una, unsent = conn_unsent(conn);

	room = least(room, peer_room(conn, sent));
	plan->offset = sent;
	plan->bytes = least(least(unsent, conn->mss), room);
	plan->fin =
		conn->fin_queued && !conn->fin_sent && plan->bytes == unsent && room > plan->bytes;
	return plan->fin || (plan->bytes > 0 && !is_silly(conn, plan->bytes, unsent));
}

/* Plans a tail loss probe: what is new, whatever congestion control says, or the last segment again
 * (RFC 8985 7.3). */
static bool plan_probe(struct utcp *utcp, struct utcp_conn *conn, struct plan *plan)
{
	const struct flight_run *last = flight_at(&utcp->flights, conn->flight.last);
	uint32_t end = conn->snd_max - conn->fin_sent;
	bool repeats;

	conn->tail_due = false;
	if (!last || conn->recovery != SLAB_NONE || conn->flight.lost_bytes > 0)
		return false; /* news came */
	repeats = !plan_next(conn, UINT32_MAX, plan);
	if (repeats) {
		plan->bytes = least(end - last->begin, conn->mss);
		plan->offset = end - plan->bytes - conn->snd_una;
		plan->fin = conn->fin_sent;
		if (peer_room(conn, plan->offset) < plan->bytes + plan->fin)
			return false;
	}
	recovery_note_probe(utcp, conn, conn->snd_una + plan->offset + plan->bytes + plan->fin,
			    repeats);
	return true;
}

/* What is to be sent again goes before what is new. */
static bool plan_any(struct utcp *utcp, struct utcp_conn *conn, struct plan *plan)
{
	if (__builtin_expect(conn->tail_due, 0) && plan_probe(utcp, conn, plan))
		return true;
	if (__builtin_expect(conn->flight.lost_bytes > 0, 0))
		return plan_resend(utcp, conn, plan);
	return plan_next(conn, congestion_room(conn), plan);
}

/* The next segment of data or FIN, or 0. */
static size_t build_data(struct utcp *utcp, struct utcp_conn *conn, uint8_t *frame, uint64_t now_ns)
{
	struct plan plan;

	if (!conn_has_unsent(conn))
		return 0;
	if (conn->snd_una == conn->snd_max && now_ns - conn->sent_at_ns > conn->rtt.rto_ns)
		congestion_idle(&conn->congestion, conn->mss);
	if (__builtin_expect(plan_any(utcp, conn, &plan), 1))
		return build_planned(utcp, conn, frame, &plan, now_ns);
	/* Nothing under way will tell us when the window opens. */
	if (conn->timeout_at_ns == TIMER_NEVER)
		tcp_start_timeout(utcp, conn, now_ns + rtt_timeout(&conn->rtt, conn->backoff));
	return 0;
}

/* An aborted connection's last word, after which its memory is free if nobody reads from it. */
static size_t build_reset(struct utcp *utcp, struct utcp_conn *conn, uint8_t *frame,
			  uint64_t now_ns)
{
	struct segment_fields fields = {
		.seq = conn->snd_max, .ack = conn->rcv_nxt, .flags = TCP_RST | TCP_ACKS};
	size_t bytes;

	if (conn->times.on) { /* RFC 7323 3.2 */
		options_put_times(frame + segment_head_bytes(&conn->head),
				  times_now(&conn->times, now_ns), conn->times.recent);
		fields.options_bytes = OPTIONS_TIMES_BYTES;
	}
	bytes = segment_seal(&conn->head, frame, &fields);
	utcp->counters.out_segments++;
	utcp->counters.out_resets++;
	conn->reset_due = false;
	list_remove(&conn->out_link);
	close_release(utcp, conn);
	return bytes;
}

/* Whatever this connection has to send next, or 0. */
static size_t build_any(struct utcp *utcp, struct utcp_conn *conn, uint8_t *frame, uint64_t now_ns)
{
	size_t bytes = 0;

	if (!conn_synchronized(conn)) {
		if (conn->syn_due)
			return build_syn(utcp, conn, frame, now_ns);
	} else if (conn->dup_acks_due > 0) {
		conn->dup_acks_due--;
		return build_ack(utcp, conn, frame, now_ns);
	} else if (conn_sending(conn)) {
		bytes = build_data(utcp, conn, frame, now_ns);
	}
	if (bytes == 0 && (conn->ack_now || conn->probe_due))
		bytes = build_ack(utcp, conn, frame, now_ns);
	return bytes;
}

/* So many frames a connection sends before it lets the next one go first, so that who always has
 * more starves nobody. More than an initial window, whose frames so leave together. */
enum { OUT_SHARE = 16 };

/* What the first on `out` has to send, or 0 if that was all. */
static size_t output_first(struct utcp *utcp, uint8_t *frame, uint64_t now_ns)
{
	struct utcp_conn *conn = list_member(utcp->out.next, struct utcp_conn, out_link);
	size_t bytes;

	if (conn->reset_due)
		return build_reset(utcp, conn, frame, now_ns);
	bytes = build_any(utcp, conn, frame, now_ns);
	if (bytes > 0 && ++utcp->out_taken < OUT_SHARE)
		return bytes;
	utcp->out_taken = 0;
	if (bytes > 0)
		list_push(&utcp->out, &conn->out_link);
	else
		list_remove(&conn->out_link);
	return bytes;
}

size_t utcp_output(struct utcp *utcp, uint8_t *frame, uint64_t now_ns)
{
	size_t bytes = answers_pop(&utcp->answers, frame);

	if (bytes == 0 && !list_empty(&utcp->calls.out))
		bytes = calls_output(utcp, frame, now_ns);
	if (bytes == 0 && !list_empty(&utcp->time_waits.out))
		bytes = time_waits_output(utcp, frame, now_ns);
	while (bytes == 0 && !list_empty(&utcp->out))
		bytes = output_first(utcp, frame, now_ns);
	utcp->counters.out_frames += bytes > 0;
	return bytes;
}

size_t utcp_conn_output(struct utcp *utcp, struct utcp_conn *conn, uint8_t *frame, uint64_t now_ns)
{
	size_t bytes;

	if (!conn_sending(conn))
		return 0;
	bytes = build_data(utcp, conn, frame, now_ns);
	utcp->counters.out_frames += bytes > 0;
	if (bytes == 0 && !conn->ack_now && !conn->probe_due && conn->dup_acks_due == 0)
		list_remove(&conn->out_link);
	return bytes;
}

/* Queues a RST. */
static void queue_reset(struct utcp *utcp, const struct segment_head *head,
			const struct segment_fields *fields)
{
	uint8_t *frame = answers_reserve(&utcp->answers);

	if (!frame) {
		utcp->counters.out_lost++;
		return;
	}
	answers_commit(&utcp->answers, segment_seal(head, frame, fields));
	utcp->counters.out_segments++;
	utcp->counters.out_resets++;
}

void tcp_refuse(struct utcp *utcp, const struct segment *segment)
{
	struct segment_ends ends = segment_ends(segment);
	struct segment_fields fields = {.flags = TCP_RST};
	struct segment_head head;

	if (segment->flags & TCP_RST) /* never an answer to a RST */
		return;
	if (segment->flags & TCP_ACKS) {
		fields.seq = segment->ack;
	} else {
		fields.ack = segment->seq + segment_length(segment);
		fields.flags |= TCP_ACKS;
	}
	segment_head_init(&head, utcp->config.mac, segment->frame + ETH_SOURCE, &ends);
	queue_reset(utcp, &head, &fields);
}
