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
 * host refuses turns, the client's port chooses, and where it refuses that or the CPU, the kernel's
 * hash; the features tell, and socket_in_turn.
 */
void steer_listener(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
		    uint64_t *calls);

/* Whether this host lets a program deal connections out in turn, tried on an unbound `fd`. */
int steer_in_turn(int fd, unsigned workers);

/* Chooses for the whole group by the client's port; 0 or a negative errno. */
int steer_by_port(int fd, unsigned workers);

/* Prefers this listener for what `cpu` takes in; 0 or a negative errno. */
int steer_by_cpu(int fd, int cpu);

#endif
