/*
 * sha256: the SHA-256 digest (FIPS 180-4) of bytes fed in pieces, by OpenSSL.
 *
 * For the manifests of result directories, the keys of builds and what servers answer. Owned by the
 * caller; legal order: init, { update }*, then finish, or fini where no digest is wanted. If
 * OpenSSL fails on the way, finish says so.
 *
 * Plane: setup and report; init allocates.
 */
#ifndef WEIR_APPS_SHA256_H
#define WEIR_APPS_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_HEX_BYTES = 65 };

struct evp_md_ctx_st;

struct sha256 {
	struct evp_md_ctx_st *context; /* owned; NULL once something failed, or it ended */
};

void sha256_init(struct sha256 *sha);

void sha256_update(struct sha256 *sha, const void *data, size_t bytes);

/*
 * The digest in lower-case hexadecimal, ended by a NUL; nothing is left to release. 0, or -ENOMEM
 * if OpenSSL gave none, with `hex_out` untouched.
 */
int sha256_finish(struct sha256 *sha, char hex_out[SHA256_HEX_BYTES]);

/* Gives it up; may follow finish. */
void sha256_fini(struct sha256 *sha);

/* The digest and the size of a whole regular file. 0, or negative errno (-EINVAL: it is none). */
int sha256_file(const char *path, uint64_t *bytes_out, char hex_out[SHA256_HEX_BYTES]);

#endif
