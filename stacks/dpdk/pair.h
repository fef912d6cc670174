/*
 * pair: two ports of one process, joined by two rings.
 *
 * The server's instance is one side, the client's the other; there is one pair a process. Whoever
 * comes first makes the rings; who leaves last frees them.
 *
 * Plane: setup; is_complete is turn.
 */
#ifndef WEIR_DPDK_PAIR_H
#define WEIR_DPDK_PAIR_H

#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Takes a side and gives its port; `name` (64 bytes) becomes the vdev's name. 0; -EADDRINUSE if the
 * side is taken; -ENOMEM.
 */
int pair_join(bool server, char *name, uint16_t *port_out, struct tp_error *error);

/* Leaves, after the port is closed; frames under way are freed. */
void pair_leave(bool server);

/* Whether both sides are there. */
bool pair_is_complete(void);

#endif
