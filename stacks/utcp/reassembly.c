#include "stacks/utcp/reassembly.h"

#include "stacks/utcp/seq.h"

#include <string.h>

/* Moves the ranges from `from` on to `to`. */
static void move(struct reassembly *reassembly, unsigned to, unsigned from)
{
	unsigned count = reassembly->count - from;

	memmove(&reassembly->ranges[to], &reassembly->ranges[from],
		count * sizeof(reassembly->ranges[0]));
	memmove(&reassembly->added[to], &reassembly->added[from],
		count * sizeof(reassembly->added[0]));
	reassembly->count = to + count;
}

/* Opens a place at `at`; false if the table is full. */
static bool make_place(struct reassembly *reassembly, unsigned at)
{
	if (reassembly->count == REASSEMBLY_RANGES)
		return false;
	move(reassembly, at + 1, at);
	return true;
}

/* Of what was added before 2^32 others the order is forgotten. */
static uint32_t tick(struct reassembly *reassembly)
{
	if (reassembly->clock == REASSEMBLY_CLOCK_MAX) {
		memset(reassembly->added, 0, sizeof(reassembly->added));
		reassembly->clock = 0;
	}
	return ++reassembly->clock;
}

bool reassembly_add(struct reassembly *reassembly, uint32_t begin, uint32_t end)
{
	struct seq_range *ranges = reassembly->ranges;
	unsigned first = 0, last;

	while (first < reassembly->count && seq_before(ranges[first].end, begin))
		first++;
	last = first; /* [first, last) overlap the new one or touch it */
	while (last < reassembly->count && !seq_after(ranges[last].begin, end))
		last++;
	if (first == last) {
		if (!make_place(reassembly, first))
			return false;
		ranges[first] = (struct seq_range){begin, end};
	} else {
		ranges[first].begin = seq_min(ranges[first].begin, begin);
		ranges[first].end = seq_max(ranges[last - 1].end, end);
		move(reassembly, first + 1, last);
	}
	reassembly->added[first] = tick(reassembly);
	return true;
}

struct seq_range reassembly_overlap(const struct reassembly *reassembly, uint32_t begin,
				    uint32_t end)
{
	for (uint32_t i = 0; i < reassembly->count; i++) {
		const struct seq_range *range = &reassembly->ranges[i];

		if (seq_before(begin, range->end) && seq_before(range->begin, end))
			return (struct seq_range){seq_max(begin, range->begin),
						  seq_min(end, range->end)};
	}
	return (struct seq_range){begin, begin};
}

uint32_t reassembly_take(struct reassembly *reassembly, uint32_t next)
{
	unsigned taken = 0;

	while (taken < reassembly->count && !seq_after(reassembly->ranges[taken].begin, next)) {
		next = seq_max(next, reassembly->ranges[taken].end);
		taken++;
	}
	if (taken > 0)
		move(reassembly, 0, taken);
	return next;
}

/* The range last added to before `before`; the count if there is none. */
static unsigned latest_before(const struct reassembly *reassembly, uint32_t before)
{
	unsigned found = reassembly->count;

	for (unsigned i = 0; i < reassembly->count; i++)
		if (reassembly->added[i] < before &&
		    (found == reassembly->count || reassembly->added[i] > reassembly->added[found]))
			found = i;
	return found;
}

unsigned reassembly_latest(const struct reassembly *reassembly, struct seq_range *ranges,
			   unsigned room)
{
	uint32_t before = reassembly->clock + 1;
	unsigned count = 0;

	while (count < room) {
		unsigned at = latest_before(reassembly, before);

		if (at == reassembly->count)
			break;
		before = reassembly->added[at];
		ranges[count++] = reassembly->ranges[at];
	}
	return count;
}
