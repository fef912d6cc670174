#include "stacks/utcp/icmp.h"

#include "dataplane/core/bytes.h"
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

bool icmp_input(struct utcp *utcp, const uint8_t *frame, size_t offset, size_t bytes)
{
	const uint8_t *icmp = frame + offset;
	uint8_t *to;

	if (bytes < ICMP_BYTES || IP_BYTES + bytes > utcp->config.mtu ||
	    icmp[ICMP_TYPE] != ICMP_ECHO || icmp[ICMP_CODE] != 0 ||
	    checksum_fold(checksum_add(0, icmp, bytes)) != 0)
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
