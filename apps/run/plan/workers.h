/*
 * workers: how many workers the sides of a cell have, and on which CPUs.
 *
 * An experiment may leave a number to the host: `all` is as many as there are CPUs for that side.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_WORKERS_H
#define WEIR_RUN_WORKERS_H

#include "apps/run/plan/pins.h"
#include "apps/run/experiment/setting.h"

/*
 * How many workers a server may have: as many as it can without taking what is the client's or the
 * operating system's; where nothing can be kept apart, half of the CPUs.
 */
unsigned workers_server_most(const struct topology *topology, bool across_nodes);

/* What workers may be chosen among. */
struct workers_bounds {
	unsigned server_max; /* as the link allows; 0: any number */
	unsigned client_max;
	const int *kind; /* of cores; NULL: any */
	bool even;	 /* as of struct pins_wish */
};

/*
 * Replaces words by numbers and chooses the CPUs. No side gets more workers than it has
 * connections, or than its link allows, unless the experiment says so in a number. 0; or -ENOSPC
 * with `error` filled.
 */
int workers_choose(struct cell *cell, const struct topology *topology,
		   const struct workers_bounds *bounds, struct pins *pins_out,
		   struct tp_error *error);

#endif
