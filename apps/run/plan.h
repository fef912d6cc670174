/*
 * plan: an experiment's samples in the order they are carried out.
 *
 * The factors span a grid, the last one fastest; excluded cells are left out. Every cell is
 * measured once a run. The order differs from run to run, so that a slow phase of the host does not
 * always meet the same cells.
 *
 * Owned by the caller from make to free; refers to the experiment, which must live longer. Plane:
 * setup.
 */
#ifndef WEIR_RUN_PLAN_H
#define WEIR_RUN_PLAN_H

#include "apps/run/experiment.h"
#include "apps/run/hosts.h"
#include "apps/run/link.h"
#include "apps/run/pins.h"
#include "apps/run/program.h"
#include "dataplane/pipeline/wait.h"

enum { PLAN_ID_BYTES = 16 };

struct plan_cell {
	struct cell
		cell; /* waits, client_stack, echo's response_bytes: effective, not as written */
	char wait_text[WAIT_TEXT]; /* what the cell's words may lie in */
	char client_wait_text[WAIT_TEXT];
	char variant[SETTING_TEXT_BYTES];
	const struct link *link;
	const struct program *program; /* that serves; the ground's */
	struct pins pins;
};

struct plan_sample {
	char id[PLAN_ID_BYTES];		      /* "s0001" */
	char folder[SETTING_TEXT_BYTES + 32]; /* "samples/s0001-epoll@loopback.coalesce.d8" */
	unsigned order_index;		      /* from 0 */
	unsigned run;			      /* from 1 */
	const struct plan_cell *cell;
	json_t *server_argv; /* texts, argv[0] included */
	json_t *client_argv;
	const json_t *env; /* of both; the plan's */
};

struct plan {
	const struct experiment *experiment;
	json_t *env; /* of every process that a sample starts */
	struct plan_cell *cells;
	unsigned cell_count;
	struct plan_sample *samples;
	unsigned sample_count;
	const char *degraded; /* static; NULL if every cell has the cores it should have */
};

/* What of the host the argument lists need. */
struct plan_ground {
	const struct topology *topology;
	const char *socket_folder; /* where stacks that need one keep a socket file */
	uint16_t port;		   /* free on the loopback */
	unsigned long hugepages_free_mib;
	const char *run_id; /* short; no other run on this host has it */
	/* One for each of the experiment's builds, the runner's own first; outlive the plan. */
	const struct program *programs;
	const struct hosts *hosts; /* where server and clients run; NULL: all on this one */
};

/* 0; or -EINVAL with everything that stands in the way in `problems`. */
int plan_make(const struct experiment *experiment, const struct plan_ground *ground,
	      struct plan **plan_out, struct problems *problems);

/*
 * A variant that two cells have, or NULL: values that differ in signs only, like "a=b-c" and
 * "a-b=c", would share one folder.
 */
const char *plan_find_twin(const struct plan *plan);

/* Letters of the longest variant. */
unsigned plan_variant_width(const struct plan *plan);

/* NULL is fine. */
void plan_free(struct plan *plan);

/*
 * Position in the run's order -> cell, for `cells` cells; run counts from 0. `order_out` has room
 * for all.
 */
void plan_order(enum experiment_order order, uint64_t seed, unsigned runs, unsigned run,
		unsigned cells, unsigned *order_out);

/*
 * How long the plan should take, from its windows and the usual cost of starting and stopping,
 * seconds.
 */
double plan_estimate_s(const struct plan *plan);

/* plan.json; a new reference. */
json_t *plan_to_json(const struct plan *plan);

#endif
