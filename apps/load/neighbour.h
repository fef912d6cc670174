/*
 * neighbour: whether a server on this host runs on a CPU that the client is pinned to.
 *
 * Two processes that were each told the same CPU know nothing of each other, and what is measured
 * then is how the scheduler shares it. One look at /proc as the client starts; what it cannot see
 * (another container's processes, another user's affinity) it does not report.
 *
 * Plane: setup.
 */
#ifndef WEIR_LOAD_NEIGHBOUR_H
#define WEIR_LOAD_NEIGHBOUR_H

#include "apps/common/cpus.h"

#include <sys/types.h>

/*
 * The first `weir serve` whose CPUs have any in common with these: its process id, and the CPUs in
 * `shared_out`; or 0.
 */
pid_t neighbour_find(const struct cpus *cpus, struct cpus *shared_out);

#endif
