#include "apps/load/verify.h"

#include "dataplane/core/limits.h"
#include "dataplane/proto/frame.h"

#include <string.h>

static enum verify_result wrong_length(unsigned who, uint64_t got, uint64_t wanted,
				       struct failures *failures)
{
	failures_note(
		failures, FAILURE_wrong_length, 1,
		"connection %u: a response body of %llu bytes, asked for %llu" FAILURE_ASK_SIZES,
		who, (unsigned long long)got, (unsigned long long)wanted);
	return VERIFY_WRONG;
}

/* Judges a head and begins its body. */
static enum verify_result judge_head(const struct verify_plan *plan, struct verify *verify,
				     uint64_t id, const struct frame_head *head, unsigned who,
				     struct failures *failures)
{
	uint32_t wanted = handler_response_bytes(&plan->handler, plan->bodies->body_bytes);

	verify->body_done = 0;
	verify->body_left = head->body_bytes;
	verify->in_body = true;
	if (__builtin_expect((head->flags & FRAME_ERROR) != 0, 0)) {
		verify->is_error = true;
		return VERIFY_MORE;
	}
	if (head->id != id) {
		failures_note(failures, FAILURE_wrong_id, 1,
			      "connection %u: response id %#llx, the next in order is "
			      "%#llx" FAILURE_ASK_SIZES,
			      who, (unsigned long long)head->id, (unsigned long long)id);
		return VERIFY_WRONG;
	}
	if (head->flags != (FRAME_START | FRAME_END) || head->opcode != FRAME_OPCODE_STRESS) {
		failures_note(
			failures, FAILURE_wrong_head, 1,
			"connection %u: response with flags %#x and opcode %llu, wanted %#x and %u",
			who, head->flags, (unsigned long long)head->opcode, FRAME_START | FRAME_END,
			FRAME_OPCODE_STRESS);
		return VERIFY_WRONG;
	}
	return head->body_bytes == wanted ? VERIFY_MORE
					  : wrong_length(who, head->body_bytes, wanted, failures);
}

/* What the next bytes of the body must be, at most `*bytes` of them in one piece. */
static const uint8_t *wanted_bytes(const struct verify_plan *plan, const struct verify *verify,
				   uint64_t id, size_t *bytes)
{
	if (plan->handler.kind == HANDLER_ECHO)
		return bodies_at(plan->bodies, id) + verify->body_done;
	if (*bytes > LIMIT_CHUNK_BYTES)
		*bytes = LIMIT_CHUNK_BYTES;
	return plan->fill;
}

static enum verify_result wrong_byte(const struct verify *verify, const uint8_t *got,
				     const uint8_t *wanted, unsigned who, struct failures *failures)
{
	size_t at = 0;

	while (got[at] == wanted[at])
		at++;
	failures_note(failures, FAILURE_wrong_bytes, 1,
		      "connection %u: byte %llu of a response body is 0x%02x, wanted 0x%02x", who,
		      (unsigned long long)(verify->body_done + at), got[at], wanted[at]);
	return VERIFY_WRONG;
}

/* Checks what is there of the body. */
static enum verify_result judge_body(const struct verify_plan *plan, struct verify *verify,
				     uint64_t id, struct span_reader *reader, unsigned who,
				     struct failures *failures)
{
	while (verify->body_left > 0 && reader->left > 0) {
		struct span piece = span_reader_piece(reader);
		size_t bytes = piece.bytes < verify->body_left ? piece.bytes : verify->body_left;
		const uint8_t *wanted = wanted_bytes(plan, verify, id, &bytes);

		if (__builtin_expect(memcmp(piece.base, wanted, bytes) != 0, 0))
			return wrong_byte(verify, piece.base, wanted, who, failures);
		span_reader_skip(reader, bytes);
		verify->body_done += (uint32_t)bytes;
		verify->body_left -= (uint32_t)bytes;
	}
	if (verify->body_left > 0)
		return VERIFY_MORE;
	verify->in_body = false;
	return VERIFY_COMPLETE;
}

/* Keeps the beginning of an error frame's text, in printable characters. */
static void keep_error_text(struct verify *verify, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count && verify->error_bytes < VERIFY_ERROR_BYTES; i++)
		verify->error_text[verify->error_bytes++] =
			(char)(bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '?');
	verify->error_text[verify->error_bytes] = '\0';
}

void verify_note_error(const struct verify *verify, unsigned who, struct failures *failures)
{
	failures_note(failures, FAILURE_error_frame, 1, "connection %u: the server says: %s", who,
		      verify->error_bytes ? verify->error_text : "(no text)");
}

static enum verify_result read_error(struct verify *verify, struct span_reader *reader,
				     unsigned who, struct failures *failures)
{
	while (verify->body_left > 0 && reader->left > 0) {
		struct span piece = span_reader_piece(reader);
		size_t bytes = piece.bytes < verify->body_left ? piece.bytes : verify->body_left;

		keep_error_text(verify, piece.base, bytes);
		span_reader_skip(reader, bytes);
		verify->body_left -= (uint32_t)bytes;
	}
	if (verify->body_left > 0 && verify->error_bytes < VERIFY_ERROR_BYTES)
		return VERIFY_MORE;
	verify_note_error(verify, who, failures);
	verify->is_error = false;
	return VERIFY_WRONG;
}

enum verify_result verify_next(const struct verify_plan *plan, struct verify *verify, uint64_t id,
			       struct span_reader *reader, unsigned who, struct failures *failures)
{
	struct frame_head head;

	if (!verify->in_body) {
		switch (frame_decode(reader, LIMIT_FRAME_BYTES, &head)) {
		case FRAME_OK:
			if (judge_head(plan, verify, id, &head, who, failures) == VERIFY_WRONG)
				return VERIFY_WRONG;
			break;
		case FRAME_NEED_MORE:
			return VERIFY_MORE;
		case FRAME_TOO_SHORT:
			failures_note(failures, FAILURE_wrong_length, 1,
				      "connection %u: a response whose length field is too "
				      "small" FAILURE_ASK_SIZES,
				      who);
			return VERIFY_WRONG;
		case FRAME_TOO_LONG:
			failures_note(failures, FAILURE_wrong_length, 1,
				      "connection %u: a response whose length field exceeds the "
				      "limit" FAILURE_ASK_SIZES,
				      who);
			return VERIFY_WRONG;
		}
	}
	if (__builtin_expect(verify->is_error, 0))
		return read_error(verify, reader, who, failures);
	return judge_body(plan, verify, id, reader, who, failures);
}
