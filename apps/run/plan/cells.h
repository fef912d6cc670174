/*
 * cells: what a plan measures, made of the grid of an experiment's axes and of this host.
 *
 * Part of plan. Plane: setup.
 */
#ifndef WEIR_RUN_CELLS_H
#define WEIR_RUN_CELLS_H

#include "apps/run/plan/plan.h"

/*
 * Makes the plan's cells, and says in it what is omitted and whether it is degraded. What makes a
 * plan impossible becomes a problem; what only this host lacks at the moment goes to `lacks`.
 */
void cells_make(struct plan *plan, const struct plan_ground *ground, struct problems *problems,
		struct problems *lacks);

/*
 * Names the first two cells that come to the same: measured as two, they would be compared with
 * neither each other nor any third.
 */
void cells_find_same(const struct plan *plan, struct problems *problems);

/*
 * Asks this host once for each stack that a cell has on one of its sides, and whether it lets this
 * process make pairs of interfaces, if a cell needs them.
 */
void cells_check_hosts(const struct plan *plan, const struct plan_ground *ground,
		       struct problems *problems);

#endif
