/*
 * stamp: what plan.json says beyond the plan: where it was carried out, by which programs, and what
 * it goes on with or repeats.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_STAMP_H
#define WEIR_RUN_STAMP_H

#include "apps/run/others.h"
#include "apps/run/ground.h"
#include "apps/run/plan.h"

/* The programs as plan.json lists them: [{variant, sha256}, ...]; a new reference. */
json_t *stamp_programs(const struct plan *plan, const struct program *programs);

/* plan.json of a run that begins: the plan, its ground, its programs and what references to commits
 * meant, and who else is busy. */
json_t *stamp_make(const struct plan *plan, const struct ground *ground,
		   const struct program *programs, const struct others *others);

/* Enters into a plan.json that is gone on with when, from which sample, and who is busy. */
void stamp_resumed(json_t *plan_json, const char *from_sample, const struct others *others);

#endif
