/*
 * ip: a frame's way in, down to the family that it belongs to (RFC 894), and what the families
 * share.
 *
 * Every frame ends in exactly one counter; nothing is read before its length was checked.
 */
#include "dataplane/core/bytes.h"
#include "stacks/utcp/arp.h"
#include "stacks/utcp/ip.h"

bool utcp_own_addr(const struct utcp *utcp, const struct utcp_addr *peer, struct utcp_addr *own_out)
{
	struct utcp_addr own =
		addr_is_ip4(peer) ? addr_of_ip4(utcp->config.ip) : ip6_own_for(utcp, peer);

	if (addr_is_ip4(peer) ? utcp->config.ip == 0 : addr_is_none(&own))
		return false;
	*own_out = own;
	return true;
}

bool utcp_reachable(const struct utcp *utcp, const struct utcp_addr *addr)
{
	return addr_is_ip4(addr) ? ip4_reachable(utcp, addr_ip4(addr)) : ip6_reachable(utcp, addr);
}

/* To our address, or for ARP to all, or to a group in which IPv6 asks for us. A sender must be one
 * host. */
static bool addressed_to_us(const struct utcp *utcp, const uint8_t *frame, uint16_t type)
{
	static const uint8_t everybody[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	const uint8_t *to = frame + ETH_DESTINATION;

	if (frame[ETH_SOURCE] & 1)
		return false;
	return memcmp(to, utcp->config.mac, MAC_BYTES) == 0 ||
	       (type == ETH_TYPE_ARP && memcmp(to, everybody, MAC_BYTES) == 0) ||
	       (type == ETH_TYPE_IPV6 && ip6_hears(utcp, to));
}

static void input_arp(struct utcp *utcp, const uint8_t *frame, size_t bytes, uint64_t now_ns)
{
	if (arp_input(utcp, frame, bytes, now_ns))
		utcp->counters.in_arp++;
	else
		utcp->counters.drop_arp++;
}

void utcp_input(struct utcp *utcp, const uint8_t *frame, size_t bytes, uint64_t now_ns)
{
	uint16_t type;

	utcp_settle(utcp);
	utcp->counters.in_frames++;
	if (bytes < ETH_BYTES) {
		utcp->counters.drop_short++;
		return;
	}
	type = bytes_get_be16(frame + ETH_TYPE);
	if (!addressed_to_us(utcp, frame, type))
		utcp->counters.drop_mac++;
	else if (__builtin_expect(type == ETH_TYPE_IPV4, 1))
		ip4_input(utcp, frame, bytes, now_ns);
	else if (type == ETH_TYPE_IPV6 && !addr_is_none(&utcp->ip6.own))
		ip6_input(utcp, frame, bytes, now_ns);
	else if (type == ETH_TYPE_ARP)
		input_arp(utcp, frame, bytes, now_ns);
	else
		utcp->counters.drop_ethertype++;
}
