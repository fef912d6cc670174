/*
 * check: what is true of an instance between any two calls.
 */
#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"
#include "stacks/utcp/receive.h"
#include "stacks/utcp/seq.h"

static void check_counters(const struct utcp *utcp)
{
	const struct utcp_counters *c = &utcp->counters;
	uint64_t drops = c->drop_short + c->drop_ethertype + c->drop_mac + c->drop_arp +
			 c->drop_nd + c->drop_ip6_extension + c->drop_ip_header +
			 c->drop_ip_checksum + c->drop_ip_fragment + c->drop_ip_address +
			 c->drop_ip_protocol + c->drop_icmp + c->drop_tcp_header +
			 c->drop_tcp_checksum + c->drop_tcp_full;

	CHECK(c->in_arp + c->in_nd + c->in_icmp + c->in_segments + drops == c->in_frames);
	CHECK(c->closed <= c->opened_active + c->opened_passive);
	CHECK(c->out_segments <= c->out_frames + utcp->answers.count);
}

static void check_sending(const struct utcp *utcp, const struct utcp_conn *conn)
{
	uint32_t used = ring_used(&conn->send);
	uint32_t end = conn->snd_una + used + conn->fin_queued;
	unsigned options = conn->times.on ? OPTIONS_TIMES_BYTES : 0;

	CHECK(used <= conn->send.capacity);
	CHECK(!seq_after(conn->snd_una, conn->snd_max));
	CHECK(!conn->fin_sent || conn->fin_queued);
	if (!conn_synchronized(conn)) {
		CHECK(conn->snd_una == conn->iss && conn->snd_max - conn->iss <= 1);
		/* It waits for its SYN to leave, for where the peer is, or for the timeout. */
		CHECK(conn->timeout_at_ns != TIMER_NEVER || conn->unresolved ||
		      (conn->syn_due && list_linked(&conn->out_link)));
		return;
	}
	if (!conn_fin_acked(conn))
		CHECK(!seq_after(conn->snd_max, end));
	CHECK(conn->mss + options >= OPTIONS_MSS_MIN &&
	      conn->mss + options <= segment_head_mss(&conn->head, utcp->config.mtu));
	CHECK(conn->congestion.cwnd >= conn->mss);
	/* Whatever waits for the peer has the timeout running. */
	CHECK(!conn->syn_due);
	CHECK(!conn->congestion.recovering || seq_before(conn->snd_una, conn->congestion.recover));
	CHECK(seq_within(conn->congestion.recover, conn->snd_una - 1, conn->snd_max));
	if (conn_pipe(conn) > 0 || conn->state == CONN_FIN_WAIT_2)
		CHECK(conn->timeout_at_ns != TIMER_NEVER);
	if (conn->state == CONN_ESTABLISHED && conn->snd_una == conn->snd_max &&
	    !conn_has_unsent(conn))
		CHECK(conn->timeout_at_ns == TIMER_NEVER);
	/* What is due to leave has its turn. */
	CHECK(conn->dup_acks_due <= DUP_ACKS_DUE_MAX);
	if (conn->dup_acks_due > 0 || conn->tail_due || conn->ack_now || conn->probe_due)
		CHECK(list_linked(&conn->out_link));
	if (conn_sending(conn) && conn_has_unsent(conn))
		CHECK(conn->timeout_at_ns != TIMER_NEVER || list_linked(&conn->out_link));
}

static void check_flight(const struct utcp *utcp, const struct utcp_conn *conn)
{
	const struct flight *flight = &conn->flight;
	const struct flight_run *run = flight_at(&utcp->flights, flight->first);
	uint32_t at = conn->snd_una, count = 0, sacked = 0, lost = 0;

	CHECK(flight->count <= FLIGHT_RUNS_MAX);
	for (; run; run = flight_at(&utcp->flights, run->next), count++) {
		CHECK(run->begin == at && seq_after(run->end, at) && !(run->sacked && run->lost));
		/* Karn's rule, while it matters when they were sent. */
		CHECK(!(run->timed && run->resent) || run->sacked || run->lost);
		at = run->end;
		sacked += run->sacked ? run->end - run->begin : 0;
		lost += run->lost ? run->end - run->begin : 0;
	}
	CHECK(count == flight->count && (count == 0 || at == conn->snd_max));
	CHECK((count == 0) == (conn->snd_una == conn->snd_max || conn->state == CONN_CLOSED));
	CHECK(sacked == flight->sacked_bytes && lost == flight->lost_bytes);
}

/* What both ends agreed on, and what follows from it. */
static void check_ecn(const struct utcp *utcp, const struct utcp_conn *conn)
{
	const struct congestion *congestion = &conn->congestion;
	bool echoes = conn->ecn & ECN_ECHOES, exact = conn->ecn & ECN_EXACT;

	CHECK(conn->ecn == 0 || (utcp->config.ecn && conn->ecn & ECN_TELLS));
	CHECK(conn->usual_flags == (TCP_ACKS | (echoes && exact ? SEGMENT_CE : 0)));
	if (congestion->cut_lately)
		CHECK(seq_within(congestion->cut_end, conn->snd_una, conn->snd_max));
	if (congestion->algorithm == &congestion_dctcp)
		CHECK(congestion->dctcp.marked <= congestion->dctcp.acked);
}

/* What is kept out of order lies apart, behind what is in order and before `edge`. */
static void check_gaps(const struct utcp *utcp, const struct utcp_conn *conn, uint32_t edge)
{
	const struct gaps_table *table = gaps_at(&utcp->gaps, conn->gaps);
	const struct seq_range *ranges = table->reassembly.ranges;
	uint32_t count = table->reassembly.count, reached = conn->rcv_nxt;

	CHECK(table->lease == &conn->gaps && conn_synchronized(conn));
	CHECK(count == 0 || conn_receiving(conn));
	CHECK(count <= REASSEMBLY_RANGES);
	for (uint32_t i = 0; i < count; i++) {
		CHECK(seq_after(ranges[i].begin, reached));
		CHECK(seq_before(ranges[i].begin, ranges[i].end));
		reached = ranges[i].end;
	}
	CHECK(!seq_after(reached, edge));
}

/* Recoveries are leased while there is something to recover, and no longer. */
static void check_recovery(const struct utcp *utcp, const struct utcp_conn *conn)
{
	const struct recovery *recovery;

	if (conn->recovery == SLAB_NONE) {
		CHECK(conn->flight.sacked_bytes == 0);
		CHECK(!conn->congestion.recovering || conn->state == CONN_CLOSED);
		return;
	}
	CHECK(conn->recovery < utcp->recoveries.count && conn_synchronized(conn));
	recovery = slab_at(&utcp->recoveries, conn->recovery);
	CHECK(conn->snd_una != conn->snd_max || recovery->tail_probing);
	CHECK(conn->snd_una != conn->snd_max || recovery->undo.state == UNDO_OFF);
	CHECK(conn->times.on || recovery->undo.state == UNDO_OFF);
	CHECK(!conn->congestion.recovering || recovery->prr.flight > 0);
}

static void check_receiving(const struct utcp *utcp, const struct utcp_conn *conn)
{
	uint32_t edge = conn->rcv_nxt + ring_free(&conn->recv);

	CHECK(ring_used(&conn->recv) <= conn->recv.capacity);
	CHECK(conn->rcv_mss >= OPTIONS_MSS_MIN);
	if (conn->gaps != SLAB_NONE)
		check_gaps(utcp, conn, edge);
	if (conn_synchronized(conn)) {
		CHECK(!seq_before(conn->rcv_edge, conn->rcv_nxt));
		CHECK(!seq_after(conn->rcv_acked, conn->rcv_nxt));
	}
	if (!conn_receiving(conn))
		return;
	CHECK(!seq_after(conn->rcv_edge, edge)); /* all that was promised is free */
	if (conn->fin_known)
		CHECK(!seq_before(conn->fin_seq, conn->rcv_nxt));
}

static void check_timers(const struct utcp_conn *conn)
{
	uint64_t due =
		conn->ack_at_ns < conn->timeout_at_ns ? conn->ack_at_ns : conn->timeout_at_ns;

	if (conn->liveness.look_at_ns < due)
		due = conn->liveness.look_at_ns;
	CHECK(conn->timer.at_ns <= due);
	CHECK((conn->timer.at_ns != TIMER_NEVER) == list_linked(&conn->timer.link));
}

/* It is found by its ends, and waits for a neighbour only while that one is being asked for. */
static void check_ends(const struct utcp *utcp, const struct utcp_conn *conn)
{
	struct segment_ends ends = segment_head_ends(&conn->head);

	CHECK(tuples_find(&utcp->tuples, &utcp->conns, &ends) == conn);
	CHECK(conn->key == tuples_key(&utcp->tuples, &ends));
	CHECK((conn->key >> 56 == 0) == segment_head_is_ip6(&conn->head));
	if (conn->unresolved)
		CHECK(conn->state == CONN_SYN_SENT && list_linked(&conn->out_link) &&
		      neighbours_asks(&utcp->neighbours, &ends.peer));
}

static void check_conn(const struct utcp *utcp, const struct utcp_conn *conn)
{
	bool has_end =
		conn->handle == HANDLE_CLOSING || conn->handle == HANDLE_TOLD || conn->reset_due;

	CHECK(conn->state < CONN_STATE_COUNT);
	CHECK(conn->times.on || conn->times.recent == 0);
	CHECK(conn->challenges.taken <= CHALLENGES_CONN_MAX);
	CHECK(conn->handle != HANDLE_NONE);
	CHECK(conn->state != CONN_SYN_RECEIVED || conn->active);
	CHECK(!(conn->events & UTCP_CLOSED) || conn->handle == HANDLE_CLOSING);
	CHECK((conn->events != 0 || conn->handle == HANDLE_TOLD) == list_linked(&conn->event_link));
	if (conn->state == CONN_ESTABLISHED || conn->state == CONN_CLOSE_WAIT)
		CHECK(utcp->config.keepalive_ns == 0 || conn->liveness.look_at_ns != TIMER_NEVER);
	CHECK(conn->liveness.probes <= KEEP_ALIVE_TRIES);
	check_timers(conn);
	check_receiving(utcp, conn);
	check_flight(utcp, conn);
	check_recovery(utcp, conn);
	if (conn->state == CONN_CLOSED) {
		CHECK(has_end && list_linked(&conn->out_link) == conn->reset_due);
		CHECK(conn->timer.at_ns == TIMER_NEVER);
		return;
	}
	CHECK(!has_end);
	check_ends(utcp, conn);
	check_sending(utcp, conn);
	check_ecn(utcp, conn);
}

void utcp_check(const struct utcp *utcp)
{
	uint32_t alive = 0, in_table = 0, runs = 0, spare_runs = 0, holders = 0, recoveries = 0;

	check_counters(utcp);
	CHECK(utcp->answers.count <= ANSWERS_PLACES);
	CHECK(utcp->challenges.left < CHALLENGES_MIN + CHALLENGES_SPREAD);
	neighbours_check(&utcp->neighbours);
	calls_check(utcp);
	time_waits_check(utcp);
	for (uint32_t i = 0; i < utcp->conns.fresh; i++) {
		const struct utcp_conn *conn = slab_at(&utcp->conns, i);

		if (!conn_alive(conn))
			continue;
		alive++;
		in_table += conn->state != CONN_CLOSED;
		holders += conn->gaps != SLAB_NONE;
		runs += conn->flight.count;
		recoveries += conn->recovery != SLAB_NONE;
		spare_runs += conn->flight.count > 0 ? conn->flight.count - 1 : 0;
		check_conn(utcp, conn);
	}
	CHECK(runs == utcp->flights.runs.in_use && spare_runs == utcp->flights.spare_used);
	CHECK(recoveries == utcp->recoveries.in_use);
	gaps_check(&utcp->gaps, holders);
	CHECK(alive == utcp->conns.in_use && alive == utcp->rings.in_use);
	CHECK(in_table == utcp->tuples.count);
	tuples_check(&utcp->tuples, &utcp->conns);
}
