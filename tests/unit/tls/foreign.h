/*
 * foreign: a TLS peer that is not ours, for what no honest client or server does.
 *
 * It is OpenSSL over memory, at the end of a plain connection of the world; what it would send can
 * be held back, changed or cut on its way.
 */
#ifndef WEIR_TESTS_TLS_FOREIGN_H
#define WEIR_TESTS_TLS_FOREIGN_H

#include "tests/conformance/world.h"

#include <openssl/ssl.h>
#include <stdbool.h>

struct foreign {
	SSL_CTX *context;
	SSL *ssl;
	BIO *in;
	BIO *out;
	struct seen *seen;
	struct seen *server; /* its other end, once it was accepted; of a server our client's */
	int alert;	     /* the last alert received, -1 if none was */
	size_t step_bytes;   /* it sends no more than that in a turn; 0: no bound */
};

/* A client of any version, not yet connected; its context and its SSL may be changed. */
void foreign_open(struct foreign *foreign);

/* Connects and shakes hands; whether that succeeded on both sides. */
bool foreign_join(struct world *world, struct foreign *foreign);

/* A server of any version with a certificate of its own; our client is to take any. */
void foreign_open_server(struct foreign *foreign);

/* Lets our client connect to such a server; whether the end that is its own came. */
bool foreign_meet(struct world *world, struct foreign *foreign);

/* The same, and shakes hands; whether that succeeded on both sides. */
bool foreign_accept(struct world *world, struct foreign *foreign);

/* Connects and turns the world until the handshake has ended, in whatever way. */
void foreign_try(struct world *world, struct foreign *foreign);

/* Moves what it has to send and what came, and turns the world once. */
void foreign_turn(struct world *world, struct foreign *foreign);

/* Turns until its other end had all of `bits`; whether it came in time. */
bool foreign_until(struct world *world, struct foreign *foreign, unsigned bits);

/* Turns until an alert came; which, or -1. */
int foreign_alert(struct world *world, struct foreign *foreign);

/* Sends raw bytes on its connection, as if it had sealed them. */
void foreign_inject(struct foreign *foreign, const void *bytes, size_t count);

void foreign_close(struct foreign *foreign);

#endif
