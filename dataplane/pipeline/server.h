/*
 * server: one worker's request pipeline over one transport instance.
 *
 * Each turn it polls, and visits every connection that has something to do: decode a request, run
 * the handler, encode the response straight into the transport's send memory, and write when the
 * delivery policy says so. A connection gets a bounded number of requests a turn; one that has more
 * waits for the next turn behind the others.
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
#include "dataplane/pipeline/delivery.h"
#include "dataplane/pipeline/handler.h"
#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

struct server;

struct server_config {
	struct delivery delivery;
	struct handler handler;
	uint32_t conn_max;	/* as the transport's limit */
	uint32_t frame_max;	/* largest frame_len accepted; 0: LIMIT_FRAME_BYTES */
	uint32_t turn_requests; /* fairness bound; 0: LIMIT_TURN_REQUESTS */
};

/* X(name, meaning) */
#define SERVER_COUNTERS(X)                                                    \
	X(requests, "requests decoded")                                       \
	X(request_bytes, "request body bytes")                                \
	X(responses, "complete responses committed")                          \
	X(response_bytes, "response body bytes")                              \
	X(errors, "error frames sent")                                        \
	X(cut_short, "connections that ended within a request")               \
	X(yields, "turns a connection gave up because of the fairness bound") \
	X(stalls, "times a response waited for send memory")                  \
	X(connections, "connections accepted")                                \
	X(connections_closed, "connections closed")                           \
	X(connections_refused, "connections reset for want of room")          \
	X(connections_broken, "connections closed for another reason than done")

struct server_counters {
#define X(name, meaning) uint64_t name;
	SERVER_COUNTERS(X)
#undef X
	struct busy busy;
};

/* Makes a server over `tp` (lent until destroy). 0, -EINVAL, or -ENOMEM. */
int server_create(const struct server_config *config, struct tp *tp, struct server **server_out);

/* Frees it. NULL is fine. */
void server_destroy(struct server *server);

/* One turn; sleeps at most `wait_ns` when nothing is at hand and the stack can. */
void server_turn(struct server *server, uint64_t wait_ns);

/* Serves what has been received, then ends every connection; new ones are reset. */
void server_drain(struct server *server);

/* Whether no connection is left. */
bool server_idle(const struct server *server);

const struct server_counters *server_counters(const struct server *server);

#endif
