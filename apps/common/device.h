/*
 * device: dpdk's devices and own addresses, each one process's at a time.
 *
 * A stack with a TCP/IP of its own asks no kernel who has an interface or an address. Two processes
 * that take frames from one interface both answer them, and two ends of a link with one address
 * answer for each other. So each claims what it is about to use (claim.h): the interface of tap,
 * af_packet and af_xdp, within this network namespace; on a memif link, whose socket has one server
 * anyway, the own address. An address that the kernel itself has is refused as well.
 *
 * Claims take root, as these devices do; without it nothing is claimed. Plane: setup, main thread.
 */
#ifndef WEIR_APPS_DEVICE_H
#define WEIR_APPS_DEVICE_H

#include "apps/common/claim.h"
#include "apps/common/stack.h"

enum { DEVICE_LIST_MAX = 64 };

struct device_claim {
	char name[CLAIM_NAME_BYTES];
	int fd; /* -1: nothing is claimed */
};

/*
 * Claims what the options stand for, if anything. 0; -EBUSY if a living process has it or
 * -EADDRINUSE if the kernel has the address, naming who, or another negative errno, with `error`
 * filled and nothing claimed.
 */
int device_take(struct device_claim *claim_out, const struct stack_options *options,
		struct tp_error *error);

/* Gives it up. */
void device_drop(struct device_claim *claim);

/* Claims of processes that were killed; their number. */
unsigned device_list_stale(struct claim list_out[DEVICE_LIST_MAX]);

/* Removes them. They hinder nobody; only their files stay. */
void device_sweep(void);

#endif
