/*
 * segment: TCP segments, read from frames.
 *
 * A received segment is a view: `data` is lent from the frame for the call, and the addresses of
 * its two ends stay where they stand in it.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_SEGMENT_H
#define WEIR_UTCP_SEGMENT_H

#include "stacks/utcp/addr.h"
#include "stacks/utcp/options.h"
#include "stacks/utcp/packet.h"
#include "stacks/utcp/seq.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Among a segment's flags: the IP header says that congestion was met. */
enum { SEGMENT_CE = 1 << 8 };

struct segment {
	uint16_t peer_port;
	uint16_t own_port;
	uint32_t seq;
	uint32_t ack;
	uint16_t window; /* as sent, unscaled */
	uint16_t flags;	 /* enum tcp_flag, SEGMENT_CE */
	bool ip6;	 /* its addresses are of IPv6 */
	uint32_t bytes;	 /* payload */
	const uint8_t *data;
	const uint8_t *frame; /* the whole, for answers */

	/* From the options (options.h). */
	bool has_times;
	uint8_t sack_count;
	uint32_t times_value; /* TSval and TSecr (RFC 7323 3.2); 0 without */
	uint32_t times_echo;
	struct seq_range sacks[OPTIONS_SACK_MAX]; /* as sent: they may be anything */

	/* From the options of a SYN; else not set. */
	uint16_t mss;
	bool scale_given;
	bool scale_steep; /* more than 14 was named */
	bool sack_permitted;
	uint8_t scale;
};

enum segment_status {
	SEGMENT_OK,
	SEGMENT_BAD_HEADER,
	SEGMENT_BAD_CHECKSUM,
};

/* Reads the `bytes` of TCP that an IP header in `frame`, found sound, announces at frame +
 * `offset`. */
enum segment_status segment_parse(const uint8_t *frame, size_t offset, size_t bytes,
				  struct segment *segment_out);

/* Sequence numbers that a segment takes up. */
static inline uint32_t segment_length(const struct segment *segment)
{
	return segment->bytes + !!(segment->flags & TCP_SYN) + !!(segment->flags & TCP_FIN);
}

/* RFC 9293 3.10.7.4, first step, for a receiver that expects `next` and has room for `window`. */
static inline bool segment_is_acceptable(const struct segment *segment, uint32_t next,
					 uint32_t window)
{
	uint32_t length = segment_length(segment);
	int32_t begin = seq_diff(segment->seq, next);
	int64_t end = (int64_t)begin + length;

	if (length == 0)
		return begin == 0 || (begin > 0 && (uint32_t)begin < window);
	return end > 0 && begin < (int64_t)window;
}

/* The two ends of a connection. */
struct segment_ends {
	struct utcp_addr own;
	struct utcp_addr peer;
	uint16_t own_port;
	uint16_t peer_port;
};

struct segment_ends segment_ends(const struct segment *segment);

/* Where the source stands in the IP header of a segment, and behind it the destination. */
static inline const uint8_t *segment_addresses(const struct segment *segment)
{
	return segment->frame + ETH_BYTES + (segment->ip6 ? IP6_SOURCE : IP_SOURCE);
}

#endif
