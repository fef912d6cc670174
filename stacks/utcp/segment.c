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
	const uint8_t *tcp = frame + offset;
	unsigned head_bytes;
	uint64_t sum;

	if (bytes < TCP_BYTES)
		return SEGMENT_BAD_HEADER;
	head_bytes = (tcp[TCP_OFFSET] >> 4) * 4u;
	if (head_bytes < TCP_BYTES || head_bytes > bytes)
		return SEGMENT_BAD_HEADER;
	segment->frame = frame;
	segment->ip6 = frame[ETH_BYTES] >> 4 == 6;
	sum = checksum_pseudo(segment_addresses(segment),
			      segment->ip6 ? IP6_ADDRESSES_BYTES : IP_ADDRESSES_BYTES, IP_TCP,
			      (uint16_t)bytes);
	if (checksum_fold(checksum_add(sum, tcp, bytes)) != 0)
		return SEGMENT_BAD_CHECKSUM;
	segment->peer_port = bytes_get_be16(tcp + TCP_SOURCE);
	segment->own_port = bytes_get_be16(tcp + TCP_DESTINATION);
	segment->seq = bytes_get_be32(tcp + TCP_SEQ);
	segment->ack = bytes_get_be32(tcp + TCP_ACK);
	segment->window = bytes_get_be16(tcp + TCP_WINDOW);
	segment->flags = tcp[TCP_FLAGS];
	segment->data = tcp + head_bytes;
	segment->bytes = (uint32_t)(bytes - head_bytes);
	segment->scale_given = false;
	if (segment->peer_port == 0 || segment->own_port == 0 || flags_are_odd(segment->flags))
		return SEGMENT_BAD_HEADER;
	if ((segment->flags & TCP_SYN) &&
	    !parse_options(tcp + TCP_BYTES, head_bytes - TCP_BYTES, segment))
		return SEGMENT_BAD_HEADER;
	return SEGMENT_OK;
}

struct segment_ends segment_ends(const struct segment *segment)
{
	const uint8_t *from = segment_addresses(segment);
	struct segment_ends ends = {.own_port = segment->own_port, .peer_port = segment->peer_port};

	if (segment->ip6) {
		ends.peer = addr_of_ip6(from);
		ends.own = addr_of_ip6(from + ADDR_BYTES);
	} else {
		ends.peer = addr_of_ip4(bytes_get_be32(from));
		ends.own = addr_of_ip4(bytes_get_be32(from + 4));
	}
	return ends;
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
