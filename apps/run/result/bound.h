/*
 * bound: whether the workers of a sample stayed where the plan had put them.
 *
 * Judged by what server and client say of themselves (apps/common/binding.h), so it holds on
 * whichever host they run.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_BOUND_H
#define WEIR_RUN_BOUND_H

#include "apps/common/cpus.h"

#include <jansson.h>

/* One side of a sample; all lent. */
struct bound_side {
	const char *name;	 /* "server" */
	const struct cpus *pins; /* one a worker */
	const json_t *said;	 /* {"memory", "workers"}, as the window ended; or NULL */
	const char *lacking;	 /* why `said` is NULL */
};

/*
 * {"kept": true, false or null, NAME: what it said, ...}; adds a reason to `reasons` for each
 * worker that was elsewhere, may be elsewhere, has moved, or has other memory than it was bound to.
 * Where nothing is against it but not all is known of every planned worker, "kept" is null with the
 * reason. A new reference.
 */
json_t *bound_judge(const struct bound_side *sides, unsigned count, json_t *reasons);

#endif
