/*
 * options: what stands behind a TCP header (RFC 9293 3.2, 7323, 2018, 2883).
 *
 * Read into a struct segment, and written in front of a payload. All that is written is a multiple
 * of four bytes, as the data offset wants.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_OPTIONS_H
#define WEIR_UTCP_OPTIONS_H

#include "dataplane/core/bytes.h"
#include "stacks/utcp/packet.h"
#include "stacks/utcp/seq.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	OPTIONS_MAX = 40,	   /* bytes that a data offset of 15 leaves */
	OPTIONS_SYN_MAX = 20,	   /* most that our SYNs need */
	OPTIONS_TIMES_BYTES = 12,  /* timestamps, with their padding */
	OPTIONS_SACK_MAX = 4,	   /* blocks: 4 + 8 * 4 bytes of the 40 */
	OPTIONS_MSS_DEFAULT = 536, /* a peer that names none (RFC 9293 3.7.1) */
	OPTIONS_MSS_MIN = 64,	   /* floor under what a peer names, against CVE-2019-11479 */
	OPTIONS_SCALE_MAX = 14,	   /* RFC 7323 2.3 */
};

struct segment;

/*
 * Reads the `bytes` of options of a segment whose flags are known into its fields; false if one
 * has an illegal length. Of an option that comes twice the first counts. Time: at most one step a
 * byte, 40.
 */
bool options_parse(const uint8_t *options, unsigned bytes, struct segment *segment);

/* What a SYN offers, or a SYN-ACK agrees to. */
struct options_syn {
	uint16_t mss;
	int8_t scale; /* below 0: not offered */
	bool sack;
	bool times;
	uint32_t times_value;
	uint32_t times_echo;
};

/* Writes them; how many bytes, at most OPTIONS_SYN_MAX. */
unsigned options_put_syn(uint8_t *to, const struct options_syn *syn);

/* Writes timestamps, OPTIONS_TIMES_BYTES (RFC 7323 appendix A). */
void options_put_times(uint8_t *to, uint32_t value, uint32_t echo);

/* Whether the first OPTIONS_TIMES_BYTES are those. */
static inline bool options_are_times(const uint8_t *options)
{
	return bytes_get_be32(options) ==
	       (TCP_OPTION_NOP << 24 | TCP_OPTION_NOP << 16 | TCP_OPTION_TIMES << 8 | 10);
}

/* How many SACK blocks fit in `room` bytes. */
static inline unsigned options_sack_fit(unsigned room)
{
	unsigned fit = room < 12 ? 0 : (room - 4) / 8;

	return fit < OPTIONS_SACK_MAX ? fit : OPTIONS_SACK_MAX;
}

/* Writes `count` SACK blocks, at least one; how many bytes, 4 + 8 * count. */
unsigned options_put_sack(uint8_t *to, const struct seq_range *blocks, unsigned count);

#endif
