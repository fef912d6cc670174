/*
 * segment_head: the headers in front of what we send to one peer.
 *
 * What never changes for a connection, Ethernet, IP and ports, is kept ready with its share of the
 * checksums already summed. It takes a cache line with either family.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_SEGMENT_HEAD_H
#define WEIR_UTCP_SEGMENT_HEAD_H

#include "stacks/utcp/segment.h"

struct segment_head {
	uint8_t bytes[ETH_BYTES + IP6_BYTES + TCP_SEQ]; /* up to the ports */
	uint8_t tcp_at;	  /* offset of the TCP header in a frame, which tells the family */
	uint16_t ip_sum;  /* of the IPv4 header with total length 0 */
	uint16_t tcp_sum; /* of the pseudo header with length 0, and of the ports */
};

_Static_assert(sizeof(struct segment_head) == 64, "a connection's headers fill one cache line");

void segment_head_init(struct segment_head *head, const uint8_t own_mac[MAC_BYTES],
		       const uint8_t peer_mac[MAC_BYTES], const struct segment_ends *ends);

/* The ends that it was made of. */
struct segment_ends segment_head_ends(const struct segment_head *head);

static inline bool segment_head_is_ip6(const struct segment_head *head)
{
	return head->tcp_at != ETH_BYTES + IP_BYTES;
}

/* Where in a frame the options, and behind them the payload, begin. */
static inline uint32_t segment_head_bytes(const struct segment_head *head)
{
	return head->tcp_at + (uint32_t)TCP_BYTES;
}

/* Most payload of a segment without options on a link with this MTU. */
static inline uint16_t segment_head_mss(const struct segment_head *head, uint16_t mtu)
{
	return (uint16_t)(mtu + ETH_BYTES - segment_head_bytes(head));
}

/* What changes from segment to segment. */
struct segment_fields {
	uint32_t seq;
	uint32_t ack;
	uint16_t window;
	uint8_t flags;
	uint8_t ecn;		/* of the IP header: 0 or IP_ECT_0 */
	uint16_t options_bytes; /* they and the payload already stand behind the headers */
	uint32_t payload_bytes;
};

/* Writes the headers in front of what stands at frame + segment_head_bytes; the frame's length. */
size_t segment_seal(const struct segment_head *head, uint8_t *frame,
		    const struct segment_fields *fields);

#endif
