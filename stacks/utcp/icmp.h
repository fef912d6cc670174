/*
 * icmp: answers echo requests and reads what errors say of our segments (RFC 792).
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_ICMP_H
#define WEIR_UTCP_ICMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct utcp;

/* The `bytes` of ICMP at frame + `offset`. False if they are malformed, forged, or nothing that we
 * answer. */
bool icmp_input(struct utcp *utcp, const uint8_t *frame, size_t offset, size_t bytes);

#endif
