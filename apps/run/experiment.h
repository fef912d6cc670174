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

#include "apps/run/problems.h"
#include "apps/run/setting.h"

#include <limits.h>

#define EXPERIMENT_SCHEMA "weir.experiment/1"

enum {
	EXPERIMENT_FILE_BYTES_MAX = 1024 * 1024,
	EXPERIMENT_LEVELS_MAX = 64, /* of one factor */
	EXPERIMENT_EXCLUDES_MAX = 64,
	EXPERIMENT_BUILDS_MAX = 16,
	EXPERIMENT_OVERRIDES_MAX = 32,
	EXPERIMENT_RUNS_MAX = 1000,
	EXPERIMENT_SAMPLES_MAX = 9999,
};

enum experiment_order {
	EXPERIMENT_ROTATE,  /* each run begins further on in the list of cells */
	EXPERIMENT_SHUFFLE, /* each run has its own order, drawn from the seed */
	EXPERIMENT_ABBA,    /* every second run goes backwards, so that neighbours swap places */
};

struct factor {
	enum setting_id setting;
	unsigned count;
	struct setting_value levels[EXPERIMENT_LEVELS_MAX];
};

/* What a variant's server is built from. The first of an experiment is the runner's own program. */
struct build {
	const char *variant; /* the first variant that asks for it; NULL: the runner's own */
	const char *commit;  /* as written: a tag, a branch, a hash; NULL: the runner's own */
	const char *options; /* meson's, as written, parted by blanks: "-During=disabled"; or "" */
	const char *c_args;  /* the compiler's, as written: "-march=native"; or "" */
};

/* A cell is excluded if all settings in `mask` have these values. */
struct exclude {
	uint32_t mask; /* bit (1 << enum setting_id) */
	struct cell cell;
};

struct experiment {
	char path[PATH_MAX]; /* of experiment.json */
	char *text;	     /* its content, ended by a NUL */
	size_t text_bytes;
	json_t *json; /* as parsed, overrides applied */
	const char *name;
	const char *question; /* "" if not given */
	struct cell fixed;    /* every setting that no factor varies */
	struct factor factors[SETTING_COUNT];
	unsigned factor_count;
	struct exclude excludes[EXPERIMENT_EXCLUDES_MAX];
	unsigned exclude_count;
	struct build builds[EXPERIMENT_BUILDS_MAX];
	unsigned build_count; /* at least 1 */
	unsigned runs;
	enum experiment_order order;
	uint64_t seed;
	uint64_t warmup_ns;
	uint64_t duration_ns;
	const char *warmup; /* as written */
	const char *duration;
};

/*
 * Reads `path`, a folder or the file itself, with `overrides` (KEY=VALUE) in place of what it says.
 * 0; or -EINVAL with everything that is wrong in `problems`, and nothing to free.
 */
int experiment_read(const char *path, const char *const *overrides, unsigned override_count,
		    struct experiment **experiment_out, struct problems *problems);

/*
 * The same for a description that a program composed: `name` stands for its path in messages, and
 * `text` is copied.
 */
int experiment_compose(const char *name, const char *text, struct experiment **experiment_out,
		       struct problems *problems);

/* NULL is fine. */
void experiment_free(struct experiment *experiment);

const char *experiment_order_name(enum experiment_order order);

#endif
