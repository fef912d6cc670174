#include "dataplane/pipeline/framed_run.h"

#include "dataplane/pipeline/world.h"

/* The bytes of the frame at `bytes` if it is there whole and a whole message, else 0. */
static size_t whole_message(const uint8_t *bytes, size_t available, uint32_t frame_max)
{
	size_t frame_bytes = frame_whole(bytes, available, frame_max);
	uint32_t flags;

	if (frame_bytes == 0)
		return 0;
	flags = bytes_get_le32(bytes + FRAME_OFFSET_FLAGS);
	return (flags & (FRAME_START | FRAME_END)) == FRAME_START ? 0 : frame_bytes;
}

bool framed_find_run(struct conn_world *world, struct span piece, unsigned requests_max,
		     size_t due_bytes, struct run *run_out)
{
	size_t answer_bytes = FRAME_HEAD_BYTES + world->framed->response_bytes;
	size_t requests_bytes = 0, answers_bytes = 0;
	unsigned requests = 0;

	while (requests < requests_max && answers_bytes < due_bytes &&
	       answers_bytes + answer_bytes <= RUN_BYTES_MAX) {
		size_t frame_bytes = whole_message(piece.base + requests_bytes,
						   piece.bytes - requests_bytes, world->frame_max);

		if (frame_bytes == 0)
			break;
		requests++;
		requests_bytes += frame_bytes;
		answers_bytes += answer_bytes;
	}
	*run_out = (struct run){.handler = world->framed,
				.requests = requests,
				.request_bytes = requests_bytes,
				.request_body_bytes =
					requests_bytes - (size_t)requests * FRAME_HEAD_BYTES,
				.response_bytes = answers_bytes,
				.answer_bytes = answer_bytes};
	return requests > 0;
}

/* All bodies in one sweep, then the heads into it. */
void framed_write_run(struct conn_world *world, const struct run *run, const uint8_t *request,
		      uint8_t *to)
{
	uint32_t body_bytes = run->handler->response_bytes;

	memset(to, FRAME_FILL_BYTE, run->response_bytes);
	for (unsigned i = 0; i < run->requests; i++) {
		frame_encode_answer(to, request, body_bytes);
		to += FRAME_HEAD_BYTES + body_bytes;
		request += FRAME_LENGTH_BYTES + bytes_get_le32(request + FRAME_OFFSET_LENGTH);
	}
}
