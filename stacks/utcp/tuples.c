#include "stacks/utcp/tuples.h"

#include "dataplane/core/check.h"
#include "dataplane/core/siphash.h"

#include <errno.h>
#include <stdlib.h>

int tuples_init(struct tuples *tuples, uint32_t conn_max, const uint8_t secret[16])
{
	struct siphash_key key = siphash_key_of(secret);
	uint64_t purpose = 1; /* secrets of our own, so that they say nothing of the ISN's */
	uint32_t buckets = 1;

	while (buckets * (TUPLES_PLACES / 2) < conn_max)
		buckets *= 2;
	*tuples = (struct tuples){
		.buckets = aligned_alloc(sizeof(struct tuples_bucket),
					 buckets * sizeof(struct tuples_bucket)),
		.bucket_mask = buckets - 1,
	};
	if (!tuples->buckets)
		return -ENOMEM;
	tuples->mask_secret = siphash_words(&key, &purpose, 1);
	purpose++;
	tuples->factor_secret = siphash_words(&key, &purpose, 1) | 1;
	for (unsigned i = 0; i < 5; i++) {
		purpose++;
		tuples->ip6_secrets[i] = siphash_words(&key, &purpose, 1);
	}
	for (uint32_t i = 0; i < buckets; i++)
		tuples->buckets[i] = (struct tuples_bucket){.more = SLAB_NONE};
	return 0;
}

void tuples_fini(struct tuples *tuples)
{
	free(tuples->buckets);
	tuples->buckets = NULL;
}

/* 24 bits of a peer's address, which stand where an IPv4 address begins with 0. */
static uint64_t hash_ip6(const struct tuples *tuples, const struct utcp_addr *addr)
{
	const uint64_t *secrets = tuples->ip6_secrets;
	uint64_t sum = secrets[0];

	for (unsigned i = 0; i < 2; i++) {
		sum += secrets[1 + 2 * i] * (uint32_t)addr->words[i];
		sum += secrets[2 + 2 * i] * (addr->words[i] >> 32);
	}
	return sum >> 40;
}

uint64_t tuples_key(const struct tuples *tuples, const struct segment_ends *ends)
{
	if (addr_is_ip4(&ends->peer))
		return tuples_key_ip4(addr_ip4(&ends->peer), ends->peer_port, ends->own_port);
	return hash_ip6(tuples, &ends->peer) << 32 | (uint32_t)ends->peer_port << 16 |
	       ends->own_port;
}

static bool has_addresses(const struct utcp_conn *conn, const struct segment_ends *ends)
{
	struct segment_ends its = segment_head_ends(&conn->head);

	return addr_equal(&its.peer, &ends->peer) && addr_equal(&its.own, &ends->own);
}

struct utcp_conn *tuples_find(const struct tuples *tuples, const struct slab *conns,
			      const struct segment_ends *ends)
{
	uint64_t key = tuples_key(tuples, ends);
	uint32_t hash = tuples_hash(tuples, key);
	const struct tuples_bucket *bucket = tuples_bucket(tuples, hash);
	uint32_t index = bucket->more;

	for (uint64_t places = tuples_matches(bucket, hash); places; places &= places - 1) {
		struct utcp_conn *conn = tuples_first(bucket, conns, places);

		if (conn->key == key && has_addresses(conn, ends))
			return conn;
	}
	while (index != SLAB_NONE) {
		struct utcp_conn *conn = slab_at(conns, index);

		if (conn->key == key && has_addresses(conn, ends))
			return conn;
		index = conn->chain;
	}
	return NULL;
}

static void set_place(struct tuples_bucket *bucket, unsigned place, uint8_t tag, uint32_t index)
{
	bucket->tags &= ~(0xffull << 8 * place);
	bucket->tags |= (uint64_t)tag << 8 * place;
	bucket->indexes[place] = index;
}

void tuples_add(struct tuples *tuples, const struct slab *conns, struct utcp_conn *conn)
{
	uint32_t hash = tuples_hash(tuples, conn->key), index = slab_index(conns, conn);
	struct tuples_bucket *bucket = tuples_bucket(tuples, hash);
	uint64_t room = ~bucket->tags & TUPLES_EACH << 7;

	conn->chain = SLAB_NONE;
	tuples->count++;
	if (room) {
		set_place(bucket, (unsigned)__builtin_ctzll(room) / 8, tuples_tag(hash), index);
	} else {
		conn->chain = bucket->more;
		bucket->more = index;
	}
}

/* The place became free: the first of those without one gets it. */
static void refill(const struct tuples *tuples, const struct slab *conns,
		   struct tuples_bucket *bucket, unsigned place)
{
	struct utcp_conn *conn;

	set_place(bucket, place, 0, 0);
	if (bucket->more == SLAB_NONE)
		return;
	conn = slab_at(conns, bucket->more);
	set_place(bucket, place, tuples_tag(tuples_hash(tuples, conn->key)), bucket->more);
	bucket->more = conn->chain;
	conn->chain = SLAB_NONE;
}

void tuples_remove(struct tuples *tuples, const struct slab *conns, struct utcp_conn *conn)
{
	uint32_t hash = tuples_hash(tuples, conn->key), index = slab_index(conns, conn);
	struct tuples_bucket *bucket = tuples_bucket(tuples, hash);
	uint32_t *link = &bucket->more;

	tuples->count--;
	for (uint64_t places = tuples_matches(bucket, hash); places; places &= places - 1) {
		unsigned place = (unsigned)__builtin_ctzll(places) / 8;

		if (bucket->indexes[place] == index) {
			refill(tuples, conns, bucket, place);
			return;
		}
	}
	while (*link != index) {
		CHECK(*link != SLAB_NONE);
		link = &((struct utcp_conn *)slab_at(conns, *link))->chain;
	}
	*link = conn->chain;
}

void tuples_check(const struct tuples *tuples, const struct slab *conns)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i <= tuples->bucket_mask; i++) {
		const struct tuples_bucket *bucket = &tuples->buckets[i];
		uint64_t used = bucket->tags & TUPLES_EACH << 7;

		CHECK(bucket->more == SLAB_NONE || used == TUPLES_EACH << 7);
		count += (uint32_t)__builtin_popcountll(used);
		for (uint32_t index = bucket->more; index != SLAB_NONE; count++)
			index = ((const struct utcp_conn *)slab_at(conns, index))->chain;
	}
	CHECK(count == tuples->count);
}
