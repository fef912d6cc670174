#include "stacks/uring/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static size_t ring_bytes(const struct ur_pool *pool)
{
	return pool->places * sizeof(struct io_uring_buf);
}

static size_t memory_bytes(const struct ur_pool *pool)
{
	return (size_t)pool->places * UR_POOL_SPARE * pool->buffer_bytes;
}

static bool take_memory(struct ur_pool *pool)
{
	uint32_t count = pool->places * UR_POOL_SPARE;

	pool->ring = map(ring_bytes(pool));
	pool->memory = map(memory_bytes(pool));
	pool->spares = calloc(count, sizeof(*pool->spares));
	pool->buffers = calloc(count, sizeof(*pool->buffers));
	return pool->ring && pool->memory && pool->spares && pool->buffers;
}

int ur_pool_check(uint64_t places, struct tp_error *error)
{
	if (places > 0 && places <= UR_POOL_MAX && (places & (places - 1)) == 0)
		return 0;
	return tp_fail(error, -EINVAL, "uring: buffers=%llu: must be a power of two, from 1 to %d",
		       (unsigned long long)places, UR_POOL_MAX);
}

int ur_pool_create(struct ur_pool *pool, struct ur_queue *queue, uint32_t places,
		   uint32_t buffer_bytes)
{
	struct io_uring_buf_reg registration = {.ring_entries = places, .bgid = UR_POOL_GROUP};
	int code = -ENOMEM;

	*pool = (struct ur_pool){.places = places, .buffer_bytes = buffer_bytes};
	if (take_memory(pool)) {
		registration.ring_addr = (uint64_t)(uintptr_t)pool->ring;
		io_uring_buf_ring_init(pool->ring);
		code = io_uring_register_buf_ring(&queue->ring, &registration, 0);
		queue->syscalls++;
	}
	if (code < 0) {
		ur_pool_destroy(pool);
		return code;
	}
	/* The first are taken first, so that memory is touched from its start. */
	for (uint32_t id = places * UR_POOL_SPARE; id-- > 0;)
		pool->spares[pool->spare_count++] = (uint16_t)id;
	ur_pool_publish(pool);
	return 0;
}

void ur_pool_destroy(struct ur_pool *pool)
{
	if (pool->ring)
		munmap(pool->ring, ring_bytes(pool));
	if (pool->memory)
		munmap(pool->memory, memory_bytes(pool));
	free(pool->spares);
	free(pool->buffers);
	*pool = (struct ur_pool){0};
}

void ur_pool_publish(struct ur_pool *pool)
{
	while (pool->with_kernel < pool->places && pool->spare_count > 0)
		ur_pool_give(pool, pool->spares[--pool->spare_count]);
	if (pool->unpublished == 0)
		return;
	io_uring_buf_ring_advance(pool->ring, (int)pool->unpublished);
	pool->unpublished = 0;
}
