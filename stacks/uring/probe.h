/*
 * probe: what of this kernel's io_uring the stack can use.
 *
 * Looked at, not concluded from a version: a feature is tried, or known by an operation that came
 * with it.
 *
 * Plane: setup.
 */
#ifndef WEIR_STACKS_URING_PROBE_H
#define WEIR_STACKS_URING_PROBE_H

#include "dataplane/transport/transport.h"
#include "stacks/uring/queue.h"

#include <stdbool.h>

/* What of this kernel's io_uring matters here. */
struct ur_abilities {
	bool defer_taskrun;
	bool coop_taskrun;
	bool ext_arg;
	bool buffer_rings; /* and multishot accept, which came with them */
	bool multishot_recv;
	bool send_zc;
	bool send_zc_reports;
	bool registered_ring;
	bool sqpoll;
};

/* Looks at the kernel through an open ring. */
void ur_abilities_of(struct ur_queue *queue, struct ur_abilities *abilities_out);

/* As tp_ops.probe. */
int ur_probe(struct tp_feature *features_out, unsigned room, struct tp_error *error);

#endif
