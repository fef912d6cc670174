/*
 * siphash: a short keyed hash that an outsider cannot steer.
 *
 * SipHash-2-4 (Aumasson and Bernstein 2012) over a message of whole 64-bit words: all our messages
 * are fixed tuples, so the byte-wise tail of the general function is not needed and the result
 * equals it for such lengths.
 *
 * Plane: turn.
 */
#ifndef WEIR_CORE_SIPHASH_H
#define WEIR_CORE_SIPHASH_H

#include <stdint.h>
#include <string.h>

struct siphash_key {
	uint64_t k0;
	uint64_t k1;
};

static inline struct siphash_key siphash_key_of(const uint8_t secret[16])
{
	struct siphash_key key;

	memcpy(&key.k0, secret, sizeof(key.k0));
	memcpy(&key.k1, secret + sizeof(key.k0), sizeof(key.k1));
	return key;
}

static inline uint64_t siphash_rotate(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

static inline void siphash_rounds(uint64_t v[4], unsigned rounds)
{
	while (rounds-- > 0) {
		v[0] += v[1];
		v[1] = siphash_rotate(v[1], 13) ^ v[0];
		v[0] = siphash_rotate(v[0], 32);
		v[2] += v[3];
		v[3] = siphash_rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = siphash_rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = siphash_rotate(v[1], 17) ^ v[2];
		v[2] = siphash_rotate(v[2], 32);
	}
}

/* The hash of `count` words, each read as 8 little-endian bytes. */
static inline uint64_t siphash_words(const struct siphash_key *key, const uint64_t *words,
				     unsigned count)
{
	uint64_t last = (uint64_t)count * 8 << 56; /* the length closes the message */
	uint64_t v[4] = {key->k0 ^ 0x736f6d6570736575u, key->k1 ^ 0x646f72616e646f6du,
			 key->k0 ^ 0x6c7967656e657261u, key->k1 ^ 0x7465646279746573u};

	for (unsigned i = 0; i <= count; i++) {
		uint64_t word = i < count ? words[i] : last;

		v[3] ^= word;
		siphash_rounds(v, 2);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
