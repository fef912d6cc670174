/*
 * bare: the echo that a stack's medium allows at best, with no pipeline.
 *
 * What stands between it and the medium is as little as can be: bytes in, an answer for each
 * request of a known size, bytes out in one write a connection and turn. It parses nothing, has no
 * delivery policy, no handler and no transport contract, and trusts its peer to keep to the sizes
 * agreed. `weir ceiling` measures what share of it the pipeline reaches on the same stack. Each
 * stack's bare echo is written directly on the calls that the stack itself uses, with the same
 * options.
 *
 * Owned by one worker from open to close. Plane: open and close are setup, the rest is turn.
 */
#ifndef WEIR_STACKS_BARE_H
#define WEIR_STACKS_BARE_H

#include "dataplane/core/limits.h"
#include "dataplane/proto/frame.h"
#include "dataplane/transport/transport.h"

struct bare; /* the stack's own */

/* Longest body of a request or an answer: the whole frame is one chunk. */
enum { BARE_BODY_MAX = LIMIT_CHUNK_BYTES - FRAME_HEAD_BYTES };

/* A request and an answer are framed (dataplane/proto/frame.h); both have one size. */
struct bare_config {
	const struct tp_config *transport; /* as for tp_ops.open */
	const struct tp_addr *listen;
	uint32_t request_bytes;	 /* of a whole frame, head included, at most LIMIT_CHUNK_BYTES */
	uint32_t response_bytes; /* likewise */
};

/* What it counts, beside its transport counters. */
struct bare_counts {
	uint64_t requests;
	uint64_t connections;
};

struct bare_ops {
	/* Opens and listens. 0, or negative errno with `error` filled. */
	int (*open)(const struct bare_config *config, struct bare **bare_out,
		    struct tp_error *error);
	/* Serves what is at hand; sleeps at most `wait_ns` if nothing is. */
	void (*turn)(struct bare *bare, uint64_t wait_ns, struct tp_turn *turn_out);
	/* `transport_out`: those that the stack's tp_ops.counters_known names. */
	void (*counts)(const struct bare *bare, struct bare_counts *counts_out,
		       struct tp_counters *transport_out);
	/* Resets what is still open. */
	void (*close)(struct bare *bare);
};

#endif
