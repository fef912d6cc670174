/*
 * experiment_changes: what the command line says in place of an experiment's file.
 *
 * They are made to the JSON before it is judged, so that what was carried out can be written down
 * as one description, and judged the same when it is read again.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_EXPERIMENT_CHANGES_H
#define WEIR_RUN_EXPERIMENT_CHANGES_H

#include "apps/common/problems.h"

#include <jansson.h>

enum {
	EXPERIMENT_OVERRIDES_MAX = 32,
	EXPERIMENT_VARIANTS_MAX = 16,
};

/* All texts are lent. */
struct experiment_changes {
	const char *overrides[EXPERIMENT_OVERRIDES_MAX]; /* KEY=VALUE */
	unsigned override_count;
	const char *variants[EXPERIMENT_VARIANTS_MAX]; /* NAME=COMMIT; the last of a name counts */
	unsigned variant_count;
	const char *profiles; /* "A,B", in place of the file's; NULL: the file's */
};

/* Makes them. 0, or -EINVAL with what is no change at all in `problems`. */
int experiment_changes_make(const struct experiment_changes *changes, json_t *json,
			    struct problems *problems);

#endif
