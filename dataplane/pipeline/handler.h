/*
 * handler: what a request is answered with, behind one interface.
 *
 * The pipeline calls handlers through this and knows none of them by name, but for what each counts
 * (HANDLER_COUNTERS in server.h): results have all counters in one list. Those there are, and how a
 * text names one, stand in dataplane/handlers. A handler belongs to one worker's server and lives
 * as long; each keeps what it needs in a struct of its own that embeds struct handler first.
 *
 * Planes: create and destroy are setup, the rest is turn.
 */
#ifndef WEIR_PIPELINE_HANDLER_H
#define WEIR_PIPELINE_HANDLER_H

#include "dataplane/pipeline/exchange.h"
#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

struct handler;
struct conn_world;

/* What create is told, beside the text behind the name's ':'. */
struct handler_config {
	uint32_t response_bytes; /* respond and spin, where their text gives no other */
	/* proxy and cache, likewise; lent for the call; NULL: there is none */
	const char *upstream;
	struct conn_world *world; /* the server's, lent until destroy: transport, clock, upkeep */
};

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
	int (*judge)(const char *argument, struct tp_error *error);
	/*
	 * Connections of its own that one may have at a time, by its text, which was judged. NULL:
	 * none.
	 */
	uint32_t (*count_conns)(const char *argument);
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
	/*
	 * CHECKs the invariants, for tests: between turns, of what the handler keeps, or, with an
	 * exchange, of what it keeps for that. NULL if there is nothing to be said.
	 */
	void (*check)(const struct handler *handler, const struct exchange *exchange);
};

/* Whether a codec may answer runs of requests by itself. */
enum handler_runs {
	ANSWERS_ITS_OWN, /* no: they are made one by one */
	ANSWERS_ALIKE,	 /* 200, response_bytes of FRAME_FILL_BYTE, the request's body dropped */
	ANSWERS_BODIES,	 /* 200, the request's own body */
};

struct handler {
	const struct handler_ops *ops;
	enum handler_runs answers;
	uint32_t response_bytes; /* ANSWERS_ALIKE */
	uint32_t conn_max;	 /* connections of its own that it may have at a time */
};

/*
 * How many of so many connections are for clients. What handlers need is kept for them, else
 * clients that do nothing but stay could have all; but half is the clients' in any case.
 */
static inline uint32_t handler_clients(uint32_t conn_max, uint64_t kept)
{
	return kept < conn_max / 2 ? conn_max - (uint32_t)kept : conn_max - conn_max / 2;
}

#endif
