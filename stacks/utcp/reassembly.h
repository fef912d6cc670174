/*
 * reassembly: where the bytes that came out of order stand.
 *
 * The bytes themselves are in the free room of the receive ring, each at its place; here is only a
 * short sorted table of which ranges are there. Touching ranges are joined. When the table is full
 * a range that touches none is refused, however near, so a flood of tiny pieces (CVE-2018-5390)
 * costs a bounded table and no more. To take it in the place of a further one would withdraw what
 * the peer was told had come, which RFC 2018 8 discourages where memory is not short: the peer
 * keeps that for arrived until a timeout, while what it never heard of it sends again at once.
 * Where ranges overlap, the later bytes win; what has become in-order is never written again.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_REASSEMBLY_H
#define WEIR_UTCP_REASSEMBLY_H

#include "stacks/utcp/seq.h"

#include <stdbool.h>
#include <stdint.h>

enum { REASSEMBLY_RANGES = 16 };

#define REASSEMBLY_CLOCK_MAX (UINT32_MAX - 1)

struct reassembly {
	uint32_t count;
	uint32_t clock;				    /* counts what was added */
	struct seq_range ranges[REASSEMBLY_RANGES]; /* ascending, with gaps between */
	uint32_t added[REASSEMBLY_RANGES];	    /* what `clock` was when each last grew */
};

/* Notes [begin, end); false if there was no room for it, and its bytes must not count as received.
 */
bool reassembly_add(struct reassembly *reassembly, uint32_t begin, uint32_t end);

/* In-order data now reaches to `next`: takes off what that covers and returns how far it reaches
 * joined with what was here. */
uint32_t reassembly_take(struct reassembly *reassembly, uint32_t next);

/* Whether bytes from `seq` on are here. */
static inline bool reassembly_reaches_beyond(const struct reassembly *reassembly, uint32_t seq)
{
	return reassembly->count > 0 &&
	       seq_after(reassembly->ranges[reassembly->count - 1].end, seq);
}

/* The first part of [begin, end) that is in the table; empty if none is. */
struct seq_range reassembly_overlap(const struct reassembly *reassembly, uint32_t begin,
				    uint32_t end);

/* The ranges that were added to last, at most `room`, the latest first (RFC 2018 4); their number.
 * Time: `room` passes over the table. */
unsigned reassembly_latest(const struct reassembly *reassembly, struct seq_range *ranges,
			   unsigned room);

#endif
