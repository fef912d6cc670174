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

struct pins {
	struct cpus server;
	struct cpus client;
	const char *degraded; /* static: how these pins fall short; NULL if they do not */
};

/* One CPU a worker. 0; or -ENOSPC, with `error` filled, when there are fewer CPUs than workers. */
int pins_choose(const struct topology *topology, unsigned server_workers, unsigned client_workers,
		struct pins *pins_out, struct tp_error *error);

/* [0, 1]; a new reference. */
json_t *pins_cpus_to_json(const struct cpus *cpus);

#endif
