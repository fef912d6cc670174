#include "dataplane/pipeline/body.h"

#include "dataplane/pipeline/output.h"

/* Tells a peer that waits for it that its body is wanted. */
static void write_interim(struct conn *conn)
{
	uint8_t bytes[CODEC_PIECE_BYTES];
	size_t count = conn->world->codec->interim(bytes);
	struct room_writer writer;

	if (!output_reserve(conn, count, &writer))
		return;
	room_writer_put(&writer, bytes, count);
	output_commit(conn, count);
	conn->codec.expects = false;
}

/* The next bytes of the body are not there. */
static void starve(struct conn *conn)
{
	conn->starved = true;
	if (conn->codec.expects && conn->reader->left == 0 && !conn->exchange.out)
		write_interim(conn);
}

/* A piece begins: it is counted, and judged by the bound on the whole. */
static bool begin_piece(struct conn *conn)
{
	struct codec_state *state = &conn->codec;

	conn->world->counters->request_bytes += state->body_left;
	state->body_bytes += state->body_left;
	if (state->body_bytes <= conn->world->body_max)
		return true;
	state->fault = (struct codec_fault){413, "request body exceeds the limit"};
	state->body_left = 0;
	return false;
}

/* Comes to the next bytes of the body, through what stands before them. False: none follow. */
static bool find_bytes(struct conn *conn)
{
	struct codec_state *state = &conn->codec;

	if (state->body_left > 0)
		return true;
	if (state->body_ended || state->fault.status)
		return false;
	state->expects &= conn->reader->left == 0;
	switch (conn->world->codec->body(conn->world, state, conn->reader)) {
	case CODEC_OK:
		return state->body_left > 0 && begin_piece(conn);
	case CODEC_MORE:
		starve(conn);
		break;
	case CODEC_BAD:
		break;
	}
	return false;
}

size_t body_await(struct conn *conn)
{
	struct codec_state *state = &conn->codec;
	size_t there;

	if (!find_bytes(conn))
		return 0;
	there = conn->reader->left;
	state->expects &= there == 0;
	if (!state->pieces || there == 0) {
		starve(conn);
		return 0;
	}
	return there < state->body_left ? there : state->body_left;
}

bool body_drop(struct conn *conn)
{
	struct codec_state *state = &conn->codec;

	while (find_bytes(conn)) {
		size_t there = conn->reader->left;
		size_t bytes = there < state->body_left ? there : state->body_left;

		if (bytes == 0) {
			starve(conn);
			return false;
		}
		span_reader_skip(conn->reader, bytes);
		body_taken(conn, bytes);
	}
	return state->body_ended;
}

bool body_ended(struct conn *conn)
{
	return !find_bytes(conn) && conn->codec.body_ended;
}
