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

#include "apps/run/plan/pins.h"
#include "apps/common/problems.h"
#include "apps/run/hosts/remote.h"

#include <stdio.h>

#define HOSTS_SCHEMA "weir.hosts/1"

enum {
	HOSTS_CLIENTS_MAX = 16,
	HOSTS_LOSSES_MAX = 3, /* of one host in a row, then the run gives up */
	HOSTS_BOOT_ID_BYTES = 48,
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
	char boot_id[HOSTS_BOOT_ID_BYTES]; /* this host's; "" if it is not known */
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
 * Connects to each host that is not this one and prepares it; takes the lock of runs on every
 * machine that is not this one; asks the server's host whether it can listen on `port`. 0; -EBUSY
 * if another run has such a machine, or another negative errno; with `error` filled.
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
 * Looks who else works on the machines that are not this one. 0, or negative errno with `error`
 * filled.
 */
int hosts_look(struct hosts *hosts, struct interrupt *interrupt, struct tp_error *error);

/* Whether others work on one of them, beyond what is borne here. */
bool hosts_disturbed(const struct hosts *hosts);

/* What was seen there: {NAME: as others_to_json, ...}, a new reference. */
json_t *hosts_busy(const struct hosts *hosts);

/* One line for each host on which others work, on `to`, behind `program`. */
void hosts_print_busy(const struct hosts *hosts, const char *program, FILE *to);

/*
 * The CPUs of the server and of the first client (hosts_pins.h): none where they are chosen once
 * the hosts are open. 0; or negative errno with `error` filled.
 */
int hosts_pins(const struct hosts *hosts, const struct topology *here, unsigned workers,
	       unsigned client_workers, struct pins *pins_out, struct tp_error *error);

/* Those of the client `index`, once the hosts are open. 0 or negative errno. */
int hosts_client_cpus(const struct hosts *hosts, unsigned index, unsigned workers,
		      unsigned client_workers, struct cpus *cpus_out);

/* Workers of all clients together. */
unsigned hosts_client_workers(const struct hosts *hosts, unsigned workers);

/*
 * The argument list of the client `index`, from that of a single one: its own share of the
 * connections, its workers, CPUs and files, and, if there are several, that it waits for the
 * others. A new reference.
 */
json_t *hosts_client_argv(const struct hosts *hosts, unsigned index, const json_t *argv,
			  unsigned workers, const struct cpus *cpus);

/* "clients/2/" before the name of a file of the client `index`, or "" for a single one. */
const char *hosts_client_prefix(const struct hosts *hosts, unsigned index, char prefix[32]);

/*
 * Opens anew what was lost before. 0; or negative errno with `error` filled, and the host counted
 * as lost once more.
 */
int hosts_revive(struct hosts *hosts, struct interrupt *interrupt, struct tp_error *error);

/* The host was lost in the sample that is being carried out; counted once a sample. */
void hosts_lose(struct remote *remote);

/*
 * The sample is over. If it was `carried_out`, not given up before its processes began, each host
 * that was not lost in it has no losses in a row.
 */
void hosts_end_sample(struct hosts *hosts, bool carried_out);

/* The host that was lost too often in a row, or NULL. */
const struct remote *hosts_given_up(const struct hosts *hosts);

/* A sign of life to every host. */
void hosts_beat(struct hosts *hosts);

/*
 * hosts.json: what each is, how they differ, and how far their clocks are apart; a new reference.
 */
json_t *hosts_to_json(const struct hosts *hosts);

/*
 * Adds to `differences` (differ.h) what of an earlier run's hosts.json is not so today; nothing as
 * long as the hosts are not open.
 */
void hosts_differ(const struct hosts *hosts, const json_t *was, json_t *differences);

/* What of it every result.json says; a new reference. */
json_t *hosts_stamp(const struct hosts *hosts);

/* One line for each difference that bears on a comparison, on `to`. */
void hosts_print(const struct hosts *hosts, FILE *to);

#endif
