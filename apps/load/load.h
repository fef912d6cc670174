/*
 * load: the load program: what it is told, one worker of it, and what comes out.
 *
 * The main thread leads the workers through the phases: connect (every connection is opened),
 * warm-up, measure, drain (what is outstanding is answered, nothing new is sent), close.
 * Between two marks, at most half a second apart, a worker writes into a record of its own
 * (record.h); marks are also how a phase begins.
 */
#ifndef WEIR_APPS_LOAD_H
#define WEIR_APPS_LOAD_H

#include "apps/common/config.h"
#include "apps/common/stack.h"
#include "apps/common/worker.h"
#include "apps/load/client.h"
#include "apps/load/failure.h"
#include "apps/load/talk.h"
#include "dataplane/handlers/spec.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>

enum load_phase {
	LOAD_CONNECT,
	LOAD_WARMUP,
	LOAD_MEASURE,
	LOAD_DRAIN,
	LOAD_DONE,
};

/* "connect" */
const char *load_phase_name(enum load_phase phase);

struct load_options {
	struct config from; /* files of the server's configuration */
	struct stack_options stack;
	struct tp_addr connect;
	uint32_t connections;
	uint32_t depth;
	uint32_t request_bytes;
	const char *handler; /* as the server has it */
	uint32_t response_bytes;
	const char *expect_file; /* NULL: the handler says what responses are */
	unsigned protocol;	 /* index in codec_names */
	unsigned method;	 /* HTTP: enum http1_method, or TALK_METHOD_SUITABLE */
	const char *path;
	const char *host; /* NULL: the server's address */
	uint32_t expect_status;
	unsigned refill; /* enum client_refill */
	uint64_t warmup_ns;
	uint64_t duration_ns;
	uint64_t connect_timeout_ns;
	uint64_t stall_timeout_ns;
	bool hold;	  /* once connected, wait to be told that the others are */
	const char *json; /* NULL: not wanted; so the next two */
	const char *metrics;
	const char *hgrm;
	uint32_t digest; /* requests to be answered and hashed instead of a load; 0: none */
	/* made from the above */
	struct talk talk;
	const char *scan; /* how heads are scanned; NULL where nothing is to be scanned */
	uint32_t send_bytes;
	char warning[256]; /* what speaks against the run from the start; "" if nothing does */
	json_t *memory;	   /* what became of --membind; owned */
	json_t *sources;   /* of each value of the configuration; owned */
};

/* How far a worker has come, for the main thread's eyes. */
enum generator_stage {
	GENERATOR_CONNECTING,
	GENERATOR_CONNECTED,
	GENERATOR_RUNNING,
	GENERATOR_DRAINING,
	GENERATOR_DRAINED,
	GENERATOR_FAILED,
};

struct generator {
	struct worker worker; /* first */
	const struct load_options *options;
	uint32_t connections; /* this worker's share */
	atomic_uint stage;    /* enum generator_stage */
	/* written before a question */
	enum load_phase phase;
	struct record *next;
	/* written before the answer */
	struct record *ended;
	/* valid once joined */
	struct failures failures;
	struct client_counters counters;
};

/* A worker's body. */
void generator_run(struct worker *worker);

/* What a run came to. */
struct load_result {
	struct record *measured;
	struct failures failures;
	struct client_counters counters;
	bool interrupted;
	int signal_number; /* with interrupted */
	/* The client's own accounts as the window begins and ends; owned, NULL if lacking. */
	json_t *before;
	json_t *after;
	json_t *binding; /* its workers', as the window ended; likewise */
};

/* {"process", "cpu", "host"} as they are now. */
json_t *load_account(const struct load_options *options);

/*
 * Sets in the object of --json "process", "cpu" and "host" (what each grew by in the window, memory
 * as it stood), "cpus" and "binding"; null with the reason where the window was not whole.
 */
void load_add_accounts(json_t *object, const struct load_options *options,
		       const struct load_result *result);

/* Frees what a result owns. */
void load_result_fini(struct load_result *result);

/* Requests/s over the measured window; 0 for an empty one. */
double load_rps(const struct record *record);

/*
 * Whether the client's workers were busy for nearly all of the measured window, so that they
 * may have been the limit.
 */
bool load_saturated(const struct record *measured);

/* The summary for people, and each failure on stderr. */
void load_print_summary(const struct load_options *options, const struct load_result *result);
void load_print_failures(const struct load_result *result);

/* The object of --json. `config` is taken over. */
json_t *load_result_to_json(const struct load_options *options, const struct load_result *result,
			    json_t *config);

/* Writes the percentile spectrum of --hgrm. 0 or negative errno with `error` filled. */
int load_write_hgrm(const char *path, const struct histogram *histogram, struct tp_error *error);

/* --- the live view ---------------------------------------------------------------------------- */

struct progress {
	bool on_terminal; /* stderr is one: a line is kept there */
	bool shown;
	FILE *metrics;	   /* NULL if not wanted */
	uint64_t begin_ns; /* of the warm-up */
};

/* Opens the metrics file (appends) if wanted. 0 or negative errno with `error` filled. */
int progress_open(struct progress *progress, const char *metrics, struct tp_error *error);

/* Takes the line away, so that something else can be printed. */
void progress_clear(struct progress *progress);

/* Shows an interval of a phase. */
void progress_show(struct progress *progress, enum load_phase phase, const struct record *interval);

/* 0, or negative errno with `error` filled when the metrics could not be written whole. */
int progress_close(struct progress *progress, struct tp_error *error);

#endif
