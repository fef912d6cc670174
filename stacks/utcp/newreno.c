/*
 * newreno: congestion avoidance by a segment a round trip, and cuts to a half (RFC 5681).
 */
#include "stacks/utcp/congestion.h"

#include "stacks/utcp/least.h"

/* RFC 5681 3.1, by bytes (RFC 3465 2.1): a segment for each window that was acknowledged. */
void congestion_avoid_newreno(struct congestion *congestion, uint16_t mss,
			      const struct congestion_ack *ack)
{
	congestion->acked_bytes += ack->acked;
	if (congestion->acked_bytes < congestion->cwnd)
		return;
	congestion->acked_bytes -= congestion->cwnd;
	congestion->cwnd += mss;
}

/* RFC 5681 equation 4. */
uint32_t congestion_reduce_newreno(struct congestion *congestion, uint16_t mss, uint32_t flight)
{
	return most(flight / 2, 2u * mss);
}

static void rest(struct congestion *congestion)
{
}

const struct congestion_algorithm congestion_newreno = {
	.avoid = congestion_avoid_newreno, .reduce = congestion_reduce_newreno, .rest = rest};
