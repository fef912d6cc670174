#include "stacks/utcp/segment.h"

#include "dataplane/core/bytes.h"
#include "stacks/utcp/checksum.h"

/* Flags that no honest segment has together. */
static bool flags_are_odd(uint16_t flags)
{
	return (flags & TCP_SYN) && (flags & (TCP_FIN | TCP_RST));
}

/* Almost all segments have no options, or timestamps as RFC 7323 appendix A lays them out. */
static inline bool read_options(const uint8_t *options, unsigned bytes, struct segment *segment)
{
	segment->has_times = false;
	segment->sack_count = 0;
	segment->times_value = segment->times_echo = 0;
	if (segment->flags & TCP_SYN) {
		segment->mss = OPTIONS_MSS_DEFAULT;
		segment->scale_given = segment->scale_steep = segment->sack_permitted = false;
	} else if (bytes == 0) {
		return true;
	} else if (bytes == OPTIONS_TIMES_BYTES && options_are_times(options)) {
		segment->has_times = true;
		segment->times_value = bytes_get_be32(options + 4);
		segment->times_echo = bytes_get_be32(options + 8);
		return true;
	}
	return options_parse(options, bytes, segment);
}

/* Congestion experienced, as the IP header says (RFC 3168 5, 22.2: the traffic class of IPv6). */
static uint16_t ce_of(const struct segment *segment)
{
	unsigned field = segment->frame[ETH_BYTES + IP_TOS] >> (segment->ip6 ? IP6_ECN_SHIFT : 0);

	return (field & IP_CE) == IP_CE ? SEGMENT_CE : 0;
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
	segment->flags = tcp[TCP_FLAGS] | ce_of(segment);
	segment->data = tcp + head_bytes;
	segment->bytes = (uint32_t)(bytes - head_bytes);
	if (segment->peer_port == 0 || segment->own_port == 0 || flags_are_odd(segment->flags))
		return SEGMENT_BAD_HEADER;
	if (!read_options(tcp + TCP_BYTES, head_bytes - TCP_BYTES, segment))
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
