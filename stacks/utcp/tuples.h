/*
 * tuples: finds a connection by its ends.
 *
 * A hash table for both families whose buckets are cache lines of TUPLES_PLACES each, of which a
 * quarter to a half are in use when all connections are: 16 to 32 bytes a connection. A bucket
 * holds 7 bits of each one's hash, compared at once (Mycroft 1987), so that one line tells where to
 * look and the next that is read is the connection's. Which of the places it is takes no branch,
 * while chains through the connections cost a misprediction wherever their lengths differ. Those
 * for which their bucket has no place, less than one of 100, hang on such a chain all the same.
 *
 * A key of 64 bits is compared then. With IPv4 it is the whole tuple, for our address is the same
 * for all: the peer's address and both ports. With IPv6 it holds the ports and a hash of the peer's
 * address (multilinear, a strongly universal one, Lemire and Kaser 2014), and where it is equal the
 * addresses are compared, too. The upper byte tells them apart: no host of IPv4 has 0 there (RFC
 * 791 3.2), so IPv4 need not look further.
 *
 * The hash multiplies the tuple, masked by a secret, with a secret odd number and folds both halves
 * of the product. Without the secrets nobody can choose tuples that share a bucket more often than
 * chance (multiplication is a universal hash family, Dietzfelbinger 1996), and no answer of ours
 * reveals a bucket; so the stronger and ten times slower SipHash is kept for what does leave the
 * host, the initial sequence numbers.
 *
 * Plane: turn; init and fini are setup.
 */
#ifndef WEIR_UTCP_TUPLES_H
#define WEIR_UTCP_TUPLES_H

#include "dataplane/core/bytes.h"
#include "dataplane/core/slab.h"
#include "stacks/utcp/conn.h"

#include <stdint.h>

enum { TUPLES_PLACES = 8 };

struct tuples_bucket {
	uint64_t tags; /* a byte of each place: 0 if it is free */
	uint32_t indexes[TUPLES_PLACES];
	uint32_t more; /* the first connection without a place, or SLAB_NONE; none if one is free */
} __attribute__((aligned(64)));

struct tuples {
	uint64_t mask_secret;
	uint64_t factor_secret;
	struct tuples_bucket *buckets;
	uint32_t bucket_mask;
	uint32_t count;
	uint64_t ip6_secrets[5]; /* a summand, and a factor for each quarter of an address */
};

/* Of an IPv4 peer. */
static inline uint64_t tuples_key_ip4(uint32_t peer_ip, uint16_t peer_port, uint16_t own_port)
{
	return (uint64_t)peer_ip << 32 | (uint32_t)peer_port << 16 | own_port;
}

/* Of either family. */
uint64_t tuples_key(const struct tuples *tuples, const struct segment_ends *ends);

/* 0 or -ENOMEM. `secret` is 16 random bytes. */
int tuples_init(struct tuples *tuples, uint32_t conn_max, const uint8_t secret[16]);
void tuples_fini(struct tuples *tuples);

void tuples_add(struct tuples *tuples, const struct slab *conns, struct utcp_conn *conn);
void tuples_remove(struct tuples *tuples, const struct slab *conns, struct utcp_conn *conn);

static inline uint32_t tuples_hash(const struct tuples *tuples, uint64_t key)
{
	unsigned __int128 product =
		(unsigned __int128)(key ^ tuples->mask_secret) * tuples->factor_secret;

	return (uint32_t)((uint64_t)(product >> 64) ^ (uint64_t)product >> 32);
}

#define TUPLES_EACH 0x0101010101010101ull /* times a byte: that byte for each place */

static inline struct tuples_bucket *tuples_bucket(const struct tuples *tuples, uint32_t hash)
{
	return &tuples->buckets[hash & tuples->bucket_mask];
}

/* Of the bits that choose no bucket; never 0. */
static inline uint8_t tuples_tag(uint32_t hash)
{
	return (uint8_t)(hash >> 24 | 0x80);
}

/* The places that may be the hash's: the upper bit of their bytes. It errs only on places in use:
 * where 7 bits are equal by chance, and seldom behind a right one. */
static inline uint64_t tuples_matches(const struct tuples_bucket *bucket, uint32_t hash)
{
	uint64_t differ = bucket->tags ^ TUPLES_EACH * tuples_tag(hash);

	return (differ - TUPLES_EACH) & ~differ & TUPLES_EACH << 7;
}

/* The connection at the first of these places. */
static inline struct utcp_conn *tuples_first(const struct tuples_bucket *bucket,
					     const struct slab *conns, uint64_t matches)
{
	return slab_at(conns, bucket->indexes[__builtin_ctzll(matches) / 8]);
}

static inline struct utcp_conn *tuples_find_ip4(const struct tuples *tuples,
						const struct slab *conns, uint64_t key)
{
	uint32_t hash = tuples_hash(tuples, key);
	const struct tuples_bucket *bucket = tuples_bucket(tuples, hash);
	uint32_t index = bucket->more;

	for (uint64_t places = tuples_matches(bucket, hash); places; places &= places - 1) {
		struct utcp_conn *conn = tuples_first(bucket, conns, places);

		if (__builtin_expect(conn->key == key, 1))
			return conn;
	}
	while (index != SLAB_NONE) {
		struct utcp_conn *conn = slab_at(conns, index);

		if (conn->key == key)
			return conn;
		index = conn->chain;
	}
	return NULL;
}

/* Proves that who has no place has none for want of room, and that all are counted (CHECK). */
void tuples_check(const struct tuples *tuples, const struct slab *conns);

/* The connection with these ends, or NULL. */
struct utcp_conn *tuples_find(const struct tuples *tuples, const struct slab *conns,
			      const struct segment_ends *ends);

/* The connection that a segment belongs to, or NULL. */
static inline struct utcp_conn *tuples_find_segment(const struct tuples *tuples,
						    const struct slab *conns,
						    const struct segment *segment)
{
	struct segment_ends ends;

	if (__builtin_expect(!segment->ip6, 1))
		return tuples_find_ip4(tuples, conns,
				       tuples_key_ip4(bytes_get_be32(segment_addresses(segment)),
						      segment->peer_port, segment->own_port));
	ends = segment_ends(segment);
	return tuples_find(tuples, conns, &ends);
}

#endif
