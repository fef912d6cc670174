/*
 * ip: a frame's way in, down to TCP, for both families.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_IP_H
#define WEIR_UTCP_IP_H

#include "stacks/utcp/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame that carries IPv4, `bytes` from the Ethernet header on. */
void ip4_input(struct utcp *utcp, const uint8_t *frame, size_t bytes, uint64_t now_ns);

/* Whether `ip` (host order) is another host of our IPv4 subnet. */
bool ip4_reachable(const struct utcp *utcp, uint32_t ip);

/*
 * The `bytes` of TCP that the IP header in `frame`, found sound, announces at frame + `offset`.
 * Inline, for a call in between costs each segment 5 instructions.
 */
static inline void ip_input_tcp(struct utcp *utcp, const uint8_t *frame, size_t offset,
				size_t bytes, uint64_t now_ns)
{
	struct utcp_counters *counters = &utcp->counters;
	struct segment segment;
	enum segment_status status = segment_parse(frame, offset, bytes, &segment);

	if (__builtin_expect(status == SEGMENT_OK, 1)) {
		if (tcp_input(utcp, &segment, now_ns))
			counters->in_segments++;
		else
			counters->drop_tcp_full++;
	} else if (status == SEGMENT_BAD_CHECKSUM) {
		counters->drop_tcp_checksum++;
	} else {
		counters->drop_tcp_header++;
	}
}

#endif
