/*
 * result: result.json of one sample, from what server and client said.
 *
 * Everything in it is of the measured window only: counters are the difference of two snapshots of
 * the server. What is not known is null with its reason beside it, never 0.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_RESULT_H
#define WEIR_RUN_RESULT_H

#include "apps/run/plan/plan.h"
#include "apps/run/sample/watch.h"

#define RESULT_SCHEMA "weir.sample/1"

enum { RESULT_HITS_BYTES = 256 }; /* of what result_lacks_hits says */

/* One of several load generators; all lent. */
struct result_client {
	const char *name;	 /* "client 2" */
	const struct cpus *cpus; /* one a worker */
	const json_t *json;	 /* its own client.json; NULL if it left none */
};

/* All lent. The JSON values may be NULL where they are lacking. */
struct result_parts {
	const struct plan_sample *sample;
	json_t *reasons; /* why the sample is invalid; more may be added */
	const char *started_at;
	double duration_s; /* of the window, as asked for; 0: not judged */
	double ready_ms;   /* from start to the ready line; negative if it never came */
	json_t *ready;
	json_t *before;		 /* snapshots of the server as the window began */
	json_t *after;		 /* and as it ended */
	json_t *upstream_before; /* likewise of the upstream, where there is one */
	json_t *upstream_after;
	json_t *client; /* client.json; of several what they come to together */
	const struct result_client *clients; /* of several each by itself; NULL for a single one */
	unsigned client_count;
	const struct watch *watch; /* what the runner saw; NULL: nothing */
};

/* A new reference. */
json_t *result_make(const struct result_parts *parts);

/*
 * Whether a server's cache fetched answers in the window and had not one hit; then `text` says so,
 * for who expected a cache's figures.
 */
bool result_lacks_hits(const json_t *result, char *text, size_t text_bytes);

/*
 * The client's part alone, of its client.json (NULL: it left none): what it cost, on its CPUs, and
 * what it suffered there. A new reference.
 */
json_t *result_client(const json_t *client_json);

/*
 * The server's part alone: differences and ratios of two snapshots, of a server of so many workers
 * that holds so many CPUs (its workers' and those of threads that work for them); a new reference.
 */
json_t *result_server(const json_t *before, const json_t *after, unsigned workers, unsigned cpus);

/*
 * What both sides were told of TLS and what they negotiated; adds to the sample's reasons where
 * they negotiated nothing or not the same. A new reference.
 */
json_t *result_tls(const struct result_parts *parts);

#endif
