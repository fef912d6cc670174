/*
 * times: the timestamps of one connection (RFC 7323 3 to 5).
 *
 * Our clock ticks each 2^20 ns, just above the millisecond that RFC 7323 5.4 allows at least, from
 * an offset that each pair of ends has for itself and nobody else can tell, so that values reveal
 * neither how long this host is up nor how many connections it has, and still grow from one
 * connection to the next between the same ends (RFC 7323 7.1, RFC 6191).
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_TIMES_H
#define WEIR_UTCP_TIMES_H

#include "stacks/utcp/segment.h"
#include "stacks/utcp/seq.h"

#include <stdbool.h>
#include <stdint.h>

enum { TIMES_TICK_SHIFT = 20 };

struct times {
	uint32_t recent;    /* TS.Recent: what we echo; 0 unless negotiated */
	uint32_t recent_at; /* when the peer last set it, in times_age's unit */
	uint32_t offset;    /* of our clock */
	bool on;	    /* negotiated: every segment has them but RST */
};

/* What our clock shows, the TSval of a segment that leaves now. */
static inline uint32_t times_now(const struct times *times, uint64_t now_ns)
{
	return times->offset + (uint32_t)(now_ns >> TIMES_TICK_SHIFT);
}

/* The age of TS.Recent is counted in 2^30 ns, about a second. */
static inline uint32_t times_age_clock(uint64_t now_ns)
{
	return (uint32_t)(now_ns >> 30);
}

/* The peer's SYN agreed or declined; `ours`: we offer them. */
void times_take_syn(struct times *times, const struct segment *segment, bool ours, uint64_t now_ns);

/* Whether a segment has what was negotiated and is no older than the last in order: false for
 * most of what must not be taken, and for what times_is_old has a closer look at. */
static inline bool times_fit(const struct times *times, const struct segment *segment)
{
	return segment->has_times == times->on && !seq_before(segment->times_value, times->recent);
}

/* PAWS (RFC 7323 5.3, R1): an old duplicate, unless TS.Recent itself is too old to tell (5.5). */
bool times_is_old(const struct times *times, const struct segment *segment, uint64_t now_ns);

/* RFC 7323 4.3 (2): the value of a segment that passed PAWS and was accepted becomes TS.Recent if
 * the segment begins no later than `acked`, the last number that we acknowledged. */
static inline void times_take(struct times *times, const struct segment *segment, uint32_t acked,
			      uint64_t now_ns)
{
	if (!times->on || seq_after(segment->seq, acked))
		return;
	times->recent = segment->times_value;
	times->recent_at = times_age_clock(now_ns);
}

#endif
