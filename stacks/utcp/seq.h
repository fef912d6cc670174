/*
 * seq: sequence numbers, which wrap (RFC 9293 3.4).
 *
 * Two numbers compare by their distance modulo 2^32, right as long as they are less than 2^31
 * apart.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_SEQ_H
#define WEIR_UTCP_SEQ_H

#include <stdbool.h>
#include <stdint.h>

/* How far `to` is ahead of `from`; negative if it is behind. */
static inline int32_t seq_diff(uint32_t to, uint32_t from)
{
	return (int32_t)(to - from);
}

static inline bool seq_before(uint32_t a, uint32_t b)
{
	return seq_diff(a, b) < 0;
}

static inline bool seq_after(uint32_t a, uint32_t b)
{
	return seq_diff(a, b) > 0;
}

/* low <= seq <= high. */
static inline bool seq_within(uint32_t seq, uint32_t low, uint32_t high)
{
	return seq - low <= high - low;
}

/* The numbers from `begin` up to, not including, `end`. */
struct seq_range {
	uint32_t begin;
	uint32_t end;
};

static inline uint32_t seq_min(uint32_t a, uint32_t b)
{
	return seq_before(a, b) ? a : b;
}

static inline uint32_t seq_max(uint32_t a, uint32_t b)
{
	return seq_before(a, b) ? b : a;
}

#endif
