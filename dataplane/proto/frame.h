/*
 * frame: the reference framed protocol, little-endian throughout.
 *
 *	offset 0   u32  frame_len = 20 + body bytes
 *	       4   u64  request id
 *	      12   u64  opcode
 *	      20   u32  flags
 *	      24        body
 *
 * Decoding takes the 24-byte head or nothing; the body stays with the caller, who may stream it. A
 * length that cannot be right is known as soon as its 4 bytes are there, and nothing behind it is
 * looked at.
 *
 * Plane: turn. Nothing here allocates or keeps state.
 */
#ifndef WEIR_PROTO_FRAME_H
#define WEIR_PROTO_FRAME_H

#include "dataplane/core/bytes.h"
#include "dataplane/core/span.h"

#include <stdint.h>
#include <string.h>

enum {
	FRAME_HEAD_BYTES = 24,
	FRAME_LENGTH_BYTES = 4, /* the length field, which does not count itself */
	FRAME_LENGTH_MIN = FRAME_HEAD_BYTES - FRAME_LENGTH_BYTES,
};

/* Where the fields of a head stand. */
enum {
	FRAME_OFFSET_LENGTH = 0,
	FRAME_OFFSET_ID = 4,
	FRAME_OFFSET_OPCODE = 12,
	FRAME_OFFSET_FLAGS = 20,
};

enum frame_flags {
	FRAME_START = 1 << 0, /* first frame of a message */
	FRAME_END = 1 << 1,   /* last frame of a message */
	FRAME_ERROR = 1 << 2, /* the body is a text; the connection ends behind it */
};

enum { FRAME_OPCODE_STRESS = 1 };

/* What a body without a meaning is made of. */
enum { FRAME_FILL_BYTE = 0x5A };

struct frame_head {
	uint64_t id;
	uint64_t opcode;
	uint32_t flags; /* enum frame_flags */
	uint32_t body_bytes;
};

enum frame_status {
	FRAME_OK,
	FRAME_NEED_MORE, /* nothing was consumed */
	FRAME_TOO_SHORT, /* the length does not even cover the head */
	FRAME_TOO_LONG,	 /* the length exceeds the limit */
};

/*
 * Decodes one head. `frame_max` bounds frame_len itself. On FRAME_OK exactly FRAME_HEAD_BYTES are
 * passed over and `head_out` is written; on anything else neither happens.
 */
enum frame_status frame_decode(struct span_reader *reader, uint32_t frame_max,
			       struct frame_head *head_out);

/*
 * Writes a head of FRAME_HEAD_BYTES at `to`. body_bytes must be at most UINT32_MAX -
 * FRAME_LENGTH_MIN (ASSERT).
 */
void frame_encode(uint8_t *to, const struct frame_head *head);

/* What is wrong, as the text of an error frame. */
const char *frame_status_text(enum frame_status status);

/*
 * The bytes of the frame at `bytes`, head and body, if it is there whole and its length is within
 * `frame_max`; else 0, and frame_decode finds out why.
 */
static inline size_t frame_whole(const uint8_t *bytes, size_t available, uint32_t frame_max)
{
	uint32_t frame_len;

	if (available < FRAME_HEAD_BYTES)
		return 0;
	frame_len = bytes_get_le32(bytes + FRAME_OFFSET_LENGTH);
	if (frame_len < FRAME_LENGTH_MIN || frame_len > frame_max ||
	    frame_len > available - FRAME_LENGTH_BYTES)
		return 0;
	return (size_t)FRAME_LENGTH_BYTES + frame_len;
}

/* Writes the head of the answer to the request whose head stands at `request`. */
static inline void frame_encode_answer(uint8_t *to, const uint8_t *request, uint32_t body_bytes)
{
	bytes_put_le32(to + FRAME_OFFSET_LENGTH, FRAME_LENGTH_MIN + body_bytes);
	memcpy(to + FRAME_OFFSET_ID, request + FRAME_OFFSET_ID,
	       FRAME_OFFSET_FLAGS - FRAME_OFFSET_ID);
	bytes_put_le32(to + FRAME_OFFSET_FLAGS, FRAME_START | FRAME_END);
}

#endif
