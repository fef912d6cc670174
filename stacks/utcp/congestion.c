#include "stacks/utcp/congestion.h"

#include "stacks/utcp/least.h"
#include "stacks/utcp/seq.h"

enum {
	SSTHRESH_START = 1 << 30, /* "arbitrarily high" (RFC 5681 3.1) */
};

static uint32_t initial_window(uint16_t mss)
{
	return least(10u * mss, most(2u * mss, 14600)); /* RFC 6928 2 */
}

void congestion_init(struct congestion *congestion, const struct congestion_algorithm *algorithm,
		     uint16_t mss, uint32_t iss, bool syn_lost)
{
	*congestion = (struct congestion){.algorithm = algorithm,
					  .cwnd = syn_lost ? mss : initial_window(mss),
					  .ssthresh = SSTHRESH_START,
					  .recover = iss};
}

/* Takes the flight before an ACK into account. */
static void note_flight(struct congestion *congestion, const struct congestion_ack *ack)
{
	if (ack->flight > congestion->peak) {
		congestion->peak = ack->flight;
		congestion->peak_end = ack->ack + (ack->flight - ack->acked);
	}
}

/*
 * Slow start by bytes (RFC 5681 3.1, RFC 3465 2.2 with L = 1) or the algorithm's congestion
 * avoidance, only while the window is what limits us (RFC 7661 3): that is told by the peak, since
 * a burst's ACKs may all arrive before the next.
 */
static void grow(struct congestion *congestion, uint16_t mss, const struct congestion_ack *ack)
{
	if (congestion->peak < congestion->cwnd / 2)
		congestion->algorithm->rest(congestion);
	else if (congestion->cwnd < congestion->ssthresh)
		congestion->cwnd += least(ack->acked, mss);
	else
		congestion->algorithm->avoid(congestion, mss, ack);
	congestion->cwnd = least(congestion->cwnd, CONGESTION_CWND_MAX);
}

/*
 * Whether what befell the number `at` was answered by the last cut: a window is cut once, for drops
 * and marks together (RFC 3168 6.1.2, RFC 8257 3.5).
 */
static bool is_answered(const struct congestion *congestion, uint32_t at)
{
	return congestion->cut_lately && seq_before(at, congestion->cut_end);
}

static void note_cut(struct congestion *congestion, uint32_t snd_max)
{
	congestion->cut_lately = congestion->cwr_due = true;
	congestion->cut_end = snd_max;
}

/*
 * Some of what was acknowledged was marked (RFC 3168 6.1.2); whether the window may grow all the
 * same. It may in the slow start after a timeout: what is sent again carries no CWR, so until all
 * of it is through the peer repeats a mark that the timeout has answered.
 */
static bool take_mark(struct congestion *congestion, uint16_t mss, const struct congestion_ack *ack)
{
	const struct congestion_algorithm *algorithm = congestion->algorithm;

	if (is_answered(congestion, ack->ack - 1))
		return congestion->cwnd < congestion->ssthresh;
	congestion->ssthresh = algorithm->yield ? algorithm->yield(congestion, mss)
						: algorithm->reduce(congestion, mss, ack->flight);
	congestion->cwnd = least(congestion->cwnd, congestion->ssthresh);
	congestion->acked_bytes = 0;
	note_cut(congestion, ack->ack + (ack->flight - ack->acked));
	return false;
}

void congestion_acked(struct congestion *congestion, uint16_t mss, const struct congestion_ack *ack)
{
	note_flight(congestion, ack);
	if (congestion->algorithm->observe)
		congestion->algorithm->observe(congestion, ack);
	if (!congestion->recovering && (!ack->marked || take_mark(congestion, mss, ack)))
		grow(congestion, mss, ack);
	if (seq_after(ack->ack, congestion->cut_end))
		congestion->cut_lately = false;
	if (!seq_before(ack->ack, congestion->peak_end))
		congestion->peak = 0;
	congestion->recover = seq_max(congestion->recover, ack->ack - 1);
}

uint32_t congestion_flight_at_loss(const struct congestion *congestion, uint32_t flight)
{
	return least(most(flight, congestion->peak), congestion->cwnd);
}

void congestion_recover(struct congestion *congestion, uint16_t mss, uint32_t flight,
			uint32_t snd_max)
{
	congestion->recovering = true;
	congestion->recover = snd_max;
	if (!is_answered(congestion, snd_max - flight))
		congestion->ssthresh = congestion->algorithm->reduce(
			congestion, mss, congestion_flight_at_loss(congestion, flight));
	note_cut(congestion, snd_max);
}

void congestion_recovered(struct congestion *congestion)
{
	congestion->recovering = false;
	congestion->acked_bytes = 0;
	congestion->cwnd = congestion->ssthresh;
}

void congestion_repaired(struct congestion *congestion, uint16_t mss, uint32_t flight,
			 uint32_t snd_max)
{
	congestion->ssthresh = congestion->algorithm->reduce(congestion, mss, flight);
	note_cut(congestion, snd_max);
	congestion->cwnd = least(congestion->cwnd, congestion->ssthresh);
}

void congestion_timeout(struct congestion *congestion, uint16_t mss, uint32_t flight,
			uint32_t snd_max, bool first)
{
	if (first)
		congestion->ssthresh = congestion->algorithm->reduce(congestion, mss, flight);
	if (congestion->algorithm->timeout)
		congestion->algorithm->timeout(congestion);
	note_cut(congestion, snd_max); /* whatever was cut before (RFC 3168 6.1.2) */
	congestion->cwnd = mss;	       /* the loss window */
	congestion->acked_bytes = 0;
	congestion->recovering = false;
	congestion->recover = snd_max; /* RFC 6582 3.2 step 4 */
}

void congestion_undo(struct congestion *congestion, const struct congestion *before, uint16_t mss,
		     uint32_t flight, uint32_t acked)
{
	uint32_t cwnd = flight + least(acked, initial_window(mss));

	*congestion = *before;
	congestion->recovering = false;
	congestion->ssthresh = most(before->ssthresh, before->cwnd);
	congestion->cwnd = least(most(cwnd, mss), before->cwnd);
}

void congestion_idle(struct congestion *congestion, uint16_t mss)
{
	congestion->cwnd = least(congestion->cwnd, initial_window(mss));
	congestion->algorithm->rest(congestion);
}
