/*
 * segment: TCP segments, read from frames and built into them.
 *
 * A received segment is a view: `data` is lent from the frame for the call. A header that never
 * changes for a connection is kept ready in a segment_head with its share of both checksums already
 * summed.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_SEGMENT_H
#define WEIR_UTCP_SEGMENT_H

#include "stacks/utcp/packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SEGMENT_MSS_DEFAULT = 536, /* a peer that names none (RFC 9293 3.7.1) */
	SEGMENT_MSS_MIN = 64,	   /* floor under what a peer names, against CVE-2019-11479 */
	SEGMENT_SCALE_MAX = 14,	   /* RFC 7323 2.3 */
	SEGMENT_SYN_OPTIONS = 8,   /* bytes that our SYNs' options take */
};

struct segment {
	uint32_t peer_ip;
	uint16_t peer_port;
	uint16_t own_port;
	uint32_t seq;
	uint32_t ack;
	uint16_t window; /* as sent, unscaled */
	uint8_t flags;	 /* enum tcp_flag */
	uint32_t bytes;	 /* payload */
	const uint8_t *data;
	const uint8_t *frame; /* the whole, for answers */

	/* From the options of a SYN. */
	uint16_t mss;
	bool scale_given;
	uint8_t scale;
};

enum segment_status {
	SEGMENT_OK,
	SEGMENT_BAD_HEADER,
	SEGMENT_BAD_CHECKSUM,
};

/* Reads the `bytes` of TCP that an IPv4 header in `frame` announces at frame + `offset`. */
enum segment_status segment_parse(const uint8_t *frame, size_t offset, size_t bytes,
				  struct segment *segment_out);

/* Sequence numbers that a segment takes up. */
static inline uint32_t segment_length(const struct segment *segment)
{
	return segment->bytes + !!(segment->flags & TCP_SYN) + !!(segment->flags & TCP_FIN);
}

/* The unchanging headers from us to one peer. */
struct segment_head {
	uint8_t bytes[HEAD_BYTES];
	uint32_t ip_sum;  /* of the IPv4 header with total length 0 */
	uint32_t tcp_sum; /* of the pseudo header with length 0, and of the ports */
};

struct segment_ends {
	uint32_t own_ip; /* host order, both */
	uint32_t peer_ip;
	uint16_t own_port;
	uint16_t peer_port;
};

void segment_head_init(struct segment_head *head, const uint8_t own_mac[MAC_BYTES],
		       const uint8_t peer_mac[MAC_BYTES], const struct segment_ends *ends);

/* What changes from segment to segment. */
struct segment_fields {
	uint32_t seq;
	uint32_t ack;
	uint16_t window;
	uint8_t flags;
	uint16_t options_bytes; /* they and the payload already stand behind the headers */
	uint32_t payload_bytes;
};

/* Writes the headers in front of what stands at frame + HEAD_BYTES; the frame's length. */
size_t segment_seal(const struct segment_head *head, uint8_t *frame,
		    const struct segment_fields *fields);

/* Writes a SYN's options, SEGMENT_SYN_OPTIONS bytes. A `scale` below 0 is left out, as NOPs. */
void segment_put_syn_options(uint8_t *to, uint16_t mss, int scale);

#endif
