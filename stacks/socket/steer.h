/*
 * steer: which of a group of listeners (SO_REUSEPORT) gets a connection.
 *
 * Plane: setup. Called by socket_listen and socket_probe.
 */
#ifndef WEIR_STACKS_STEER_H
#define WEIR_STACKS_STEER_H

#include "stacks/socket/socket.h"

/*
 * Sets on a listener what its group's steering asks of it, once it listens. Best effort: where the
 * host refuses, the kernel's hash goes on choosing, which the features tell.
 */
void steer_listener(int fd, const struct socket_settings *settings, uint64_t *calls);

/* Chooses for the whole group by the client's port; 0 or a negative errno. */
int steer_by_port(int fd, unsigned workers);

/* Prefers this listener for what `cpu` takes in; 0 or a negative errno. */
int steer_by_cpu(int fd, int cpu);

#endif
