#include "stacks/dpdk/pool.h"

#include "dataplane/core/check.h"
#include "stacks/dpdk/eal.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <stdio.h>

enum { POOL_CACHE = 256 };

static struct {
	struct rte_mempool *pool;
	unsigned users;
} shared;

static int fail(struct tp_error *error)
{
	return tp_fail(error, -rte_errno, "DPDK has no memory for %d frames (%s): %s", POOL_FRAMES,
		       rte_strerror(rte_errno), eal_words());
}

static int share(struct rte_mempool **pool_out, struct tp_error *error)
{
	if (!shared.pool)
		shared.pool = rte_pktmbuf_pool_create("weir_frames", POOL_FRAMES, POOL_CACHE, 0,
						      RTE_PKTMBUF_HEADROOM + POOL_FRAME_MAX,
						      SOCKET_ID_ANY);
	if (!shared.pool)
		return fail(error);
	shared.users++;
	*pool_out = shared.pool;
	return 0;
}

/*
 * One piece of memory in which the frames follow each other without a gap, across the bounds of
 * pages, too: the driver gives the kernel a start and a length. Nobody needs bus addresses.
 */
static struct rte_mempool *make_lent(const char *name)
{
	struct rte_pktmbuf_pool_private about = {.mbuf_data_room_size =
							 RTE_PKTMBUF_HEADROOM + POOL_LENT_FRAME};
	struct rte_mempool *pool = rte_mempool_create_empty(
		name, POOL_FRAMES, sizeof(struct rte_mbuf) + about.mbuf_data_room_size, POOL_CACHE,
		sizeof(about), SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);

	if (!pool)
		return NULL;
	rte_pktmbuf_pool_init(pool, &about);
	if (rte_mempool_populate_default(pool) == POOL_FRAMES && pool->nb_mem_chunks == 1) {
		rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
		return pool;
	}
	rte_mempool_free(pool);
	rte_errno = ENOMEM;
	return NULL;
}

int pool_acquire(const struct device_traits *traits, struct rte_mempool **pool_out,
		 struct tp_error *error)
{
	static unsigned number;
	char name[RTE_MEMPOOL_NAMESIZE];

	if (!traits->lends_pool)
		return share(pool_out, error);
	snprintf(name, sizeof(name), "weir_lent%u", number++);
	*pool_out = make_lent(name);
	return *pool_out ? 0 : fail(error);
}

void pool_release(struct rte_mempool *pool)
{
	if (pool != shared.pool) {
		rte_mempool_free(pool);
		return;
	}
	if (--shared.users > 0)
		return;
	/* every mbuf must have come back, or a frame was leaked */
	ASSERT(rte_mempool_full(pool));
	rte_mempool_free(pool);
	shared.pool = NULL;
}
