#include "apps/load/dialect.h"
#include "dataplane/core/limits.h"
#include "dataplane/proto/frame.h"

static int prepare(struct talk *talk, const struct talk_config *config, struct tp_error *error)
{
	(void)error;
	talk->request_bytes = FRAME_HEAD_BYTES + config->request_bytes;
	return 0;
}

static void put_request(const struct talk *talk, uint64_t id, struct room_writer *writer)
{
	struct frame_head head = {.id = id,
				  .opcode = FRAME_OPCODE_STRESS,
				  .flags = FRAME_START | FRAME_END,
				  .body_bytes = talk->bodies.body_bytes};
	uint8_t bytes[FRAME_HEAD_BYTES];

	frame_encode(bytes, &head);
	room_writer_put(writer, bytes, FRAME_HEAD_BYTES);
	room_writer_put(writer, bodies_at(&talk->bodies, id), talk->bodies.body_bytes);
}

/* Judges a head and begins its body. */
static enum verify_result judge_head(const struct verifier *verifier, struct verify *verify,
				     uint64_t id, const struct frame_head *head, unsigned who)
{
	verify->body_done = 0;
	verify->body_left = head->body_bytes;
	verify->in_body = true;
	if (__builtin_expect((head->flags & FRAME_ERROR) != 0, 0)) {
		verify->is_error = true;
		return VERIFY_MORE;
	}
	if (head->id != id) {
		failures_note(verifier->failures, FAILURE_wrong_id, 1,
			      "connection %u: response id %#llx, the next in order is "
			      "%#llx" FAILURE_ASK_SIZES,
			      who, (unsigned long long)head->id, (unsigned long long)id);
		return VERIFY_WRONG;
	}
	if (head->flags != (FRAME_START | FRAME_END) || head->opcode != FRAME_OPCODE_STRESS) {
		failures_note(
			verifier->failures, FAILURE_wrong_head, 1,
			"connection %u: response with flags %#x and opcode %llu, wanted %#x and %u",
			who, head->flags, (unsigned long long)head->opcode, FRAME_START | FRAME_END,
			FRAME_OPCODE_STRESS);
		return VERIFY_WRONG;
	}
	if (head->body_bytes != verifier->talk->response_bytes)
		return verify_wrong_length(verifier, who, head->body_bytes);
	return VERIFY_MORE;
}

static enum verify_result no_length(const struct verifier *verifier, unsigned who, const char *how)
{
	failures_note(verifier->failures, FAILURE_wrong_length, 1,
		      "connection %u: a response whose length field %s" FAILURE_ASK_SIZES, who,
		      how);
	return VERIFY_WRONG;
}

static enum verify_result read_error(const struct verifier *verifier, struct verify *verify,
				     struct span_reader *reader, unsigned who)
{
	bool enough = verify_keep_error(verify, &verify->body_left, reader);

	if (verify->body_left > 0 && !enough)
		return VERIFY_MORE;
	return verify_note_error(verify, who, verifier->failures);
}

static enum verify_result verify(struct verifier *verifier, struct verify *verify, uint64_t id,
				 struct span_reader *reader, unsigned who)
{
	struct frame_head head;

	if (!verify->in_body) {
		switch (frame_decode(reader, LIMIT_FRAME_BYTES, &head)) {
		case FRAME_OK:
			if (judge_head(verifier, verify, id, &head, who) == VERIFY_WRONG)
				return VERIFY_WRONG;
			break;
		case FRAME_NEED_MORE:
			return VERIFY_MORE;
		case FRAME_TOO_SHORT:
			return no_length(verifier, who, "is too small");
		case FRAME_TOO_LONG:
			return no_length(verifier, who, "exceeds the limit");
		}
	}
	if (__builtin_expect(verify->is_error, 0))
		return read_error(verifier, verify, reader, who);
	if (verify_body(verifier, verify, id, &verify->body_left, reader, who) == VERIFY_WRONG)
		return VERIFY_WRONG;
	if (verify->body_left > 0)
		return VERIFY_MORE;
	verify->in_body = false;
	return VERIFY_COMPLETE;
}

const struct dialect dialect_framed = {
	.name = "framed",
	.prepare = prepare,
	.put_request = put_request,
	.verify = verify,
};
