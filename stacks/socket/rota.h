/*
 * rota: the listeners of this process that are dealt connections in turn.
 *
 * Workers that listen on one address share one selector, which worker 0 makes, and the others find
 * by the address. It is given back when the last of them leaves. Instances belong to threads, so
 * what they share here is guarded by a lock; nothing of it is touched in a turn.
 *
 * `calls` is the caller's count of system calls; each one made is added.
 *
 * Plane: setup. Called by socket_listen, socket_unlisten and socket_in_turn.
 */
#ifndef WEIR_STACKS_ROTA_H
#define WEIR_STACKS_ROTA_H

#include "stacks/socket/socket.h"

enum {
	/* Addresses of one process whose connections go in turn. */
	ROTA_GROUPS = 16,

	/* Workers of one. */
	ROTA_WORKERS = 64,
};

/*
 * Gives the worker's listener `fd` its place; it listens already. 0; -ENOTCONN for a later worker
 * that comes without the first; -ENOSPC with more workers or addresses than there is room for; or
 * what the kernel refused the selector with.
 */
int rota_join(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
	      uint64_t *calls);

/* The worker's listener is about to be closed. Nothing happens if it has not joined. */
void rota_leave(const struct tp_addr *addr, const struct socket_settings *settings,
		uint64_t *calls);

/* Whether the worker has joined. */
bool rota_has(const struct tp_addr *addr, const struct socket_settings *settings);

#endif
