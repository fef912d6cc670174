#include "stacks/utcp/time_wait.h"

#include "stacks/utcp/instance.h"
#include "stacks/utcp/seq.h"

/* Timestamps decide where both have them and they differ; a peer that has taken them up since has
 * begun anew; for all others it is the number, beyond all that the old connection had. */
bool time_wait_takes_syn(const struct utcp *utcp, const struct times *times, uint32_t rcv_nxt,
			 const struct segment *segment)
{
	bool has_times = segment->has_times && !utcp->config.timestamps_off;

	if ((segment->flags & (TCP_SYN | TCP_ACKS | TCP_RST)) != TCP_SYN)
		return false;
	if (has_times && !times->on)
		return true;
	if (has_times && segment->times_value != times->recent)
		return seq_after(segment->times_value, times->recent);
	return !seq_before(segment->seq, rcv_nxt);
}
