#include "stacks/utcp/icmp6.h"

#include "dataplane/core/bytes.h"
#include "stacks/utcp/advice.h"
#include "stacks/utcp/checksum.h"
#include "stacks/utcp/instance.h"
#include "stacks/utcp/nd.h"

enum { QUOTE_PACKET_MAX = 1280 /* an error fits the least MTU of IPv6 (RFC 4443 2.4 c) */ };

#define ERRORS_PERIOD_NS (1000ull * 1000 * 1000)

/* --- sending --------------------------------------------------------------------------------- */

struct icmp6_route icmp6_route_back(const struct utcp *utcp, const struct ip6_packet *packet)
{
	const uint8_t *ip = packet->frame + ETH_BYTES;
	struct icmp6_route route = {.own = addr_of_ip6(ip + IP6_DESTINATION),
				    .peer = addr_of_ip6(ip + IP6_SOURCE)};

	memcpy(route.mac, packet->frame + ETH_SOURCE, MAC_BYTES);
	if (packet->to_many)
		route.own = ip6_own_for(utcp, &route.peer);
	return route;
}

uint8_t *icmp6_reserve(struct utcp *utcp, const struct icmp6_route *route, uint8_t hops,
		       bool question)
{
	uint8_t *frame = question ? answers_reserve_question(&utcp->answers)
				  : answers_reserve(&utcp->answers);
	uint8_t *ip;

	if (!frame) {
		utcp->counters.out_lost++;
		return NULL;
	}
	memcpy(frame + ETH_DESTINATION, route->mac, MAC_BYTES);
	memcpy(frame + ETH_SOURCE, utcp->config.mac, MAC_BYTES);
	bytes_put_be16(frame + ETH_TYPE, ETH_TYPE_IPV6);
	ip = frame + ETH_BYTES;
	memset(ip, 0, IP6_BYTES);
	ip[IP6_VERSION] = 6 << 4;
	ip[IP6_NEXT] = IP6_ICMP;
	ip[IP6_HOPS] = hops;
	memcpy(ip + IP6_SOURCE, &route->own, ADDR_BYTES);
	memcpy(ip + IP6_DESTINATION, &route->peer, ADDR_BYTES);
	return ip + IP6_BYTES;
}

/* What a message's checksum covers, besides it (RFC 4443 2.3). */
static uint64_t sum_pseudo(const uint8_t *ip, size_t bytes)
{
	return checksum_pseudo(ip + IP6_SOURCE, IP6_ADDRESSES_BYTES, IP6_ICMP, (uint16_t)bytes);
}

void icmp6_commit(struct utcp *utcp, uint8_t *message, size_t bytes)
{
	uint8_t *ip = message - IP6_BYTES;

	bytes_put_be16(ip + IP6_PAYLOAD, (uint16_t)bytes);
	memset(message + ICMP_CHECKSUM, 0, 2);
	checksum_put(message + ICMP_CHECKSUM, checksum_add(sum_pseudo(ip, bytes), message, bytes));
	answers_commit(&utcp->answers, ETH_BYTES + IP6_BYTES + bytes);
}

/* RFC 4443 2.4 f, so that nobody can make us flood whose address he uses. */
static bool may_send_error(struct ip6 *ip6, uint64_t now_ns)
{
	if (now_ns - ip6->errors_at_ns >= ERRORS_PERIOD_NS) {
		ip6->errors_at_ns = now_ns;
		ip6->errors = 0;
	}
	return ip6->errors++ < ICMP6_ERRORS_A_SECOND;
}

/*
 * RFC 4443 2.4 e: no answer to an error, to a group (but of options, 2.4 e.3) or to no address, so
 * that nothing answers an answer.
 */
static bool may_complain(const struct ip6_packet *packet, uint8_t code)
{
	struct utcp_addr source = addr_of_ip6(packet->frame + ETH_BYTES + IP6_SOURCE);

	return !addr_is_none(&source) && !ip6_carries_error(packet) &&
	       (!packet->to_many || code == ICMP6_PROBLEM_OPTION);
}

void icmp6_problem(struct utcp *utcp, const struct ip6_packet *packet, uint8_t code, size_t at,
		   uint64_t now_ns)
{
	struct icmp6_route route = icmp6_route_back(utcp, packet);
	size_t quoted = packet->end - ETH_BYTES, most = QUOTE_PACKET_MAX - IP6_BYTES - ICMP_BYTES;
	uint8_t *message;

	if (!may_complain(packet, code) || !may_send_error(&utcp->ip6, now_ns))
		return;
	message = icmp6_reserve(utcp, &route, IP_TTL_DEFAULT, false);
	if (!message)
		return;
	quoted = quoted < most ? quoted : most;
	message[ICMP_TYPE] = ICMP6_PROBLEM;
	message[ICMP_CODE] = code;
	bytes_put_be32(message + ICMP6_POINTER, (uint32_t)(at - ETH_BYTES));
	memcpy(message + ICMP_BYTES, packet->frame + ETH_BYTES, quoted);
	icmp6_commit(utcp, message, ICMP_BYTES + quoted);
}

/* --- receiving ------------------------------------------------------------------------------- */

/* RFC 4443 4.2; not to a group, where one question would have as many answers as hosts. */
static bool echo(struct utcp *utcp, const struct ip6_packet *packet, size_t bytes)
{
	const uint8_t *asked = packet->frame + packet->at;
	struct icmp6_route route = icmp6_route_back(utcp, packet);
	uint8_t *reply;

	if (packet->to_many || asked[ICMP_CODE] != 0 || IP6_BYTES + bytes > utcp->config.mtu)
		return false;
	reply = icmp6_reserve(utcp, &route, IP_TTL_DEFAULT, false);
	if (!reply)
		return true;
	memcpy(reply, asked, bytes);
	reply[ICMP_TYPE] = ICMP6_ECHO_REPLY;
	icmp6_commit(utcp, reply, bytes);
	return true;
}

/* RFC 4443 3. An unknown next header says what "protocol unreachable" says of IPv4 (3.4). */
static enum advice_kind kind_of(const uint8_t *message)
{
	uint8_t code = message[ICMP_CODE];

	switch (message[ICMP_TYPE]) {
	case ICMP6_UNREACHABLE:
		return code == ICMP6_PORT_UNREACHABLE ? ADVICE_REFUSED : ADVICE_SOFT;
	case ICMP6_TOO_BIG:
		return ADVICE_TOO_BIG;
	case ICMP6_PROBLEM:
		return code == ICMP6_PROBLEM_HEADER ? ADVICE_UNREACHABLE : ADVICE_SOFT;
	default:
		return ADVICE_SOFT;
	}
}

/* Reads the quoted packet: ours carry TCP without extension headers. False if it is none. */
static bool read_quoted(const uint8_t *ip, size_t bytes, struct advice *advice)
{
	const uint8_t *tcp = ip + IP6_BYTES;

	if (bytes < IP6_BYTES + ICMP_QUOTED_TCP || ip[IP6_VERSION] >> 4 != 6 ||
	    ip[IP6_NEXT] != IP_TCP)
		return false;
	advice->packet_bytes = (uint16_t)(IP6_BYTES + bytes_get_be16(ip + IP6_PAYLOAD));
	advice->ends = (struct segment_ends){.own = addr_of_ip6(ip + IP6_SOURCE),
					     .peer = addr_of_ip6(ip + IP6_DESTINATION),
					     .own_port = bytes_get_be16(tcp + TCP_SOURCE),
					     .peer_port = bytes_get_be16(tcp + TCP_DESTINATION)};
	advice->seq = bytes_get_be32(tcp + TCP_SEQ);
	return true;
}

static bool take_error(struct utcp *utcp, const struct ip6_packet *packet, size_t bytes)
{
	const uint8_t *message = packet->frame + packet->at;
	struct advice advice = {.kind = kind_of(message)};
	uint32_t mtu = bytes_get_be32(message + ICMP6_MTU);

	if (packet->to_many || !read_quoted(message + ICMP_BYTES, bytes - ICMP_BYTES, &advice) ||
	    !ip6_is_own(utcp, &advice.ends.own) || addr_is_ip4(&advice.ends.peer))
		return false;
	advice.mtu = mtu < UINT16_MAX ? (uint16_t)mtu : UINT16_MAX;
	return advice_take(utcp, &advice);
}

uint64_t *icmp6_input(struct utcp *utcp, const struct ip6_packet *packet, uint64_t now_ns)
{
	const uint8_t *ip = packet->frame + ETH_BYTES, *message = packet->frame + packet->at;
	struct utcp_counters *counters = &utcp->counters;
	size_t bytes = packet->end - packet->at;

	if (bytes < ICMP_BYTES ||
	    checksum_fold(checksum_add(sum_pseudo(ip, bytes), message, bytes)) != 0)
		return &counters->drop_icmp;
	if (message[ICMP_TYPE] >= ICMP6_ROUTER_SOLICITATION && message[ICMP_TYPE] <= ICMP6_REDIRECT)
		return nd_input(utcp, packet, bytes, now_ns) ? &counters->in_nd
							     : &counters->drop_nd;
	if (message[ICMP_TYPE] < ICMP6_ERRORS_END
		    ? take_error(utcp, packet, bytes)
		    : message[ICMP_TYPE] == ICMP6_ECHO && echo(utcp, packet, bytes))
		return &counters->in_icmp;
	return &counters->drop_icmp;
}
