/*
 * dctcp: congestion avoidance as NewReno's, and cuts by how much was marked (RFC 8257).
 *
 * Alpha, the share of bytes that were marked, is averaged over windows. A window with marks cuts
 * by half of it: by little where the queue was just reached, by a half where all is marked.
 */
#include "stacks/utcp/congestion.h"
#include "stacks/utcp/least.h"
#include "stacks/utcp/seq.h"

enum {
	ONE = 1 << 16,	/* a share of 1 */
	GAIN_SHIFT = 4, /* g = 1/16 (RFC 8257 4.2) */
};

/* RFC 8257 3.3: alpha moves once for all that was in flight at the same time. */
static void observe(struct congestion *congestion, const struct congestion_ack *ack)
{
	struct congestion_dctcp *dctcp = &congestion->dctcp;
	uint64_t share;

	dctcp->acked += ack->acked;
	dctcp->marked += ack->marked ? ack->acked : 0;
	if (dctcp->observing && !seq_after(ack->ack, dctcp->end))
		return;
	share = (uint64_t)dctcp->marked * ONE / dctcp->acked;
	dctcp->unmarked -= dctcp->unmarked >> GAIN_SHIFT;
	dctcp->unmarked += (uint32_t)(ONE - share) >> GAIN_SHIFT;
	dctcp->observing = true;
	dctcp->end = ack->ack + (ack->flight - ack->acked);
	dctcp->acked = dctcp->marked = 0;
}

/* RFC 8257 3.3: cwnd (1 - alpha / 2). */
static uint32_t yield(struct congestion *congestion, uint16_t mss)
{
	uint64_t kept = (uint64_t)congestion->cwnd * (ONE + congestion->dctcp.unmarked) / (2 * ONE);

	return most((uint32_t)kept, 2u * mss);
}

static void rest(struct congestion *congestion)
{
}

const struct congestion_algorithm congestion_dctcp = {
	.avoid = congestion_avoid_newreno,
	.reduce = congestion_reduce_newreno, /* RFC 8257 3.5: a loss counts as it does for all */
	.rest = rest,
	.observe = observe,
	.yield = yield,
};
