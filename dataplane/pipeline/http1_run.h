/*
 * http1_run: runs of GET requests without a body that one handler answers all alike (codec.h).
 *
 * Plane: turn.
 */
#ifndef WEIR_PIPELINE_HTTP1_RUN_H
#define WEIR_PIPELINE_HTTP1_RUN_H

#include "dataplane/pipeline/codec.h"

/* The head of every answer in a run, made once a second for each handler. */
struct http1_run_head {
	const struct handler *handler;
	uint64_t until_ns; /* as its Date */
	size_t bytes;
	uint8_t head[256];
};

/*
 * The last head that was answered in a run, so that one of the very same bytes is not read again:
 * routes and limits never change, so it means the same, whoever sends it.
 */
struct http1_known {
	struct handler *handler; /* NULL: there is none */
	size_t bytes;
	uint8_t head[512]; /* a longer one is read each time */
};

/* A head that was read as the end of a run, in the world's request. */
struct http1_ahead {
	const uint8_t *base; /* where it stands; NULL if there is none */
	size_t bytes;
};

bool http1_find_run(struct conn_world *world, struct span piece, unsigned requests_max,
		    size_t due_bytes, struct run *run_out);

void http1_write_run(struct conn_world *world, const struct run *run, const uint8_t *request,
		     uint8_t *to);

#endif
