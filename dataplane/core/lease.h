/*
 * lease: a ring whose memory is a slab's, and its own only while it holds something.
 *
 * Most connections hold no bytes most of the time. If each kept a ring's memory of its own, a turn
 * over many connections would walk through all of it; so a ring takes a block when bytes come, and
 * gives it back when it is empty. The slab hands out what was given back last: the same few blocks,
 * warm in the cache, serve all, and memory is touched for as many as hold bytes at a time.
 *
 * The slab has a block for each ring, so taking one cannot fail. Plane: turn.
 */
#ifndef WEIR_CORE_LEASE_H
#define WEIR_CORE_LEASE_H

#include "dataplane/core/check.h"
#include "dataplane/core/ring.h"
#include "dataplane/core/slab.h"

/* A ring of `capacity` bytes that holds nothing and has no memory. */
static inline void lease_init(struct ring *ring, uint32_t capacity)
{
	ring_init(ring, NULL, capacity);
}

/* Gives it memory if it has none. */
static inline void lease_take(struct ring *ring, struct slab *blocks)
{
	if (ring->base)
		return;
	ring->base = slab_acquire(blocks);
	CHECK(ring->base);
}

/* Drops what it holds, and gives its memory back. */
static inline void lease_end(struct ring *ring, struct slab *blocks)
{
	if (!ring->base)
		return;
	slab_release(blocks, ring->base);
	ring_init(ring, NULL, ring->capacity);
}

/* The same, if it holds nothing. */
static inline void lease_end_if_empty(struct ring *ring, struct slab *blocks)
{
	if (ring_used(ring) == 0)
		lease_end(ring, blocks);
}

#endif
