/*
 * kinds: one kind of cores for all cells of a plan.
 *
 * Each cell by itself gets the fastest kind that has room for it. Where that differs from cell to
 * cell, what is compared would be kinds of cores.
 *
 * Part of plan. Plane: setup.
 */
#ifndef WEIR_RUN_KINDS_H
#define WEIR_RUN_KINDS_H

#include "apps/run/plan/plan.h"

/*
 * Moves the plan's completed cells to the fastest kind of cores on which each has room, if they are
 * on several; where there is none, they stay, as do those on other hosts. Says in the plan whether
 * it is degraded.
 */
void kinds_settle(struct plan *plan, const struct plan_ground *ground);

#endif
