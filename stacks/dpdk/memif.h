/*
 * memif: the control socket of a shared-memory link.
 *
 * The driver removes nothing and says only "address in use". So the socket is looked at first: who
 * listens on it, or that nobody does any more.
 *
 * Plane: setup.
 */
#ifndef WEIR_DPDK_MEMIF_H
#define WEIR_DPDK_MEMIF_H

#include "dataplane/transport/transport.h"

/* Longest time that a client waits for its server's socket and then for the link, nanoseconds. */
#define MEMIF_WAIT_NS (2000ull * 1000 * 1000)

/*
 * How long whoever connects to a server waits for its greeting, nanoseconds: DPDK's panics when the
 * greeted one is gone by then.
 */
#define MEMIF_GREETING_NS (500ull * 1000 * 1000)

/*
 * Makes sure that a server can listen at `path`, removing a socket that a dead one left. 0;
 * -EADDRINUSE, naming the pid and program that listen there; -EEXIST for a file that is no memif
 * socket; -ENOENT for a missing directory; others.
 */
int memif_claim(const char *path, struct tp_error *error);

/*
 * For a server that could not bind `path`: -EADDRINUSE, naming the pid and program that got it,
 * which may be this process itself. Removes nothing.
 */
int memif_fail_taken(const char *path, struct tp_error *error);

/* Waits until a socket is at `path`, at most MEMIF_WAIT_NS. 0 or -ENOENT, -ENOTSOCK, and others. */
int memif_await(const char *path, struct tp_error *error);

#endif
