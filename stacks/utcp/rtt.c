#include "stacks/utcp/rtt.h"

void rtt_init(struct rtt *rtt)
{
	*rtt = (struct rtt){.rto_ns = RTT_RTO_INITIAL_NS};
}

void rtt_sample(struct rtt *rtt, uint64_t measured_ns, uint64_t floor_ns)
{
	uint64_t r = measured_ns > 0 ? measured_ns : 1, rto;

	if (rtt->smoothed_ns == 0) { /* RFC 6298 2.2 */
		rtt->smoothed_ns = r;
		rtt->variation_ns = r / 2;
	} else { /* RFC 6298 2.3, alpha 1/8, beta 1/4 */
		uint64_t error = r > rtt->smoothed_ns ? r - rtt->smoothed_ns : rtt->smoothed_ns - r;

		rtt->variation_ns += error / 4;
		rtt->variation_ns -= (rtt->variation_ns - error / 4) / 4;
		rtt->smoothed_ns = rtt->smoothed_ns - rtt->smoothed_ns / 8 + r / 8;
	}
	rto = rtt->smoothed_ns + 4 * rtt->variation_ns;
	if (rto < floor_ns)
		rto = floor_ns;
	rtt->rto_ns = rto < RTT_RTO_MAX_NS ? rto : RTT_RTO_MAX_NS;
}
