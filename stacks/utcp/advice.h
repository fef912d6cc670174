/*
 * advice: what the network says of a segment of ours, by ICMP of either family.
 *
 * Anybody can send such a message, so it must quote a number that is in flight (RFC 5927 4.1), and
 * even then it ends nothing but a call: once a connection stands, what RFC 1122 calls a hard error
 * is a soft one (RFC 5461 3, RFC 5927 5.2), and whether the peer is gone is for the timers to say.
 * A packet that was too big (RFC 1191, RFC 8201) lowers the connection's segment size for the rest
 * of its life, never below a floor; it is no sign of congestion.
 *
 * Work a message: one look-up and, at most once for each size it lowers, a walk over the runs in
 * flight.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_ADVICE_H
#define WEIR_UTCP_ADVICE_H

#include "stacks/utcp/segment.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	ADVICE_MTU_MIN_IP4 = 552,  /* against a claimed MTU of 68, as Linux has it */
	ADVICE_MTU_MIN_IP6 = 1280, /* RFC 8201 4 */
};

enum advice_kind {
	ADVICE_SOFT,	    /* may pass: unreachable net or host, time exceeded, bad parameter */
	ADVICE_REFUSED,	    /* nobody at that port */
	ADVICE_UNREACHABLE, /* no TCP at that host */
	ADVICE_TOO_BIG,
};

struct advice {
	enum advice_kind kind;
	uint16_t mtu;		  /* TOO_BIG: of the next hop, 0 if it does not say */
	uint16_t packet_bytes;	  /* the quoted packet: its IP length, */
	struct segment_ends ends; /* its ends, we being `own`, */
	uint32_t seq;		  /* and its number */
};

struct utcp;

/* Takes it; false if it proves nothing: no such connection, nothing in flight there, or an MTU that
 * would have let the packet pass. */
bool advice_take(struct utcp *utcp, const struct advice *advice);

#endif
