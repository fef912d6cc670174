#include "stacks/utcp/icmp.h"

#include "dataplane/core/bytes.h"
#include "stacks/utcp/advice.h"
#include "stacks/utcp/checksum.h"
#include "stacks/utcp/instance.h"

/* The IPv4 header of an answer: the asker's addresses swapped, its options left out. */
static void put_ip_header(struct utcp *utcp, uint8_t *ip, const uint8_t *asked, uint16_t ip_bytes)
{
	memset(ip, 0, IP_BYTES);
	ip[IP_VERSION] = 4 << 4 | IP_BYTES / 4;
	bytes_put_be16(ip + IP_TOTAL, ip_bytes);
	bytes_put_be16(ip + IP_FRAGMENT, IP_DONT_FRAGMENT);
	ip[IP_TTL] = IP_TTL_DEFAULT;
	ip[IP_PROTOCOL] = IP_ICMP;
	bytes_put_be32(ip + IP_SOURCE, utcp->config.ip);
	memcpy(ip + IP_DESTINATION, asked + IP_SOURCE, 4);
	checksum_put(ip + IP_CHECKSUM, checksum_add(0, ip, IP_BYTES));
}

static void put_reply(struct utcp *utcp, uint8_t *to, const uint8_t *frame, const uint8_t *icmp,
		      size_t bytes)
{
	uint8_t *reply = to + ETH_BYTES + IP_BYTES;

	memcpy(to + ETH_DESTINATION, frame + ETH_SOURCE, MAC_BYTES);
	memcpy(to + ETH_SOURCE, utcp->config.mac, MAC_BYTES);
	bytes_put_be16(to + ETH_TYPE, ETH_TYPE_IPV4);
	put_ip_header(utcp, to + ETH_BYTES, frame + ETH_BYTES, (uint16_t)(IP_BYTES + bytes));
	memcpy(reply, icmp, bytes);
	reply[ICMP_TYPE] = ICMP_ECHO_REPLY;
	memset(reply + ICMP_CHECKSUM, 0, 2);
	checksum_put(reply + ICMP_CHECKSUM, checksum_add(0, reply, bytes));
}

static bool answer_echo(struct utcp *utcp, const uint8_t *frame, const uint8_t *icmp, size_t bytes)
{
	uint8_t *to;

	if (icmp[ICMP_CODE] != 0 || IP_BYTES + bytes > utcp->config.mtu)
		return false;
	to = answers_reserve(&utcp->answers);
	if (!to) {
		utcp->counters.out_lost++;
		return true;
	}
	put_reply(utcp, to, frame, icmp, bytes);
	answers_commit(&utcp->answers, ETH_BYTES + IP_BYTES + bytes);
	return true;
}

/* RFC 1122 3.2.2.1 and 4.2.3.9. */
static enum advice_kind unreachable_kind(uint8_t code)
{
	switch (code) {
	case ICMP_PROTOCOL_UNREACHABLE:
		return ADVICE_UNREACHABLE;
	case ICMP_PORT_UNREACHABLE:
		return ADVICE_REFUSED;
	case ICMP_TOO_BIG:
		return ADVICE_TOO_BIG;
	default:
		return ADVICE_SOFT;
	}
}

/* Reads the quoted packet, of which RFC 792 promises the header and 8 bytes more: the ports and the
 * sequence number. False if it is none that TCP of ours can have sent. */
static bool read_quoted(const uint8_t *ip, size_t bytes, struct advice *advice)
{
	size_t head_bytes = bytes < IP_BYTES ? 0 : (ip[IP_VERSION] & 0xf) * 4u;
	const uint8_t *tcp = ip + head_bytes;

	if (head_bytes < IP_BYTES || bytes < head_bytes + ICMP_QUOTED_TCP ||
	    ip[IP_VERSION] >> 4 != 4 || ip[IP_PROTOCOL] != IP_TCP ||
	    bytes_get_be16(ip + IP_FRAGMENT) & IP_FRAGMENT_MASK)
		return false;
	advice->packet_bytes = bytes_get_be16(ip + IP_TOTAL);
	advice->ends =
		(struct segment_ends){.own = addr_of_ip4(bytes_get_be32(ip + IP_SOURCE)),
				      .peer = addr_of_ip4(bytes_get_be32(ip + IP_DESTINATION)),
				      .own_port = bytes_get_be16(tcp + TCP_SOURCE),
				      .peer_port = bytes_get_be16(tcp + TCP_DESTINATION)};
	advice->seq = bytes_get_be32(tcp + TCP_SEQ);
	return true;
}

static bool take_error(struct utcp *utcp, const uint8_t *icmp, size_t bytes)
{
	struct advice advice = {.kind = ADVICE_SOFT};
	struct utcp_addr own = addr_of_ip4(utcp->config.ip);

	if (!read_quoted(icmp + ICMP_BYTES, bytes - ICMP_BYTES, &advice) ||
	    !addr_equal(&advice.ends.own, &own))
		return false;
	if (icmp[ICMP_TYPE] == ICMP_UNREACHABLE)
		advice.kind = unreachable_kind(icmp[ICMP_CODE]);
	advice.mtu = bytes_get_be16(icmp + ICMP_NEXT_MTU);
	return advice_take(utcp, &advice);
}

bool icmp_input(struct utcp *utcp, const uint8_t *frame, size_t offset, size_t bytes)
{
	const uint8_t *icmp = frame + offset;

	if (bytes < ICMP_BYTES || checksum_fold(checksum_add(0, icmp, bytes)) != 0)
		return false;
	switch (icmp[ICMP_TYPE]) {
	case ICMP_ECHO:
		return answer_echo(utcp, frame, icmp, bytes);
	case ICMP_UNREACHABLE:
	case ICMP_TIME_EXCEEDED:
	case ICMP_BAD_PARAMETER:
		return take_error(utcp, icmp, bytes);
	default: /* source quench, too, is to be ignored (RFC 6633) */
		return false;
	}
}
