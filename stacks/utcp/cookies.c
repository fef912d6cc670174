#include "stacks/utcp/cookies.h"

#include "stacks/utcp/instance.h"

enum {
	PARITY_BITS = 1,
	MSS_BITS = 3,
	HASH_SHIFT = PARITY_BITS + MSS_BITS,
	/* In a timestamp: 4 bits of scale, one of SACK. */
	NO_SCALE = 15,
	HAS_SACK = 1 << 4,
	EXTRAS_MASK = 0x3f,
};

/* What peers name: the least, the default, tunnels, Ethernet, jumbo frames. */
static const uint16_t sizes[1 << MSS_BITS] = {
	OPTIONS_MSS_MIN, 256, OPTIONS_MSS_DEFAULT, 1220, 1400, 1440, 1460, 8940};

static uint32_t index_of(uint16_t mss)
{
	uint32_t index = (1 << MSS_BITS) - 1;

	while (index > 0 && sizes[index] > mss)
		index--;
	return index;
}

/* What is carried beside the hash and must not be changed. */
struct cargo {
	uint32_t period; /* modulo 2^32 */
	uint32_t index;	 /* of the MSS */
	uint32_t extras; /* of the timestamp; 0 without */
	bool has_times;
};

/* Seven words: no other use of the key hashes as many. */
static uint32_t make(const struct utcp *utcp, const struct segment *segment, uint32_t irs,
		     const struct cargo *cargo)
{
	struct segment_ends ends = segment_ends(segment);
	uint64_t words[7] = {ends.own.words[0],
			     ends.own.words[1],
			     ends.peer.words[0],
			     ends.peer.words[1],
			     (uint64_t)irs << 32 | (uint32_t)ends.peer_port << 16 | ends.own_port,
			     cargo->period,
			     cargo->index | cargo->extras << 8 | (uint32_t)cargo->has_times << 16};

	return (uint32_t)siphash_words(&utcp->key, words, 7) << HASH_SHIFT |
	       cargo->index << PARITY_BITS | (cargo->period & 1);
}

struct cookie cookies_make(const struct utcp *utcp, const struct segment *syn, uint32_t clock,
			   uint64_t now_ns)
{
	struct cargo cargo = {.period = (uint32_t)(now_ns >> COOKIES_PERIOD_SHIFT),
			      .index = index_of(syn->mss),
			      .has_times = syn->has_times && !utcp->config.timestamps_off};
	struct cookie cookie = {0};

	if (cargo.has_times) {
		cargo.extras = (syn->scale_given ? syn->scale : NO_SCALE) |
			       (syn->sack_permitted ? HAS_SACK : 0);
		cookie.times_value = (clock & ~(uint32_t)EXTRAS_MASK) | cargo.extras;
		if (seq_after(cookie.times_value, clock)) /* never ahead of what will follow */
			cookie.times_value -= EXTRAS_MASK + 1;
	}
	cookie.iss = make(utcp, syn, syn->seq, &cargo);
	return cookie;
}

bool cookies_read(const struct utcp *utcp, const struct segment *ack, uint64_t now_ns,
		  struct segment *syn_out)
{
	uint32_t cookie = ack->ack - 1, now = (uint32_t)(now_ns >> COOKIES_PERIOD_SHIFT);
	struct cargo cargo = {.period = now - ((now ^ cookie) & 1),
			      .index = cookie >> PARITY_BITS & ((1 << MSS_BITS) - 1),
			      .has_times = ack->has_times && !utcp->config.timestamps_off};
	uint32_t scale;

	if (cargo.has_times)
		cargo.extras = ack->times_echo & EXTRAS_MASK;
	if (make(utcp, ack, ack->seq - 1, &cargo) != cookie)
		return false;
	scale = cargo.extras & NO_SCALE;
	*syn_out = (struct segment){.seq = ack->seq - 1,
				    .flags = TCP_SYN,
				    .mss = sizes[cargo.index],
				    .has_times = cargo.has_times,
				    .times_value = ack->times_value,
				    .scale_given = cargo.has_times && scale != NO_SCALE,
				    .scale = (uint8_t)scale,
				    .sack_permitted = cargo.extras & HAS_SACK};
	return true;
}
