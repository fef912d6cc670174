/*
 * tuples: finds a connection by its ends.
 *
 * A hash table with chains through the connections, of twice as many buckets as connections, for
 * both families. A key of 64 bits is compared first. With IPv4 it is the whole tuple, for our
 * address is the same for all: the peer's address and both ports. With IPv6 it holds the ports and
 * a hash of the peer's address (multilinear, a strongly universal one, Lemire and Kaser 2014), and
 * where it is equal the addresses are compared, too. The upper byte tells them apart: no host of
 * IPv4 has 0 there (RFC 791 3.2), so IPv4 need not look further.
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

struct tuples {
	uint64_t mask_secret;
	uint64_t factor_secret;
	uint32_t *buckets; /* index of the first connection, or SLAB_NONE */
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

static inline uint32_t *tuples_bucket(const struct tuples *tuples, uint64_t key)
{
	return &tuples->buckets[tuples_hash(tuples, key) & tuples->bucket_mask];
}

static inline struct utcp_conn *tuples_find_ip4(const struct tuples *tuples,
						const struct slab *conns, uint64_t key)
{
	uint32_t index = *tuples_bucket(tuples, key);

	while (index != SLAB_NONE) {
		struct utcp_conn *conn = slab_at(conns, index);

		if (conn->key == key)
			return conn;
		index = conn->chain;
	}
	return NULL;
}

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
