/*
 * experiment: an experiment's description, read and judged.
 *
 * A folder holds experiment.json (docs/experiments.md). Everything that can be wrong with it is
 * found here, before anything runs: each problem is a line that names the file, line and column,
 * what was given, and what is accepted.
 *
 * Owned by the caller from read to free. Plane: setup.
 */
#ifndef WEIR_RUN_EXPERIMENT_H
#define WEIR_RUN_EXPERIMENT_H

#include "apps/common/problems.h"
#include "apps/common/routes.h"
#include "apps/run/experiment/axis.h"
#include "apps/run/experiment/experiment_changes.h"
#include "apps/run/experiment/order.h"
#include "apps/run/experiment/upstream.h"

#include <limits.h>

#define EXPERIMENT_SCHEMA "weir.experiment/1"

enum {
	EXPERIMENT_EXCLUDES_MAX = 64,
	EXPERIMENT_BUILDS_MAX = 16,
	EXPERIMENT_CLAIMS_MAX = 64,
	EXPERIMENT_RUNS_MAX = 1000,
	EXPERIMENT_SAMPLES_MAX = 9999,
};

/* What a variant's server is built from. The first of an experiment is the runner's own program. */
struct build {
	const char *variant; /* the first variant that asks for it; NULL: the runner's own */
	const char *commit;  /* as written: a tag, a branch, a hash; NULL: the runner's own */
	const char *options; /* meson's, as written, parted by blanks: "-During=disabled"; or "" */
	const char *c_args;  /* the compiler's, as written: "-march=native"; or "" */
};

/* A cell is excluded if it has all these values and levels. */
struct exclude {
	uint32_t mask; /* bit (1 << enum setting_id) */
	struct cell cell;
	const char *scenario; /* lent by the JSON; NULL: any */
	const char *variant;
};

/* Windows and runs by a name; what the experiment says itself wins over them. */
enum experiment_form {
	EXPERIMENT_FORM_NONE, /* neither a form nor a profile is asked for */
	EXPERIMENT_FORM_FULL,
	EXPERIMENT_FORM_SHORT,
	EXPERIMENT_FORM_AUTO, /* full, or short where the host's cores do not suffice */
};

struct experiment {
	char path[PATH_MAX]; /* of experiment.json */
	char *text;	     /* its content, ended by a NUL */
	size_t text_bytes;
	json_t *json;  /* as parsed, changes made */
	json_t *names; /* of the scenarios that profiles made */
	const char *name;
	const char *question; /* "" if not given */
	struct cell fixed;    /* of every setting; an axis that sets it goes before */
	struct axis axes[AXIS_COUNT_MAX];
	unsigned axis_count; /* factors as in the file, then scenarios, then variants */
	struct exclude excludes[EXPERIMENT_EXCLUDES_MAX];
	unsigned exclude_count;
	struct build builds[EXPERIMENT_BUILDS_MAX];
	unsigned build_count; /* at least 1 */
	struct upstream upstream;
	const char *server_config; /* a configuration of every server; NULL: none */
	struct routes routes;	   /* which it says; none: the handler answers every path */
	json_t *files; /* what servers are given: [{path, bytes, sha256}, ...] of its folder */
	struct order order;
	enum experiment_form form;
	const char *gate;      /* the kind of gate that the report applies; NULL: none is stated */
	unsigned claim_count;  /* claims that the report evaluates */
	unsigned claims_taken; /* those left out: the command line took a level away from them */
	/* As the file says, or by default; of a plan's experiment, what is done. */
	unsigned runs;
	uint64_t warmup_ns;
	uint64_t duration_ns;
	const char *warmup; /* as written */
	const char *duration;
};

/*
 * Reads `path`, a folder or the file itself, with `changes` (NULL: none) made to what it says. 0;
 * or -EINVAL with everything that is wrong in `problems`, and nothing to free.
 */
int experiment_read(const char *path, const struct experiment_changes *changes,
		    struct experiment **experiment_out, struct problems *problems);

/*
 * The same for a description that a program composed: `name` stands for its path in messages, and
 * `text` is copied.
 */
int experiment_compose(const char *name, const char *text, struct experiment **experiment_out,
		       struct problems *problems);

/* NULL is fine. */
void experiment_free(struct experiment *experiment);

/* The axis of this kind, which is not that of factors; NULL if there is none. */
const struct axis *experiment_axis(const struct experiment *experiment, enum axis_kind kind);

/* "full", "short" or "auto"; NULL for none. */
const char *experiment_form_name(enum experiment_form form);

#endif
