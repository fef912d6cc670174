/*
 * grid: every cell that an experiment's axes span, the last axis running fastest.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_GRID_H
#define WEIR_RUN_GRID_H

#include "apps/run/experiment/experiment.h"
#include "dataplane/transport/error.h"

/* Cells, excluded ones too, that are looked at. */
enum { GRID_MAX = 1000 * 1000 };

struct grid_cell {
	struct cell cell;
	const struct axis_level *levels[AXIS_COUNT_MAX]; /* one of each axis */
	const char *scenario;				 /* NULL without that axis */
	const char *variant;
	unsigned build;
	bool of_profile, of_matrix; /* as of a level */
};

/* Cells of the full grid; more than GRID_MAX is told as one beyond it. */
unsigned grid_size(const struct experiment *experiment);

/* The cell at `index` of the full grid. */
void grid_at(const struct experiment *experiment, unsigned index, struct grid_cell *cell_out);

bool grid_is_excluded(const struct experiment *experiment, const struct grid_cell *cell);

/*
 * The cell's name: the values of its factors, then its scenario and its variant, joined by dots;
 * its stack if nothing varies. 0, or -EINVAL with `error` filled if that is too long for a folder's
 * name.
 */
int grid_name(const struct experiment *experiment, const struct grid_cell *cell,
	      char name[SETTING_TEXT_BYTES], struct tp_error *error);

#endif
