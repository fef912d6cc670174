/*
 * uring: the stack over kernel sockets and completions.
 *
 * A poll submits all that the last turn queued and collects what completed, in one system call; in
 * none if it does not wait and neither side has anything for the other. Connections are accepted
 * and bytes received by requests that stay in force; received bytes come in buffers that all
 * connections share and are lent as they are. Devices: none or "loopback", which are the same, and
 * "veth"; the kernel's routes choose the interface. docs/uring.md tells the story.
 */
#ifndef WEIR_STACKS_URING_H
#define WEIR_STACKS_URING_H

#include "dataplane/transport/transport.h"
#include "stacks/bare.h"

extern const struct tp_ops uring_ops;
extern const struct bare_ops uring_bare_ops;

#endif
