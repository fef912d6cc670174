/*
 * session: one sample being carried out: its processes, and what was heard of them.
 *
 * sample.c begins and ends it, phases.c leads the processes through it, collect.c makes files and
 * the result of what they left. For these three alone.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_RUN_SESSION_H
#define WEIR_RUN_SESSION_H

#include "apps/run/sample/child.h"
#include "apps/run/store/directory.h"
#include "apps/run/hosts/hosts.h"
#include "apps/run/sample/interrupt.h"
#include "apps/run/plan/plan.h"
#include "apps/run/sample/readiness.h"
#include "apps/run/sample/watch.h"

enum {
	SESSION_SNAPSHOTS = WATCH_WINDOWS, /* as the measured window begins, and as it ends */
	SESSION_NAME_BYTES = SETTING_TEXT_BYTES + 96,
};

/* The measured server, or the upstream behind it. */
struct session_server {
	struct session *session;
	struct child child;
	uint64_t start_ns;
	uint64_t ready_ns;
	char *ready;			    /* the JSON behind its line, or NULL */
	char *snapshots[SESSION_SNAPSHOTS]; /* likewise */
	unsigned snapshot_count;
	bool snapshots_lack; /* one asked for never came, so which the others are is not known */
	bool blamed;	     /* for its end, already */
};

/* One load generator. */
struct session_client {
	struct session *session;
	unsigned index;
	struct child child;
	char name[32];	 /* "the client", "client 2" */
	char prefix[32]; /* before the names of its files in the sample's folder */
	json_t *argv;
	struct cpus cpus;    /* one a worker */
	char phase[16];	     /* its last but `done`: the one that it ended in */
	bool is_held;	     /* has connected and waits for the others */
	uint64_t measure_ns; /* when its window began, by our clock; 0: not yet */
	uint64_t drain_ns;   /* likewise, when it ended */
};

struct session {
	const struct plan_sample *sample;
	struct directory *directory;
	struct interrupt *interrupt;
	struct hosts *hosts; /* NULL: all is here */
	struct session_server server;
	struct session_server upstream; /* never started where the plan has none */
	unsigned client_count;
	struct session_client clients[HOSTS_CLIENTS_MAX];
	json_t *reasons;    /* why the sample is invalid */
	struct watch watch; /* read as the snapshots are asked for */
	char nonce[READINESS_NONCE_BYTES];
	uint64_t start_ns;
	uint64_t beat_ns; /* when the hosts last heard of us */
};

/* Adds a reason for which the sample is invalid. */
void session_invalidate(struct session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Starts the processes, leads them through warm-up and window of together `window_ns`, and ends
 * them all.
 */
void session_carry_out(struct session *session, uint64_t window_ns);

/* Brings the files that far clients left into the sample's folder. */
void session_fetch(struct session *session);

/* Writes warmup.log, once the clients' logs are closed. */
void session_write_warmup(const struct session *session);

/* Makes result.json's object, and for several clients their common client.json; a new reference. */
json_t *session_make_result(struct session *session, uint64_t duration_ns, const char *started_at);

/* The host that a process of the session is on; NULL if it is this one. */
struct remote *session_host_of(const struct session *session, const struct child *child);

#endif
