#include "stacks/utcp/segment.h"

#include "dataplane/core/bytes.h"
#include "stacks/utcp/checksum.h"

/* One option of a SYN whose length is known to be right for any option. */
static bool take_option(const uint8_t *option, unsigned bytes, struct segment *segment)
{
	switch (option[0]) {
	case TCP_OPTION_MSS: /* RFC 9293 3.2 */
		if (bytes != 4)
			return false;
		segment->mss = bytes_get_be16(option + 2);
		return true;
	case TCP_OPTION_SCALE: /* RFC 7323 2.3: a shift above 14 counts as 14 */
		if (bytes != 3)
			return false;
		segment->scale_given = true;
		segment->scale = option[2] < SEGMENT_SCALE_MAX ? option[2] : SEGMENT_SCALE_MAX;
		return true;
	default: /* RFC 9293 MUST-6: what is unknown is skipped */
		return true;
	}
}

/* RFC 9293 3.1, MUST-7: illegal lengths must be survived; each turn moves ahead by at least one
 * byte or ends. */
static bool parse_options(const uint8_t *options, unsigned bytes, struct segment *segment)
{
	unsigned at = 0;

	segment->mss = SEGMENT_MSS_DEFAULT;
	while (at < bytes && options[at] != TCP_OPTION_END) {
		unsigned length = 1;

		if (options[at] != TCP_OPTION_NOP) {
			if (bytes - at < 2)
				return false;
			length = options[at + 1];
			if (length < 2 || length > bytes - at ||
			    !take_option(options + at, length, segment))
				return false;
		}
		at += length;
	}
	return true;
}

/* Flags that no honest segment has together. */
static bool flags_are_odd(uint8_t flags)
{
	return (flags & TCP_SYN) && (flags & (TCP_FIN | TCP_RST));
}

enum segment_status segment_parse(const uint8_t *frame, size_t offset, size_t bytes,
				  struct segment *segment)
{
	const uint8_t *ip = frame + ETH_BYTES, *tcp = frame + offset;
	unsigned head_bytes;
	uint64_t sum;

	if (bytes < TCP_BYTES)
		return SEGMENT_BAD_HEADER;
	head_bytes = (tcp[TCP_OFFSET] >> 4) * 4u;
	if (head_bytes < TCP_BYTES || head_bytes > bytes)
		return SEGMENT_BAD_HEADER;
	sum = checksum_pseudo(ip + IP_SOURCE, ip + IP_DESTINATION, (uint16_t)bytes);
	if (checksum_fold(checksum_add(sum, tcp, bytes)) != 0)
		return SEGMENT_BAD_CHECKSUM;
	segment->peer_ip = bytes_get_be32(ip + IP_SOURCE);
	segment->peer_port = bytes_get_be16(tcp + TCP_SOURCE);
	segment->own_port = bytes_get_be16(tcp + TCP_DESTINATION);
	segment->seq = bytes_get_be32(tcp + TCP_SEQ);
	segment->ack = bytes_get_be32(tcp + TCP_ACK);
	segment->window = bytes_get_be16(tcp + TCP_WINDOW);
	segment->flags = tcp[TCP_FLAGS];
	segment->data = tcp + head_bytes;
	segment->bytes = (uint32_t)(bytes - head_bytes);
	segment->frame = frame;
	segment->scale_given = false;
	if (segment->peer_port == 0 || segment->own_port == 0 || flags_are_odd(segment->flags))
		return SEGMENT_BAD_HEADER;
	if ((segment->flags & TCP_SYN) &&
	    !parse_options(tcp + TCP_BYTES, head_bytes - TCP_BYTES, segment))
		return SEGMENT_BAD_HEADER;
	return SEGMENT_OK;
}

void segment_head_init(struct segment_head *head, const uint8_t own_mac[MAC_BYTES],
		       const uint8_t peer_mac[MAC_BYTES], const struct segment_ends *ends)
{
	uint8_t *ip = head->bytes + ETH_BYTES, *tcp = ip + IP_BYTES;

	memset(head->bytes, 0, sizeof(head->bytes));
	memcpy(head->bytes + ETH_DESTINATION, peer_mac, MAC_BYTES);
	memcpy(head->bytes + ETH_SOURCE, own_mac, MAC_BYTES);
	bytes_put_be16(head->bytes + ETH_TYPE, ETH_TYPE_IPV4);
	ip[IP_VERSION] = 4 << 4 | IP_BYTES / 4;
	/* Never fragmented, so any identification will do (RFC 6864 4.1). */
	bytes_put_be16(ip + IP_FRAGMENT, IP_DONT_FRAGMENT);
	ip[IP_TTL] = IP_TTL_DEFAULT;
	ip[IP_PROTOCOL] = IP_TCP;
	bytes_put_be32(ip + IP_SOURCE, ends->own_ip);
	bytes_put_be32(ip + IP_DESTINATION, ends->peer_ip);
	bytes_put_be16(tcp + TCP_SOURCE, ends->own_port);
	bytes_put_be16(tcp + TCP_DESTINATION, ends->peer_port);
	head->ip_sum = (uint32_t)(uint16_t)~checksum_fold(checksum_add(0, ip, IP_BYTES));
	head->tcp_sum = (uint32_t)(uint16_t)~checksum_fold(checksum_add(
		checksum_pseudo(ip + IP_SOURCE, ip + IP_DESTINATION, 0), tcp, TCP_SEQ));
}

size_t segment_seal(const struct segment_head *head, uint8_t *frame,
		    const struct segment_fields *fields)
{
	uint8_t *ip = frame + ETH_BYTES, *tcp = ip + IP_BYTES;
	uint16_t tcp_bytes = (uint16_t)(TCP_BYTES + fields->options_bytes + fields->payload_bytes);
	uint16_t ip_bytes = (uint16_t)(IP_BYTES + tcp_bytes);
	uint64_t sum;

	memcpy(frame, head->bytes, HEAD_BYTES);
	bytes_put_be16(ip + IP_TOTAL, ip_bytes);
	checksum_put(ip + IP_CHECKSUM, (uint64_t)head->ip_sum + __builtin_bswap16(ip_bytes));
	bytes_put_be32(tcp + TCP_SEQ, fields->seq);
	bytes_put_be32(tcp + TCP_ACK, fields->ack);
	tcp[TCP_OFFSET] = (uint8_t)((TCP_BYTES + fields->options_bytes) / 4 << 4);
	tcp[TCP_FLAGS] = fields->flags;
	bytes_put_be16(tcp + TCP_WINDOW, fields->window);
	sum = (uint64_t)head->tcp_sum + __builtin_bswap16(tcp_bytes);
	checksum_put(tcp + TCP_CHECKSUM, checksum_add(sum, tcp + TCP_SEQ, tcp_bytes - TCP_SEQ));
	return ETH_BYTES + ip_bytes;
}

void segment_put_syn_options(uint8_t *to, uint16_t mss, int scale)
{
	to[0] = TCP_OPTION_MSS;
	to[1] = 4;
	bytes_put_be16(to + 2, mss);
	memset(to + 4, TCP_OPTION_NOP, 4);
	if (scale >= 0) {
		to[5] = TCP_OPTION_SCALE;
		to[6] = 3;
		to[7] = (uint8_t)scale;
	}
}
