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

/* What becomes of a level that something else of the experiment names. */
enum level_found {
	LEVEL_FOUND,
	LEVEL_TAKEN, /* it was in the file; the command line took it away */
	LEVEL_WRONG, /* a problem says why */
};

/*
 * Looks for the level `name` of scenarios or variants, as `key` ("scenario", "variant") says. If
 * there is no such axis, `so` says what follows from it.
 */
enum level_found axis_judge_name(const struct judge *judge, struct way way, const char *key,
				 const char *name, const char *so);

/* Reads a level's value of a setting. False, and a problem, if it is none. */
bool axis_judge_value(const struct judge *judge, struct way way, enum setting_id id,
		      const json_t *json, struct setting_value *value_out);

/* Whether the factor has the level. */
bool axis_factor_has(const struct axis *factor, struct setting_value value);

#endif
