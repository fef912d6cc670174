/*
 * arp: hardware addresses of the hosts we call (RFC 826).
 *
 * A bounded table. Only what we asked for is learned, and what is known changes only through a
 * request addressed to us, at most once a second: an unasked reply changes nothing. A host that
 * does not answer ARP_TRIES requests, one a second (RFC 1122 2.3.2.1), is unreachable. Callers are
 * answered at once; their address is in their frame.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_ARP_H
#define WEIR_UTCP_ARP_H

#include "stacks/utcp/packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ARP_ENTRIES = 64,
	ARP_TRIES = 3,
};

#define ARP_RETRY_NS (1000ull * 1000 * 1000)
#define ARP_LIFE_NS (60ull * 1000 * 1000 * 1000) /* after that a new call asks again */

enum arp_state {
	ARP_FREE,
	ARP_ASKING,
	ARP_KNOWN,
};

struct arp_entry {
	uint32_t ip;
	uint8_t mac[MAC_BYTES];
	uint8_t state; /* enum arp_state */
	uint8_t tries;
	uint64_t at_ns; /* ASKING: when to ask again or give up; KNOWN: when it was learned */
};

struct arp {
	struct arp_entry entries[ARP_ENTRIES];
	uint64_t next_ns; /* no entry has work before; UINT64_MAX if none is asking */
};

struct utcp;

void arp_init(struct arp *arp);

/* A received ARP packet, `bytes` from the Ethernet header on. False if it was malformed or unasked.
 */
bool arp_input(struct utcp *utcp, const uint8_t *frame, size_t bytes, uint64_t now_ns);

/*
 * Finds the address of `ip`: 1 with `mac_out` filled if it is known, 0 if it is being asked for
 * (open_resolved or open_unresolved follows), -1 if the table is full of questions.
 */
int arp_resolve(struct utcp *utcp, uint32_t ip, uint64_t now_ns, uint8_t mac_out[MAC_BYTES]);

/* Our segments to `ip` get no answer: what was not learned just now is to be asked for anew. */
void arp_doubt(struct utcp *utcp, uint32_t ip, uint64_t now_ns);

/* Asks again and gives up, where due. */
void arp_advance(struct utcp *utcp, uint64_t now_ns);

#endif
