#include "stacks/utcp/reassembly.h"

#include "stacks/utcp/seq.h"

#include <string.h>

/* Takes `count` ranges out at `at`. */
static void cut(struct reassembly *reassembly, unsigned at, unsigned count)
{
	memmove(&reassembly->ranges[at], &reassembly->ranges[at + count],
		(reassembly->count - at - count) * sizeof(reassembly->ranges[0]));
	reassembly->count -= count;
}

/* Opens a place at `at`; the furthest range goes if the table is full. False if the new one would
 * be the furthest. */
static bool make_place(struct reassembly *reassembly, unsigned at)
{
	if (at == REASSEMBLY_RANGES)
		return false;
	if (reassembly->count == REASSEMBLY_RANGES)
		reassembly->count--;
	memmove(&reassembly->ranges[at + 1], &reassembly->ranges[at],
		(reassembly->count - at) * sizeof(reassembly->ranges[0]));
	reassembly->count++;
	return true;
}

bool reassembly_add(struct reassembly *reassembly, uint32_t begin, uint32_t end)
{
	struct reassembly_range *ranges = reassembly->ranges;
	unsigned first = 0, last;

	while (first < reassembly->count && seq_before(ranges[first].end, begin))
		first++;
	last = first; /* [first, last) overlap the new one or touch it */
	while (last < reassembly->count && !seq_after(ranges[last].begin, end))
		last++;
	if (first == last) {
		if (!make_place(reassembly, first))
			return false;
		ranges[first] = (struct reassembly_range){begin, end};
		return true;
	}
	ranges[first].begin = seq_min(ranges[first].begin, begin);
	ranges[first].end = seq_max(ranges[last - 1].end, end);
	cut(reassembly, first + 1, last - first - 1);
	return true;
}

uint32_t reassembly_take(struct reassembly *reassembly, uint32_t next)
{
	unsigned taken = 0;

	while (taken < reassembly->count && !seq_after(reassembly->ranges[taken].begin, next)) {
		next = seq_max(next, reassembly->ranges[taken].end);
		taken++;
	}
	if (taken > 0)
		cut(reassembly, 0, taken);
	return next;
}
