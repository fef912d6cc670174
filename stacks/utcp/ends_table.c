#include "stacks/utcp/ends_table.h"

#include "dataplane/core/check.h"
#include "stacks/utcp/tuples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ends_table_create(struct ends_table *table, uint32_t max, size_t object_bytes)
{
	uint32_t buckets = 16;
	int error = slab_create(&table->slab, max, object_bytes);

	if (error)
		return error;
	while (buckets < 2 * max)
		buckets *= 2;
	table->buckets = malloc(buckets * sizeof(uint32_t));
	if (!table->buckets)
		return -ENOMEM;
	for (uint32_t i = 0; i < buckets; i++)
		table->buckets[i] = SLAB_NONE;
	table->bucket_mask = buckets - 1;
	return 0;
}

static void release_chain(struct ends_table *table, uint32_t index)
{
	while (index != SLAB_NONE) {
		struct ends_entry *entry = slab_at(&table->slab, index);

		index = entry->chain;
		slab_release(&table->slab, entry);
	}
}

void ends_table_destroy(struct ends_table *table)
{
	if (table->buckets)
		for (uint32_t i = 0; i <= table->bucket_mask; i++)
			release_chain(table, table->buckets[i]);
	slab_destroy(&table->slab);
	free(table->buckets);
	table->buckets = NULL;
}

static uint32_t *bucket_of(const struct ends_table *table, const struct tuples *tuples,
			   uint64_t key)
{
	return &table->buckets[tuples_hash(tuples, key) & table->bucket_mask];
}

void *ends_table_find(const struct ends_table *table, const struct tuples *tuples,
		      const struct segment_ends *ends)
{
	uint64_t key = tuples_key(tuples, ends);
	uint32_t index = *bucket_of(table, tuples, key);

	while (index != SLAB_NONE) {
		struct ends_entry *entry = slab_at(&table->slab, index);

		if (entry->key == key && addr_equal(&entry->ends.peer, &ends->peer) &&
		    addr_equal(&entry->ends.own, &ends->own))
			return entry;
		index = entry->chain;
	}
	return NULL;
}

void *ends_table_add(struct ends_table *table, const struct tuples *tuples,
		     const struct segment_ends *ends)
{
	uint64_t key = tuples_key(tuples, ends);
	uint32_t *bucket = bucket_of(table, tuples, key);
	struct ends_entry *entry = slab_acquire(&table->slab);

	if (!entry)
		return NULL;
	memset(entry, 0, table->slab.object_bytes);
	list_init(&entry->link);
	entry->key = key;
	entry->ends = *ends;
	entry->chain = *bucket;
	*bucket = slab_index(&table->slab, entry);
	return entry;
}

void ends_table_remove(struct ends_table *table, const struct tuples *tuples,
		       struct ends_entry *entry)
{
	uint32_t *link = bucket_of(table, tuples, entry->key);
	uint32_t index = slab_index(&table->slab, entry);

	while (*link != index) {
		CHECK(*link != SLAB_NONE);
		link = &((struct ends_entry *)slab_at(&table->slab, *link))->chain;
	}
	*link = entry->chain;
	slab_release(&table->slab, entry);
}
