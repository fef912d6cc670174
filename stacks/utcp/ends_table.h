/*
 * ends_table: a bounded table of small things that have ends and are no connections.
 *
 * For calls of peers and for what is left in TIME-WAIT. A pool of objects, each of which begins
 * with a struct ends_entry, and twice as many buckets with chains through them; the hash is that of
 * the connections, which outsiders cannot steer (tuples.h).
 *
 * Plane: turn; create and destroy are setup.
 */
#ifndef WEIR_UTCP_ENDS_TABLE_H
#define WEIR_UTCP_ENDS_TABLE_H

#include "dataplane/core/list.h"
#include "dataplane/core/slab.h"
#include "stacks/utcp/segment.h"

#include <stddef.h>
#include <stdint.h>

struct ends_entry {
	struct list link; /* on a list of the owner's, which takes it off before remove */
	uint64_t key;	  /* tuples_key of its ends */
	struct segment_ends ends;
	uint32_t chain; /* next in the same bucket */
};

struct ends_table {
	struct slab slab;
	uint32_t *buckets; /* index of the first, or SLAB_NONE */
	uint32_t bucket_mask;
};

struct tuples;

/* Room for `max` objects of `object_bytes`. 0 or -ENOMEM. */
int ends_table_create(struct ends_table *table, uint32_t max, size_t object_bytes);

/* Frees it and all that is in it. Harmless on a zeroed table. */
void ends_table_destroy(struct ends_table *table);

/* The object with these ends, or NULL. */
void *ends_table_find(const struct ends_table *table, const struct tuples *tuples,
		      const struct segment_ends *ends);

/* A new one, zeroed but for its entry, which is on no list; NULL if there is no room. None may have
 * these ends yet. */
void *ends_table_add(struct ends_table *table, const struct tuples *tuples,
		     const struct segment_ends *ends);

void ends_table_remove(struct ends_table *table, const struct tuples *tuples,
		       struct ends_entry *entry);

#endif
