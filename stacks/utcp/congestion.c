#include "stacks/utcp/congestion.h"

#include "stacks/utcp/seq.h"

enum {
	DUP_ACKS_FOR_LOSS = 3,
	CWND_MAX = 1 << 30,
	SSTHRESH_START = 1 << 30, /* "arbitrarily high" (RFC 5681 3.1) */
};

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t initial_window(uint16_t mss)
{
	return least(10u * mss, most(2u * mss, 14600)); /* RFC 6928 2 */
}

void congestion_init(struct congestion *congestion, uint16_t mss, uint32_t iss, bool syn_lost)
{
	*congestion = (struct congestion){.cwnd = syn_lost ? mss : initial_window(mss),
					  .ssthresh = SSTHRESH_START,
					  .recover = iss};
}

static uint32_t halved(uint32_t flight, uint16_t mss)
{
	return most(flight / 2, 2u * mss); /* RFC 5681 equation 4 */
}

/* Takes the flight before an ACK of `acked` bytes up to `ack` into account. */
static void note_flight(struct congestion *congestion, uint32_t ack, uint32_t acked,
			uint32_t flight)
{
	if (flight > congestion->peak) {
		congestion->peak = flight;
		congestion->peak_end = ack + (flight - acked);
	}
}

/*
 * Slow start and congestion avoidance by bytes (RFC 5681 3.1), only while the window is what limits
 * us (RFC 7661 3): that is told by the peak, since a burst's ACKs may all arrive before the next.
 */
static void grow(struct congestion *congestion, uint16_t mss, uint32_t acked)
{
	if (congestion->peak < congestion->cwnd / 2)
		return;
	if (congestion->cwnd < congestion->ssthresh) {
		congestion->cwnd += least(acked, mss);
	} else {
		congestion->acked_bytes += acked;
		if (congestion->acked_bytes >= congestion->cwnd) {
			congestion->acked_bytes -= congestion->cwnd;
			congestion->cwnd += mss;
		}
	}
	congestion->cwnd = least(congestion->cwnd, CWND_MAX);
}

enum congestion_verdict congestion_acked(struct congestion *congestion, uint16_t mss, uint32_t ack,
					 uint32_t acked, uint32_t flight)
{
	congestion->dup_acks = 0;
	note_flight(congestion, ack, acked, flight);
	if (!congestion->recovering)
		grow(congestion, mss, acked);
	if (!seq_before(ack, congestion->peak_end))
		congestion->peak = 0;
	if (!congestion->recovering)
		return CONGESTION_GO_ON;
	if (!seq_before(ack, congestion->recover)) { /* RFC 6582 3.2 step 3, full acknowledgement */
		congestion->recovering = false;
		congestion->acked_bytes = 0;
		congestion->cwnd = least(congestion->ssthresh, most(flight - acked, mss) + mss);
		return CONGESTION_GO_ON;
	}
	congestion->cwnd -= least(acked, congestion->cwnd - mss); /* partial: deflate */
	if (acked >= mss)
		congestion->cwnd += mss;
	return CONGESTION_RESEND;
}

enum congestion_verdict congestion_duplicate(struct congestion *congestion, uint16_t mss,
					     uint32_t ack, uint32_t flight, uint32_t snd_max)
{
	if (congestion->recovering) { /* RFC 5681 3.2 step 4: a segment has left the network */
		congestion->cwnd = least(congestion->cwnd + mss, CWND_MAX);
		return CONGESTION_GO_ON;
	}
	if (congestion->dup_acks < UINT8_MAX)
		congestion->dup_acks++;
	if (congestion->dup_acks != DUP_ACKS_FOR_LOSS || !seq_after(ack, congestion->recover))
		return CONGESTION_GO_ON; /* RFC 6582 3.2 step 2: not twice for one window */
	congestion->recovering = true;
	congestion->recover = snd_max;
	congestion->ssthresh = halved(flight, mss);
	congestion->cwnd = congestion->ssthresh + DUP_ACKS_FOR_LOSS * mss;
	return CONGESTION_RECOVER;
}

void congestion_timeout(struct congestion *congestion, uint16_t mss, uint32_t flight,
			uint32_t snd_max, bool first)
{
	if (first)
		congestion->ssthresh = halved(flight, mss);
	congestion->cwnd = mss; /* the loss window */
	congestion->acked_bytes = 0;
	congestion->dup_acks = 0;
	congestion->recovering = false;
	congestion->recover = snd_max; /* RFC 6582 3.2 step 4 */
}

void congestion_idle(struct congestion *congestion, uint16_t mss)
{
	congestion->cwnd = least(congestion->cwnd, initial_window(mss));
}
