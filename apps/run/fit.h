/*
 * fit: whether a cell can be measured on this host with this build, and what it becomes there.
 *
 * What the experiment left to the program (a wait by default, a client like the server, an echo's
 * size) is replaced by what it is, so that plan and result say what was carried out.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_FIT_H
#define WEIR_RUN_FIT_H

#include "apps/run/plan.h"

/*
 * Completes a cell that has its settings: link, pins, effective values. 0; or negative errno with
 * `error` saying what stands in the way and what to change.
 */
int fit_cell(struct plan_cell *cell, const struct plan_ground *ground, struct tp_error *error);

#endif
