#include "dataplane/handlers/store.h"

#include "dataplane/core/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static int create_tables(struct store *store, uint32_t entries)
{
	uint32_t buckets = 1;

	while (buckets < entries && buckets < 1u << 30)
		buckets *= 2;
	store->bucket_mask = buckets - 1;
	store->block_next = malloc((size_t)store->blocks.count * sizeof(*store->block_next));
	store->buckets = malloc((size_t)buckets * sizeof(*store->buckets));
	if (!store->block_next || !store->buckets)
		return -ENOMEM;
	memset(store->buckets, 0xFF, (size_t)buckets * sizeof(*store->buckets));
	return 0;
}

int store_create(struct store *store, uint64_t bytes, uint32_t entries, size_t entry_bytes)
{
	struct store made = {0};
	uint64_t blocks = bytes / STORE_BLOCK_BYTES;
	int code = blocks > 0 && blocks < SLAB_NONE ? 0 : -EINVAL;

	if (code == 0 && getrandom(&made.secret, sizeof(made.secret), 0) != sizeof(made.secret))
		code = -EIO;
	if (code == 0)
		code = slab_create(&made.entries, entries, entry_bytes);
	if (code == 0)
		code = slab_create(&made.blocks, (uint32_t)blocks, STORE_BLOCK_BYTES);
	if (code == 0)
		code = create_tables(&made, entries);
	if (code < 0) {
		store_destroy(&made);
		return code;
	}
	*store = made;
	list_init(&store->recent);
	return 0;
}

void store_destroy(struct store *store)
{
	store->entries.in_use = store->blocks.in_use = 0; /* they go with their memory */
	slab_destroy(&store->entries);
	slab_destroy(&store->blocks);
	free(store->block_next);
	free(store->buckets);
	*store = (struct store){0};
}

/* A key's words go through the hash seven at a time, each time behind what came of those before. */
static uint64_t hash_of(const struct store *store, struct span key)
{
	uint64_t hash = key.bytes;

	for (size_t at = 0; at < key.bytes; at += 7 * sizeof(uint64_t)) {
		size_t step = key.bytes - at < 7 * sizeof(uint64_t) ? key.bytes - at
								    : 7 * sizeof(uint64_t);
		uint64_t words[8] = {hash};

		memcpy(words + 1, key.base + at, step);
		hash = siphash_words(&store->secret, words, 8);
	}
	return hash;
}

static uint32_t *bucket_of(const struct store *store, uint64_t hash)
{
	return &store->buckets[hash & store->bucket_mask];
}

static uint8_t *block_at(const struct store *store, uint32_t block)
{
	return slab_at(&store->blocks, block);
}

static bool key_is(const struct store *store, const struct store_entry *entry, struct span key)
{
	uint32_t block = entry->first_block;

	if (entry->key_bytes != key.bytes)
		return false;
	for (size_t at = 0; at < key.bytes; at += STORE_BLOCK_BYTES) {
		size_t step =
			key.bytes - at < STORE_BLOCK_BYTES ? key.bytes - at : STORE_BLOCK_BYTES;

		if (memcmp(block_at(store, block), key.base + at, step) != 0)
			return false;
		block = store->block_next[block];
	}
	return true;
}

struct store_entry *store_find(const struct store *store, struct span key)
{
	uint64_t hash = hash_of(store, key);
	struct store_entry *entry;

	for (uint32_t at = *bucket_of(store, hash); at != SLAB_NONE; at = entry->next) {
		entry = slab_at(&store->entries, at);
		if (entry->hash == hash && key_is(store, entry, key))
			return entry;
	}
	return NULL;
}

static void unlist(struct store *store, struct store_entry *entry)
{
	uint32_t *at = bucket_of(store, entry->hash);

	while (*at != slab_index(&store->entries, entry))
		at = &((struct store_entry *)slab_at(&store->entries, *at))->next;
	*at = entry->next;
	entry->listed = false;
}

static void release(struct store *store, struct store_entry *entry)
{
	uint32_t block = entry->first_block;

	while (block != SLAB_NONE) {
		uint32_t next = store->block_next[block];

		slab_release(&store->blocks, block_at(store, block));
		block = next;
	}
	list_remove(&entry->recent);
	slab_release(&store->entries, entry);
}

void store_drop(struct store *store, struct store_entry *entry)
{
	if (entry->listed)
		unlist(store, entry);
	if (entry->pins == 0)
		release(store, entry);
}

/* Gives up the entry that was used least recently; false if all are pinned. */
static bool evict(struct store *store)
{
	if (list_empty(&store->recent))
		return false;
	store->evicted++;
	store_drop(store, list_member(store->recent.next, struct store_entry, recent));
	return true;
}

static void *acquire(struct store *store, struct slab *slab)
{
	while (slab->in_use == slab->count) {
		if (!evict(store))
			return NULL;
	}
	return slab_acquire(slab);
}

static bool grow(struct store *store, struct store_entry *entry)
{
	void *memory = acquire(store, &store->blocks);
	uint32_t block;

	if (!memory)
		return false;
	block = slab_index(&store->blocks, memory);
	store->block_next[block] = SLAB_NONE;
	if (entry->first_block == SLAB_NONE)
		entry->first_block = block;
	else
		store->block_next[entry->last_block] = block;
	entry->last_block = block;
	entry->blocks++;
	return true;
}

static void list_entry(struct store *store, struct store_entry *entry)
{
	uint32_t *bucket = bucket_of(store, entry->hash);

	entry->next = *bucket;
	*bucket = slab_index(&store->entries, entry);
	entry->listed = true;
}

struct store_entry *store_add(struct store *store, struct span key)
{
	struct store_entry *old = store_find(store, key), *entry;

	if (old)
		store_drop(store, old);
	entry = acquire(store, &store->entries);
	if (!entry)
		return NULL;
	*entry = (struct store_entry){.hash = hash_of(store, key),
				      .first_block = SLAB_NONE,
				      .last_block = SLAB_NONE,
				      .pins = 1};
	list_init(&entry->recent);
	if (!store_append(store, entry, key)) {
		release(store, entry);
		return NULL;
	}
	entry->key_bytes = (uint32_t)key.bytes;
	entry->bytes = 0;
	list_entry(store, entry);
	return entry;
}

struct room store_room(struct store *store, struct store_entry *entry)
{
	uint64_t used = entry->key_bytes + entry->bytes;
	size_t within = (size_t)(used % STORE_BLOCK_BYTES);

	if (used == (uint64_t)entry->blocks * STORE_BLOCK_BYTES && !grow(store, entry))
		return (struct room){0};
	return (struct room){block_at(store, entry->last_block) + within,
			     STORE_BLOCK_BYTES - within};
}

void store_extend(struct store *store, struct store_entry *entry, size_t bytes)
{
	ASSERT((entry->key_bytes + entry->bytes) % STORE_BLOCK_BYTES + bytes <= STORE_BLOCK_BYTES);
	entry->bytes += bytes;
}

bool store_append(struct store *store, struct store_entry *entry, struct span bytes)
{
	while (bytes.bytes > 0) {
		struct room room = store_room(store, entry);
		size_t step = room.bytes < bytes.bytes ? room.bytes : bytes.bytes;

		if (step == 0)
			return false;
		memcpy(room.base, bytes.base, step);
		store_extend(store, entry, step);
		bytes.base += step;
		bytes.bytes -= step;
	}
	return true;
}

void store_pin(struct store_entry *entry)
{
	list_remove(&entry->recent);
	entry->pins++;
}

void store_unpin(struct store *store, struct store_entry *entry)
{
	ASSERT(entry->pins > 0);
	if (--entry->pins > 0)
		return;
	if (entry->listed)
		list_push(&store->recent, &entry->recent);
	else
		release(store, entry);
}

struct store_cursor store_cursor(const struct store *store, const struct store_entry *entry,
				 uint64_t offset, uint64_t bytes)
{
	uint64_t at = entry->key_bytes + offset;
	uint32_t block = entry->first_block;

	ASSERT(offset + bytes <= entry->bytes);
	for (; at >= STORE_BLOCK_BYTES && bytes > 0; at -= STORE_BLOCK_BYTES)
		block = store->block_next[block];
	return (struct store_cursor){.block = block, .offset = (uint32_t)at, .left = bytes};
}

void store_copy(const struct store *store, struct store_cursor *cursor, struct room_writer *writer,
		size_t bytes)
{
	ASSERT(bytes <= cursor->left);
	while (bytes > 0) {
		size_t here = STORE_BLOCK_BYTES - cursor->offset;
		size_t step = here < bytes ? here : bytes;

		room_writer_put(writer, block_at(store, cursor->block) + cursor->offset, step);
		cursor->offset += (uint32_t)step;
		cursor->left -= step;
		bytes -= step;
		if (cursor->offset == STORE_BLOCK_BYTES) {
			cursor->block = store->block_next[cursor->block];
			cursor->offset = 0;
		}
	}
}

/* Its chain is as long as it says, ends where it says, and holds its bytes. */
static void check_chain(const struct store *store, const struct store_entry *entry)
{
	uint64_t used = entry->key_bytes + entry->bytes;
	uint32_t blocks = 0, last = SLAB_NONE;

	for (uint32_t at = entry->first_block; at != SLAB_NONE; at = store->block_next[at]) {
		last = at;
		CHECK(++blocks <= store->blocks.in_use);
	}
	CHECK(blocks == entry->blocks && last == entry->last_block);
	CHECK(used <= (uint64_t)blocks * STORE_BLOCK_BYTES);
}

void store_check(const struct store *store)
{
	uint32_t listed = 0, unpinned = 0, recent = 0;
	uint64_t blocks = 0;

	for (uint32_t bucket = 0; bucket <= store->bucket_mask; bucket++) {
		for (uint32_t at = store->buckets[bucket]; at != SLAB_NONE;) {
			const struct store_entry *entry = slab_at(&store->entries, at);

			CHECK(entry->listed && (entry->hash & store->bucket_mask) == bucket);
			CHECK((entry->pins == 0) == list_linked(&entry->recent));
			check_chain(store, entry);
			blocks += entry->blocks;
			unpinned += entry->pins == 0;
			CHECK(++listed <= store->entries.in_use);
			at = entry->next;
		}
	}
	CHECK(blocks <= store->blocks.in_use); /* dropped ones that are pinned have the rest */
	for (struct list *link = store->recent.next; link != &store->recent; link = link->next)
		recent++;
	CHECK(recent == unpinned);
}
