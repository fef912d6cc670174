/*
 * rtt: the round-trip time and the retransmission timeout (RFC 6298).
 *
 * One segment is timed at a time. A sample that saw a retransmission or a stalled clock is thrown
 * away (Karn).
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_RTT_H
#define WEIR_UTCP_RTT_H

#include <stdbool.h>
#include <stdint.h>

#define RTT_RTO_INITIAL_NS (1000ull * 1000 * 1000)	 /* RFC 6298 2.1 */
#define RTT_RTO_AFTER_SYN_NS (3ull * 1000 * 1000 * 1000) /* RFC 6298 5.7 */
#define RTT_RTO_MAX_NS (60ull * 1000 * 1000 * 1000)	 /* RFC 6298 2.5 */

struct rtt {
	uint64_t smoothed_ns; /* 0 before the first sample */
	uint64_t variation_ns;
	uint64_t rto_ns; /* without back-off */
	uint64_t timed_at_ns;
	uint32_t timed_seq; /* an ACK of this or more ends the measurement */
	bool timing;
};

void rtt_init(struct rtt *rtt);

/* Takes a measured round trip; `floor_ns` is the least timeout. */
void rtt_sample(struct rtt *rtt, uint64_t measured_ns, uint64_t floor_ns);

/* The timeout after `backoff` doublings (RFC 6298 5.5). */
static inline uint64_t rtt_timeout(const struct rtt *rtt, unsigned backoff)
{
	uint64_t ns = rtt->rto_ns << (backoff < 16 ? backoff : 16);

	return ns < RTT_RTO_MAX_NS ? ns : RTT_RTO_MAX_NS;
}

#endif
