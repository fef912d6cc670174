/*
 * plan_show: a plan for eyes.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_PLAN_SHOW_H
#define WEIR_RUN_PLAN_SHOW_H

#include "apps/run/plan/plan.h"

#include <stdio.h>

enum { PLAN_TIME_BYTES = 48 };

/*
 * Prints all of it: what is built and varied, each cell's CPUs, the order, what is omitted, how
 * long it takes, and the samples, with `commands` their command lines, too. Samples whose id is a
 * key of `kept` (NULL: none) are there already, and left out.
 */
void plan_print(const struct plan *plan, const json_t *kept, bool commands, FILE *to);

/* Why its figures will say less than they could. A new reference: texts. */
json_t *plan_cautions(const struct plan *plan);

/* In a line, what a run of all of it does and how long that takes; then its cautions. */
void plan_print_total(const struct plan *plan, FILE *to);

/* "20 s", "1 min 20 s" or "2 h 5 min"; returns `text`. */
const char *plan_show_time(double seconds, char text[PLAN_TIME_BYTES]);

/* What is omitted, by reasons; nothing if nothing is. */
void plan_print_omitted(const struct plan *plan, FILE *to);

#endif
