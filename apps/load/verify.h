/*
 * verify: is this the response that was asked for?
 *
 * Every response of every connection is checked whole: its place in the order, its length, what its
 * head says, and each byte of its body, in place where it was received. A response may come in any
 * number of pieces. The head is the dialect's (dialect.h); what is the same for all is here.
 *
 * Plane: turn. Nothing is kept but the place within the response at hand, and the last head that
 * was right.
 */
#ifndef WEIR_APPS_LOAD_VERIFY_H
#define WEIR_APPS_LOAD_VERIFY_H

#include "apps/load/failure.h"
#include "apps/load/reply.h"
#include "apps/load/talk.h"
#include "dataplane/core/span.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	VERIFY_ERROR_BYTES = 120,  /* what a server's text about an error is cut to */
	VERIFY_STATUS_BYTES = 64,  /* likewise an error's status and reason, with their end */
	VERIFY_KNOWN_BYTES = 1024, /* longest head that is known again */
};

/* The place within a connection's responses. */
struct verify {
	bool in_body;
	bool is_error;	       /* the body is a text about an error */
	uint8_t interim_count; /* HTTP: interim responses before the one at hand */
	size_t error_bytes;
	uint64_t body_done; /* bytes of the body already checked */
	uint64_t body_left; /* framed: the rest */
	struct reply reply; /* HTTP */
	char status_text[VERIFY_STATUS_BYTES];
	char error_text[VERIFY_ERROR_BYTES + 1];
};

/* What a worker's connections share. */
struct verifier {
	const struct talk *talk;   /* lent */
	struct failures *failures; /* lent */
	/* HTTP: the last head that was right; a head of the same bytes is right, too */
	uint32_t known_bytes; /* 0: none */
	bool known_chunked;
	uint64_t known_left; /* body bytes behind it, if not chunked */
	uint8_t known[VERIFY_KNOWN_BYTES];
	struct reply_scratch scratch;
};

enum verify_result {
	VERIFY_MORE,	 /* all that could be checked is right, but it is not yet the whole */
	VERIFY_COMPLETE, /* one response, right to its last byte, was passed over */
	VERIFY_WRONG,	 /* noted in failures; nothing behind it means anything */
};

/*
 * Checks and passes over the next bytes of the body, at most `*left` of them, which is lowered.
 * VERIFY_WRONG if a byte differs, else VERIFY_MORE.
 */
enum verify_result verify_body(const struct verifier *verifier, struct verify *verify, uint64_t id,
			       uint64_t *left, struct span_reader *reader, unsigned who);

/* Notes a response of another length; VERIFY_WRONG. */
enum verify_result verify_wrong_length(const struct verifier *verifier, unsigned who, uint64_t got);

/*
 * Keeps the next bytes of a text about an error, at most `*left` of them, which is lowered. Whether
 * it has as much as it can keep.
 */
bool verify_keep_error(struct verify *verify, uint64_t *left, struct span_reader *reader);

/*
 * Writes the beginning of a text, in printable characters and with its end, within `room` at `to`;
 * the characters written.
 */
size_t verify_print(char *to, size_t room, const uint8_t *bytes, size_t count);

/* Notes the text about an error, all of it or what there is; VERIFY_WRONG. */
enum verify_result verify_note_error(struct verify *verify, unsigned who,
				     struct failures *failures);

#endif
