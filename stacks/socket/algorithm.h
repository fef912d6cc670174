/*
 * algorithm: by which of the kernel's algorithms a connection's window grows and is cut
 * (TCP_CONGESTION).
 *
 * The host's choice unless told otherwise. Which of them a kernel has depends on how it was built
 * and what it has loaded, so what was asked for is tried at open, and refused with what there is.
 *
 * Plane: setup.
 */
#ifndef WEIR_STACKS_ALGORITHM_H
#define WEIR_STACKS_ALGORITHM_H

#include <stdint.h>

struct tp_error;

/* By value of the option; the first leaves it to the host. */
extern const char *const algorithm_names[];

/* Sets it on a TCP socket, from which connections inherit it if it listens. 0, or a negative errno
 * as of setsockopt(2); 0 without a call for the host's choice. */
int algorithm_set(int fd, unsigned choice, uint64_t *calls);

/*
 * Whether this host lets us have it. 0; -ENOENT with what the kernel has instead, -EPERM with what
 * is allowed without privilege, or another negative errno, all with `error` filled.
 */
int algorithm_check(const char *stack, unsigned choice, struct tp_error *error);

#endif
