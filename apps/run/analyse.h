/*
 * analyse: an analysis of a result, run beside the runner and ended with it.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_ANALYSE_H
#define WEIR_RUN_ANALYSE_H

#include "apps/run/sample/interrupt.h"

/*
 * Has a process of its own become `python3 -m analysis.MODULE ARGUMENTS` and waits for it; an
 * interrupt ends it. `arguments` end with NULL; `program` is for messages. Its exit status; or -1
 * if it has none, being killed or never begun.
 */
int analyse(const char *program, const char *module, const char *const *arguments,
	    struct interrupt *interrupt);

/* Likewise for a verb that judges by it: without a status says so, and EXIT_USAGE. */
int analyse_to_judge(const char *program, const char *module, const char *const *arguments,
		     struct interrupt *interrupt);

#endif
