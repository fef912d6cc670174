/*
 * bodies: the bytes of every request's body, known again from its id.
 *
 * A pool of pseudo-random bytes is made once; a request's body is the part of it that begins
 * where the id says. So bodies differ from request to request, cost no more than a copy, and an
 * echo can be checked without remembering it. The pool is the same in every process, and small
 * enough to stay in the first-level cache.
 *
 * Planes: create and destroy are setup, at is turn. Read-only once made, so workers share it.
 */
#ifndef WEIR_APPS_LOAD_BODIES_H
#define WEIR_APPS_LOAD_BODIES_H

#include <stdint.h>

enum { BODIES_OFFSET_BITS = 13 };

struct bodies {
	uint8_t *pool;	     /* 2^BODIES_OFFSET_BITS + body_bytes */
	uint32_t body_bytes; /* of each request */
};

/* 0 or -ENOMEM. */
int bodies_create(struct bodies *bodies, uint32_t body_bytes);

/* Harmless on a zeroed one. */
void bodies_destroy(struct bodies *bodies);

/*
 * The body of a request, body_bytes long. Fibonacci hashing (Knuth, TAOCP 3, 6.4) spreads the
 * ids over the pool.
 */
static inline const uint8_t *bodies_at(const struct bodies *bodies, uint64_t id)
{
	return bodies->pool + (id * 0x9E3779B97F4A7C15ull >> (64 - BODIES_OFFSET_BITS));
}

#endif
