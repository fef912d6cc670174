/*
 * pool: the receive buffers that all connections of an instance share.
 *
 * The kernel holds a ring of free ones and takes the next for whatever arrives. A buffer that comes
 * back filled is ours until it is given back; what is given back becomes visible to the kernel at
 * the next publish. There are more buffers than the ring has places: if some stay filled for long,
 * spare ones take their places, and memory that was never used costs nothing.
 *
 * A filled buffer can be chained to another: `next` and `bytes` are its holder's to use.
 *
 * Plane: create and destroy are setup; the rest is turn.
 */
#ifndef WEIR_STACKS_URING_POOL_H
#define WEIR_STACKS_URING_POOL_H

#include "dataplane/core/check.h"
#include "dataplane/transport/transport.h"
#include "stacks/uring/queue.h"

#include <stdint.h>

enum {
	UR_POOL_GROUP = 1,	   /* the kernel's name for it */
	UR_POOL_MAX = 8192,	   /* places of the ring */
	UR_POOL_SPARE = 4,	   /* buffers for each place */
	UR_POOL_NONE = UINT16_MAX, /* no buffer */
};

_Static_assert(UR_POOL_MAX *UR_POOL_SPARE < UR_POOL_NONE, "a buffer's number has 16 bits");

struct ur_pool {
	struct io_uring_buf_ring *ring; /* NULL: there is no pool */
	uint8_t *memory;
	uint32_t places;
	uint32_t buffer_bytes;
	uint32_t with_kernel; /* free ones in the ring, published or about to be */
	uint32_t unpublished; /* of those */
	uint32_t spare_count;
	uint16_t *spares;
	struct ur_buffer {
		uint32_t bytes;
		uint16_t next;
	} * buffers;
};

/* Whether there can be so many places: 0, or -EINVAL with `error` filled. */
int ur_pool_check(uint64_t places, struct tp_error *error);

/*
 * `places` (a power of two) of `buffer_bytes` each, registered with the queue. 0; -EINVAL if the
 * kernel has no such rings; -ENOMEM.
 */
int ur_pool_create(struct ur_pool *pool, struct ur_queue *queue, uint32_t places,
		   uint32_t buffer_bytes);

/* After the queue was closed. Harmless on a zeroed pool. */
void ur_pool_destroy(struct ur_pool *pool);

/* Fills the ring's places with spare buffers, and lets the kernel see all that came back. */
void ur_pool_publish(struct ur_pool *pool);

static inline uint8_t *ur_pool_at(const struct ur_pool *pool, uint16_t id)
{
	return pool->memory + (size_t)id * pool->buffer_bytes;
}

/* The buffer that a completion names, now ours. */
static inline uint16_t ur_pool_take(struct ur_pool *pool, const struct io_uring_cqe *cqe)
{
	ASSERT(pool->with_kernel > 0);
	pool->with_kernel--;
	return (uint16_t)(cqe->flags >> IORING_CQE_BUFFER_SHIFT);
}

/* Gives a buffer back. */
static inline void ur_pool_give(struct ur_pool *pool, uint16_t id)
{
	if (pool->with_kernel == pool->places) {
		pool->spares[pool->spare_count++] = id;
		return;
	}
	io_uring_buf_ring_add(pool->ring, ur_pool_at(pool, id), pool->buffer_bytes, id,
			      (int)pool->places - 1, (int)pool->unpublished);
	pool->unpublished++;
	pool->with_kernel++;
}

#endif
