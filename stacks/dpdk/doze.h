/*
 * doze: how a worker sleeps until its port may have a frame.
 *
 * Drivers differ. Where one has a descriptor that is readable as long as a frame waits, the worker
 * sleeps on that. It is looked at as it stands, not for changes: a frame that came between the last
 * empty burst and the sleep ends the sleep at once, and nothing has to be armed. Three drivers have
 * one: tap gives it out as its receive queue's interrupt, af_packet's and af_xdp's is their socket.
 * The others (memif masks the peer's doorbell, ring has none) can only be asked: the worker naps, a
 * bounded time, and receives again. rte_epoll_wait is not used: it counts milliseconds and tells of
 * changes only.
 *
 * Planes: init is setup, the rest is turn.
 */
#ifndef WEIR_DPDK_DOZE_H
#define WEIR_DPDK_DOZE_H

#include "stacks/dpdk/device.h"

#include <stdbool.h>
#include <stdint.h>

struct doze {
	int fd;		 /* readable while a frame waits (the driver's, lent); -1: none */
	uint64_t nap_ns; /* longest sleep without one */
	uint64_t naps;	 /* sleeps on the clock alone */
	uint64_t descriptor_sleeps; /* on the descriptor, whatever ended them */
};

/*
 * Looks what the driver of `port`, which was started, has. Also asks the kernel to end this
 * thread's sleeps when they are over, not up to 50 us later.
 */
void doze_init(struct doze *doze, const struct device *device, uint16_t port);

/*
 * Sleeps until a frame is there or `bound_ns` are over; with `only_nap`, for something that the
 * descriptor does not tell, or without one, at most nap_ns.
 */
void doze_sleep(struct doze *doze, uint64_t bound_ns, bool only_nap);

#endif
