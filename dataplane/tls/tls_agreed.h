/*
 * tls_agreed: what the handshakes of an instance came to, in a small table of counts.
 *
 * A configuration says what may be negotiated; this says what was. Each connection whose handshake
 * is complete is counted under its version, cipher, group and whether it resumed a session. The
 * table has a fixed number of rows; what finds none is counted as other.
 *
 * Plane: turn (add), report (the rest). Names are static, so that a copy outlives its instance.
 */
#ifndef WEIR_TLS_AGREED_H
#define WEIR_TLS_AGREED_H

#include <stdbool.h>
#include <stdint.h>

struct tp;

/* A client and a server of one configuration have one row, or two with resumption. */
enum { TLS_AGREED_ROWS = 8, TLS_AGREED_TEXT = 128 };

struct tls_agreed_row {
	const char *version; /* "TLSv1.3" */
	const char *cipher;
	const char *group; /* of the key exchange, "none" without one */
	bool resumed;
	uint64_t conns;
};

struct tls_agreed {
	struct tls_agreed_row row[TLS_AGREED_ROWS];
	unsigned rows;
	uint64_t other_conns;
};

/* Adds a row's connections to the row of the same name, or to a new one, or to the other. */
void tls_agreed_add(struct tls_agreed *agreed, const struct tls_agreed_row *row);

/* Adds all that another table has. */
void tls_agreed_merge(struct tls_agreed *sum, const struct tls_agreed *agreed);

/* What an instance's handshakes came to so far; an empty table if it does no TLS. */
struct tls_agreed tls_agreed_of(const struct tp *tp);

/* "TLSv1.3 TLS_AES_256_GCM_SHA384 X25519 resumed"; returns `text`. */
const char *tls_agreed_print(const struct tls_agreed_row *row, char text[TLS_AGREED_TEXT]);

#endif
