/*
 * http1_set: the sets of bytes that HTTP's grammar allows, and how far a run of one reaches.
 *
 * Private to http1. Each set is one table; the vector implementations draw theirs from it, so that
 * there is one place that says what a token is.
 *
 * Plane: turn; http1_choose (http1.h) is setup.
 */
#ifndef WEIR_PROTO_HTTP1_SET_H
#define WEIR_PROTO_HTTP1_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP1_NIBBLES = 16 };

struct http1_set {
	bool has[256];
	/* A byte is in the set if low[its low nibble] and high[its high one] share a bit. */
	uint8_t low[HTTP1_NIBBLES];
	uint8_t high[HTTP1_NIBBLES];
};

extern struct http1_set http1_set_token;  /* methods and names */
extern struct http1_set http1_set_value;  /* values and reasons */
extern struct http1_set http1_set_target; /* request targets */
extern struct http1_set http1_set_path;	  /* target without '%' and '?' */
extern struct http1_set http1_set_host;	  /* of a registered name, '%' excepted */

/*
 * The first byte at or behind `at` that is not in the set, or `end`. Nothing outside of `base` to
 * `end` is read; bytes between `base` and `at` may be, to no effect.
 */
typedef const uint8_t *http1_run_function(const struct http1_set *set, const uint8_t *base,
					  const uint8_t *at, const uint8_t *end);

http1_run_function http1_run_scalar;
http1_run_function http1_run_sse42;
http1_run_function http1_run_avx2;

/* The one that http1_choose chose; until then the scalar one. */
extern http1_run_function *http1_run;

#endif
