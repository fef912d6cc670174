/*
 * registry: every stack by name, built or not.
 *
 * A stack is named NAME or NAME@DEVICE, e.g. `epoll`, `epoll@loopback`,
 * `dpdk@memif:/run/weir.sock`. The part before
 * '@' chooses the operations, the rest is handed to their open. A stack that this build lacks is
 * listed with the reason.
 *
 * Plane: setup.
 */
#ifndef WEIR_STACKS_REGISTRY_H
#define WEIR_STACKS_REGISTRY_H

#include "dataplane/transport/transport.h"

#include <stdbool.h>

struct stack {
	const char *name;
	const struct tp_ops *ops;   /* NULL if not built */
	const char *absent;	    /* why it is not built; NULL if it is */
	const char *device_default; /* what no device means, for people; NULL if nothing */
	const char *devices;	    /* what may follow '@', for people; "" if nothing */
	const char *about;	    /* one line */
	bool uses_descriptors;	    /* one a connection, one an instance, one a listener */
};

/* All stacks, in the order they are shown; `count_out` gets their number. */
const struct stack *stack_list(unsigned *count_out);

/*
 * Finds the stack of `spec` and its device (lent from `spec`; "" if none). 0; -ENOENT for an
 * unknown name, with the nearest known one in `error`; -ENOTSUP for one that is not built, with the
 * reason.
 */
int stack_find(const char *spec, const struct stack **stack_out, const char **device_out,
	       struct tp_error *error);

#endif
