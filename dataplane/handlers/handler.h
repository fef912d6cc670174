/*
 * handler: what a request is answered with, behind one interface.
 *
 *	respond[:BYTES]     a fixed number of bytes, each 0x5A; the request's body is dropped
 *	echo                the request's own body
 *	spin:US             as respond, after that many microseconds of the CPU's time
 *	static:DIR          the files below DIR (HTTP)
 *	proxy[:ADDR[,ADDR]] what the upstreams answer (HTTP); the server's, where none are named
 *	cache[:ADDR[,ADDR]] the same, kept within a bound (HTTP)
 *
 * Behind the addresses, or in their place, those two may have options, each behind a ';'.
 *
 * A handler belongs to one worker's server and lives as long; each keeps what it needs in a struct
 * of its own that embeds struct handler first. Whoever adds one adds its ops to the table in
 * handler.c.
 *
 * Planes: create and destroy are setup, the rest is turn.
 */
#ifndef WEIR_HANDLERS_HANDLER_H
#define WEIR_HANDLERS_HANDLER_H

#include "dataplane/pipeline/exchange.h"
#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

struct handler;
struct conn_world;

/* What create is told, beside the text behind the name's ':'. */
struct handler_config {
	uint32_t response_bytes; /* respond and spin, where their text gives no other */
	const char
		*upstream; /* proxy and cache, likewise; lent for the call; NULL: there is none */
	struct conn_world *world; /* the server's, lent until destroy: transport, clock, upkeep */
};

/* X(name, meaning): what handlers count, summed over a worker's; part of the server's counters. */
#define HANDLER_COUNTERS(X)                                                  \
	X(files_cached, "static: answers from memory")                       \
	X(files_streamed, "static: answers read from their file")            \
	X(files_refused, "static: requests that no descriptor was left for") \
	X(upstream_connections, "proxy: connections made")                   \
	X(upstream_requests, "proxy: requests passed on")                    \
	X(upstream_failures, "proxy: requests that an upstream failed")      \
	X(upstream_retries, "proxy: requests sent again")                    \
	X(cache_hits, "cache: answers from memory")                          \
	X(cache_misses, "cache: answers fetched")                            \
	X(cache_joined, "cache: requests that waited for another's fetch")   \
	X(cache_evicted, "cache: answers dropped for room")

/* What the text behind a handler's name is to others than itself. */
enum handler_argument {
	HANDLER_TEXT,
	HANDLER_PATH,  /* of a folder */
	HANDLER_BYTES, /* of each response */
};

/* What a client can know of the answers. */
enum handler_answer {
	HANDLER_ANSWERS_ANY,
	HANDLER_ANSWERS_FILL, /* a number of FRAME_FILL_BYTE */
	HANDLER_ANSWERS_ECHO, /* the request's body */
};

struct handler_ops {
	const char *name;
	const char *argument; /* in messages: "DIR"; NULL if none may follow */
	enum handler_argument argument_is;
	enum handler_answer answers;
	bool argument_needed;
	bool takes_upstream; /* naming none, it has the configuration's `upstream` */
	bool http_only;
	/* Judges the text behind ':' (NULL if none). 0, or negative errno with `error` filled. */
	int (*check)(const char *argument, struct tp_error *error);
	/* Makes one. 0, or negative errno with `error` filled. */
	int (*create)(const char *argument, const struct handler_config *config,
		      struct handler **handler_out, struct tp_error *error);
	void (*destroy)(struct handler *handler);
	/* A request is there. It may do all that advance may. */
	void (*begin)(struct handler *handler, struct exchange *exchange,
		      const struct request *request);
	/* Goes on, as far as it can. */
	void (*advance)(struct handler *handler, struct exchange *exchange);
	/*
	 * The exchange is over, finished or cut short by its connection; whatever the handler keeps
	 * for it is released. NULL if it keeps nothing.
	 */
	void (*end)(struct handler *handler, struct exchange *exchange);
	/*
	 * Called once a turn, for deadlines; returns when it is to be called at the latest, ns, or
	 * TIMER_NEVER. NULL if it has none.
	 */
	uint64_t (*upkeep)(struct handler *handler, uint64_t now_ns);
};

/* Whether a codec may answer runs of requests by itself. */
enum handler_answers {
	ANSWERS_ITS_OWN, /* no: they are made one by one */
	ANSWERS_ALIKE,	 /* 200, response_bytes of FRAME_FILL_BYTE, the request's body dropped */
	ANSWERS_BODIES,	 /* 200, the request's own body */
};

struct handler {
	const struct handler_ops *ops;
	enum handler_answers answers;
	uint32_t response_bytes; /* ANSWERS_ALIKE */
};

/*
 * The ops that a handler's text names, and what stands behind its ':' (NULL if nothing does); NULL
 * if unknown.
 */
const struct handler_ops *handler_find(const char *spec, const char **argument_out);

/*
 * Judges a handler as somebody wrote it, e.g. "static:/srv/www". 0; -ENOENT for an unknown name,
 * -EINVAL for an argument that is wrong, with `error` naming what is accepted.
 */
int handler_check(const char *spec, struct tp_error *error);

/* The same of its text alone: a folder that it names need not be there. */
int handler_check_text(const char *spec, struct tp_error *error);

/* Body bytes of each answer of one that was checked and fills them: its own, else `bytes`. */
uint32_t handler_fill_bytes(const char *spec, uint32_t bytes);
/* Whether it is a handler that passes requests on and names nobody to whom. */
bool handler_wants_upstream(const char *spec);

/* Makes it. 0, or negative errno with `error` filled. */
int handler_create(const char *spec, const struct handler_config *config,
		   struct handler **handler_out, struct tp_error *error);

/* What handler_check accepts, for messages. */
extern const char handler_usage[];

#endif
