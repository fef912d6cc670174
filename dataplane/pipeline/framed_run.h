/*
 * framed_run: runs of whole frames, answered alike or with their own bodies (codec.h).
 *
 * Plane: turn.
 */
#ifndef WEIR_PIPELINE_FRAMED_RUN_H
#define WEIR_PIPELINE_FRAMED_RUN_H

#include "dataplane/pipeline/codec.h"

bool framed_find_run(struct conn_world *world, struct span piece, unsigned requests_max,
		     size_t due_bytes, struct run *run_out);

void framed_write_run(struct conn_world *world, const struct run *run, const uint8_t *request,
		      uint8_t *to);

#endif
