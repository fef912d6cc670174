/*
 * ip4: a packet's way in (RFC 791), down to the protocol that it carries.
 *
 * Nothing is read before its length was checked, and Ethernet padding never reaches TCP, whose
 * length is what the header says.
 */
#include "dataplane/core/bytes.h"
#include "stacks/utcp/checksum.h"
#include "stacks/utcp/icmp.h"
#include "stacks/utcp/ip.h"

enum { SOURCE_LOOPBACK = 127, SOURCE_MULTICAST_FIRST = 224 };

bool ip4_reachable(const struct utcp *utcp, uint32_t ip)
{
	uint32_t hosts = utcp->config.prefix_bits == 0
				 ? UINT32_MAX
				 : (1u << (32 - utcp->config.prefix_bits)) - 1;

	if (ip == utcp->config.ip || ((ip ^ utcp->config.ip) & ~hosts) != 0)
		return false;
	if (ip >> 24 == 0 || ip >> 24 == SOURCE_LOOPBACK || ip >> 24 >= SOURCE_MULTICAST_FIRST)
		return false;
	/* The subnet's own address and its broadcast, which a point-to-point link has not (RFC
	 * 3021). */
	return hosts <= 1 || ((ip & hosts) != 0 && (ip & hosts) != hosts);
}

/* Checks the IPv4 header of `bytes` at most; the counter that refuses it, or NULL. */
static uint64_t *judge_header(struct utcp *utcp, const uint8_t *ip, size_t bytes)
{
	struct utcp_counters *counters = &utcp->counters;
	size_t head_bytes, total;

	if (bytes < IP_BYTES)
		return &counters->drop_short;
	head_bytes = (ip[IP_VERSION] & 0xf) * 4u;
	total = bytes_get_be16(ip + IP_TOTAL);
	if (ip[IP_VERSION] >> 4 != 4 || head_bytes < IP_BYTES || total < head_bytes ||
	    total > bytes)
		return &counters->drop_ip_header;
	if (checksum_fold(checksum_add(0, ip, head_bytes)) != 0)
		return &counters->drop_ip_checksum;
	if (bytes_get_be32(ip + IP_DESTINATION) != utcp->config.ip ||
	    !ip4_reachable(utcp, bytes_get_be32(ip + IP_SOURCE)))
		return &counters->drop_ip_address;
	if (bytes_get_be16(ip + IP_FRAGMENT) & IP_FRAGMENT_MASK)
		return &counters->drop_ip_fragment;
	return NULL;
}

void ip4_input(struct utcp *utcp, const uint8_t *frame, size_t bytes, uint64_t now_ns)
{
	const uint8_t *ip = frame + ETH_BYTES;
	uint64_t *refused = judge_header(utcp, ip, bytes - ETH_BYTES);
	size_t head_bytes, payload;

	if (__builtin_expect(refused != NULL, 0)) {
		(*refused)++;
		return;
	}
	head_bytes = (ip[IP_VERSION] & 0xf) * 4u;
	payload = bytes_get_be16(ip + IP_TOTAL) - head_bytes;
	if (__builtin_expect(ip[IP_PROTOCOL] == IP_TCP, 1))
		ip_input_tcp(utcp, frame, ETH_BYTES + head_bytes, payload, now_ns);
	else if (ip[IP_PROTOCOL] != IP_ICMP)
		utcp->counters.drop_ip_protocol++;
	else if (icmp_input(utcp, frame, ETH_BYTES + head_bytes, payload))
		utcp->counters.in_icmp++;
	else
		utcp->counters.drop_icmp++;
}
