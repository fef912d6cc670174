/*
 * spec: which handlers there are, and how a text names one.
 *
 *	respond[:BYTES]     a fixed number of bytes, each 0x5A; the request's body is dropped
 *	echo                the request's own body
 *	spin:US             as respond, after that many microseconds of the CPU's time
 *	static:DIR          the files below DIR (HTTP)
 *	proxy[:ADDR[,ADDR]] what the upstreams answer (HTTP); the server's, where none are named
 *	cache[:ADDR[,ADDR]] the same, kept within a bound (HTTP)
 *
 * Behind the addresses, or in their place, those two may have options, each behind a ';'. Whoever
 * adds a handler adds its ops to handlers.h and to the table in spec.c.
 *
 * Plane: setup.
 */
#ifndef WEIR_HANDLERS_SPEC_H
#define WEIR_HANDLERS_SPEC_H

#include "dataplane/pipeline/handler.h"
#include "dataplane/pipeline/route.h"
#include "dataplane/transport/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The ops that a handler's text names, and what stands behind its ':' (NULL if nothing does); NULL
 * if unknown.
 */
const struct handler_ops *spec_find(const char *spec, const char **argument_out);

/*
 * Judges a handler as somebody wrote it, e.g. "static:/srv/www". 0; -ENOENT for an unknown name,
 * -EINVAL for an argument that is wrong, with `error` naming what is accepted.
 */
int spec_judge(const char *spec, struct tp_error *error);

/* The same of its text alone: a folder that it names need not be there. */
int spec_judge_text(const char *spec, struct tp_error *error);

/* Body bytes of each answer of one that was checked and fills them: its own, else `bytes`. */
uint32_t spec_fill_bytes(const char *spec, uint32_t bytes);
/* Whether it is a handler that passes requests on and names nobody to whom. */
bool spec_wants_upstream(const char *spec);

/*
 * Connections that the handlers of a server's routes keep for themselves in each worker, by texts
 * that were checked; routes that say the same share a handler. `upstream` as in struct
 * handler_config.
 */
uint64_t spec_count_conns(const struct route *routes, unsigned count, const char *upstream);

/* Makes it; server_config.create_handler. 0, or negative errno with `error` filled. */
int spec_create(const char *spec, const struct handler_config *config, struct handler **handler_out,
		struct tp_error *error);

/* What spec_judge accepts, for messages. */
extern const char spec_usage[];

#endif
