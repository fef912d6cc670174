/*
 * local: listening on Unix sockets.
 *
 * The address is a file, which outlives its maker: a socket's file behind which nobody listens is
 * replaced, one in use names its holder, and a file that is no socket is never touched. Workers
 * cannot share a path by SO_REUSEPORT, so they share one listener's queue.
 *
 * Plane: setup. Called by socket_listen and socket_unlisten alone.
 */
#ifndef WEIR_STACKS_LOCAL_H
#define WEIR_STACKS_LOCAL_H

#include "stacks/socket/socket.h"

/*
 * Worker 0 makes the listener, with the path's folder locked (flock) meanwhile, so that starts on
 * one path come one after the other; a later worker gets a descriptor of its own for the listener
 * that this process has there. The descriptor, or a negative errno with `error` filled: -EBUSY if
 * another program keeps the folder locked for seconds.
 */
int local_listen(const struct tp_addr *addr, const struct socket_settings *settings,
		 uint64_t *calls, struct tp_error *error);

/* Removes the file that the listener `fd` made, if it is still that file. */
void local_remove(int fd, const struct tp_addr *addr, uint64_t *calls);

#endif
