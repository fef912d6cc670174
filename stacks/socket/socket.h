/*
 * socket: kernel TCP sockets, as the stacks over readiness and over completions share them.
 *
 * Makes listeners and outgoing connections with the options that every kernel stack here has
 * (non-blocking, close-on-exec, Nagle off), says what an errno means to the contract, and refuses
 * an occupied address by naming its holder. A descriptor returned is owned by the caller. `calls`
 * is the caller's count of system calls; each one made is added.
 *
 * Plane: device_check, listen and connect are setup; the rest is turn.
 */
#ifndef WEIR_STACKS_SOCKET_H
#define WEIR_STACKS_SOCKET_H

#include "dataplane/transport/transport.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	/* Listeners of one instance. */
	SOCKET_LISTENERS = 8,

	/* Connections that one listener may accept in one turn. */
	SOCKET_ACCEPT_BATCH = 64,
};

/* How long accepting rests when the host has no descriptor or memory left, nanoseconds. */
#define SOCKET_ACCEPT_PAUSE_NS (100ull * 1000 * 1000)

/* What an accept that failed asks for. */
enum socket_accept {
	SOCKET_ACCEPT_DRAINED, /* nobody waits */
	SOCKET_ACCEPT_NEXT,    /* that connection is gone; there may be others */
	SOCKET_ACCEPT_PAUSE,   /* the host lacks something: try again later */
};

/* 0 if kernel sockets have such a device ("" or "loopback"), else -EINVAL with what is allowed. */
int socket_device_check(const char *stack, const char *device, struct tp_error *error);

/*
 * Listens on `addr`. With `share`, other workers of this process may listen there too
 * (SO_REUSEPORT), but no other process. The descriptor; -EADDRINUSE with the holder's pid and
 * program in `error`, or another negative errno.
 */
int socket_listen(const struct tp_addr *addr, bool share, uint64_t *calls, struct tp_error *error);

/*
 * Begins a connection. The descriptor, on which writability tells the end; or, if this host cannot
 * begin one, a negative errno with `error` filled. What the network said at once goes to
 * `verdict_out` as an errno: 0 if it has not refused.
 */
int socket_connect(const struct tp_addr *addr, int *verdict_out, uint64_t *calls,
		   struct tp_error *error);

/* Closes with a reset instead of the orderly end. */
void socket_reset(int fd, uint64_t *calls);

/* Takes the error that stands on the socket; 0 if there is none. */
int socket_error(int fd, uint64_t *calls);

/* Why a connection died, from the errno of the call that noticed. */
enum tp_reason socket_reason(int error_number);

/* What to do about an accept that failed with `error_number`. */
enum socket_accept socket_accept_verdict(int error_number);

#endif
