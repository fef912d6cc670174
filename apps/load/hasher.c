#include "apps/load/hasher.h"

#include "apps/load/dialect.h"
#include "dataplane/core/limits.h"
#include "dataplane/proto/frame.h"

#include <stdio.h>

void hasher_init(struct hasher *hasher, const struct talk *talk)
{
	*hasher = (struct hasher){.talk = talk};
	sha256_init(&hasher->sha);
}

int hasher_finish(struct hasher *hasher, char hex_out[SHA256_HEX_BYTES])
{
	return sha256_finish(&hasher->sha, hex_out);
}

void hasher_fini(struct hasher *hasher)
{
	sha256_fini(&hasher->sha);
}

/* Hashes what is there of the next `*left` bytes, which is lowered. */
static void hash(struct hasher *hasher, struct span_reader *reader, uint64_t *left)
{
	while (*left > 0 && reader->left > 0) {
		struct span piece = span_reader_piece(reader);
		size_t step = piece.bytes < *left ? piece.bytes : *left;

		sha256_update(&hasher->sha, piece.base, step);
		span_reader_skip(reader, step);
		hasher->bytes += step;
		*left -= step;
	}
}

/* --- framed ----------------------------------------------------------------------------------- */

static enum hasher_result next_framed(struct hasher *hasher, struct span_reader *reader)
{
	struct span_reader ahead = *reader;
	struct frame_head head;

	if (!hasher->in_body) {
		switch (frame_decode(&ahead, LIMIT_FRAME_BYTES, &head)) {
		case FRAME_OK:
			hasher->body_left = FRAME_HEAD_BYTES + (uint64_t)head.body_bytes;
			hasher->in_body = true;
			break;
		case FRAME_NEED_MORE:
			return HASHER_MORE;
		case FRAME_TOO_SHORT:
		case FRAME_TOO_LONG:
			return HASHER_ENDLESS;
		}
	}
	hash(hasher, reader, &hasher->body_left);
	if (hasher->body_left > 0)
		return HASHER_MORE;
	hasher->in_body = false;
	return HASHER_COMPLETE;
}

/* --- HTTP/1.1 --------------------------------------------------------------------------------- */

/* Hashes a number of ours as a line. */
static void hash_line(struct hasher *hasher, uint64_t number)
{
	char line[32];
	int bytes = snprintf(line, sizeof(line), "%llu\n", (unsigned long long)number);

	sha256_update(&hasher->sha, line, (size_t)bytes);
	hasher->bytes += (uint64_t)bytes;
}

/* Takes heads up to that of a final response. HASHER_COMPLETE: its body begins. */
static enum hasher_result take_head(struct hasher *hasher, struct span_reader *reader)
{
	const struct http1_response *response = &hasher->scratch.response;
	enum http1_status status;
	struct span ignored;

	do {
		if (reader->left == 0)
			return HASHER_MORE;
		status = reply_head(&hasher->reply, &hasher->scratch, hasher->talk->bodiless,
				    reader, &ignored);
		if (status == HTTP1_MORE)
			return HASHER_MORE;
		if (status != HTTP1_OK || response->status == 101 || hasher->reply.until_close)
			return HASHER_ENDLESS;
	} while (response->status < 200);
	hash_line(hasher, response->status);
	hasher->body_bytes = 0;
	return HASHER_COMPLETE;
}

/* Takes what is there of a body. */
static enum hasher_result take_body(struct hasher *hasher, struct span_reader *reader)
{
	struct reply *reply = &hasher->reply;

	for (;;) {
		enum http1_status status = reply_body(reply, reader);
		uint64_t before = hasher->bytes;

		if (status == HTTP1_MORE)
			return HASHER_MORE;
		if (status != HTTP1_OK)
			return HASHER_ENDLESS;
		if (reply->ended)
			break;
		hash(hasher, reader, &reply->left);
		hasher->body_bytes += hasher->bytes - before;
		if (reply->left > 0)
			return HASHER_MORE;
	}
	hash_line(hasher, hasher->body_bytes);
	return HASHER_COMPLETE;
}

static enum hasher_result next_http1(struct hasher *hasher, struct span_reader *reader)
{
	enum hasher_result result;

	if (!hasher->in_body) {
		result = take_head(hasher, reader);
		if (result != HASHER_COMPLETE)
			return result;
		hasher->in_body = true;
	}
	result = take_body(hasher, reader);
	hasher->in_body = result != HASHER_COMPLETE;
	return result;
}

enum hasher_result hasher_next(struct hasher *hasher, struct span_reader *reader)
{
	return hasher->talk->dialect == &dialect_http1 ? next_http1(hasher, reader)
						       : next_framed(hasher, reader);
}
