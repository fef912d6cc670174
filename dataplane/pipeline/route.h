/*
 * route: which handler answers a request.
 *
 * An exact path wins over any prefix, a longer prefix over a shorter one, and among equals a route
 * that names the method over one that takes all. What none of a path's routes takes is answered
 * with 405, a path without any with 404. TRACE and CONNECT are nobody's. A framed request goes to
 * the handler of "/" for POST.
 *
 * Planes: building is setup, find is turn.
 */
#ifndef WEIR_PIPELINE_ROUTE_H
#define WEIR_PIPELINE_ROUTE_H

#include "dataplane/core/span.h"
#include "dataplane/proto/http1.h"
#include "dataplane/transport/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { ROUTES_MAX = 64, ROUTE_PATH_BYTES = 256 };

/* As the configuration says it; texts are lent until route_table_create returns. */
struct route {
	const char *path; /* begins with '/' */
	bool prefix;	  /* else exact; a prefix matches at a '/' or at the end alone */
	uint32_t methods; /* bit (1 << enum http1_method); 0: all but TRACE and CONNECT */
	const char *handler;
};

struct handler;
struct route_table;

/*
 * Makes the table of `count` routes to the handlers at the same index, which are lent until
 * destroy. 0, -ENOMEM, or -EINVAL with `error` naming the route: a path without '/', too long or
 * twice for the same methods.
 */
int route_table_create(const struct route *routes, struct handler *const *handlers, unsigned count,
		       struct route_table **table_out, struct tp_error *error);

void route_table_destroy(struct route_table *table);

/*
 * The handler for a request, or NULL with the code that refuses it (404 or 405). 405: `allow_out`
 * has a bit (1 << enum http1_method) for each method that the path takes.
 */
struct handler *route_find(const struct route_table *table, struct span path,
			   enum http1_method method, unsigned *code_out, uint32_t *allow_out);

/* The handler of every request, if there is but one route: the prefix "/" for all; else NULL. */
struct handler *route_only(const struct route_table *table);

/* A bit (1 << enum http1_method) for each method that some route takes. */
uint32_t route_methods(const struct route_table *table);

#endif
