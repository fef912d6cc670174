#include "apps/load/bodies.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* The next number of Vigna's splitmix64. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9E3779B97F4A7C15ull;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return z ^ z >> 31;
}

int bodies_create(struct bodies *bodies, uint32_t body_bytes)
{
	size_t bytes = ((size_t)1 << BODIES_OFFSET_BITS) + body_bytes;
	uint64_t state = 1;
	uint8_t *pool = malloc(bytes);

	if (!pool)
		return -ENOMEM;
	for (size_t i = 0; i < bytes; i++)
		pool[i] = (uint8_t)next_random(&state);
	*bodies = (struct bodies){.pool = pool, .body_bytes = body_bytes};
	return 0;
}

void bodies_destroy(struct bodies *bodies)
{
	free(bodies->pool);
	bodies->pool = NULL;
}
