#include "apps/provenance/sha256.h"

#include "apps/common/file.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <unistd.h>

enum { DIGEST_BYTES = 32 };

_Static_assert(SHA256_HEX_BYTES == 2 * DIGEST_BYTES + 1, "two digits a byte, and a NUL");

void sha256_init(struct sha256 *sha)
{
	sha->context = EVP_MD_CTX_new();
	if (sha->context && EVP_DigestInit_ex(sha->context, EVP_sha256(), NULL) != 1)
		sha256_fini(sha);
}

void sha256_update(struct sha256 *sha, const void *data, size_t bytes)
{
	if (sha->context && EVP_DigestUpdate(sha->context, data, bytes) != 1)
		sha256_fini(sha);
}

int sha256_finish(struct sha256 *sha, char hex_out[SHA256_HEX_BYTES])
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	int done = sha->context && EVP_DigestFinal_ex(sha->context, digest, NULL) == 1;

	sha256_fini(sha);
	if (!done)
		return -ENOMEM;
	for (unsigned i = 0; i < DIGEST_BYTES; i++)
		snprintf(hex_out + 2 * i, 3, "%02x", digest[i]);
	return 0;
}

void sha256_fini(struct sha256 *sha)
{
	EVP_MD_CTX_free(sha->context);
	sha->context = NULL;
}

int sha256_file(const char *path, uint64_t *bytes_out, char hex_out[SHA256_HEX_BYTES])
{
	int fd = file_open(path);
	FILE *file;
	uint8_t piece[16 * 1024];
	uint64_t bytes = 0;
	struct sha256 sha;
	size_t got;
	int code;

	if (fd < 0)
		return fd;
	file = fdopen(fd, "r");
	if (!file) {
		code = -errno;
		close(fd);
		return code;
	}
	sha256_init(&sha);
	while ((got = fread(piece, 1, sizeof(piece), file)) > 0) {
		sha256_update(&sha, piece, got);
		bytes += got;
	}
	code = ferror(file) ? -EIO : sha256_finish(&sha, hex_out);
	sha256_fini(&sha);
	if (code == 0)
		*bytes_out = bytes;
	fclose(file);
	return code;
}
