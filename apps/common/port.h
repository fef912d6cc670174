/*
 * port: whether a TCP port of an address is anybody's.
 *
 * Two questions, since either alone is fooled: does something answer there, and can the address be
 * bound by one alone? Several processes may share a port (SO_REUSEPORT), and then a bind that asks
 * for sharing succeeds; something may answer that is bound elsewhere, e.g. on every address.
 *
 * Plane: setup. A snapshot: the port may be taken a moment later.
 */
#ifndef WEIR_APPS_PORT_H
#define WEIR_APPS_PORT_H

#include "dataplane/transport/transport.h"

/* What to say behind the error where -EADDRNOTAVAIL comes of an experiment's hosts. */
#define PORT_NOT_OWN "; \"address\" must be one of that host's own"

/*
 * 0 if nobody has it: connections that only wait for their end (TIME-WAIT) are nobody's.
 * -EADDRINUSE with the holder's program and pid in `error` as far as they can be seen; another
 * negative errno, with `error` filled, if the address is none of this host's or takes privilege.
 */
int port_check(const struct tp_addr *addr, struct tp_error *error);

#endif
