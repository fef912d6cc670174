/*
 * epoll: the transport contract over kernel stream sockets.
 *
 * Non-blocking sockets over IPv4, IPv6 and Unix, readiness by epoll (by edge unless told
 * otherwise), TCP_NODELAY on (Nagle off), one listener a worker. A turn costs one wait, and one
 * receive and one send for each connection that has something. Bytes are received into and sent
 * from a connection's own rings. Devices: none or "loopback", which are the same (the kernel's
 * routes choose the interface), or "veth". An attempt to connect times out when the kernel's own
 * bound is reached. docs/epoll.md tells the rest.
 */
#ifndef WEIR_STACKS_EPOLL_H
#define WEIR_STACKS_EPOLL_H

#include "dataplane/transport/transport.h"
#include "stacks/bare.h"

extern const struct tp_ops epoll_ops;

/* Its bare echo: the same calls with the same options, and nothing of the contract between. */
extern const struct bare_ops epoll_bare_ops;

#endif
