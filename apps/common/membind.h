/*
 * membind: keeps a process's memory on the NUMA nodes of the CPUs that it holds.
 *
 * Called once by the main thread before it starts workers, which inherit what it sets. Memory that
 * was touched before stays where it is. A host that does not allow it is no failure: what was done
 * is stated.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_MEMBIND_H
#define WEIR_APPS_MEMBIND_H

#include "apps/common/cpus.h"

#include <jansson.h>
#include <stdbool.h>

enum membind { MEMBIND_BIND, MEMBIND_NONE };

extern const char *const membind_names[]; /* by enum membind, ended by NULL */

/*
 * Binds the calling thread, and those that it starts from now on, to the nodes of these CPUs if
 * `asked` says so. What became of it: {"asked": "bind", "bound": true, "nodes": [NODE]}, or bound
 * false with "bound_reason"; a new reference.
 */
json_t *membind_apply(enum membind asked, const struct cpus *cpus);

#endif
