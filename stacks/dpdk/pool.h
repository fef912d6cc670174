/*
 * pool: the mbufs that ports draw on.
 *
 * Ports share one pool, made by the first and freed with the last. A driver that shares its pool's
 * memory with the kernel (af_xdp) has one of its own: the kernel takes no buffer larger than a
 * page, and the driver does not give back those that it lent to the kernel, so they go with the
 * pool.
 *
 * Plane: setup.
 */
#ifndef WEIR_DPDK_POOL_H
#define WEIR_DPDK_POOL_H

#include "stacks/dpdk/device.h"

#include <rte_mempool.h>

enum {
	POOL_FRAMES = 4095,	/* a power of two less one, as rte_mempool likes it */
	POOL_FRAME_MAX = 9216,	/* bytes of a frame that a shared mbuf holds in one piece */
	POOL_LENT_FRAME = 2048, /* the same where the memory is shared with the kernel */
};

/* A pool for a device of this kind. 0, or negative errno with `error` filled. */
int pool_acquire(const struct device_traits *traits, struct rte_mempool **pool_out,
		 struct tp_error *error);

/* Gives it back after the device is closed. */
void pool_release(struct rte_mempool *pool);

#endif
