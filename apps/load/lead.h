/*
 * lead: how the main thread takes the workers through the phases of a run.
 *
 * Plane: main thread.
 */
#ifndef WEIR_APPS_LOAD_LEAD_H
#define WEIR_APPS_LOAD_LEAD_H

#include "apps/load/load.h"

/*
 * Runs it all: starts the workers, leads them, joins them. 0 with `result_out` filled, whatever
 * failed on the way (its measured record is the caller's to free); negative errno with `error`
 * filled when nothing could be started. SIGINT and SIGTERM must be blocked; they end the run.
 */
int lead_run(const struct load_options *options, struct progress *progress,
	     struct load_result *result_out, struct tp_error *error);

#endif
