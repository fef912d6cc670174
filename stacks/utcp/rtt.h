/*
 * rtt: the round-trip time and the retransmission timeout (RFC 6298).
 *
 * One round trip is timed at a time, from what is known of the flight (flight.h). What was sent
 * again or saw a stalled clock times nothing (Karn).
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_RTT_H
#define WEIR_UTCP_RTT_H

#include "stacks/utcp/seq.h"

#include <stdbool.h>
#include <stdint.h>

#define RTT_RTO_INITIAL_NS (1000ull * 1000 * 1000)	 /* RFC 6298 2.1 */
#define RTT_RTO_AFTER_SYN_NS (3ull * 1000 * 1000 * 1000) /* RFC 6298 5.7 */
#define RTT_RTO_MAX_NS (60ull * 1000 * 1000 * 1000)	 /* RFC 6298 2.5 */

struct rtt {
	uint64_t smoothed_ns; /* 0 before the first sample */
	uint64_t variation_ns;
	uint64_t rto_ns;   /* without back-off */
	uint32_t timed_to; /* what was sent by the last sample, a round trip's, ended here */
};

void rtt_init(struct rtt *rtt);

/* Takes a measured round trip; `floor_ns` is the least timeout. */
void rtt_sample(struct rtt *rtt, uint64_t measured_ns, uint64_t floor_ns);

/* Whether what the last sample left in flight has been acknowledged: one sample a round trip. What
 * does not lie within the flight is behind it, however long nothing could be timed. */
static inline bool rtt_is_due(const struct rtt *rtt, uint32_t una, uint32_t max)
{
	return !seq_within(rtt->timed_to, una, max);
}

/* The timeout after `backoff` doublings (RFC 6298 5.5). */
static inline uint64_t rtt_timeout(const struct rtt *rtt, unsigned backoff)
{
	uint64_t ns = rtt->rto_ns << (backoff < 16 ? backoff : 16);

	return ns < RTT_RTO_MAX_NS ? ns : RTT_RTO_MAX_NS;
}

#endif
