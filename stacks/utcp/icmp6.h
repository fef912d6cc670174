/*
 * icmp6: ICMPv6 (RFC 4443): echoes, what we say of packets that we cannot take and what others say
 * of ours (advice.h), and neighbour discovery's way in.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_ICMP6_H
#define WEIR_UTCP_ICMP6_H

#include "stacks/utcp/ip6.h"

/* Errors that we send a second, at most (RFC 4443 2.4 f). */
enum { ICMP6_ERRORS_A_SECOND = 10 };

/* The message that the packet is at; the counter in which it ends. */
uint64_t *icmp6_input(struct utcp *utcp, const struct ip6_packet *packet, uint64_t now_ns);

/* Tells the sender that the packet cannot be taken because of what stands at frame + `at` (RFC 4443
 * 3.4); `code` is one of ICMP6_PROBLEM_. */
void icmp6_problem(struct utcp *utcp, const struct ip6_packet *packet, uint8_t code, size_t at,
		   uint64_t now_ns);

/* Where a message goes. */
struct icmp6_route {
	uint8_t mac[MAC_BYTES];
	struct utcp_addr own;
	struct utcp_addr peer;
};

/* Back to who sent the packet, from the address that it was sent to, or from ours for him. */
struct icmp6_route icmp6_route_back(const struct utcp *utcp, const struct ip6_packet *packet);

/*
 * Begins a message in the queue of answers, with its headers; where it is to be written. NULL if
 * the queue is full. icmp6_commit, with nothing in between, sends it.
 */
uint8_t *icmp6_reserve(struct utcp *utcp, const struct icmp6_route *route, uint8_t hops,
		       bool question);
void icmp6_commit(struct utcp *utcp, uint8_t *message, size_t bytes);

#endif
