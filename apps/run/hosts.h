/*
 * hosts: where server and clients of an experiment run, if not all here.
 *
 * The experiment's "hosts" names the server's host and one for each client; each may be this one.
 * They are reached through ssh (remote.h), prepared once a run, and cleared at its end. The clients
 * share a cell's connections between them.
 *
 * Owned by the caller from create to destroy; refers to the experiment's JSON, which must live
 * longer. Legal order: create, open, revive*, destroy. Plane: setup.
 */
#ifndef WEIR_RUN_HOSTS_H
#define WEIR_RUN_HOSTS_H

#include "apps/run/pins.h"
#include "apps/run/problems.h"
#include "apps/run/remote.h"

#include <stdio.h>

enum {
	HOSTS_CLIENTS_MAX = 16,
	HOSTS_LOSSES_MAX = 3, /* of one host in a row, then the run gives up */
};

struct hosts {
	struct remote server;
	unsigned client_count;
	struct remote clients[HOSTS_CLIENTS_MAX];
	struct remote_wish server_wish;
	struct remote_wish client_wishes[HOSTS_CLIENTS_MAX];
	/* once open; lent */
	const struct program *programs; /* the runner's own first */
	unsigned program_count;
	const char *run_id;
};

/*
 * Judges the value of "hosts" in an experiment; every problem names its place in `text`, which is
 * that of the file `path`.
 */
void hosts_judge(const json_t *json, const char *path, const char *text, struct problems *problems);

/*
 * From JSON that was judged; connects to nobody. NULL for NULL, an experiment on this host alone,
 * and for want of memory.
 */
struct hosts *hosts_create(const json_t *json);

/*
 * Connects to each host that is not this one and prepares it; the server's is asked whether it can
 * listen on `port`. 0, or negative errno with `error` filled.
 */
int hosts_open(struct hosts *hosts, const char *run_id, const struct program *programs,
	       unsigned program_count, uint16_t port, struct interrupt *interrupt,
	       struct tp_error *error);

/* Clears every host and frees. NULL is fine. */
void hosts_destroy(struct hosts *hosts);

/* The server's host for 0, the clients' from 1, NULL behind the last. */
const struct remote *hosts_nth(const struct hosts *hosts, unsigned index);

/* IP at which the server listens; lent. */
const char *hosts_address(const struct hosts *hosts);

/*
 * The CPUs of the server and of the first client: those that the experiment names, or from what the
 * hosts have, or before they were asked, the first ones. 0, or -ENOSPC with `error` filled.
 */
int hosts_pins(const struct hosts *hosts, unsigned workers, unsigned client_workers,
	       struct pins *pins_out, struct tp_error *error);

/* Workers of all clients together. */
unsigned hosts_client_workers(const struct hosts *hosts, unsigned workers);

/*
 * The argument list of the client `index`, from that of a single one: its own share of the
 * connections, its workers, CPUs and files, and, if there are several, that it waits for the
 * others. A new reference.
 */
json_t *hosts_client_argv(const struct hosts *hosts, unsigned index, const json_t *argv,
			  unsigned workers);

/* "clients/2/" before the name of a file of the client `index`, or "" for a single one. */
const char *hosts_client_prefix(const struct hosts *hosts, unsigned index, char prefix[32]);

/*
 * Opens anew what was lost before. 0; or negative errno with `error` filled, and the host counted
 * as lost once more.
 */
int hosts_revive(struct hosts *hosts, struct interrupt *interrupt, struct tp_error *error);

/* A sample went well as far as the hosts are concerned. */
void hosts_keep(struct hosts *hosts);

/* The host that was lost too often in a row, or NULL. */
const struct remote *hosts_given_up(const struct hosts *hosts);

/* A sign of life to every host. */
void hosts_beat(struct hosts *hosts);

/*
 * hosts.json: what each is, how they differ, and how far their clocks are apart; a new reference.
 */
json_t *hosts_to_json(const struct hosts *hosts);

/* What of it every result.json says; a new reference. */
json_t *hosts_stamp(const struct hosts *hosts);

/* One line for each difference that bears on a comparison, on `to`. */
void hosts_print(const struct hosts *hosts, FILE *to);

#endif
