/*
 * ring: a byte queue of fixed size, a power of two.
 *
 * The memory is the caller's and is given once. Positions run freely and are masked on use; a ring
 * that has been emptied starts again at its base, so that a queue which is drained each turn keeps
 * touching the same cache lines and stays in one piece. Lent spans and rooms are valid until the
 * next call that moves the same end: consume for spans, commit for rooms; since emptying moves
 * both, a room must be filled and committed before the next consume; ring_pass leaves it alone.
 *
 * Plane: turn.
 */
#ifndef WEIR_CORE_RING_H
#define WEIR_CORE_RING_H

#include "dataplane/core/check.h"
#include "dataplane/core/span.h"

#include <stdbool.h>
#include <stdint.h>

struct ring {
	uint8_t *base;
	uint32_t capacity; /* bytes, a power of two */
	uint32_t head;	   /* position of the first byte held */
	uint32_t tail;	   /* position behind the last byte held */
};

/* Takes `capacity` bytes at `base` (lent until the ring is no longer used); the ring is empty. */
static inline void ring_init(struct ring *ring, uint8_t *base, uint32_t capacity)
{
	CHECK(capacity > 0 && (capacity & (capacity - 1)) == 0);
	*ring = (struct ring){.base = base, .capacity = capacity};
}

static inline uint32_t ring_used(const struct ring *ring)
{
	return ring->tail - ring->head;
}

static inline uint32_t ring_free(const struct ring *ring)
{
	return ring->capacity - ring_used(ring);
}

/* Cuts the run [position, position + bytes) at the end of the memory: the first piece's length. */
static inline uint32_t ring_first_piece(const struct ring *ring, uint32_t position, uint32_t bytes)
{
	uint32_t to_end = ring->capacity - (position & (ring->capacity - 1));

	return bytes < to_end ? bytes : to_end;
}

/*
 * Lends the `bytes` held that start `offset` behind the first: one or two spans, none if `bytes` is
 * 0.
 */
static inline unsigned ring_spans(const struct ring *ring, uint32_t offset, uint32_t bytes,
				  struct span spans[2])
{
	uint32_t at = ring->head + offset;
	uint32_t first = ring_first_piece(ring, at, bytes);

	ASSERT(offset + bytes <= ring_used(ring));
	spans[0] = (struct span){ring->base + (at & (ring->capacity - 1)), first};
	spans[1] = (struct span){ring->base, bytes - first};
	return (first > 0) + (bytes > first);
}

/* Lends the next `bytes` of free room: one or two rooms, none if `bytes` is 0. */
static inline unsigned ring_rooms(const struct ring *ring, uint32_t bytes, struct room rooms[2])
{
	uint32_t first = ring_first_piece(ring, ring->tail, bytes);

	ASSERT(bytes <= ring_free(ring));
	rooms[0] = (struct room){ring->base + (ring->tail & (ring->capacity - 1)), first};
	rooms[1] = (struct room){ring->base, bytes - first};
	return (first > 0) + (bytes > first);
}

/* The first `bytes` of the free room now hold data. */
static inline void ring_commit(struct ring *ring, uint32_t bytes)
{
	CHECK(bytes <= ring_free(ring));
	ring->tail += bytes;
}

/* Gives the first `bytes` back as free room, under a room that is lent: that stays where it is. */
static inline void ring_pass(struct ring *ring, uint32_t bytes)
{
	CHECK(bytes <= ring_used(ring));
	ring->head += bytes;
}

/* Gives the first `bytes` back as free room. */
static inline void ring_consume(struct ring *ring, uint32_t bytes)
{
	ring_pass(ring, bytes);
	if (ring->head == ring->tail)
		ring->head = ring->tail = 0;
}

#endif
