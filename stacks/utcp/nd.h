/*
 * nd: asks for IPv6 hosts' hardware addresses and tells ours (RFC 4861 7.2). What is learned is
 * kept in neighbours.h.
 *
 * Routers, redirects, duplicate address detection of our own and the probing of known neighbours
 * are not done: all hosts that we know are on this link, our addresses are who configured them's to
 * choose, and a neighbour that falls silent is asked for anew by the calls to it.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_ND_H
#define WEIR_UTCP_ND_H

#include "stacks/utcp/ip6.h"

/* The message of `bytes` that the packet is at. False if it is malformed, unasked or unused. */
bool nd_input(struct utcp *utcp, const struct ip6_packet *packet, size_t bytes, uint64_t now_ns);

/* Queues the question who has `addr`, to those who may. */
void nd_ask(struct utcp *utcp, const struct utcp_addr *addr);

#endif
