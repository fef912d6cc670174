/*
 * cookies: initial sequence numbers that remember a SYN (RFC 4987 3.6).
 *
 * While no place for another call is free, our number is made of the SYN itself: 28 bits of a keyed
 * hash over both ends, the peer's number, what follows and the time, 3 bits of MSS and the parity
 * of the time. Window scale and SACK travel in the low bits of our timestamp, which the peer
 * echoes, and are offered only to who has timestamps. The ACK that brings the cookie back within
 * one to two periods of 69 s makes the connection; a guess has one chance in 2^28, and cookies are
 * looked at only while some that we made may be under way.
 *
 * What a cookie costs: the SYN-ACK is not sent again (the peer's SYN is), ECN is not agreed, and
 * the MSS is rounded down to one of eight.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_COOKIES_H
#define WEIR_UTCP_COOKIES_H

#include "stacks/utcp/segment.h"

#include <stdbool.h>
#include <stdint.h>

enum { COOKIES_PERIOD_SHIFT = 36 }; /* of the clock in ns */

struct cookie {
	uint32_t iss;
	uint32_t times_value; /* what our timestamp must show; only with timestamps */
};

struct utcp;

/* For a SYN; `clock` is what our timestamp would show. */
struct cookie cookies_make(const struct utcp *utcp, const struct segment *syn, uint32_t clock,
			   uint64_t now_ns);

/* Whether an ACK brings a cookie of ours back; then `syn_out` is the SYN as far as the cookie
 * remembers it. */
bool cookies_read(const struct utcp *utcp, const struct segment *ack, uint64_t now_ns,
		  struct segment *syn_out);

#endif
