/*
 * tuples: finds a connection by its ends.
 *
 * A hash table with chains through the connections, of twice as many buckets as connections. Our
 * address is the same for all, so the other end and our port are the whole tuple, and they fit 64
 * bits.
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

#include "dataplane/core/slab.h"
#include "stacks/utcp/conn.h"

#include <stdint.h>

struct tuples {
	uint64_t mask_secret;
	uint64_t factor_secret;
	uint32_t *buckets; /* index of the first connection, or SLAB_NONE */
	uint32_t bucket_mask;
	uint32_t count;
};

static inline uint64_t tuples_key(uint32_t peer_ip, uint16_t peer_port, uint16_t own_port)
{
	return (uint64_t)peer_ip << 32 | (uint32_t)peer_port << 16 | own_port;
}

/* 0 or -ENOMEM. `secret` is 16 random bytes. */
int tuples_init(struct tuples *tuples, uint32_t conn_max, const uint8_t secret[16]);
void tuples_fini(struct tuples *tuples);

void tuples_add(struct tuples *tuples, const struct slab *conns, struct utcp_conn *conn);
void tuples_remove(struct tuples *tuples, const struct slab *conns, struct utcp_conn *conn);

static inline uint32_t *tuples_bucket(const struct tuples *tuples, uint64_t key)
{
	unsigned __int128 product =
		(unsigned __int128)(key ^ tuples->mask_secret) * tuples->factor_secret;

	return &tuples->buckets[(uint32_t)((uint64_t)(product >> 64) ^ (uint64_t)product >> 32) &
				tuples->bucket_mask];
}

static inline struct utcp_conn *tuples_find(const struct tuples *tuples, const struct slab *conns,
					    uint64_t key)
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

#endif
