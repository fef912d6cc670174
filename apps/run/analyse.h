/*
 * analyse: an analysis of a result, run beside the runner and ended with it.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_ANALYSE_H
#define WEIR_RUN_ANALYSE_H

#include "apps/run/sample/interrupt.h"

enum { ANALYSE_WHY_BYTES = 160 };

/*
 * Has a process of its own become `python3 -m analysis.MODULE ARGUMENTS` and waits for it; an
 * interrupt ends it. `arguments` end with NULL; `program` is for messages. What it ends with,
 * EXIT_PASS to EXIT_USAGE; or -1 if it was interrupted, killed or never begun, or ended otherwise:
 * `why` then says which.
 */
int analyse(const char *program, const char *module, const char *const *arguments,
	    struct interrupt *interrupt, char why[ANALYSE_WHY_BYTES]);

/* Likewise for a verb that judges by it: says itself why there is no verdict. */
int analyse_to_judge(const char *program, const char *module, const char *const *arguments,
		     struct interrupt *interrupt);

#endif
