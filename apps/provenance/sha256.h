/*
 * sha256: the SHA-256 digest (FIPS 180-4) of bytes fed in pieces.
 *
 * For the manifests of result directories, not for secrets. Owned by the caller; legal order: init,
 * { update }*, finish.
 */
#ifndef WEIR_APPS_SHA256_H
#define WEIR_APPS_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BLOCK_BYTES = 64, SHA256_HEX_BYTES = 65 };

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;
	uint8_t block[SHA256_BLOCK_BYTES]; /* the last bytes % 64 fed */
};

void sha256_init(struct sha256 *sha);

void sha256_update(struct sha256 *sha, const void *data, size_t bytes);

/* The digest in lower-case hexadecimal, ended by a NUL. */
void sha256_finish(struct sha256 *sha, char hex[SHA256_HEX_BYTES]);

/* The digest and the size of a whole regular file. 0, or negative errno (-EINVAL: it is none). */
int sha256_file(const char *path, uint64_t *bytes_out, char hex[SHA256_HEX_BYTES]);

#endif
