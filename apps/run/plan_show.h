/*
 * plan_show: a plan for eyes.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_PLAN_SHOW_H
#define WEIR_RUN_PLAN_SHOW_H

#include "apps/run/plan.h"

#include <stdio.h>

/*
 * Prints all of it: what is built and varied, each cell's CPUs, the order with every command line,
 * what is omitted, and how long it takes.
 */
void plan_print(const struct plan *plan, FILE *to);

#endif
