/*
 * bare: the echo that a stack's medium allows at best, with no pipeline.
 *
 * What stands between it and the medium is as little as can be: bytes in, an answer for each
 * request of a known size, bytes out in one write a connection and turn. It parses nothing and so
 * speaks whatever protocol its answer is written in; it has no
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

/* What an answer repeats of its request ends here at the latest. */
enum { BARE_REPEATED_END = 16 };

/* Bytes that stand at the same place in a request and in its answer. */
struct bare_repeat {
	uint32_t offset;
	uint32_t bytes; /* 0: nothing is repeated */
};

/* Every request has one size, and every answer is the same but for what it repeats. */
struct bare_config {
	const struct tp_config *transport; /* as for tp_ops.open */
	const struct tp_addr *listen;
	uint32_t request_bytes;	 /* of a whole request, head included: 1 to LIMIT_CHUNK_BYTES */
	uint32_t response_bytes; /* likewise */
	const uint8_t *response; /* those bytes; lent until open returns */
	struct bare_repeat repeat;
};

/* Makes the answer to framed requests at `to` (config->response_bytes), with the id repeated. */
static inline void bare_answer_frames(struct bare_config *config, uint8_t *to)
{
	const struct frame_head head = {
		.opcode = FRAME_OPCODE_STRESS,
		.flags = FRAME_START | FRAME_END,
		.body_bytes = config->response_bytes - FRAME_HEAD_BYTES,
	};

	frame_encode(to, &head);
	memset(to + FRAME_HEAD_BYTES, FRAME_FILL_BYTE, head.body_bytes);
	config->response = to;
	config->repeat = (struct bare_repeat){FRAME_OFFSET_ID, sizeof(head.id)};
}

/* Writes into `answer` what it repeats of `request`; an id's size is the common one. */
static inline void bare_repeat(const struct bare_repeat *repeat, uint8_t *answer,
			       const uint8_t *request)
{
	if (__builtin_expect(repeat->bytes == sizeof(uint64_t), 1))
		memcpy(answer + repeat->offset, request + repeat->offset, sizeof(uint64_t));
	else if (repeat->bytes > 0)
		memcpy(answer + repeat->offset, request + repeat->offset, repeat->bytes);
}

/* 0, or -EINVAL with `error` naming the stack and the sizes that cannot be. */
int bare_check_sizes(const struct bare_config *config, const char *stack, struct tp_error *error);

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
