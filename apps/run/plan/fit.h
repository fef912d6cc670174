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

#include "apps/run/plan/plan.h"

/*
 * Writes what may be written in several ways in one, so that "adaptive" and "adaptive:50us" are no
 * two cells; what is left to the program stays so. Before the cell is named.
 */
void fit_words(struct plan_cell *cell);

/*
 * Completes a cell that has its settings: link, pins, effective values. 0; or negative errno with
 * `error` saying what stands in the way and what to change.
 */
int fit_cell(struct plan_cell *cell, const struct plan_ground *ground, struct tp_error *error);

/*
 * Moves a completed cell to cores of this kind; a client of all that is left to it may get other
 * numbers. `even` is as of struct pins_wish. False, with the cell as it was, if there is no room
 * for it, or it would fall short otherwise than it does.
 */
bool fit_kind(struct plan_cell *cell, const struct plan_ground *ground, int kind, bool even);

/*
 * Whether the host has what a completed cell takes and could be given: hugepages, descriptors. 0;
 * or negative errno with `error` filled.
 */
int fit_host(const struct plan_cell *cell, const struct plan_ground *ground,
	     struct tp_error *error);

#endif
