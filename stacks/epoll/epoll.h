/*
 * epoll: the transport contract over kernel TCP sockets.
 *
 * Non-blocking sockets, readiness by epoll, TCP_NODELAY on (Nagle off), one listener a worker with
 * SO_REUSEPORT.
 */
#ifndef WEIR_STACKS_EPOLL_H
#define WEIR_STACKS_EPOLL_H

#include "dataplane/transport/transport.h"

extern const struct tp_ops epoll_ops;

#endif
