#include "apps/load/verify.h"

#include "dataplane/core/limits.h"

#include <string.h>

enum verify_result verify_wrong_length(const struct verifier *verifier, unsigned who, uint64_t got)
{
	failures_note(
		verifier->failures, FAILURE_wrong_length, 1,
		"connection %u: a response body of %llu bytes, asked for %llu" FAILURE_ASK_SIZES,
		who, (unsigned long long)got, (unsigned long long)verifier->talk->response_bytes);
	return VERIFY_WRONG;
}

/* What the next bytes of the body must be, at most `*bytes` of them in one piece. */
static const uint8_t *wanted_bytes(const struct talk *talk, const struct verify *verify,
				   uint64_t id, size_t *bytes)
{
	switch (talk->answer) {
	case TALK_ECHO:
		return bodies_at(&talk->bodies, id) + verify->body_done;
	case TALK_FILE:
		return talk->answers + verify->body_done;
	case TALK_FILL:
		break;
	}
	if (*bytes > LIMIT_CHUNK_BYTES)
		*bytes = LIMIT_CHUNK_BYTES;
	return talk->answers;
}

static enum verify_result wrong_byte(const struct verifier *verifier, const struct verify *verify,
				     const uint8_t *got, const uint8_t *wanted, unsigned who)
{
	size_t at = 0;

	while (got[at] == wanted[at])
		at++;
	failures_note(verifier->failures, FAILURE_wrong_bytes, 1,
		      "connection %u: byte %llu of a response body is 0x%02x, wanted 0x%02x", who,
		      (unsigned long long)(verify->body_done + at), got[at], wanted[at]);
	return VERIFY_WRONG;
}

enum verify_result verify_body(const struct verifier *verifier, struct verify *verify, uint64_t id,
			       uint64_t *left, struct span_reader *reader, unsigned who)
{
	ASSERT(*left <= verifier->talk->response_bytes - verify->body_done);
	while (*left > 0 && reader->left > 0) {
		struct span piece = span_reader_piece(reader);
		size_t bytes = piece.bytes < *left ? piece.bytes : *left;
		const uint8_t *wanted = wanted_bytes(verifier->talk, verify, id, &bytes);

		if (__builtin_expect(memcmp(piece.base, wanted, bytes) != 0, 0))
			return wrong_byte(verifier, verify, piece.base, wanted, who);
		span_reader_skip(reader, bytes);
		verify->body_done += bytes;
		*left -= bytes;
	}
	return VERIFY_MORE;
}

size_t verify_print(char *to, size_t room, const uint8_t *bytes, size_t count)
{
	size_t kept = count < room - 1 ? count : room - 1;

	for (size_t i = 0; i < kept; i++)
		to[i] = (char)(bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '?');
	to[kept] = '\0';
	return kept;
}

bool verify_keep_error(struct verify *verify, uint64_t *left, struct span_reader *reader)
{
	while (*left > 0 && reader->left > 0) {
		struct span piece = span_reader_piece(reader);
		size_t bytes = piece.bytes < *left ? piece.bytes : *left;

		verify->error_bytes += verify_print(
			verify->error_text + verify->error_bytes,
			sizeof(verify->error_text) - verify->error_bytes, piece.base, bytes);
		span_reader_skip(reader, bytes);
		*left -= bytes;
	}
	return verify->error_bytes == VERIFY_ERROR_BYTES;
}

enum verify_result verify_note_error(struct verify *verify, unsigned who, struct failures *failures)
{
	const char *text = verify->error_bytes ? verify->error_text : "(no text)";

	if (verify->status_text[0])
		failures_note(failures, FAILURE_wrong_status, 1,
			      "connection %u: the server says %s: %s", who, verify->status_text,
			      text);
	else
		failures_note(failures, FAILURE_error_frame, 1,
			      "connection %u: the server says: %s", who, text);
	verify->is_error = false;
	return VERIFY_WRONG;
}
