#include "stacks/utcp/nd.h"

#include "stacks/utcp/icmp6.h"
#include "stacks/utcp/instance.h"

enum { LINK_OPTION_BYTES = 8 /* type, length and a hardware address */ };

/* What a solicitation or an advertisement says. */
struct news {
	struct utcp_addr source;
	struct utcp_addr target;
	const uint8_t *mac; /* the hardware address among its options, or NULL */
	uint8_t type;
	uint8_t flags;
};

/*
 * Finds the hardware address in options, `kind`; false if one is malformed. Each has a length above
 * 0 (RFC 4861 4.6), so each turn moves on.
 */
static bool take_options(const uint8_t *options, size_t bytes, uint8_t kind, struct news *news)
{
	size_t at = 0, length;

	for (; at < bytes; at += length) {
		if (bytes - at < ND_OPTION_UNIT)
			return false;
		length = options[at + 1] * (size_t)ND_OPTION_UNIT;
		if (length == 0 || length > bytes - at)
			return false;
		if (options[at] != kind || news->mac)
			continue;
		if (length != LINK_OPTION_BYTES || options[at + 2] & 1) /* no host has a group's */
			return false;
		news->mac = options + at + 2;
	}
	return true;
}

/* RFC 4861 7.1.1 and 7.1.2, all that is said of both. */
static bool parse(const struct ip6_packet *packet, size_t bytes, struct news *news)
{
	const uint8_t *ip = packet->frame + ETH_BYTES, *message = packet->frame + packet->at;
	uint8_t kind = message[ICMP_TYPE] == ND_SOLICITATION ? ND_OPTION_SOURCE : ND_OPTION_TARGET;

	if (bytes < ND_OPTIONS || ip[IP6_HOPS] != ND_HOPS || message[ICMP_CODE] != 0)
		return false;
	*news = (struct news){.source = addr_of_ip6(ip + IP6_SOURCE),
			      .target = addr_of_ip6(message + ND_TARGET),
			      .type = message[ICMP_TYPE],
			      .flags = message[ND_FLAGS]};
	return take_options(message + ND_OPTIONS, bytes - ND_OPTIONS, kind, news);
}

/* A message about `target` with one hardware address, ours. */
static void send(struct utcp *utcp, const struct icmp6_route *route, uint8_t type, uint8_t flags,
		 const struct utcp_addr *target)
{
	uint8_t *message = icmp6_reserve(utcp, route, ND_HOPS, type == ND_SOLICITATION), *option;

	if (!message)
		return;
	memset(message, 0, ND_OPTIONS);
	message[ICMP_TYPE] = type;
	message[ND_FLAGS] = flags;
	memcpy(message + ND_TARGET, target, ADDR_BYTES);
	option = message + ND_OPTIONS;
	option[0] = type == ND_SOLICITATION ? ND_OPTION_SOURCE : ND_OPTION_TARGET;
	option[1] = LINK_OPTION_BYTES / ND_OPTION_UNIT;
	memcpy(option + 2, utcp->config.mac, MAC_BYTES);
	icmp6_commit(utcp, message, ND_OPTIONS + LINK_OPTION_BYTES);
}

/* The hardware address of a group (RFC 2464 7). */
static void put_group_mac(uint8_t mac[MAC_BYTES], const struct utcp_addr *group)
{
	mac[0] = mac[1] = 0x33;
	memcpy(mac + 2, (const uint8_t *)group + 12, 4);
}

/* RFC 4861 7.2.4: who has no address yet is answered before all. */
static void advertise(struct utcp *utcp, const struct ip6_packet *packet, const struct news *news)
{
	struct icmp6_route route = icmp6_route_back(utcp, packet);
	bool solicited = !addr_is_none(&news->source);

	route.own = news->target;
	if (!solicited) {
		route.peer = addr_of_ip6(ip6_all_nodes);
		put_group_mac(route.mac, &route.peer);
	} else if (news->mac) {
		memcpy(route.mac, news->mac, MAC_BYTES);
	}
	send(utcp, &route, ND_ADVERTISEMENT, ND_OVERRIDE | (solicited ? ND_SOLICITED : 0),
	     &news->target);
}

/* RFC 4861 7.2.3. */
static bool take_solicitation(struct utcp *utcp, const struct ip6_packet *packet,
			      const struct news *news, uint64_t now_ns)
{
	if (!ip6_is_own(utcp, &news->target))
		return false;
	if (addr_is_none(&news->source)) { /* is it free? asked of its group, without an address */
		if (!packet->to_many || news->mac)
			return false;
	} else if (news->mac) {
		neighbours_take_request(utcp, &news->source, news->mac, now_ns);
	} else if (packet->to_many) {
		return false; /* who asks a group says where it is (4.3) */
	}
	advertise(utcp, packet, news);
	return true;
}

/* RFC 4861 7.2.5, of what was asked for; what is known does not change unasked. */
static bool take_advertisement(struct utcp *utcp, const struct ip6_packet *packet,
			       const struct news *news, uint64_t now_ns)
{
	if (addr_is_none(&news->source) || !news->mac ||
	    (packet->to_many && news->flags & ND_SOLICITED) || !ip6_reachable(utcp, &news->target))
		return false;
	return neighbours_take_answer(utcp, &news->target, news->mac, now_ns);
}

bool nd_input(struct utcp *utcp, const struct ip6_packet *packet, size_t bytes, uint64_t now_ns)
{
	struct news news;

	if (!parse(packet, bytes, &news))
		return false;
	if (news.type == ND_SOLICITATION)
		return take_solicitation(utcp, packet, &news, now_ns);
	if (news.type == ND_ADVERTISEMENT)
		return take_advertisement(utcp, packet, &news, now_ns);
	return false;
}

void nd_ask(struct utcp *utcp, const struct utcp_addr *addr)
{
	struct icmp6_route route = {.own = ip6_own_for(utcp, addr),
				    .peer = ip6_solicited_node(addr)};

	put_group_mac(route.mac, &route.peer);
	send(utcp, &route, ND_SOLICITATION, 0, addr);
}
