#include "stacks/utcp/ip6.h"

#include "dataplane/core/bytes.h"
#include "stacks/utcp/icmp6.h"
#include "stacks/utcp/ip.h"

enum {
	RANDOM_AT = 13,	  /* the last three bytes of an address name its solicited-node group */
	UNIVERSAL = 0x02, /* the bit of a hardware address that a link-local one has inverted */
};

const uint8_t ip6_all_nodes[ADDR_BYTES] = {0xff, 2, [15] = 1};
static const uint8_t loopback[ADDR_BYTES] = {[15] = 1};

/* --- addresses ------------------------------------------------------------------------------- */

/* RFC 4291 2.5.6 with the interface identifier of RFC 2464 4. */
static struct utcp_addr link_local_of(const uint8_t mac[MAC_BYTES])
{
	uint8_t bytes[ADDR_BYTES] = {0xfe, 0x80, [11] = 0xff, 0xfe};

	memcpy(bytes + 8, mac, 3);
	memcpy(bytes + RANDOM_AT, mac + 3, 3);
	bytes[8] ^= UNIVERSAL;
	return addr_of_ip6(bytes);
}

void ip6_init(struct ip6 *ip6, const struct utcp_config *config)
{
	uint8_t mask[ADDR_BYTES] = {0};

	*ip6 = (struct ip6){.own = config->ip6};
	if (addr_is_none(&ip6->own))
		return;
	ip6->link_local = addr_is_link_local(&ip6->own) ? ip6->own : link_local_of(config->mac);
	for (unsigned i = 0; i < config->prefix6_bits; i++)
		mask[i / 8] |= (uint8_t)(0x80 >> i % 8);
	ip6->mask = addr_of_ip6(mask);
}

bool ip6_can_be_own(const struct utcp_addr *addr)
{
	return !addr_is_none(addr) && !addr_is_ip4(addr) && !addr_is_multicast(addr) &&
	       memcmp(addr, loopback, ADDR_BYTES) != 0;
}

bool ip6_is_own(const struct utcp *utcp, const struct utcp_addr *addr)
{
	return addr_equal(addr, &utcp->ip6.own) || addr_equal(addr, &utcp->ip6.link_local);
}

/*
 * A host of the configured subnet. Its host part is not 0, as the routers' anycast address has it
 * (RFC 4291 2.6.1), which a link between two has not (RFC 6164).
 */
static bool in_subnet(const struct utcp *utcp, const struct utcp_addr *addr)
{
	const struct ip6 *ip6 = &utcp->ip6;
	uint64_t foreign = 0, host = 0;

	for (unsigned i = 0; i < 2; i++) {
		foreign |= (addr->words[i] ^ ip6->own.words[i]) & ip6->mask.words[i];
		host |= addr->words[i] & ~ip6->mask.words[i];
	}
	return foreign == 0 && (host != 0 || utcp->config.prefix6_bits == IP6_PREFIX_MAX);
}

bool ip6_reachable(const struct utcp *utcp, const struct utcp_addr *addr)
{
	const struct ip6 *ip6 = &utcp->ip6;

	if (addr_is_none(&ip6->own) || ip6_is_own(utcp, addr) || !ip6_can_be_own(addr))
		return false;
	return addr_is_link_local(addr) ? addr->words[1] != 0 : in_subnet(utcp, addr);
}

struct utcp_addr ip6_own_for(const struct utcp *utcp, const struct utcp_addr *peer)
{
	return addr_is_link_local(peer) ? utcp->ip6.link_local : utcp->ip6.own;
}

struct utcp_addr ip6_solicited_node(const struct utcp_addr *addr)
{
	uint8_t bytes[ADDR_BYTES] = {0xff, 2, [11] = 1, 0xff};

	memcpy(bytes + RANDOM_AT, (const uint8_t *)addr + RANDOM_AT, ADDR_BYTES - RANDOM_AT);
	return addr_of_ip6(bytes);
}

static bool is_our_group(const struct utcp *utcp, const struct utcp_addr *group)
{
	struct utcp_addr own = ip6_solicited_node(&utcp->ip6.own),
			 local = ip6_solicited_node(&utcp->ip6.link_local);

	return addr_equal(group, &own) || addr_equal(group, &local) ||
	       memcmp(group, ip6_all_nodes, ADDR_BYTES) == 0;
}

bool ip6_hears(const struct utcp *utcp, const uint8_t mac[MAC_BYTES])
{
	const uint8_t *own = (const uint8_t *)&utcp->ip6.own,
		      *local = (const uint8_t *)&utcp->ip6.link_local;

	if (addr_is_none(&utcp->ip6.own) || mac[0] != 0x33 || mac[1] != 0x33)
		return false;
	if (mac[2] != 0xff)
		return memcmp(mac + 2, ip6_all_nodes + 12, 4) == 0;
	return memcmp(mac + 3, own + RANDOM_AT, 3) == 0 ||
	       memcmp(mac + 3, local + RANDOM_AT, 3) == 0;
}

/* --- extension headers: each returns the counter that refuses the packet, or NULL ------------ */

/* RFC 8200 4.2: what to do with an option that we do not know stands in its upper two bits. */
static uint64_t *refuse_option(struct utcp *utcp, const struct ip6_packet *packet, size_t at,
			       uint64_t now_ns)
{
	unsigned action = packet->frame[at] >> 6;

	if (action == 0)
		return NULL;
	if (action == 2 || (action == 3 && !packet->to_many))
		icmp6_problem(utcp, packet, ICMP6_PROBLEM_OPTION, at, now_ns);
	return &utcp->counters.drop_ip6_extension;
}

/* The options of a hop-by-hop or destination header, of which we know none. */
static uint64_t *judge_options(struct utcp *utcp, const struct ip6_packet *packet, size_t bytes,
			       uint64_t now_ns)
{
	size_t at = packet->at + OPTIONS_BEGIN, end = packet->at + bytes;
	uint64_t *refused = NULL;

	while (at < end && !refused) {
		size_t length = 1;

		if (packet->frame[at] != OPTION_PAD_1) {
			if (end - at < 2 || end - at - 2 < packet->frame[at + 1])
				return &utcp->counters.drop_ip6_extension;
			length = 2u + packet->frame[at + 1];
			refused = refuse_option(utcp, packet, at, now_ns);
		}
		at += length;
	}
	return refused;
}

/* RFC 8200 4.4: we know no type of routing, so a packet is ours only at the end of its route. */
static uint64_t *judge_routing(struct utcp *utcp, const struct ip6_packet *packet, uint64_t now_ns)
{
	if (packet->frame[packet->at + ROUTING_LEFT] == 0)
		return NULL;
	icmp6_problem(utcp, packet, ICMP6_PROBLEM_FIELD, packet->at + ROUTING_TYPE, now_ns);
	return &utcp->counters.drop_ip6_extension;
}

/* A packet in one fragment is whole (RFC 6946). */
static uint64_t *judge_fragment(struct utcp *utcp, const struct ip6_packet *packet)
{
	const uint8_t *fragment = packet->frame + packet->at;

	return bytes_get_be16(fragment + FRAGMENT_OFFSET) & FRAGMENT_MASK
		       ? &utcp->counters.drop_ip_fragment
		       : NULL;
}

static bool is_extension(uint8_t next)
{
	return next == EXTENSION_HOP_BY_HOP || next == EXTENSION_ROUTING ||
	       next == EXTENSION_FRAGMENT || next == EXTENSION_DESTINATION;
}

/* The length of the extension header looked at, if the packet has all of it; else 0. */
static size_t extension_bytes(const struct ip6_packet *packet)
{
	const uint8_t *header = packet->frame + packet->at;
	size_t left = packet->end - packet->at, bytes = EXTENSION_UNIT;

	if (left < EXTENSION_UNIT)
		return 0;
	if (packet->next != EXTENSION_FRAGMENT)
		bytes += header[EXTENSION_LENGTH] * (size_t)EXTENSION_UNIT;
	return bytes <= left ? bytes : 0;
}

static void step_over(struct ip6_packet *packet, size_t bytes)
{
	packet->next_at = packet->at + EXTENSION_NEXT;
	packet->next = packet->frame[packet->next_at];
	packet->at += bytes;
}

bool ip6_carries_error(const struct ip6_packet *packet)
{
	struct ip6_packet ahead = *packet;
	size_t bytes;

	for (unsigned i = 0; i < IP6_EXTENSIONS_MAX && is_extension(ahead.next); i++) {
		bytes = extension_bytes(&ahead);
		if (bytes == 0)
			return false;
		step_over(&ahead, bytes);
	}
	return ahead.next == IP6_ICMP && ahead.at < ahead.end &&
	       ahead.frame[ahead.at + ICMP_TYPE] < ICMP6_ERRORS_END;
}

static uint64_t *judge_extension(struct utcp *utcp, const struct ip6_packet *packet, size_t bytes,
				 uint64_t now_ns)
{
	switch (packet->next) {
	case EXTENSION_ROUTING:
		return judge_routing(utcp, packet, now_ns);
	case EXTENSION_FRAGMENT:
		return judge_fragment(utcp, packet);
	default:
		return judge_options(utcp, packet, bytes, now_ns);
	}
}

/* Passes over the extension headers, up to what they extend. */
static uint64_t *pass_extensions(struct utcp *utcp, struct ip6_packet *packet, uint64_t now_ns)
{
	for (unsigned i = 0; is_extension(packet->next); i++) {
		size_t bytes = extension_bytes(packet);
		uint64_t *refused;

		if (bytes == 0 || i == IP6_EXTENSIONS_MAX)
			return &utcp->counters.drop_ip6_extension;
		if (packet->next == EXTENSION_HOP_BY_HOP && i > 0) { /* RFC 8200 4.1 */
			icmp6_problem(utcp, packet, ICMP6_PROBLEM_HEADER, packet->next_at, now_ns);
			return &utcp->counters.drop_ip6_extension;
		}
		refused = judge_extension(utcp, packet, bytes, now_ns);
		if (refused)
			return refused;
		step_over(packet, bytes);
	}
	return NULL;
}

/* --- a packet's way in ----------------------------------------------------------------------- */

/* Whom it is from and to. Only who asks whether an address is free has none (RFC 4861 4.3). */
static bool judge_addresses(const struct utcp *utcp, const uint8_t *frame, bool *to_many_out)
{
	const uint8_t *ip = frame + ETH_BYTES;
	struct utcp_addr source = addr_of_ip6(ip + IP6_SOURCE),
			 destination = addr_of_ip6(ip + IP6_DESTINATION);

	if (!addr_is_none(&source) && !ip6_reachable(utcp, &source))
		return false;
	*to_many_out = addr_is_multicast(&destination);
	if (*to_many_out)
		return is_our_group(utcp, &destination);
	/* What is for one host comes in a frame for one host. */
	return ip6_is_own(utcp, &destination) && !(frame[ETH_DESTINATION] & 1) &&
	       !addr_is_none(&source);
}

/* Checks the header of `bytes` at most; the counter that refuses it, or NULL. */
static uint64_t *judge_header(struct utcp *utcp, const uint8_t *frame, size_t bytes,
			      struct ip6_packet *packet_out)
{
	const uint8_t *ip = frame + ETH_BYTES;
	struct utcp_counters *counters = &utcp->counters;
	size_t payload;

	if (bytes < ETH_BYTES + IP6_BYTES)
		return &counters->drop_short;
	payload = bytes_get_be16(ip + IP6_PAYLOAD);
	if (ip[IP6_VERSION] >> 4 != 6 || payload > bytes - ETH_BYTES - IP6_BYTES)
		return &counters->drop_ip_header;
	*packet_out = (struct ip6_packet){.frame = frame,
					  .at = ETH_BYTES + IP6_BYTES,
					  .end = ETH_BYTES + IP6_BYTES + payload,
					  .next_at = ETH_BYTES + IP6_NEXT,
					  .next = ip[IP6_NEXT]};
	return judge_addresses(utcp, frame, &packet_out->to_many) ? NULL
								  : &counters->drop_ip_address;
}

/* What is not TCP. */
static void input_other(struct utcp *utcp, const struct ip6_packet *packet, uint64_t now_ns)
{
	struct utcp_counters *counters = &utcp->counters;

	if (packet->next == IP6_ICMP) {
		(*icmp6_input(utcp, packet, now_ns))++;
		return;
	}
	counters->drop_ip_protocol++;
	if (packet->next != IP6_NOTHING && packet->next != IP_TCP) /* RFC 8200 4 */
		icmp6_problem(utcp, packet, ICMP6_PROBLEM_HEADER, packet->next_at, now_ns);
}

void ip6_input(struct utcp *utcp, const uint8_t *frame, size_t bytes, uint64_t now_ns)
{
	struct ip6_packet packet;
	uint64_t *refused = judge_header(utcp, frame, bytes, &packet);

	if (__builtin_expect(!refused && packet.next != IP_TCP, 0))
		refused = pass_extensions(utcp, &packet, now_ns);
	if (__builtin_expect(refused != NULL, 0))
		(*refused)++;
	else if (__builtin_expect(packet.next == IP_TCP && !packet.to_many, 1))
		ip_input_tcp(utcp, frame, packet.at, packet.end - packet.at, now_ns);
	else
		input_other(utcp, &packet, now_ns);
}
