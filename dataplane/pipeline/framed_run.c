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
	size_t answer_bytes = FRAME_HEAD_BYTES + world->framed->response_bytes, answers_bytes = 0;
	size_t bound_bytes = run_bound(requests_max, due_bytes, answer_bytes);
	const uint8_t *at = piece.base, *end = at + piece.bytes;
	unsigned requests = 0;

	while (answers_bytes < bound_bytes) {
		size_t frame_bytes = whole_message(at, (size_t)(end - at), world->frame_max);

		if (frame_bytes == 0)
			break;
		requests++;
		at += frame_bytes;
		answers_bytes += answer_bytes;
	}
	run_out->handler = world->framed;
	run_out->requests = requests;
	run_out->request_bytes = (size_t)(at - piece.base);
	run_out->request_body_bytes = run_out->request_bytes - (size_t)requests * FRAME_HEAD_BYTES;
	run_out->response_bytes = answers_bytes;
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
