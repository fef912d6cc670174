#include "stacks/utcp/segment_head.h"

#include "dataplane/core/bytes.h"
#include "stacks/utcp/checksum.h"

static void init_ip4(struct segment_head *head, const struct segment_ends *ends)
{
	uint8_t *ip = head->bytes + ETH_BYTES;

	bytes_put_be16(head->bytes + ETH_TYPE, ETH_TYPE_IPV4);
	ip[IP_VERSION] = 4 << 4 | IP_BYTES / 4;
	/* Never fragmented, so any identification will do (RFC 6864 4.1). */
	bytes_put_be16(ip + IP_FRAGMENT, IP_DONT_FRAGMENT);
	ip[IP_TTL] = IP_TTL_DEFAULT;
	ip[IP_PROTOCOL] = IP_TCP;
	bytes_put_be32(ip + IP_SOURCE, addr_ip4(&ends->own));
	bytes_put_be32(ip + IP_DESTINATION, addr_ip4(&ends->peer));
	head->tcp_at = ETH_BYTES + IP_BYTES;
	head->ip_sum = (uint16_t)~checksum_fold(checksum_add(0, ip, IP_BYTES));
}

/* Traffic class and flow label are 0, as of a host that labels no flows (RFC 6437 3). */
static void init_ip6(struct segment_head *head, const struct segment_ends *ends)
{
	uint8_t *ip = head->bytes + ETH_BYTES;

	bytes_put_be16(head->bytes + ETH_TYPE, ETH_TYPE_IPV6);
	ip[IP6_VERSION] = 6 << 4;
	ip[IP6_NEXT] = IP_TCP;
	ip[IP6_HOPS] = IP_TTL_DEFAULT;
	memcpy(ip + IP6_SOURCE, &ends->own, ADDR_BYTES);
	memcpy(ip + IP6_DESTINATION, &ends->peer, ADDR_BYTES);
	head->tcp_at = ETH_BYTES + IP6_BYTES;
}

void segment_head_init(struct segment_head *head, const uint8_t own_mac[MAC_BYTES],
		       const uint8_t peer_mac[MAC_BYTES], const struct segment_ends *ends)
{
	const uint8_t *ip = head->bytes + ETH_BYTES;
	uint8_t *ports;
	uint64_t sum;

	memset(head, 0, sizeof(*head));
	memcpy(head->bytes + ETH_DESTINATION, peer_mac, MAC_BYTES);
	memcpy(head->bytes + ETH_SOURCE, own_mac, MAC_BYTES);
	if (addr_is_ip4(&ends->peer)) {
		init_ip4(head, ends);
		sum = checksum_pseudo(ip + IP_SOURCE, IP_ADDRESSES_BYTES, IP_TCP, 0);
	} else {
		init_ip6(head, ends);
		sum = checksum_pseudo(ip + IP6_SOURCE, IP6_ADDRESSES_BYTES, IP_TCP, 0);
	}
	ports = head->bytes + head->tcp_at;
	bytes_put_be16(ports + TCP_SOURCE, ends->own_port);
	bytes_put_be16(ports + TCP_DESTINATION, ends->peer_port);
	head->tcp_sum = (uint16_t)~checksum_fold(checksum_add(sum, ports, TCP_SEQ));
}

struct segment_ends segment_head_ends(const struct segment_head *head)
{
	const uint8_t *ip = head->bytes + ETH_BYTES, *ports = head->bytes + head->tcp_at;
	struct segment_ends ends = {.own_port = bytes_get_be16(ports + TCP_SOURCE),
				    .peer_port = bytes_get_be16(ports + TCP_DESTINATION)};

	if (segment_head_is_ip6(head)) {
		ends.own = addr_of_ip6(ip + IP6_SOURCE);
		ends.peer = addr_of_ip6(ip + IP6_DESTINATION);
	} else {
		ends.own = addr_of_ip4(bytes_get_be32(ip + IP_SOURCE));
		ends.peer = addr_of_ip4(bytes_get_be32(ip + IP_DESTINATION));
	}
	return ends;
}

/* Ethernet, IP and ports. */
static void put_ip(const struct segment_head *head, uint8_t *frame, uint16_t tcp_bytes, uint8_t ecn)
{
	uint8_t *ip = frame + ETH_BYTES;
	uint16_t ip_bytes = (uint16_t)(IP_BYTES + tcp_bytes);

	if (__builtin_expect(segment_head_is_ip6(head), 0)) {
		memcpy(frame, head->bytes, sizeof(head->bytes));
		bytes_put_be16(ip + IP6_PAYLOAD, tcp_bytes);
		ip[IP6_CLASS] = (uint8_t)(ecn << IP6_ECN_SHIFT);
		return;
	}
	memcpy(frame, head->bytes, ETH_BYTES + IP_BYTES + TCP_SEQ);
	bytes_put_be16(ip + IP_TOTAL, ip_bytes);
	ip[IP_TOS] = ecn;
	checksum_put(ip + IP_CHECKSUM,
		     (uint64_t)head->ip_sum + __builtin_bswap16(ip_bytes) + (ecn << 8));
}

size_t segment_seal(const struct segment_head *head, uint8_t *frame,
		    const struct segment_fields *fields)
{
	uint8_t *tcp = frame + head->tcp_at;
	uint16_t tcp_bytes = (uint16_t)(TCP_BYTES + fields->options_bytes + fields->payload_bytes);
	uint64_t sum;

	put_ip(head, frame, tcp_bytes, fields->ecn);
	bytes_put_be32(tcp + TCP_SEQ, fields->seq);
	bytes_put_be32(tcp + TCP_ACK, fields->ack);
	tcp[TCP_OFFSET] = (uint8_t)((TCP_BYTES + fields->options_bytes) / 4 << 4);
	tcp[TCP_FLAGS] = fields->flags;
	bytes_put_be16(tcp + TCP_WINDOW, fields->window);
	memset(tcp + TCP_CHECKSUM, 0, TCP_BYTES - TCP_CHECKSUM); /* and the urgent pointer */
	sum = (uint64_t)head->tcp_sum + __builtin_bswap16(tcp_bytes);
	checksum_put(tcp + TCP_CHECKSUM, checksum_add(sum, tcp + TCP_SEQ, tcp_bytes - TCP_SEQ));
	return head->tcp_at + (size_t)tcp_bytes;
}
