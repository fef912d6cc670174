/*
 * hosts_pins: which CPUs server and clients get on the machines that they run on.
 *
 * Hosts of an experiment may be one machine. Roles that share a machine share none of its CPUs,
 * unless the experiment itself names one for two clients; what a machine cannot give is said as by
 * pins.h, over all its roles.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_HOSTS_PINS_H
#define WEIR_RUN_HOSTS_PINS_H

#include "apps/run/hosts/hosts.h"

struct hosts_pins {
	struct pins first; /* of the server and the first client */
	struct cpus clients[HOSTS_CLIENTS_MAX];
};

/*
 * Chooses for so many workers of the server, and of each client that has no number of its own.
 * `here` is this host's topology, for hosts that are not open; it may be NULL if they are. As long
 * as a far host was not asked only those CPUs are known that the experiment names: all others are
 * none. 0; or -ENOSPC, -EINVAL or -ENOMEM with `error` naming the hosts.
 */
int hosts_pins_choose(const struct hosts *hosts, const struct topology *here, unsigned workers,
		      unsigned client_workers, struct hosts_pins *pins_out, struct tp_error *error);

#endif
