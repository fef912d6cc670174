/*
 * verify: is this the response that was asked for?
 *
 * Every response of every connection is checked whole: its place in the order, its length, its
 * flags and opcode, and each byte of its body, in place where it was received. A response may
 * come in any number of pieces.
 *
 * Plane: turn. Nothing is kept but the place within the response at hand.
 */
#ifndef WEIR_APPS_LOAD_VERIFY_H
#define WEIR_APPS_LOAD_VERIFY_H

#include "apps/load/bodies.h"
#include "apps/load/failure.h"
#include "dataplane/core/span.h"
#include "dataplane/pipeline/handler.h"

#include <stdbool.h>
#include <stdint.h>

/* What the text of an error frame is cut to. */
enum { VERIFY_ERROR_BYTES = 120 };

/* What all responses have in common; lent, read-only. */
struct verify_plan {
	struct handler handler;
	const struct bodies *bodies; /* of the requests */
	const uint8_t *fill;	     /* LIMIT_CHUNK_BYTES of FRAME_FILL_BYTE */
};

/* The place within a connection's responses. */
struct verify {
	bool in_body;
	bool is_error;	    /* the body is an error frame's text */
	uint32_t body_done; /* bytes of it already checked */
	uint32_t body_left;
	uint32_t error_bytes;
	char error_text[VERIFY_ERROR_BYTES + 1];
};

enum verify_result {
	VERIFY_MORE,	 /* all that could be checked is right, but it is not yet the whole */
	VERIFY_COMPLETE, /* one response, right to its last byte, was passed over */
	VERIFY_WRONG,	 /* noted in failures; nothing behind it means anything */
};

/*
 * Checks on, at most to the end of the response that `id` asked for. `who` names the connection
 * in messages.
 */
enum verify_result verify_next(const struct verify_plan *plan, struct verify *verify, uint64_t id,
			       struct span_reader *reader, unsigned who, struct failures *failures);

/* Notes an error frame whose text was cut by the end of the connection. */
void verify_note_error(const struct verify *verify, unsigned who, struct failures *failures);

#endif
