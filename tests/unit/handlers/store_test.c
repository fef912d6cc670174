#include "dataplane/handlers/store.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 8, ENTRIES = 4 };

static struct store store;

static struct span span_of(const char *text)
{
	return (struct span){(const uint8_t *)text, strlen(text)};
}

static void open_store(void)
{
	CU_ASSERT_EQUAL_FATAL(store_create(&store, BLOCKS * STORE_BLOCK_BYTES, ENTRIES,
					   sizeof(struct store_entry)),
			      0);
}

static void close_store(void)
{
	store_check(&store);
	store_destroy(&store);
}

/* Adds an entry of `bytes`, each of value `fill`; whether all of it found room. */
static bool add(const char *key, size_t bytes, uint8_t fill)
{
	struct store_entry *entry = store_add(&store, span_of(key));
	uint8_t *body = malloc(bytes + 1);
	bool whole;

	CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
	memset(body, fill, bytes);
	store_check(&store);
	whole = store_append(&store, entry, (struct span){body, bytes});
	store_check(&store);
	if (!whole)
		store_drop(&store, entry);
	store_check(&store);
	store_unpin(&store, entry);
	store_check(&store);
	free(body);
	return whole;
}

/* Whether the entry's bytes from `offset` on are all `fill`. */
static bool holds(const struct store_entry *entry, uint64_t offset, uint8_t fill)
{
	size_t bytes = (size_t)(entry->bytes - offset);
	struct store_cursor cursor = store_cursor(&store, entry, offset, bytes);
	uint8_t *read = malloc(bytes + 1);
	struct room room = {read, bytes};
	struct room_writer writer = room_writer_of(&room, 1);
	bool right = true;

	store_copy(&store, &cursor, &writer, bytes);
	for (size_t i = 0; i < bytes; i++)
		right &= read[i] == fill;
	free(read);
	return right && cursor.left == 0;
}

static void entries_are_found_by_key(void)
{
	struct store_entry *entry;

	open_store();
	CU_ASSERT_TRUE(add("one", 100, 1));
	CU_ASSERT_TRUE(add("two", 0, 2));
	CU_ASSERT_PTR_NULL(store_find(&store, span_of("three")));
	CU_ASSERT_PTR_NULL(store_find(&store, span_of("on")));
	entry = store_find(&store, span_of("one"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
	CU_ASSERT_EQUAL(entry->bytes, 100);
	CU_ASSERT_TRUE(holds(entry, 0, 1));
	CU_ASSERT_EQUAL(store_find(&store, span_of("two"))->bytes, 0);
	close_store();
}

static void bytes_are_whole_at_every_offset_and_block_edge(void)
{
	open_store();
	for (size_t bytes = 2 * STORE_BLOCK_BYTES - 8; bytes < 2 * STORE_BLOCK_BYTES + 8; bytes++) {
		CU_ASSERT_TRUE(add("edge", bytes, (uint8_t)bytes));
		for (size_t offset = 0; offset <= bytes; offset += 61)
			CU_ASSERT_TRUE(
				holds(store_find(&store, span_of("edge")), offset, (uint8_t)bytes));
	}
	close_store();
}

static void another_of_the_same_key_takes_its_place(void)
{
	open_store();
	CU_ASSERT_TRUE(add("key", 5000, 1));
	CU_ASSERT_TRUE(add("key", 10, 2));
	CU_ASSERT_TRUE(holds(store_find(&store, span_of("key")), 0, 2));
	CU_ASSERT_EQUAL(store.entries.in_use, 1);
	CU_ASSERT_EQUAL(store.blocks.in_use, 1);
	CU_ASSERT_EQUAL(store.evicted, 0);
	close_store();
}

static void the_least_recently_used_makes_room(void)
{
	struct store_entry *a;

	open_store();
	CU_ASSERT_TRUE(add("a", 3000, 1));
	CU_ASSERT_TRUE(add("b", 3000, 2));
	CU_ASSERT_TRUE(add("c", 3000, 3));
	a = store_find(&store, span_of("a"));
	store_pin(a);
	store_unpin(&store, a);
	CU_ASSERT_TRUE(add("d", 5000, 4));
	CU_ASSERT_PTR_NULL(store_find(&store, span_of("b")));
	CU_ASSERT_PTR_EQUAL(store_find(&store, span_of("a")), a);
	CU_ASSERT_EQUAL(store.evicted, 1);
	CU_ASSERT_TRUE(holds(store_find(&store, span_of("d")), 0, 4));
	close_store();
}

static void there_are_never_more_entries_than_allowed(void)
{
	char key[8];

	open_store();
	for (unsigned i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "%u", i);
		CU_ASSERT_TRUE(add(key, i, (uint8_t)i));
		CU_ASSERT_TRUE(store.entries.in_use <= ENTRIES);
	}
	CU_ASSERT_EQUAL(store.evicted, 100 - ENTRIES);
	close_store();
}

static void pinned_entries_stay_readable(void)
{
	struct store_entry *entry;

	open_store();
	CU_ASSERT_TRUE(add("kept", 5000, 9));
	entry = store_find(&store, span_of("kept"));
	store_pin(entry);
	CU_ASSERT_FALSE(add("large", BLOCKS * STORE_BLOCK_BYTES, 1));
	CU_ASSERT_PTR_EQUAL(store_find(&store, span_of("kept")), entry);
	store_drop(&store, entry);
	store_check(&store);
	CU_ASSERT_PTR_NULL(store_find(&store, span_of("kept")));
	CU_ASSERT_TRUE(add("other", 9000, 3));
	CU_ASSERT_TRUE(holds(entry, 0, 9));
	store_unpin(&store, entry);
	CU_ASSERT_TRUE(add("all", BLOCKS * STORE_BLOCK_BYTES - 3, 1));
	close_store();
}

static void room_asked_for_twice_is_the_same(void)
{
	uint8_t block[STORE_BLOCK_BYTES] = {7};
	struct store_entry *entry;
	struct room first, again;

	open_store();
	entry = store_add(&store, (struct span){block, sizeof(block)});
	CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
	first = store_room(&store, entry);
	again = store_room(&store, entry);
	CU_ASSERT_PTR_EQUAL(first.base, again.base);
	CU_ASSERT_EQUAL(again.bytes, STORE_BLOCK_BYTES);
	CU_ASSERT_EQUAL(store.blocks.in_use, 2);
	store_unpin(&store, entry);
	CU_ASSERT_PTR_EQUAL(store_find(&store, (struct span){block, sizeof(block)}), entry);
	close_store();
}

static void nothing_is_made_of_no_room(void)
{
	CU_ASSERT_EQUAL(store_create(&store, STORE_BLOCK_BYTES - 1, 1, sizeof(struct store_entry)),
			-EINVAL);
	CU_ASSERT_EQUAL(store_create(&store, STORE_BLOCK_BYTES, 0, sizeof(struct store_entry)),
			-EINVAL);
}

static const struct suite_test tests[] = {
	{"entries are found by key", entries_are_found_by_key},
	{"bytes are whole at every offset and block edge",
	 bytes_are_whole_at_every_offset_and_block_edge},
	{"another of the same key takes its place", another_of_the_same_key_takes_its_place},
	{"the least recently used makes room", the_least_recently_used_makes_room},
	{"there are never more entries than allowed", there_are_never_more_entries_than_allowed},
	{"pinned entries stay readable", pinned_entries_stay_readable},
	{"room asked for twice is the same", room_asked_for_twice_is_the_same},
	{"nothing is made of no room", nothing_is_made_of_no_room},
};

SUITE_MAIN("store", tests)
