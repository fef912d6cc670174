#include "dataplane/core/slab.h"

#include "dataplane/core/check.h"

#include <errno.h>
#include <sys/mman.h>

enum { CACHE_LINE_BYTES = 64 };

static void *map_zeroed(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int slab_create(struct slab *slab, uint32_t count, size_t object_bytes)
{
	size_t rounded, total;
	uint8_t *objects;
	uint32_t *free_next;

	if (count == 0 || count == SLAB_NONE || object_bytes == 0)
		return -EINVAL;
	if (__builtin_add_overflow(object_bytes, CACHE_LINE_BYTES - 1, &rounded))
		return -EINVAL;
	rounded &= ~(size_t)(CACHE_LINE_BYTES - 1);
	if (__builtin_mul_overflow(rounded, (size_t)count, &total))
		return -EINVAL;
	objects = map_zeroed(total);
	if (!objects)
		return -ENOMEM;
	free_next = map_zeroed((size_t)count * sizeof(*free_next));
	if (!free_next) {
		munmap(objects, total);
		return -ENOMEM;
	}
	*slab = (struct slab){.objects = objects,
			      .object_bytes = rounded,
			      .count = count,
			      .free_head = SLAB_NONE,
			      .free_next = free_next};
	return 0;
}

void slab_destroy(struct slab *slab)
{
	if (!slab->objects)
		return;
	ASSERT(slab->in_use == 0);
	munmap(slab->objects, (size_t)slab->count * slab->object_bytes);
	munmap(slab->free_next, (size_t)slab->count * sizeof(*slab->free_next));
	*slab = (struct slab){0};
}
