/*
 * origin: an earlier result directory that a run goes on with or repeats.
 *
 * To go on (--resume) is to measure what lacks a valid result, under the run id and the port of
 * before, so that the plan stays true word for word; everything must be as it was. To repeat is to
 * carry the same plan out once more into a directory of its own; what may differ is stamped.
 *
 * Owned by the caller from open to close. Plane: setup.
 */
#ifndef WEIR_RUN_ORIGIN_H
#define WEIR_RUN_ORIGIN_H

#include "apps/run/store/ground.h"
#include "apps/run/plan/plan.h"

struct origin {
	char path[PATH_MAX]; /* of the directory, whole or partial */
	bool resumes;	     /* else it is repeated */
	bool whole;
	char run_id[RUN_ID_BYTES];
	uint16_t port;
	uint16_t upstream_port; /* 0: it had no upstream */
	char *text;		/* of its experiment.json */
	size_t text_bytes;
	json_t *plan;	     /* plan.json */
	json_t *host;	     /* host.json */
	json_t *hosts;	     /* hosts.json; NULL without */
	json_t *differences; /* {what, was, now} each: what a repeat is stamped with */
	json_t *environment; /* of these, what differs in the processes' environment */
};

/* Whether there is a result directory at `path`, whole or not: it has a plan. */
bool origin_is_result(const char *path);

/*
 * Finds in `folder` the newest .partial of an experiment by its name; -ENOENT if there is none,
 * with `error` filled.
 */
int origin_find(const char *folder, const char *name, char path_out[PATH_MAX],
		struct tp_error *error);

/*
 * Reads it; a whole one must be as its manifest says. 0; or -EINVAL with what is wrong in
 * `problems` and nothing to close.
 */
int origin_open(struct origin *origin, const char *path, bool resumes, struct problems *problems);

void origin_close(struct origin *origin);

/* The experiment that it measured, overrides applied. As experiment_compose. */
int origin_experiment(const struct origin *origin, struct experiment **experiment_out,
		      struct problems *problems);

/* Which commits it measured, by the references that its experiment has for them: lent. NULL if it
 * does not say. */
const json_t *origin_commits(const struct origin *origin);

/* Whether it measured this experiment: the same file, the same settings; else `problems` say. */
bool origin_fits(const struct origin *origin, const struct experiment *experiment,
		 struct problems *problems);

/*
 * Gives the plan's processes what may be taken over of the environment of before
 * (environment_lend), and notes what differs all the same.
 */
void origin_lend_environment(struct origin *origin, struct plan *plan);

/*
 * Compares it with today: `plan` was made for its run id and port; `hosts`, NULL without, are
 * compared as far as they were asked. True if the run may be: then
 * `differences` has what a repeat is stamped with; of a run that is gone on with, the environment
 * alone may differ. Else `problems` say what stands in the way.
 */
bool origin_judge(struct origin *origin, const struct plan *plan, const struct program *programs,
		  const struct hosts *hosts, struct problems *problems);

/*
 * The valid results in the directory `path`, by sample id; of samples that the plan has, and that
 * are whole. A new reference.
 */
json_t *origin_kept(const struct origin *origin, const char *path);

/* The first sample that lacks a valid result; NULL if none does. */
const char *origin_first_lacking(const struct origin *origin, const json_t *kept);

/* plan.json's entry of what is repeated: {result, manifest_sha256, differences}; a new one. */
json_t *origin_to_json(const struct origin *origin);

#endif
