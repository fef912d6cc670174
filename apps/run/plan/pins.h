/*
 * pins: which CPUs the server and the client of a sample get.
 *
 * Both sides are on different physical cores where there are enough, and the first core is left to
 * the operating system where one is left. What the host cannot give is not hidden: the pins say how
 * they fall short.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_PINS_H
#define WEIR_RUN_PINS_H

#include "apps/provenance/topology.h"

#include <jansson.h>

struct pins_wish {
	unsigned server_workers; /* at least 1; one CPU each */
	unsigned client_workers; /* 0: as many as there are CPUs left for the client */
	bool across_nodes;	 /* server and client on different NUMA nodes, not on one */
	bool alone;	 /* one role, called the server, has the machine for itself: no client */
	const int *kind; /* all cores are of this kind; NULL: of any */
	bool even;	 /* a client without a number has no fewer CPUs than its half */
};

struct pins {
	struct cpus server; /* one CPU a worker */
	struct cpus client;
	struct cpus
		reserved; /* of these nodes, left to the operating system; none if degraded so */
	struct cpus server_nodes; /* numbers of the NUMA nodes that the server's CPUs are on */
	struct cpus client_nodes;
	const char *degraded;	       /* static: how these pins fall short; NULL if they do not */
	struct cpus upstream;	       /* one a worker; empty if there is none behind the server */
	const char *upstream_degraded; /* likewise, of these */
};

/* 0; or -ENOSPC, with `error` filled, when there are fewer CPUs than workers. */
int pins_choose(const struct topology *topology, const struct pins_wish *wish,
		struct pins *pins_out, struct tp_error *error);

/*
 * Gives an upstream its CPUs beside those that are chosen: cores that nobody has, best like the
 * server's; else those of the operating system; else it shares the client's. 0; or -ENOSPC, with
 * `error` filled, when the client has fewer than it has workers.
 */
int pins_add_upstream(const struct topology *topology, unsigned workers, struct pins *pins,
		      struct tp_error *error);

/* Whether an upstream is on CPUs of the client's. */
bool pins_upstream_shares(const struct pins *pins);

/* The CPUs that a plan leaves to the operating system wherever its cells are not degraded. */
void pins_reserve(const struct topology *topology, struct cpus *reserved_out);

/* The NUMA nodes of these CPUs, each once. */
void pins_list_nodes(const struct topology *topology, const struct cpus *cpus,
		     struct cpus *nodes_out);
/* The next slower kind of cores behind `above`; the fastest behind -1, and -1 behind the last. */
int pins_next_kind(const struct topology *topology, int above);

/* The kinds of the pinned cores: the bit (1 << kind) for each. */
uint64_t pins_kinds(const struct topology *topology, const struct pins *pins);

/* How many server workers there may be before pins fall short; 0 if they do with one. */
unsigned pins_server_most(const struct topology *topology, bool across_nodes);

/*
 * {"server_cpus": [0], "client_cpus": [1], "server_nodes": [0], "client_nodes": [0]}, and with an
 * upstream "upstream_cpus"; a new reference.
 */
json_t *pins_to_json(const struct pins *pins);

#endif
