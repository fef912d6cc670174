/*
 * arp: asks for IPv4 hosts' hardware addresses and tells ours (RFC 826). What is learned is kept in
 * neighbours.h.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_ARP_H
#define WEIR_UTCP_ARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct utcp;

/* A received ARP packet, `bytes` from the Ethernet header on. False if it was malformed or unasked.
 */
bool arp_input(struct utcp *utcp, const uint8_t *frame, size_t bytes, uint64_t now_ns);

/* Queues the question who has `ip`, to all. */
void arp_ask(struct utcp *utcp, uint32_t ip);

#endif
