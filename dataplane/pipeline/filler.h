/*
 * filler: the answer of a fixed number of bytes, each FRAME_FILL_BYTE.
 *
 * Plane: turn.
 */
#ifndef WEIR_PIPELINE_FILLER_H
#define WEIR_PIPELINE_FILLER_H

#include "dataplane/pipeline/exchange.h"

/* The response of so many bytes. */
#define filler_response(bytes) \
	((struct response){    \
		.status = 200, .body_bytes = (bytes), .type = "application/octet-stream"})

/*
 * Drops the request's body, and then answers with `bytes`, as far as there is room. For begin and
 * for advance.
 */
void filler_answer(struct exchange *exchange, uint32_t bytes);

#endif
