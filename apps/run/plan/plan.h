/*
 * plan: an experiment's samples in the order they are carried out.
 *
 * The axes span a grid, the last one fastest; excluded cells are left out. Every cell is measured
 * once a run. The order differs from run to run, so that a slow phase of the host does not always
 * meet the same cells.
 *
 * Owned by the caller from make to free; refers to the experiment, which must live longer. Plane:
 * setup.
 */
#ifndef WEIR_RUN_PLAN_H
#define WEIR_RUN_PLAN_H

#include "apps/run/experiment/experiment.h"
#include "apps/run/hosts/hosts.h"
#include "apps/run/experiment/link.h"
#include "apps/run/plan/pins.h"
#include "apps/run/builds/program.h"
#include "dataplane/pipeline/wait.h"

#define PLAN_SCHEMA "weir.plan/1"

/* In an argument list in place of CPUs that are chosen once the hosts are asked. */
#define PLAN_CPUS_LATER "chosen-there"

enum { PLAN_ID_BYTES = 16, PLAN_DEGRADED_BYTES = 512 };

struct plan_cell {
	struct cell
		cell; /* waits, client_stack, echo's response_bytes: effective, not as written */
	char wait_text[WAIT_TEXT]; /* what the cell's words may lie in */
	char client_wait_text[WAIT_TEXT];
	char variant[SETTING_TEXT_BYTES];
	const char *scenario;	   /* its name; NULL if the experiment has no such axis */
	const char *variant_level; /* likewise the variant's alone */
	const struct link *link;
	bool client_fills;	   /* the client has all CPUs that are left to it */
	unsigned upstream_workers; /* of the server behind its server; 0: there is none */
	uint64_t kept;	/* connections that the server's handlers keep in each worker (argv_kept) */
	bool of_matrix; /* its workers are one of a profile's list of counts */
	unsigned build; /* which of the experiment's */
	const struct program *program; /* that serves; the ground's, NULL if that has none */
	struct pins pins; /* a side that has none gets its CPUs once the hosts are asked */
};

struct plan_sample {
	char id[PLAN_ID_BYTES];		      /* "s0001" */
	char folder[SETTING_TEXT_BYTES + 32]; /* "samples/s0001-epoll@loopback.coalesce.d8" */
	unsigned order_index;		      /* from 0 */
	unsigned run;			      /* from 1 */
	const struct plan_cell *cell;
	json_t *server_argv; /* texts, argv[0] included */
	json_t *client_argv;
	json_t *upstream_argv; /* NULL without one */
	const json_t *env;     /* of all; the plan's */
};

struct plan {
	/*
	 * As it is carried out here: windows and runs are settled, and so is its JSON, from which
	 * the same plan can be made again. Shares all else with that which the plan was made from.
	 */
	const struct experiment *experiment;
	const char *form_reason; /* static: why this form was chosen; NULL without one */
	json_t *omitted; /* [{what, why}, ...]: what a profile wants and this host has not */
	json_t *env;	 /* of every process that a sample starts */
	struct plan_cell *cells;
	unsigned cell_count;
	struct plan_sample *samples;
	unsigned sample_count;
	const char *degraded; /* NULL if every cell has the cores it should have */
	char degraded_text[PLAN_DEGRADED_BYTES]; /* what `degraded` may lie in */
};

/* What of the host the argument lists need. */
struct plan_ground {
	const struct topology *topology;
	const char *socket_folder; /* where stacks that need one keep a socket file */
	uint16_t port;		   /* free on the loopback */
	uint16_t upstream_port;	   /* likewise, and another */
	unsigned long hugepages_free_mib;
	const char *run_id; /* short; no other run on this host has it */
	/*
	 * One for each of the experiment's builds, the runner's own first; outlive the plan. NULL:
	 * it is not to be carried out.
	 */
	const struct program *programs;
	const struct hosts *hosts; /* where server and clients run; NULL: all on this one */
	bool elsewhere; /* the topology is another machine's, whose rights are not known */
};

/*
 * A plan to look at: 0, and what this host lacks to carry it out in `problems`; or -EINVAL if there
 * can be none, and why in `problems`, which are empty at first.
 */
int plan_sketch(const struct experiment *experiment, const struct plan_ground *ground,
		struct plan **plan_out, struct problems *problems);

/* A plan to carry out. 0; or -EINVAL with everything that stands in the way in `problems`. */
int plan_make(const struct experiment *experiment, const struct plan_ground *ground,
	      struct plan **plan_out, struct problems *problems);

/*
 * A variant that two cells have, or NULL: values that differ in signs only, like "a=b-c" and
 * "a-b=c", would share one folder.
 */
const char *plan_find_twin(const struct plan *plan);

/* Letters of the longest variant. */
unsigned plan_variant_width(const struct plan *plan);

/* Whether some CPUs are chosen once the hosts are asked, so whether it is degraded as well. */
bool plan_waits_for_hosts(const struct plan *plan);

/* NULL is fine. */
void plan_free(struct plan *plan);

/*
 * How long the plan should take, from its windows and the usual cost of starting and stopping, the
 * servers' that parity asks included, seconds. Building variants is not counted.
 */
double plan_estimate_s(const struct plan *plan);

/* All settings, and the names of scenario and variant where there are such; a new reference. */
json_t *plan_cell_to_json(const struct plan_cell *cell);

/* plan.json; a new reference. */
json_t *plan_to_json(const struct plan *plan);

#endif
