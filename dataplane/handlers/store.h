/*
 * store: byte strings by key within a bound, the least recently used given up for new ones.
 *
 * All memory is taken at create: blocks of STORE_BLOCK_BYTES, of which an entry chains as many as
 * it needs, and entries, which the user's struct embeds first. An entry is pinned while somebody
 * reads or fills it; pinned ones are never given up, so the bytes that a pin's holder walks stay
 * where they are, also when the entry has been dropped meanwhile. Key and bytes stand one behind
 * the other in the same chain.
 *
 * Planes: create and destroy are setup, the rest is turn.
 */
#ifndef WEIR_HANDLERS_STORE_H
#define WEIR_HANDLERS_STORE_H

#include "dataplane/core/list.h"
#include "dataplane/core/siphash.h"
#include "dataplane/core/slab.h"
#include "dataplane/core/span.h"

#include <stdbool.h>
#include <stdint.h>

enum { STORE_BLOCK_BYTES = 2048 };

struct store_entry {
	struct list recent; /* among those not pinned, the oldest first */
	uint64_t hash;
	uint64_t bytes; /* behind the key */
	uint32_t key_bytes;
	uint32_t next;	      /* entry of the same bucket, or SLAB_NONE */
	uint32_t first_block; /* or SLAB_NONE */
	uint32_t last_block;
	uint32_t blocks;
	uint32_t pins;
	bool listed; /* can be found */
};

struct store {
	struct slab entries;
	struct slab blocks;
	uint32_t *block_next;
	uint32_t *buckets; /* entry, or SLAB_NONE */
	uint32_t bucket_mask;
	struct siphash_key secret;
	struct list recent;
	uint64_t evicted; /* entries given up for room */
};

/* A place in an entry's bytes; valid while the entry is pinned. */
struct store_cursor {
	uint32_t block;
	uint32_t offset;
	uint64_t left;
};

/*
 * Room for `bytes` in blocks, and `entries` of `entry_bytes` each. 0, -ENOMEM, or -EINVAL for a
 * zero.
 */
int store_create(struct store *store, uint64_t bytes, uint32_t entries, size_t entry_bytes);

/* Gives the memory back, whatever is still pinned. Harmless on a zeroed store. */
void store_destroy(struct store *store);

/* The entry of this key, or NULL; finding it does not pin it. */
struct store_entry *store_find(const struct store *store, struct span key);

/*
 * A new, empty entry of this key, pinned once and found from now on, in place of any other. NULL if
 * there is no room: all the rest is pinned, or the key is longer than all of it.
 */
struct store_entry *store_add(struct store *store, struct span key);

/* The room behind an entry's bytes that stands in one piece; empty if there is none to be had. */
struct room store_room(struct store *store, struct store_entry *entry);

/* The first `bytes` of that room are the entry's now. */
void store_extend(struct store *store, struct store_entry *entry, size_t bytes);

/* Copies `bytes` behind the entry's; false if there was no room for all of it. */
bool store_append(struct store *store, struct store_entry *entry, struct span bytes);

/* Keeps it as it is until unpinned; makes it the one used last. */
void store_pin(struct store_entry *entry);
void store_unpin(struct store *store, struct store_entry *entry);

/* Has it found no longer; its memory is free once nobody has it pinned. */
void store_drop(struct store *store, struct store_entry *entry);

/* CHECKs the invariants, for tests. */
void store_check(const struct store *store);

/* A cursor over `bytes` of the entry from `offset` on. */
struct store_cursor store_cursor(const struct store *store, const struct store_entry *entry,
				 uint64_t offset, uint64_t bytes);

/* Copies the next `bytes` (at most left) into `writer`. */
void store_copy(const struct store *store, struct store_cursor *cursor, struct room_writer *writer,
		size_t bytes);

#endif
