/*
 * axis: what varies in an experiment, level by level.
 *
 * A factor varies one setting. The levels of the two other kinds have names: a scenario is a set of
 * settings, a variant a build of the server and perhaps settings. A level says which settings it
 * sets; what it leaves out is as in the experiment's fixed part.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_AXIS_H
#define WEIR_RUN_AXIS_H

#include "apps/run/experiment/setting.h"

enum {
	AXIS_LEVELS_MAX = 64,
	AXIS_COUNT_MAX = SETTING_COUNT + 2, /* a factor for each setting, scenarios, variants */
	AXIS_NAME_BYTES = 33,		    /* of a scenario or a variant, end included */
};

enum axis_kind {
	AXIS_FACTOR,
	AXIS_SCENARIOS,
	AXIS_VARIANTS,
};

struct axis_level {
	const char *name; /* lent by the experiment's JSON or its profiles; NULL in a factor */
	uint32_t mask;	  /* which settings it sets: bit (1 << enum setting_id) */
	struct cell cell; /* their values */
	unsigned build;	  /* of a variant: which of the experiment's builds; else 0 */
	bool of_profile;  /* what it asks for is lowered to what the host has */
	bool of_matrix;	  /* likewise, and its workers are one of a list of counts */
};

struct axis {
	enum axis_kind kind;
	enum setting_id setting; /* of a factor */
	unsigned count;
	struct axis_level levels[AXIS_LEVELS_MAX];
};

/* "scenario" or "variant", as excludes and cells call a level; NULL for a factor. */
const char *axis_key(const struct axis *axis);

/* The level of this name, or NULL. */
const struct axis_level *axis_find(const struct axis *axis, const char *name);

/* Whether any level sets this setting. */
bool axis_varies(const struct axis *axis, enum setting_id id);

/* Whether a level sets it to this value; one that leaves it out has `otherwise`. */
bool axis_has(const struct axis *axis, enum setting_id id, struct setting_value value,
	      struct setting_value otherwise);

/* Writes the settings that the level sets into the cell. */
void axis_apply(const struct axis_level *level, struct cell *cell);

#endif
