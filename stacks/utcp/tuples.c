#include "stacks/utcp/tuples.h"

#include "dataplane/core/check.h"
#include "dataplane/core/siphash.h"

#include <errno.h>
#include <stdlib.h>

int tuples_init(struct tuples *tuples, uint32_t conn_max, const uint8_t secret[16])
{
	struct siphash_key key = siphash_key_of(secret);
	uint64_t purpose[2] = {1,
			       2}; /* secrets of our own, so that they say nothing of the ISN's */
	uint32_t buckets = 16;

	while (buckets < 2 * conn_max)
		buckets *= 2;
	*tuples = (struct tuples){.mask_secret = siphash_words(&key, &purpose[0], 1),
				  .factor_secret = siphash_words(&key, &purpose[1], 1) | 1,
				  .buckets = malloc(buckets * sizeof(uint32_t)),
				  .bucket_mask = buckets - 1};
	if (!tuples->buckets)
		return -ENOMEM;
	for (uint32_t i = 0; i < buckets; i++)
		tuples->buckets[i] = SLAB_NONE;
	return 0;
}

void tuples_fini(struct tuples *tuples)
{
	free(tuples->buckets);
	tuples->buckets = NULL;
}

void tuples_add(struct tuples *tuples, const struct slab *conns, struct utcp_conn *conn)
{
	uint32_t *bucket = tuples_bucket(tuples, conn->key);

	conn->chain = *bucket;
	*bucket = slab_index(conns, conn);
	tuples->count++;
}

void tuples_remove(struct tuples *tuples, const struct slab *conns, struct utcp_conn *conn)
{
	uint32_t *link = tuples_bucket(tuples, conn->key);
	uint32_t index = slab_index(conns, conn);

	while (*link != index) {
		CHECK(*link != SLAB_NONE);
		link = &((struct utcp_conn *)slab_at(conns, *link))->chain;
	}
	*link = conn->chain;
	tuples->count--;
}
