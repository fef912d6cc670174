/*
 * delivery: when queued responses are written.
 *
 *	immediate   one transport write per response
 *	coalesce    queue until LIMIT_COALESCE_BYTES (16 KiB) are reached, then one write
 *	flush-at:N  queue until N bytes are reached or crossed, then one write
 *
 * Whatever the policy, the pipeline writes what is queued once the requests already decoded from
 * the current read are drained, before it waits for anything, and at the end. There is no timer.
 *
 * Plane: parse and print are setup; due is turn.
 */
#ifndef WEIR_PIPELINE_DELIVERY_H
#define WEIR_PIPELINE_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct delivery {
	/*
	 * Queued bytes at which a write is due: 1 for immediate, the capacity for coalesce, N for
	 * flush-at.
	 */
	uint32_t threshold_bytes;
};

/*
 * Reads a policy's name. 0, or -EINVAL (also for N outside 1 to LIMIT_SEND_BYTES / 2) with `out`
 * untouched.
 */
int delivery_parse(const char *name, struct delivery *delivery_out);

/* What delivery_parse accepts, for messages. */
extern const char delivery_usage[];

/* Whether `queued_bytes` of complete responses are to be written now. */
static inline bool delivery_due(const struct delivery *delivery, size_t queued_bytes)
{
	return queued_bytes >= delivery->threshold_bytes;
}

#endif
