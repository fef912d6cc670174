/*
 * holder: which process has a local TCP port or the path of a Unix socket.
 *
 * The kernel's socket tables give the inode of the socket, and the descriptors of all processes
 * show who has that inode open. A process of another user is invisible without privilege; a socket
 * that is bound but neither listens nor is connected is in no table.
 *
 * Plane: setup. Reads /proc, so it is slow and a snapshot.
 */
#ifndef WEIR_TRANSPORT_HOLDER_H
#define WEIR_TRANSPORT_HOLDER_H

#include "dataplane/core/program.h"
#include "dataplane/transport/transport.h"

struct holder {
	pid_t pid;
	char program[PROGRAM_NAME]; /* "?" if that cannot be read */
};

/* Finds a process that keeps others from binding `addr`. 0, or -ENOENT when none can be seen. */
int holder_find(const struct tp_addr *addr, struct holder *holder_out);

#endif
