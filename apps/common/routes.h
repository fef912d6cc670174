/*
 * routes: which handler answers which requests, as a configuration says it.
 *
 *	[{"path": "/", "handler": "respond"},
 *	 {"path": "/files", "match": "prefix", "method": ["GET"], "handler": "static:www"}]
 *
 * A prefix stays in the path: /files/a is www/files/a there. "match" is "exact" unless it is said,
 * and without "method" a route takes all. What of several routes a request gets is route.h's.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_ROUTES_H
#define WEIR_APPS_ROUTES_H

#include "apps/common/flags.h"
#include "dataplane/pipeline/route.h"

#include <jansson.h>

/* Zeroed before its flag is parsed. */
struct routes {
	struct route table[ROUTES_MAX]; /* texts are lent from `json` */
	unsigned count;			/* 0: none are said */
	json_t *json;			/* owned */
};

extern const struct flag_kind flag_routes; /* struct routes; its text is the array above */

/* What of a handler's text is a path: its offset, or the text's length if nothing is. */
size_t routes_handler_path(const char *handler);

/* The handler that answers a method at a path, as written; NULL if none does. */
const char *routes_find(const struct routes *routes, const char *path, enum http1_method method);

void routes_fini(struct routes *routes);

#endif
