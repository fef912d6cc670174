/*
 * serve: the server program: what it is told, and one worker of it.
 *
 * The main thread parses flags, starts the workers one after the other, and then only waits for
 * signals. Each worker owns a turner (apps/serve/turner.h) and copies its accounts out when it is
 * asked (apps/common/worker.h).
 */
#ifndef WEIR_APPS_SERVE_H
#define WEIR_APPS_SERVE_H

#include "apps/common/config.h"
#include "apps/common/routes.h"
#include "apps/common/segments.h"
#include "apps/common/stack.h"
#include "apps/common/worker.h"
#include "dataplane/core/clock.h"
#include "dataplane/pipeline/codec.h"
#include "dataplane/pipeline/server.h"

#include <jansson.h>

/* Time that draining may take, ns. */
#define SERVE_DRAIN_NS (5ull * CLOCK_SECOND_NS)

struct serve_options {
	struct config config;
	bool check; /* say what is effective, and end */
	struct stack_options stack;
	struct tp_addr listen;
	unsigned protocol; /* index in codec_names */
	struct delivery delivery;
	const char *delivery_name;
	const char *handler; /* as written; NULL where routes say it, or with `bare` */
	struct routes routes;
	uint32_t response_bytes;
	const char *upstream; /* as behind "proxy:"; NULL if none */
	uint32_t body_max;    /* bytes of a request's body */
	struct timeouts timeouts;
	struct http1_limits http_limits;
	unsigned http_parser;	/* index in serve_parser_names */
	unsigned http_scan;	/* index in serve_scan_names */
	const char *scan;	/* what became of it; NULL where nothing is to be scanned */
	bool bare;		/* the stack's bare echo instead of the pipeline */
	uint32_t request_bytes; /* bare: body bytes of each request */
	uint32_t conn_max;
	uint32_t recv_bytes; /* memory of one connection */
	uint32_t send_bytes;
	char listen_text[TP_ADDR_TEXT];
	/* made as it starts */
	json_t *effective; /* the configuration, and the source of each value; owned */
	json_t *sources;
	json_t *memory;	   /* what became of --membind; owned */
	const char *nonce; /* what whoever started it wants to hear again; NULL if nothing */
};

extern const char *const serve_parser_names[]; /* "views", "owned"; ended by NULL */

/*
 * serve's flags, in a table of the program's one server; `options_out` is what the table writes.
 */
struct flags serve_flags(struct serve_options **options_out);

/*
 * Makes the parts of the configuration that hang together agree. Nothing is taken that other
 * processes could miss. 0, or negative errno with `error` filled.
 */
int serve_resolve(struct serve_options *options, struct flags *flags, struct tp_error *error);

/*
 * Whether handler or routes answer, by which of them stands on the higher layer; the other is
 * dropped. 0, or -EINVAL with `error` filled.
 */
int serve_resolve_answer(struct serve_options *options, struct flags *flags,
			 struct tp_error *error);

/* The environment's name for the nonce. */
#define SERVE_NONCE "WEIR_NONCE"

/*
 * What a worker copies out, or the sum over workers. Of the server's counters a bare echo keeps
 * requests, responses and connections.
 */
struct serve_copy {
	struct stack_copy transport;
	struct server_counters server;
};

struct serve_worker {
	struct worker worker; /* first */
	const struct serve_options *options;
	uint32_t capabilities; /* enum tp_capability; valid once ready */
	/* The worker's until it has answered, then the main thread's until it asks again. */
	struct serve_copy copy;
	/* What of the device was removed if it stopped for that, else NULL; valid once joined. */
	const char *gone_part;
	bool drained; /* every connection ended within the bound; valid once joined */
};

/* What the kernel's TCP counted, or why that is not known. */
struct serve_segments {
	int code; /* negative errno, or 0 */
	struct segments sum;
};

/* A worker's body: opens, listens, serves until stopped, drains. */
void serve_worker_run(struct worker *worker);

void serve_copy_add(struct serve_copy *sum, const struct serve_copy *copy);

/*
 * Whether a spinning worker shares its CPU with the kernel's thread that polls for it (sqpoll):
 * each then waits for the time slice that the other spends on finding nothing.
 */
bool serve_polls_itself(const struct serve_options *options);

/* The object of the line `final`. */
json_t *serve_copy_to_json(const struct serve_options *options, const struct serve_copy *sum);

/*
 * The object of the line `snapshot`: the same, and what lives as long as the workers and their
 * connections do.
 */
json_t *serve_snapshot_to_json(const struct serve_options *options, const struct serve_copy *sum,
			       const struct serve_worker *workers,
			       const struct serve_segments *segments);

/* The object of the line `ready`. */
json_t *serve_ready_to_json(const struct serve_options *options,
			    const struct serve_worker *workers);

/* The ready line's "link": how clients reach it, as far as that is known here. */
void serve_add_link(json_t *object, const struct serve_options *options);

/* The summary for people. */
void serve_print_summary(const struct serve_options *options, const struct serve_copy *sum);

#endif
