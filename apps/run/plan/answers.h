/*
 * answers: whether an experiment has what a cell's server needs to answer: the protocol of its
 * handler, an upstream that it can reach.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_ANSWERS_H
#define WEIR_RUN_ANSWERS_H

#include "apps/run/plan/plan.h"

/* For a cell that has its link. 0; or -EINVAL with `error` saying what lacks and what to change. */
int answers_judge(const struct plan_cell *cell, const struct experiment *experiment,
		  struct tp_error *error);

#endif
