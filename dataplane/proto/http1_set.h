/*
 * http1_set: the sets of bytes that HTTP's grammar allows.
 *
 * Private to http1. Each set is one table; what the vector instructions need is drawn from it, so
 * that there is one place that says what a token is.
 *
 * Plane: turn; http1_sets_draw is setup.
 */
#ifndef WEIR_PROTO_HTTP1_SET_H
#define WEIR_PROTO_HTTP1_SET_H

#include <stdbool.h>
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

/* Fills in `low` and `high` of all sets. */
void http1_sets_draw(void);

#endif
