#include "stacks/utcp/options.h"

#include "dataplane/core/bytes.h"
#include "stacks/utcp/packet.h"
#include "stacks/utcp/segment.h"

enum {
	MSS_BYTES = 4,
	SCALE_BYTES = 3,
	SACK_PERMITTED_BYTES = 2,
	TIMES_BYTES = 10,
	BLOCK_BYTES = 8,
};

static bool take_times(const uint8_t *option, unsigned bytes, struct segment *segment)
{
	if (bytes != TIMES_BYTES)
		return false;
	segment->has_times = true;
	segment->times_value = bytes_get_be32(option + 2);
	segment->times_echo = bytes_get_be32(option + 6);
	return true;
}

/* What the blocks say is not judged here. */
static bool take_sack(const uint8_t *option, unsigned bytes, struct segment *segment)
{
	if (bytes < 2 + BLOCK_BYTES || (bytes - 2) % BLOCK_BYTES != 0)
		return false;
	for (unsigned at = 2; at < bytes; at += BLOCK_BYTES)
		segment->sacks[segment->sack_count++] = (struct seq_range){
			bytes_get_be32(option + at), bytes_get_be32(option + at + 4)};
	return true;
}

/* One option that only a SYN may have (RFC 9293 3.2, RFC 7323 2.2, RFC 2018 2). */
static bool take_syn_option(const uint8_t *option, unsigned bytes, struct segment *segment)
{
	switch (option[0]) {
	case TCP_OPTION_MSS:
		if (bytes != MSS_BYTES)
			return false;
		segment->mss = bytes_get_be16(option + 2);
		return true;
	case TCP_OPTION_SCALE: /* RFC 7323 2.3: a shift above 14 counts as 14 */
		if (bytes != SCALE_BYTES)
			return false;
		segment->scale_given = true;
		segment->scale_steep = option[2] > OPTIONS_SCALE_MAX;
		segment->scale = segment->scale_steep ? OPTIONS_SCALE_MAX : option[2];
		return true;
	case TCP_OPTION_SACK_PERMITTED:
		segment->sack_permitted = bytes == SACK_PERMITTED_BYTES;
		return segment->sack_permitted;
	default: /* RFC 9293 MUST-6: what is unknown is skipped */
		return true;
	}
}

/* One option whose length is known to be right for any option. */
static bool take_option(const uint8_t *option, unsigned bytes, struct segment *segment)
{
	if (option[0] == TCP_OPTION_TIMES)
		return take_times(option, bytes, segment);
	if (segment->flags & TCP_SYN)
		return take_syn_option(option, bytes, segment);
	return option[0] != TCP_OPTION_SACK || take_sack(option, bytes, segment);
}

static bool first_of_kind(uint8_t kind, uint16_t *seen)
{
	uint16_t bit = kind < 16 ? (uint16_t)(1u << kind) : 0;
	bool first = !(*seen & bit);

	*seen |= bit;
	return first;
}

/* RFC 9293 3.1, MUST-7: illegal lengths must be survived; each turn moves ahead by at least one
 * byte or ends. */
bool options_parse(const uint8_t *options, unsigned bytes, struct segment *segment)
{
	uint16_t seen = 0; /* a bit for each kind that we know */
	unsigned at = 0;

	while (at < bytes && options[at] != TCP_OPTION_END) {
		unsigned length = 1;

		if (options[at] != TCP_OPTION_NOP) {
			if (bytes - at < 2)
				return false;
			length = options[at + 1];
			if (length < 2 || length > bytes - at)
				return false;
			if (first_of_kind(options[at], &seen) &&
			    !take_option(options + at, length, segment))
				return false;
		}
		at += length;
	}
	return true;
}

static void put_times(uint8_t *to, uint32_t value, uint32_t echo)
{
	to[0] = TCP_OPTION_TIMES;
	to[1] = TIMES_BYTES;
	bytes_put_be32(to + 2, value);
	bytes_put_be32(to + 6, echo);
}

void options_put_times(uint8_t *to, uint32_t value, uint32_t echo)
{
	to[0] = to[1] = TCP_OPTION_NOP;
	put_times(to + 2, value, echo);
}

unsigned options_put_syn(uint8_t *to, const struct options_syn *syn)
{
	unsigned at = MSS_BYTES;

	to[0] = TCP_OPTION_MSS;
	to[1] = MSS_BYTES;
	bytes_put_be16(to + 2, syn->mss);
	if (syn->sack || syn->times) {
		to[at] = syn->sack ? TCP_OPTION_SACK_PERMITTED : TCP_OPTION_NOP;
		to[at + 1] = syn->sack ? SACK_PERMITTED_BYTES : TCP_OPTION_NOP;
		if (syn->times) {
			put_times(to + at + 2, syn->times_value, syn->times_echo);
			at += 2 + TIMES_BYTES;
		} else {
			to[at + 2] = to[at + 3] = TCP_OPTION_NOP;
			at += 4;
		}
	}
	if (syn->scale >= 0) {
		to[at] = TCP_OPTION_NOP;
		to[at + 1] = TCP_OPTION_SCALE;
		to[at + 2] = SCALE_BYTES;
		to[at + 3] = (uint8_t)syn->scale;
		at += 4;
	}
	return at;
}

unsigned options_put_sack(uint8_t *to, const struct seq_range *blocks, unsigned count)
{
	to[0] = to[1] = TCP_OPTION_NOP;
	to[2] = TCP_OPTION_SACK;
	to[3] = (uint8_t)(2 + BLOCK_BYTES * count);
	for (unsigned i = 0; i < count; i++) {
		bytes_put_be32(to + 4 + BLOCK_BYTES * i, blocks[i].begin);
		bytes_put_be32(to + 8 + BLOCK_BYTES * i, blocks[i].end);
	}
	return 4 + BLOCK_BYTES * count;
}
