/*
 * server: one worker's request pipeline over one transport instance.
 *
 * Each turn it polls, and visits every connection that has something to do: decode a request, let
 * its route's handler put the response straight into the transport's send memory, and write when
 * the delivery policy says so. A connection gets a bounded number of requests a turn; one that has
 * more waits for the next turn behind the others.
 *
 * Owned by its worker from create to destroy; all memory is taken at create. Legal order: create, {
 * turn }*, drain, { turn }* until server_idle or a deadline of the caller's, destroy, and only then
 * close the transport.
 *
 * Planes: create and destroy are setup, turn and drain are turn, the counters are report (copy them
 * on the worker's thread).
 */
#ifndef WEIR_PIPELINE_SERVER_H
#define WEIR_PIPELINE_SERVER_H

#include "dataplane/pipeline/busy.h"
#include "dataplane/pipeline/codec.h"
#include "dataplane/pipeline/deadline.h"
#include "dataplane/pipeline/delivery.h"
#include "dataplane/pipeline/handler.h"
#include "dataplane/pipeline/route.h"
#include "dataplane/proto/http1_parser.h"
#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

struct server;

/* All that create needs; what is lent is lent for the call. */
struct server_config {
	struct delivery delivery;
	const struct codec *codec;  /* static; NULL: framed */
	const struct route *routes; /* lent */
	unsigned route_count;	    /* at least 1 */
	/* Makes the handler that a route's text names; as spec_create of dataplane/handlers. */
	int (*create_handler)(const char *spec, const struct handler_config *config,
			      struct handler **handler_out, struct tp_error *error);
	uint32_t response_bytes; /* of handlers that are told no other */
	const char *upstream;	 /* likewise, of those that pass requests on; NULL: none */
	uint32_t conn_max;	 /* as the transport's limit; handlers' own are kept for them */
	uint32_t frame_max;	 /* largest frame_len accepted; 0: LIMIT_FRAME_BYTES */
	uint32_t turn_requests;	 /* fairness bound; 0: LIMIT_TURN_REQUESTS */
	uint64_t body_max;	 /* largest request body; 0: LIMIT_BODY_BYTES */
	struct timeouts timeouts;
	const struct http1_parser *parser; /* static; NULL: views */
	struct http1_limits http1_limits;  /* each 0: its default */
};

/* X(name, meaning): what handlers count, summed over a worker's; part of those below. */
#define HANDLER_COUNTERS(X)                                                          \
	X(files_cached, "static: answers from memory")                               \
	X(files_streamed, "static: answers from an open file, sent or read")         \
	X(file_bytes_sent, "static: body bytes that the transport sent from a file") \
	X(files_refused, "static: requests that no descriptor was left for")         \
	X(upstream_connections, "proxy: connections made")                           \
	X(upstream_requests, "proxy: requests passed on")                            \
	X(upstream_failures, "proxy: requests that an upstream failed")              \
	X(upstream_retries, "proxy: requests sent again")                            \
	X(cache_hits, "cache: answers from memory")                                  \
	X(cache_misses, "cache: answers fetched")                                    \
	X(cache_joined, "cache: requests that waited for another's fetch")           \
	X(cache_evicted, "cache: answers dropped for room")

/* X(name, meaning) */
#define SERVER_COUNTERS(X)                                                                \
	X(requests, "requests decoded")                                                   \
	X(request_bytes, "request body bytes")                                            \
	X(responses, "complete responses committed")                                      \
	X(response_bytes, "response body bytes")                                          \
	X(errors, "errors sent in place of a response")                                   \
	X(cut_short, "connections that ended within a request")                           \
	X(yields, "turns a connection gave up because of the fairness bound")             \
	X(stalls, "times a response waited for send memory")                              \
	X(parser_allocations, "allocations made for heads, of the parser that owns them") \
	X(timeouts_head, "connections ended because a head took too long")                \
	X(timeouts_body, "likewise, a body")                                              \
	X(timeouts_idle, "likewise, no request came")                                     \
	X(timeouts_send, "likewise, a response was not taken")                            \
	X(connections, "connections accepted")                                            \
	X(connections_closed, "connections closed")                                       \
	X(connections_refused, "connections reset for want of room")                      \
	X(connections_broken, "connections closed for another reason than done")          \
	HANDLER_COUNTERS(X)

struct server_counters {
#define X(name, meaning) uint64_t name;
	SERVER_COUNTERS(X)
#undef X
	struct busy busy;
};

/*
 * Makes a server over `tp` (lent until destroy) with a handler for each route. 0, or negative errno
 * with `error` filled.
 */
int server_create(const struct server_config *config, struct tp *tp, struct server **server_out,
		  struct tp_error *error);

/* Frees it. NULL is fine. */
void server_destroy(struct server *server);

/* One turn; sleeps at most `wait_ns` when nothing is at hand and the stack can. */
void server_turn(struct server *server, uint64_t wait_ns);

/* Serves what has been received, then ends every connection; new ones are reset. */
void server_drain(struct server *server);

/* Whether no connection is left. */
bool server_idle(const struct server *server);

/* CHECKs the invariants of it, its connections and its handlers, for tests; between turns. */
void server_check(const struct server *server);

const struct server_counters *server_counters(const struct server *server);

#endif
