#include "stacks/utcp/times.h"

/* RFC 7323 5.5: by then a clock of the fastest kind, a millisecond, may have gone half round. */
#define OLD_NS (24ull * 24 * 3600 * 1000 * 1000 * 1000)

void times_take_syn(struct times *times, const struct segment *segment, bool ours, uint64_t now_ns)
{
	times->on = ours && segment->has_times;
	times->recent = times->on ? segment->times_value : 0;
	times->recent_at = times_age_clock(now_ns);
}

bool times_is_old(const struct times *times, const struct segment *segment, uint64_t now_ns)
{
	return times->on && segment->has_times && seq_before(segment->times_value, times->recent) &&
	       times_age_clock(now_ns) - times->recent_at <= times_age_clock(OLD_NS);
}
