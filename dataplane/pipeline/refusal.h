/*
 * refusal: who answers a request, and what answers it where no handler does.
 *
 * Plane: turn.
 */
#ifndef WEIR_PIPELINE_REFUSAL_H
#define WEIR_PIPELINE_REFUSAL_H

#include "dataplane/pipeline/handler.h"

struct conn_world;

/*
 * The handler for a request. Where no route leads to one, it is a handler that says so: with 404,
 * with 405 and the methods that the path takes, or with the server's methods for OPTIONS *. It
 * keeps its answer in `exchange`'s state.
 */
struct handler *refusal_or_handler(const struct conn_world *world, const struct request *request,
				   struct exchange *exchange);

#endif
