/*
 * axis_judge: the part of an experiment that says what is fixed and what varies.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_AXIS_JUDGE_H
#define WEIR_RUN_AXIS_JUDGE_H

#include "apps/run/experiment/complaint.h"
#include "apps/run/experiment/profile.h"

/*
 * Reads fixed, factors, scenarios, profiles, variants and excludes into the experiment. A setting
 * stands in one of them. Every size in words becomes its number in the JSON, so that all who read
 * what was in effect find that.
 */
void axis_judge_all(const struct judge *judge, const struct profile_matrix *matrix);

#endif
