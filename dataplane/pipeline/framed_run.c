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

/* Each answer takes the same room. */
static void find_alike(const struct conn_world *world, struct span piece, unsigned requests_max,
		       size_t due_bytes, struct run *run)
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
	run->requests = requests;
	run->request_bytes = (size_t)(at - piece.base);
	run->response_bytes = answers_bytes;
}

/* Each answer takes the room of its request. */
static void find_bodies(const struct conn_world *world, struct span piece, unsigned requests_max,
			size_t due_bytes, struct run *run)
{
	unsigned requests = 0;
	size_t bytes = 0;

	while (requests < requests_max && bytes < due_bytes) {
		size_t frame_bytes =
			whole_message(piece.base + bytes, piece.bytes - bytes, world->frame_max);

		if (frame_bytes == 0 || bytes + frame_bytes > RUN_BYTES_MAX)
			break;
		requests++;
		bytes += frame_bytes;
	}
	run->requests = requests;
	run->request_bytes = run->response_bytes = bytes;
}

bool framed_find_run(struct conn_world *world, struct span piece, unsigned requests_max,
		     size_t due_bytes, struct run *run_out)
{
	size_t heads_bytes;

	run_out->handler = world->framed;
	if (world->framed->answers == ANSWERS_ALIKE)
		find_alike(world, piece, requests_max, due_bytes, run_out);
	else
		find_bodies(world, piece, requests_max, due_bytes, run_out);
	heads_bytes = (size_t)run_out->requests * FRAME_HEAD_BYTES;
	run_out->request_body_bytes = run_out->request_bytes - heads_bytes;
	run_out->response_body_bytes = run_out->response_bytes - heads_bytes;
	return run_out->requests > 0;
}

/* All bodies in one sweep, then the heads into it. */
static void write_alike(const struct run *run, const uint8_t *request, uint8_t *to)
{
	uint32_t body_bytes = run->handler->response_bytes;

	memset(to, FRAME_FILL_BYTE, run->response_bytes);
	for (unsigned i = 0; i < run->requests; i++) {
		frame_encode_answer(to, request, body_bytes);
		to += FRAME_HEAD_BYTES + body_bytes;
		request += FRAME_LENGTH_BYTES + bytes_get_le32(request + FRAME_OFFSET_LENGTH);
	}
}

/* All frames in one sweep, then into each that it is a whole answer. */
static void write_bodies(const struct run *run, const uint8_t *request, uint8_t *to)
{
	memcpy(to, request, run->response_bytes);
	for (unsigned i = 0; i < run->requests; i++) {
		bytes_put_le32(to + FRAME_OFFSET_FLAGS, FRAME_START | FRAME_END);
		to += FRAME_LENGTH_BYTES + bytes_get_le32(to + FRAME_OFFSET_LENGTH);
	}
}

void framed_write_run(struct conn_world *world, const struct run *run, const uint8_t *request,
		      uint8_t *to)
{
	if (run->handler->answers == ANSWERS_ALIKE)
		write_alike(run, request, to);
	else
		write_bodies(run, request, to);
}
