/*
 * topology: how the CPUs this process may use share cores, packages and memory.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_TOPOLOGY_H
#define WEIR_APPS_TOPOLOGY_H

#include "apps/common/cpus.h"

#include <stdbool.h>

struct topology {
	struct cpus cpus; /* allowed, by number */
	/* Of each: the lowest CPU of its physical core, equal for SMT siblings. */
	int core[CPUS_MAX];
	int package[CPUS_MAX];
	int node[CPUS_MAX]; /* NUMA */
	unsigned cores;	    /* how many different ones */
	unsigned packages;
	unsigned nodes;
};

/* Reads the affinity mask and /sys. 0 or negative errno. */
int topology_read(struct topology *topology_out);

/* Whether this CPU stands for its core: the first allowed of its siblings. */
bool topology_is_first_of_core(const struct topology *topology, unsigned index);

#endif
