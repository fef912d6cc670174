#include "apps/provenance/sha256.h"

#include "apps/common/file.h"
#include "dataplane/core/bytes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* FIPS 180-4, 4.2.2: fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned bits)
{
	return x >> bits | x << (32 - bits);
}

/* 6.2.2 step 1: the message schedule. */
static void expand(const uint8_t *block, uint32_t w[64])
{
	for (unsigned t = 0; t < 16; t++)
		w[t] = bytes_get_be32(block + 4 * t);
	for (unsigned t = 16; t < 64; t++) {
		uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
		uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;

		w[t] = w[t - 16] + s0 + w[t - 7] + s1;
	}
}

/* 6.2.2 steps 2 to 4; v[0] to v[7] are the standard's a to h. */
static void compress(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], v[8];

	expand(block, w);
	memcpy(v, state, sizeof(v));
	for (unsigned t = 0; t < 64; t++) {
		uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
		uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t t1 = v[7] + s1 + choice + round_constants[t] + w[t];
		uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
		uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);

		memmove(&v[1], &v[0], 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + s0 + majority;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256_init(struct sha256 *sha)
{
	*sha = (struct sha256){
		.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
			  0x1f83d9ab, 0x5be0cd19},
	};
}

void sha256_update(struct sha256 *sha, const void *data, size_t bytes)
{
	const uint8_t *from = data;

	while (bytes > 0) {
		size_t have = sha->bytes % SHA256_BLOCK_BYTES;
		size_t step = SHA256_BLOCK_BYTES - have < bytes ? SHA256_BLOCK_BYTES - have : bytes;

		memcpy(sha->block + have, from, step);
		sha->bytes += step;
		from += step;
		bytes -= step;
		if (have + step == SHA256_BLOCK_BYTES)
			compress(sha->state, sha->block);
	}
}

void sha256_finish(struct sha256 *sha, char hex[SHA256_HEX_BYTES])
{
	static const uint8_t padding[SHA256_BLOCK_BYTES] = {0x80};
	uint64_t bits = sha->bytes * 8;
	uint8_t length[8];

	sha256_update(sha, padding,
		      1 + (119 - sha->bytes % SHA256_BLOCK_BYTES) % SHA256_BLOCK_BYTES);
	bytes_put_be32(length, (uint32_t)(bits >> 32));
	bytes_put_be32(length + 4, (uint32_t)bits);
	sha256_update(sha, length, sizeof(length));
	for (unsigned i = 0; i < 8; i++)
		snprintf(hex + 8 * i, 9, "%08x", sha->state[i]);
}

int sha256_file(const char *path, uint64_t *bytes_out, char hex[SHA256_HEX_BYTES])
{
	int fd = file_open(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	uint8_t piece[16 * 1024];
	struct sha256 sha;
	size_t got;
	int code;

	if (!file)
		return fd < 0 ? fd : -ENOMEM;
	sha256_init(&sha);
	while ((got = fread(piece, 1, sizeof(piece), file)) > 0)
		sha256_update(&sha, piece, got);
	code = ferror(file) ? -EIO : 0;
	*bytes_out = sha.bytes;
	sha256_finish(&sha, hex);
	fclose(file);
	return code;
}
