#include "dataplane/pipeline/codec.h"

#include "dataplane/core/check.h"
#include "dataplane/pipeline/framed_run.h"
#include "dataplane/pipeline/world.h"

/*
 * A frame is a whole message unless it says START and not END: then frames of the same id follow,
 * up to the one that says END.
 */
static bool begins_stream(uint32_t flags)
{
	return (flags & (FRAME_START | FRAME_END)) == FRAME_START;
}

static enum codec_status refuse(struct codec_state *state, enum frame_status status)
{
	state->fault = (struct codec_fault){400, frame_status_text(status)};
	return CODEC_BAD;
}

static enum codec_status framed_decode(struct conn_world *world, struct codec_state *state,
				       struct span_reader *reader, struct request *request_out)
{
	struct frame_head head;
	enum frame_status status = frame_decode(reader, world->frame_max, &head);

	if (status == FRAME_NEED_MORE)
		return CODEC_MORE;
	if (status != FRAME_OK)
		return refuse(state, status);
	state->frame.id = head.id;
	state->frame.opcode = head.opcode;
	state->pieces = state->frame.more_frames = begins_stream(head.flags);
	state->begun = false;
	state->body_bytes = state->body_left = head.body_bytes;
	state->body_ended = head.body_bytes == 0 && !state->pieces;
	*request_out =
		(struct request){.method = HTTP1_POST,
				 .path = {(const uint8_t *)"/", 1},
				 .opcode = head.opcode,
				 .body_bytes = state->pieces ? BODY_UNKNOWN : head.body_bytes};
	return CODEC_OK;
}

/* Judges a further frame of a message. NULL if it is one, else what is wrong. */
static const char *judge_further(const struct codec_state *state, const struct frame_head *head)
{
	if (head->id != state->frame.id || head->opcode != state->frame.opcode)
		return "frame of another message within a message";
	return head->flags & ~FRAME_END ? "frame begins anew within a message" : NULL;
}

static enum codec_status framed_body(struct conn_world *world, struct codec_state *state,
				     struct span_reader *reader)
{
	while (state->frame.more_frames && state->body_left == 0) {
		struct frame_head head;
		enum frame_status status = frame_decode(reader, world->frame_max, &head);

		if (status == FRAME_NEED_MORE)
			return CODEC_MORE;
		if (status != FRAME_OK)
			return refuse(state, status);
		state->fault.text = judge_further(state, &head);
		if (state->fault.text) {
			state->fault.status = 400;
			return CODEC_BAD;
		}
		state->body_left = head.body_bytes;
		state->frame.more_frames = !(head.flags & FRAME_END);
	}
	state->body_ended = state->body_left == 0;
	return CODEC_OK;
}

static size_t encode(const struct codec_state *state, uint32_t flags, size_t body_bytes,
		     uint8_t *to)
{
	frame_encode(to, &(struct frame_head){.id = state->frame.id,
					      .opcode = state->frame.opcode,
					      .flags = flags,
					      .body_bytes = (uint32_t)body_bytes});
	return FRAME_HEAD_BYTES;
}

static size_t framed_head(struct conn_world *world, struct codec_state *state,
			  const struct response *response, uint8_t *to)
{
	uint32_t flags = FRAME_START | FRAME_END;

	if (state->streams)
		return 0; /* its pieces are frames */
	if (response->status >= 400) {
		flags |= FRAME_ERROR;
		state->close = true;
	}
	ASSERT(response->body_bytes <= UINT32_MAX - FRAME_LENGTH_MIN);
	return encode(state, flags, response->body_bytes, to);
}

static size_t framed_piece(const struct codec_state *state, size_t bytes, uint8_t *to)
{
	return encode(state, state->begun ? 0 : FRAME_START, bytes, to);
}

static size_t framed_piece_end(const struct codec_state *state, uint8_t *to)
{
	return 0;
}

static size_t framed_end(const struct codec_state *state, uint8_t *to)
{
	return encode(state, state->begun ? FRAME_END : FRAME_START | FRAME_END, 0, to);
}

static size_t framed_reject(struct conn_world *world, struct codec_state *state, uint8_t *to)
{
	static const struct codec_state nobody;
	size_t text_bytes = strlen(state->fault.text);

	encode(state->within ? state : &nobody, FRAME_START | FRAME_END | FRAME_ERROR, text_bytes,
	       to);
	memcpy(to + FRAME_HEAD_BYTES, state->fault.text, text_bytes);
	return FRAME_HEAD_BYTES + text_bytes;
}

const struct codec codec_framed = {
	.name = "framed",
	.decode = framed_decode,
	.body = framed_body,
	.head = framed_head,
	.piece = framed_piece,
	.piece_end = framed_piece_end,
	.end = framed_end,
	.reject = framed_reject,
	.find_run = framed_find_run,
	.write_run = framed_write_run,
};
