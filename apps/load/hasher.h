/*
 * hasher: what of a response goes into a digest, in each protocol.
 *
 *	framed  every byte
 *	http1   the status, an end of line, the body, its length in decimal, an end of line; not
 *		the other fields, which differ from second to second and from server to server, nor
 *		how the body was framed. Interim responses are passed over
 *
 * Responses are taken whatever they say, as long as their end can be told.
 *
 * Plane: main thread.
 */
#ifndef WEIR_APPS_LOAD_HASHER_H
#define WEIR_APPS_LOAD_HASHER_H

#include "apps/load/reply.h"
#include "apps/load/talk.h"
#include "apps/provenance/sha256.h"
#include "dataplane/core/span.h"

#include <stdbool.h>
#include <stdint.h>

struct hasher {
	const struct talk *talk; /* lent */
	struct sha256 sha;
	uint64_t bytes; /* hashed so far */
	bool in_body;
	uint64_t body_left;  /* framed: of the frame at hand */
	uint64_t body_bytes; /* HTTP: of the body at hand, so far */
	struct reply reply;
	struct reply_scratch scratch;
};

enum hasher_result {
	HASHER_MORE,	 /* what is there has been taken */
	HASHER_COMPLETE, /* a response has been taken to its end */
	HASHER_ENDLESS,	 /* where it ends cannot be told */
};

/* Ended by fini, whether it was finished or not. */
void hasher_init(struct hasher *hasher, const struct talk *talk);

/* Goes on, at most to the end of a response. */
enum hasher_result hasher_next(struct hasher *hasher, struct span_reader *reader);

/* The hash of all; nothing follows but fini. 0, or -ENOMEM with `hex_out` untouched. */
int hasher_finish(struct hasher *hasher, char hex_out[SHA256_HEX_BYTES]);

void hasher_fini(struct hasher *hasher);

#endif
