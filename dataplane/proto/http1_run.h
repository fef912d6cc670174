/*
 * http1_run: how far a run of bytes of one set reaches, a byte at a time.
 *
 * Private to http1. Inline, so that each way to scan is compiled into a reader of its own
 * (http1_read.h), and a call a run is saved. http1_vector.h has the other ways.
 *
 * Plane: turn.
 */
#ifndef WEIR_PROTO_HTTP1_RUN_H
#define WEIR_PROTO_HTTP1_RUN_H

#include "dataplane/proto/http1_set.h"

/*
 * The first byte at or behind `at` that is not in the set, or `end`. Nothing outside of `base` to
 * `end` is read; bytes between `base` and `at` may be, to no effect.
 */
typedef const uint8_t *http1_run_function(const struct http1_set *set, const uint8_t *base,
					  const uint8_t *at, const uint8_t *end);

static inline const uint8_t *http1_run_scalar(const struct http1_set *set, const uint8_t *base,
					      const uint8_t *at, const uint8_t *end)
{
	while (at < end && set->has[*at])
		at++;
	return at;
}

#endif
