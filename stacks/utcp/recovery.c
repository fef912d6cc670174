#include "stacks/utcp/recovery.h"

#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"
#include "stacks/utcp/seq.h"

enum { DUP_ACKS_FOR_LOSS = 3 }; /* RFC 5681 3.2, RFC 6675 2, RFC 8985 3.2 */

/* How long a peer may keep the ACK of a lone segment (RFC 8985 7.2, TLP.max_ack_delay), and of the
 * last of several, as Linux has it. */
#define ACK_DELAY_MAX_NS (200ull * 1000 * 1000)
#define ACK_DELAY_USUAL_NS (2ull * 1000 * 1000)

/* --- the lease ------------------------------------------------------------------------------- */

static struct recovery *get(const struct utcp *utcp, const struct utcp_conn *conn)
{
	return slab_at(&utcp->recoveries, conn->recovery);
}

/* That of this connection, leased if need be; `una`: all up to there has arrived. */
static struct recovery *lease(struct utcp *utcp, struct utcp_conn *conn, uint32_t una)
{
	struct recovery *recovery;

	if (conn->recovery != SLAB_NONE)
		return get(utcp, conn);
	recovery = slab_acquire(&utcp->recoveries);
	CHECK(recovery != NULL);
	*recovery = (struct recovery){.rack = rack_of_new(una)};
	conn->recovery = slab_index(&utcp->recoveries, recovery);
	return recovery;
}

void recovery_end(struct utcp *utcp, struct utcp_conn *conn)
{
	if (conn->recovery == SLAB_NONE)
		return;
	slab_release(&utcp->recoveries, get(utcp, conn));
	conn->recovery = SLAB_NONE;
}

/* Ends it if nothing is left to recover. */
static void end_if_quiet(struct utcp *utcp, struct utcp_conn *conn)
{
	if (conn->recovery == SLAB_NONE || get(utcp, conn)->tail_probing ||
	    get(utcp, conn)->undo.state != UNDO_OFF)
		return;
	if (!conn->congestion.recovering && conn->flight.sacked_bytes == 0 &&
	    conn->flight.lost_bytes == 0)
		recovery_end(utcp, conn);
}

void recovery_note_sent(struct utcp *utcp, struct utcp_conn *conn, uint32_t bytes)
{
	get(utcp, conn)->prr.sent += bytes;
}

void recovery_note_resent(struct utcp *utcp, struct utcp_conn *conn, uint32_t end, uint64_t now_ns)
{
	struct undo *undo = &get(utcp, conn)->undo;

	if (undo->state != UNDO_OFF)
		undo_note_resent(undo, end, times_now(&conn->times, now_ns));
}

/* Where a tail probe may be what will be acknowledged, nothing can be told. */
void recovery_note_cut(struct utcp *utcp, struct utcp_conn *conn)
{
	struct recovery *recovery;

	if (!conn->times.on)
		return;
	recovery = lease(utcp, conn, conn->snd_una);
	if (recovery->tail_probing && recovery->tail_repeated)
		recovery->undo.state = UNDO_OFF;
	else
		undo_note_cut(&recovery->undo, &conn->congestion);
}

void recovery_note_probe(struct utcp *utcp, struct utcp_conn *conn, uint32_t end, bool repeats)
{
	struct recovery *recovery = lease(utcp, conn, conn->snd_una);

	recovery->tail_probing = true;
	recovery->tail_repeated = repeats;
	recovery->tail_end = end;
	recovery->tail_flight =
		congestion_flight_at_loss(&conn->congestion, conn->snd_max - conn->snd_una);
	utcp->counters.tail_probes++;
}

/* --- timeouts -------------------------------------------------------------------------------- */

/* RFC 8985 7.2: a probe is of use where nothing else will tell of a loss. */
static bool may_probe_tail(const struct utcp_conn *conn)
{
	return conn->sack_ok && conn->rtt.smoothed_ns > 0 && conn->backoff == 0 &&
	       conn->recovery == SLAB_NONE && conn->flight.lost_bytes == 0 && conn->snd_wnd > 0;
}

/* When to probe: two round trips after `since_ns`, and a while; but not after the retransmission
 * timeout of the first. */
static uint64_t probe_at(const struct utcp *utcp, const struct utcp_conn *conn, uint64_t since_ns)
{
	bool lone = conn->snd_max - conn->snd_una <= conn->mss;
	uint64_t first_ns = flight_at(&utcp->flights, conn->flight.first)->sent_at_ns;
	uint64_t limit_ns = first_ns + rtt_timeout(&conn->rtt, 0);
	uint64_t at_ns = since_ns + 2 * conn->rtt.smoothed_ns +
			 (lone ? ACK_DELAY_MAX_NS : ACK_DELAY_USUAL_NS);

	if (limit_ns < since_ns)
		limit_ns = since_ns;
	return at_ns < limit_ns ? at_ns : limit_ns;
}

void recovery_wait(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	if (may_probe_tail(conn)) {
		tcp_start_timeout(utcp, conn, probe_at(utcp, conn, now_ns));
		conn->waits = RECOVERY_TAIL;
	} else {
		tcp_start_timeout(utcp, conn, now_ns + rtt_timeout(&conn->rtt, conn->backoff));
	}
}

/* --- losses ---------------------------------------------------------------------------------- */

/* A loss was found, by an ACK that delivered so many bytes. */
static void begin(struct utcp *utcp, struct utcp_conn *conn, uint32_t delivered)
{
	struct recovery *recovery = lease(utcp, conn, conn->snd_una);

	utcp->counters.fast_retransmits++;
	recovery_note_cut(utcp, conn);
	recovery->tail_probing = conn->tail_due = false;
	recovery->prr = prr_of(conn_pipe_guessed(conn) + conn->flight.lost_bytes + delivered);
	congestion_recover(&conn->congestion, conn->mss, conn->snd_max - conn->snd_una,
			   conn->snd_max);
}

/* RFC 6675 2, IsLost, by bytes. */
static bool has_enough_sacked(const struct utcp_conn *conn)
{
	return conn->flight.sacked_bytes > (DUP_ACKS_FOR_LOSS - 1u) * conn->mss;
}

/* Looks for losses; true if something may yet be one, for which the timeout waits. */
static bool detect(struct utcp *utcp, struct utcp_conn *conn, uint32_t delivered, uint64_t now_ns)
{
	const struct rack *rack = &get(utcp, conn)->rack;
	uint32_t before = conn->flight.lost_bytes;
	bool sure = conn->congestion.recovering || has_enough_sacked(conn);
	uint64_t window_ns = rack_window_ns(&conn->path, conn->rtt.smoothed_ns, sure);
	uint64_t at_ns = rack_detect(rack, &utcp->flights, &conn->flight, window_ns, now_ns);

	if (conn->flight.lost_bytes > before) {
		utcp_mark(utcp, conn);
		/* What was out at a timeout has been answered (RFC 6675 5.1). */
		if (!conn->congestion.recovering &&
		    !seq_before(conn->snd_una, conn->congestion.recover))
			begin(utcp, conn, delivered);
	}
	if (at_ns == 0)
		return false;
	tcp_start_timeout(utcp, conn, at_ns);
	conn->waits = RECOVERY_ORDER;
	return true;
}

/* --- SACK ------------------------------------------------------------------------------------ */

static bool is_within(const struct seq_range *block, uint32_t low, uint32_t high)
{
	return seq_before(block->begin, block->end) && !seq_before(block->begin, low) &&
	       !seq_after(block->end, high);
}

/* RFC 2883 4: the first block reports a duplicate if it is acknowledged, or within the second. */
static bool is_duplicate(const struct utcp_conn *conn, const struct segment *segment)
{
	const struct seq_range *blocks = segment->sacks;

	if (is_within(&blocks[0], segment->ack - conn->snd_wnd_max, segment->ack))
		return true;
	return segment->sack_count > 1 && is_within(&blocks[0], blocks[1].begin, blocks[1].end) &&
	       is_within(&blocks[1], segment->ack, conn->snd_max);
}

/* Puts the blocks from `from` on that lie within the flight into `blocks`, ascending; how many.
 * What the acknowledgement touches would have been acknowledged. */
static unsigned sort_blocks(struct utcp *utcp, const struct utcp_conn *conn,
			    const struct segment *segment, unsigned from,
			    struct seq_range blocks[OPTIONS_SACK_MAX])
{
	unsigned count = 0;

	for (unsigned i = from; i < segment->sack_count; i++) {
		struct seq_range block = segment->sacks[i];
		unsigned at = count;

		if (!is_within(&block, segment->ack + 1, conn->snd_max)) {
			utcp->counters.sacks_refused++;
			continue;
		}
		for (; at > 0 && seq_before(block.begin, blocks[at - 1].begin); at--)
			blocks[at] = blocks[at - 1];
		blocks[at] = block;
		count++;
	}
	return count;
}

/* Notes what the blocks say; true if they report a duplicate. Ascending, so that what arrived in
 * order is not taken for reordered. */
static bool take_blocks(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
			struct flight_news *news)
{
	bool duplicate = is_duplicate(conn, segment);
	struct seq_range blocks[OPTIONS_SACK_MAX];
	unsigned count = sort_blocks(utcp, conn, segment, duplicate, blocks);

	utcp->counters.duplicates_told += duplicate;
	for (unsigned i = 0; i < count; i++)
		flight_sack(&utcp->flights, &conn->flight, blocks[i].begin, blocks[i].end, news);
	return duplicate;
}

/* Whether all up to the end of a tail probe is acknowledged. */
static bool probe_is_acked(const struct utcp_conn *conn, const struct recovery *recovery)
{
	return recovery->tail_probing && !seq_before(conn->snd_una, recovery->tail_end);
}

/* RFC 8985 7.4.2: if the probe repaired the loss of the last segment, that was a loss as any. */
static void judge_probe(struct utcp_conn *conn, struct recovery *recovery, bool duplicate)
{
	if (!probe_is_acked(conn, recovery))
		return;
	if (!recovery->tail_repeated || duplicate) {
		recovery->tail_probing = false;
	} else if (seq_after(conn->snd_una, recovery->tail_end)) {
		recovery->tail_probing = false;
		congestion_repaired(&conn->congestion, conn->mss, recovery->tail_flight,
				    conn->snd_max);
	}
}

/* The same, case 2: a peer that reports no duplicates has acknowledged the last segment, and then,
 * with nothing new to say, the probe that repeated it. So nothing was lost. */
static void take_ack_of_probe(struct utcp *utcp, struct utcp_conn *conn)
{
	if (conn->recovery == SLAB_NONE || !probe_is_acked(conn, get(utcp, conn)))
		return;
	get(utcp, conn)->tail_probing = false;
	end_if_quiet(utcp, conn);
}

/* Takes in what blocks report and what the acknowledgement delivered, and looks for losses; true if
 * the timeout waits for what may be one. */
static bool recover_with_sack(struct utcp *utcp, struct utcp_conn *conn,
			      const struct segment *segment, struct flight_news *news)
{
	bool duplicate = segment->sack_count > 0 && take_blocks(utcp, conn, segment, news);
	struct recovery *recovery;

	rack_time_path(&conn->path, news);
	if (conn->recovery == SLAB_NONE && segment->sack_count == 0 && !news->newest_resent)
		return false;
	recovery = lease(utcp, conn, news->forward);
	rack_take(&recovery->rack, &conn->path, news);
	if (duplicate)
		rack_take_duplicate(&conn->path);
	judge_probe(conn, recovery, duplicate);
	return (conn->flight.sacked_bytes > 0 || conn->congestion.recovering ||
		news->newest_resent) &&
	       detect(utcp, conn, news->bytes, news->now_ns);
}

/* --- without SACK ---------------------------------------------------------------------------- */

/*
 * RFC 6582 3.2: a partial acknowledgement tells the next loss. What is delivered is guessed: a
 * segment for each duplicate, so what is then acknowledged of those is no news (RFC 9937 6.2).
 * Returns that.
 */
static uint32_t recover_without_sack(struct utcp *utcp, struct utcp_conn *conn, uint32_t acked)
{
	uint32_t known = conn->dup_acks * conn->mss;

	if (!conn->congestion.recovering || acked >= known)
		conn->dup_acks = 0;
	else
		conn->dup_acks -= (acked + conn->mss - 1) / conn->mss;
	if (conn->congestion.recovering && seq_before(conn->snd_una, conn->congestion.recover)) {
		flight_lose_first(&utcp->flights, &conn->flight, conn->mss);
		utcp_mark(utcp, conn);
	}
	return acked > known ? acked - known : 0;
}

/* --- cuts in vain ---------------------------------------------------------------------------- */

/* An acknowledgement may tell that what was taken for lost was only late. Then it says nothing of
 * when that was sent again (RFC 8985 6.2 step 2), and what else seems lost may be late, too. */
static void judge_cut(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		      const struct congestion_ack *news, struct flight_news *arrived)
{
	struct undo *undo = &get(utcp, conn)->undo;
	enum undo_verdict verdict;

	if (news->marked) /* RFC 4015 3: that, too, calls for the cut */
		undo->state = UNDO_OFF;
	verdict = undo_take(undo, segment->ack, segment->times_echo, conn->flight.lost_bytes > 0);
	if (verdict == UNDO_NOTHING)
		return;
	if (arrived->newest_resent)
		arrived->any = false;
	conn->path.reordering |= conn->congestion.recovering;
	flight_forgive(&utcp->flights, &conn->flight);
	if (verdict != UNDO_ALL)
		return;
	congestion_undo(&conn->congestion, &undo->before, conn->mss, conn->snd_max - conn->snd_una,
			news->acked);
	conn->backoff = 0;
	conn->dup_acks = 0;
	utcp->counters.cuts_undone++;
}

/* --- both ------------------------------------------------------------------------------------ */

/* Ends a recovery that is over, or says how much more may be sent in it. */
static void go_on(struct utcp *utcp, struct utcp_conn *conn, struct prr_news *news)
{
	struct congestion *congestion = &conn->congestion;

	if (!congestion->recovering)
		return;
	news->pipe = conn_pipe_guessed(conn);
	if (seq_before(conn->snd_una, congestion->recover)) {
		uint32_t room =
			prr_take(&get(utcp, conn)->prr, congestion->ssthresh, conn->mss, news);

		congestion_hold(congestion, conn->mss, news->pipe, room);
		return;
	}
	congestion_recovered(congestion);
	rack_recovered(&conn->path);
	conn->dup_acks = 0;
}

/* The send ring and what waits for room in it. */
static void free_acked(struct utcp *utcp, struct utcp_conn *conn, uint32_t acked)
{
	uint32_t used = ring_used(&conn->send);

	ring_consume(&conn->send, acked < used ? acked : used); /* the FIN is no byte of the ring */
	conn->retries = 0;
	if (conn->send_wanted > 0 && ring_free(&conn->send) >= conn->send_wanted) {
		conn->send_wanted = 0;
		utcp_post(utcp, conn, UTCP_WRITABLE);
	}
}

/* What the news of an acknowledgement are judged by. */
static struct flight_news ask(const struct utcp *utcp, const struct utcp_conn *conn,
			      uint64_t now_ns)
{
	bool leased = conn->recovery != SLAB_NONE;

	return (struct flight_news){.now_ns = now_ns,
				    .min_rtt_ns = conn->path.min_rtt_us * 1000ull,
				    .forward =
					    leased ? get(utcp, conn)->rack.forward : conn->snd_una};
}

void recovery_take_ack(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		       uint64_t now_ns)
{
	struct congestion_ack news = {.ack = segment->ack,
				      .acked = segment->ack - conn->snd_una,
				      .flight = conn->snd_max - conn->snd_una,
				      .now_ns = now_ns,
				      .marked = segment->flags & TCP_ECE && conn->ecn & ECN_SENDS};
	struct flight_news arrived = ask(utcp, conn, now_ns);
	uint32_t lost = conn->flight.lost_bytes;
	bool waits = false;

	if (news.acked > 0) {
		flight_ack(&utcp->flights, &conn->flight, segment->ack, &arrived);
		conn->snd_una = segment->ack;
		free_acked(utcp, conn, news.acked);
		tcp_end_round_trip(utcp, conn, &arrived);
		news.rtt_ns = conn->rtt.smoothed_ns;
		utcp->counters.ece_acks += news.marked;
		if (conn->recovery != SLAB_NONE)
			judge_cut(utcp, conn, segment, &news, &arrived);
		congestion_acked(&conn->congestion, conn->mss, &news);
	}
	if (conn->sack_ok)
		waits = recover_with_sack(utcp, conn, segment, &arrived);
	else
		arrived.bytes = recover_without_sack(utcp, conn, news.acked);
	if (__builtin_expect(conn->recovery != SLAB_NONE, 0)) {
		struct prr_news delivered = {.delivered = arrived.bytes,
					     .safe = news.acked > 0 &&
						     conn->flight.lost_bytes <= lost,
					     .urgent = !conn->sack_ok};

		go_on(utcp, conn, &delivered);
		end_if_quiet(utcp, conn);
	}
	if (conn->snd_una != conn->snd_max) {
		if (!waits && (news.acked > 0 || conn->waits != RECOVERY_NONE))
			recovery_wait(utcp, conn, now_ns); /* RFC 6298 5.3 */
	} else if (news.acked > 0) {
		conn->timeout_at_ns = TIMER_NEVER;
		conn->tail_due = false;
	}
}

void recovery_take_duplicate(struct utcp *utcp, struct utcp_conn *conn)
{
	struct congestion *congestion = &conn->congestion;

	if (conn->sack_ok) { /* it tells nothing else that a block would not */
		take_ack_of_probe(utcp, conn);
		return;
	}
	if (congestion->recovering) {
		/* No more can have left than was out (RFC 5681 3.2, step 4). */
		if ((conn->dup_acks + 1u) * conn->mss > get(utcp, conn)->prr.flight)
			return;
		conn->dup_acks++;
	} else if (conn->dup_acks + 1 < DUP_ACKS_FOR_LOSS) {
		conn->dup_acks++; /* lets another segment out (RFC 3042) */
	} else if (seq_after(conn->snd_una, congestion->recover)) {
		conn->dup_acks++;
		flight_lose_first(&utcp->flights, &conn->flight, conn->mss);
		begin(utcp, conn, conn->mss);
	} /* else RFC 6582 3.2 step 2: not twice for one window */
	go_on(utcp, conn, &(struct prr_news){.delivered = conn->mss});
	utcp_mark(utcp, conn);
}

/* The tail is to be probed, unless more was sent since: true if the timeout waits on for that. */
static bool probe_later(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	uint64_t at_ns = probe_at(utcp, conn, conn->sent_at_ns);

	if (at_ns <= now_ns)
		return false;
	tcp_start_timeout(utcp, conn, at_ns);
	conn->waits = RECOVERY_TAIL;
	return true;
}

void recovery_wait_over(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	bool tail = conn->waits == RECOVERY_TAIL;

	if (tail && may_probe_tail(conn)) {
		if (probe_later(utcp, conn, now_ns))
			return;
		conn->tail_due = true;
		utcp_mark(utcp, conn);
	}
	tcp_start_timeout(utcp, conn, now_ns + rtt_timeout(&conn->rtt, conn->backoff));
	if (!tail && conn->recovery != SLAB_NONE) {
		detect(utcp, conn, 0, now_ns);
		go_on(utcp, conn, &(struct prr_news){0});
	}
}

void recovery_time_out(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	const struct flight_run *first = flight_at(&utcp->flights, conn->flight.first);
	uint64_t patience_ns = conn->rtt.smoothed_ns;

	patience_ns += rack_window_ns(&conn->path, conn->rtt.smoothed_ns, false);
	rack_recovered(&conn->path);
	conn->tail_due = false;
	conn->dup_acks = 0;
	if (conn->recovery != SLAB_NONE)
		get(utcp, conn)->tail_probing = false;
	/* What is sacked and yet not acknowledged was given up (RFC 2018 8). */
	if (!conn->sack_ok || first->sacked)
		flight_lose_all(&utcp->flights, &conn->flight);
	else
		rack_time_out(&utcp->flights, &conn->flight, conn->mss, patience_ns, now_ns);
}
