/*
 * dpdk: the transport contract over DPDK poll-mode drivers and utcp.
 *
 * config.device names the device: memif:PATH, tap:NAME, af_packet:INTERFACE, ring. The first open
 * of a process starts the EAL on the calling thread; each instance attaches a port of its own.
 */
#ifndef WEIR_STACKS_DPDK_H
#define WEIR_STACKS_DPDK_H

#include "dataplane/transport/transport.h"

extern const struct tp_ops dpdk_ops;

#endif
