/*
 * stamp: what plan.json says beyond the plan: where it was carried out, by which programs, and what
 * it goes on with or repeats.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_STAMP_H
#define WEIR_RUN_STAMP_H

#include "apps/run/others.h"
#include "apps/run/store/ground.h"
#include "apps/run/plan/plan.h"

/* The programs as plan.json lists them: [{variant, sha256}, ...]; a new reference. */
json_t *stamp_programs(const struct plan *plan, const struct program *programs);

/* plan.json of a run that begins: the plan, its ground, its programs and what references to commits
 * meant, and who else is busy. */
json_t *stamp_make(const struct plan *plan, const struct ground *ground,
		   const struct program *programs, const struct others *others);

/*
 * Enters into a plan.json that is gone on with when, from which sample, who is busy, and what of
 * the processes' environment is not as it was.
 */
void stamp_resumed(json_t *plan_json, const char *from_sample, const struct others *others,
		   json_t *environment);

/*
 * Enters into either who was busy on the machines of `hosts` that are not this one; nothing for
 * NULL.
 */
void stamp_hosts(json_t *plan_json, const struct hosts *hosts);

#endif
