/*
 * slab: objects of one size, all allocated at the start.
 *
 * acquire and release are a few instructions and never allocate; an empty slab is an answer (NULL)
 * and a count, never a failure of the program. Objects do not move. Their memory is page-aligned
 * and untouched until first use, so a generous bound costs address space, not RAM.
 *
 * Plane: create and destroy are setup; the rest is turn.
 */
#ifndef WEIR_CORE_SLAB_H
#define WEIR_CORE_SLAB_H

#include <stddef.h>
#include <stdint.h>

struct slab {
	uint8_t *objects;
	size_t object_bytes; /* rounded up to a cache line */
	uint32_t count;
	uint32_t fresh;	    /* objects from here on were never handed out */
	uint32_t free_head; /* the last object released, or SLAB_NONE */
	uint32_t *free_next;
	uint32_t in_use;
	uint64_t exhausted; /* acquires that were refused */
};

#define SLAB_NONE UINT32_MAX

/*
 * Room for `count` objects of `object_bytes`, zeroed. 0, or -ENOMEM, or -EINVAL for a zero or a sum
 * that overflows.
 */
int slab_create(struct slab *slab, uint32_t count, size_t object_bytes);

/*
 * Gives the memory back; every object must have been released (ASSERT). Harmless on a zeroed slab.
 */
void slab_destroy(struct slab *slab);

static inline uint32_t slab_index(const struct slab *slab, const void *object)
{
	return (uint32_t)((size_t)((const uint8_t *)object - slab->objects) / slab->object_bytes);
}

static inline void *slab_at(const struct slab *slab, uint32_t index)
{
	return slab->objects + (size_t)index * slab->object_bytes;
}

/*
 * An object, owned by the caller until release; NULL (counted) when none is free. Its bytes are
 * what its last owner left.
 */
static inline void *slab_acquire(struct slab *slab)
{
	uint32_t index = slab->free_head;

	if (index != SLAB_NONE) {
		slab->free_head = slab->free_next[index];
	} else if (slab->fresh < slab->count) {
		index = slab->fresh++;
	} else {
		slab->exhausted++;
		return NULL;
	}
	slab->in_use++;
	return slab_at(slab, index);
}

/* Gives an object back. */
static inline void slab_release(struct slab *slab, void *object)
{
	uint32_t index = slab_index(slab, object);

	slab->free_next[index] = slab->free_head;
	slab->free_head = index;
	slab->in_use--;
}

#endif
