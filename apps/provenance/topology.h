/*
 * topology: how the CPUs this process may use share cores, caches, packages and memory, and where
 * the network is.
 *
 * A plain value: read from this machine, from a file that describes another one, or built by hand.
 * Everything about CPUs is in arrays beside `cpus`, in its order. Zero means the ordinary: the
 * fastest kind of core, not isolated, no such cache.
 *
 * It is large: keep it off the stack. Plane: setup.
 */
#ifndef WEIR_APPS_TOPOLOGY_H
#define WEIR_APPS_TOPOLOGY_H

#include "apps/common/cpus.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	TOPOLOGY_MEMORIES_MAX = 64,
	TOPOLOGY_KINDS_MAX = 8,
	TOPOLOGY_NICS_MAX = 32,
	TOPOLOGY_NAME_BYTES = 32,
};

enum topology_level { TOPOLOGY_L1D, TOPOLOGY_L2, TOPOLOGY_L3, TOPOLOGY_LEVEL_COUNT };

struct topology_cache {
	uint32_t kib[CPUS_MAX]; /* size of the one that the CPU uses; 0: none is known */
	int first[CPUS_MAX];	/* the lowest allowed CPU that shares it */
};

struct topology_memory {
	int node;
	uint64_t bytes;
};

struct topology_kind {
	char name[TOPOLOGY_NAME_BYTES]; /* as the processor calls it, "IntelAtom"; "": unknown */
	int efficiency;			/* greater is faster; -1: the kinds cannot be ranked */
};

struct topology_nic {
	char name[TOPOLOGY_NAME_BYTES];
	char bus[TOPOLOGY_NAME_BYTES]; /* "0000:3b:00.0"; "": not on a PCI bus */
	int node;		       /* the nearest; -1: no node is nearer than others */
};

struct topology {
	struct cpus cpus; /* allowed, by number */
	/* Of each: the lowest CPU of its physical core, equal for SMT siblings. */
	int core[CPUS_MAX];
	int package[CPUS_MAX];
	int node[CPUS_MAX];	 /* NUMA */
	uint8_t kind[CPUS_MAX];	 /* index in `kinds`; 0 is the fastest */
	bool isolated[CPUS_MAX]; /* from the scheduler: isolcpus, or an isolated cpuset */
	struct topology_cache caches[TOPOLOGY_LEVEL_COUNT];
	unsigned cores; /* how many different ones */
	unsigned packages;
	unsigned nodes;						/* that have an allowed CPU */
	struct topology_memory memories[TOPOLOGY_MEMORIES_MAX]; /* with or without CPUs */
	unsigned memory_count;
	struct topology_kind kinds[TOPOLOGY_KINDS_MAX];
	unsigned kind_count; /* 0 where the machine does not tell cores apart */
	struct topology_nic nics[TOPOLOGY_NICS_MAX];
	unsigned nic_count;
};

/*
 * This machine, of which only what cpus_allowed() says. 0, or negative errno; -EXDEV if hwloc's
 * environment variables make it describe another machine.
 */
int topology_read(struct topology *topology_out);

/*
 * Another machine, from hwloc's XML (`lstopo FILE.xml` there). CPUs that were not allowed there are
 * left out; isolated ones are not known. 0; or negative errno with `error` filled.
 */
int topology_read_xml(const char *path, struct topology *topology_out, struct tp_error *error);

/* Whether this CPU stands for its core: the first allowed of its siblings. */
bool topology_is_first_of_core(const struct topology *topology, unsigned index);

#endif
