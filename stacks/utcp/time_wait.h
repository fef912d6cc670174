/*
 * time_wait: what is left of a connection that has ended on both sides (RFC 9293 3.6.1).
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_TIME_WAIT_H
#define WEIR_UTCP_TIME_WAIT_H

#include "stacks/utcp/segment.h"
#include "stacks/utcp/times.h"

#include <stdbool.h>
#include <stdint.h>

struct utcp;

/* Whether a segment is a SYN that cannot be an old one's duplicate, so that it may take the place
 * of a connection in TIME-WAIT with these timestamps and this number expected (RFC 6191 2). */
bool time_wait_takes_syn(const struct utcp *utcp, const struct times *times, uint32_t rcv_nxt,
			 const struct segment *segment);

#endif
