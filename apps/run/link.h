/*
 * link: how server and client of a sample reach each other on this host.
 *
 * An experiment names a stack and the device under it, e.g. `dpdk@memif`. The link says what that
 * takes: the kernel's loopback and a free port, or a socket file of the sample's own and addresses
 * for both sides.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_LINK_H
#define WEIR_RUN_LINK_H

#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct link {
	const char *name;	    /* as in experiments */
	const char *server_ip;	    /* where the server listens */
	const char *server_address; /* IP/LEN of its own; NULL where the kernel has the address */
	const char *client_address;
	unsigned workers_max; /* in one process; 0: as many as there are CPUs */
	bool socket_file; /* the device is reached by a path, which follows its name after ':' */
};

/* The link of a stack's spec, with options or not (`uring@loopback,sqpoll=on`), or NULL. */
const struct link *link_find(const char *name);

/* All names, for messages and for nearest_of; `count_out` gets their number. */
const char *const *link_names(unsigned *count_out);

#endif
