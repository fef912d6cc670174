/*
 * ip6: our IPv6 addresses, and a packet's way in (RFC 8200).
 *
 * Two addresses: the one that the configuration gives, and the link-local one that follows from the
 * hardware address (RFC 4291 2.5.6 and appendix A). They are used as they are: no duplicate address
 * detection, no router is listened to, and nothing is reached but hosts of this link.
 *
 * Extension headers are passed over or answered as RFC 8200 says, IP6_EXTENSIONS_MAX at most, and
 * what they hold is read once, so that a packet costs no more than its length. Fragments are
 * dropped.
 *
 * Plane: turn, except ip6_init.
 */
#ifndef WEIR_UTCP_IP6_H
#define WEIR_UTCP_IP6_H

#include "stacks/utcp/addr.h"
#include "stacks/utcp/packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	IP6_EXTENSIONS_MAX = 8,
	IP6_MTU_MIN = 1280,   /* RFC 8200 5 */
	IP6_PREFIX_MAX = 127, /* a longer one has no room for a peer */
};

/* Part of the instance. */
struct ip6 {
	struct utcp_addr own;	     /* as configured; none: IPv6 is off */
	struct utcp_addr link_local; /* the same, if that one is link-local */
	struct utcp_addr mask;	     /* of the bits that `own` has in common with its subnet */
	uint64_t errors_at_ns;	     /* the second in which `errors` were sent (RFC 4443 2.4 f) */
	uint32_t errors;
};

/* A packet on its way in: the headers up to what is looked at were found sound. */
struct ip6_packet {
	const uint8_t *frame;
	size_t at;	/* what is looked at, from the frame's begin */
	size_t end;	/* of the packet, likewise */
	size_t next_at; /* the field that told what it is */
	uint8_t next;	/* which is this */
	bool to_many;	/* its destination is a group */
};

struct utcp;
struct utcp_config;

/* The group of all nodes on the link, ff02::1 (RFC 4291 2.7.1). */
extern const uint8_t ip6_all_nodes[ADDR_BYTES];

void ip6_init(struct ip6 *ip6, const struct utcp_config *config);

/* Whether an own address can be this one. */
bool ip6_can_be_own(const struct utcp_addr *addr);

/* A frame that carries IPv6, `bytes` from the Ethernet header on. */
void ip6_input(struct utcp *utcp, const uint8_t *frame, size_t bytes, uint64_t now_ns);

/* Whether `addr` is another host of this link. */
bool ip6_reachable(const struct utcp *utcp, const struct utcp_addr *addr);

/* Which of our addresses speaks to `peer` (RFC 6724 5: the one of the same scope); none: none. */
struct utcp_addr ip6_own_for(const struct utcp *utcp, const struct utcp_addr *peer);

/* Whether it is one of ours. */
bool ip6_is_own(const struct utcp *utcp, const struct utcp_addr *addr);

/* The group in which `addr` is asked for (RFC 4291 2.7.1). */
struct utcp_addr ip6_solicited_node(const struct utcp_addr *addr);

/* Whether a frame to this group of hardware addresses may carry something for us (RFC 2464 7). */
bool ip6_hears(const struct utcp *utcp, const uint8_t mac[MAC_BYTES]);

/* Whether what the packet carries in the end, as far as can be seen, is an ICMPv6 error. */
bool ip6_carries_error(const struct ip6_packet *packet);

#endif
