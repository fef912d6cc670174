/*
 * reassembly: where the bytes that came out of order stand.
 *
 * The bytes themselves are in the free room of the receive ring, each at its place; here is only a
 * short sorted table of which ranges are there. Touching ranges are joined. When the table is full
 * the furthest range gives way, so a flood of tiny pieces (CVE-2018-5390) costs a bounded table and
 * no more. Where ranges overlap, the later bytes win; what has become in-order is never written
 * again.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_REASSEMBLY_H
#define WEIR_UTCP_REASSEMBLY_H

#include <stdbool.h>
#include <stdint.h>

enum { REASSEMBLY_RANGES = 16 };

struct reassembly_range {
	uint32_t begin;
	uint32_t end; /* sequence number behind it */
};

struct reassembly {
	uint32_t count;
	struct reassembly_range ranges[REASSEMBLY_RANGES]; /* ascending, with gaps between */
};

/* Notes [begin, end); false if there was no room for it, and its bytes must not count as received.
 */
bool reassembly_add(struct reassembly *reassembly, uint32_t begin, uint32_t end);

/* In-order data now reaches to `next`: takes off what that covers and returns how far it reaches
 * joined with what was here. */
uint32_t reassembly_take(struct reassembly *reassembly, uint32_t next);

#endif
