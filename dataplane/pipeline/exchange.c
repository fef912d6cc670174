#include "dataplane/pipeline/exchange.h"

#include "dataplane/core/check.h"
#include "dataplane/pipeline/body.h"
#include "dataplane/pipeline/output.h"

#include <errno.h>

static struct conn *conn_of(const struct exchange *exchange)
{
	return list_member(exchange, struct conn, exchange);
}

/* --- the request's body --- */

size_t exchange_ready(struct exchange *exchange)
{
	return body_ready(conn_of(exchange));
}

struct span exchange_piece(struct exchange *exchange)
{
	struct conn *conn = conn_of(exchange);
	struct span piece = span_reader_piece(conn->reader);

	if (piece.bytes > conn->codec.body_left)
		piece.bytes = conn->codec.body_left;
	return piece;
}

void exchange_skip(struct exchange *exchange, size_t bytes)
{
	struct conn *conn = conn_of(exchange);

	ASSERT(bytes <= conn->codec.body_left);
	span_reader_skip(conn->reader, bytes);
	body_taken(conn, bytes);
}

void exchange_copy(struct exchange *exchange, struct room_writer *writer, size_t bytes)
{
	struct conn *conn = conn_of(exchange);

	ASSERT(bytes <= conn->codec.body_left);
	body_taken(conn, bytes);
	while (bytes > 0) {
		struct span piece = span_reader_piece(conn->reader);
		size_t step = piece.bytes < bytes ? piece.bytes : bytes;

		room_writer_put(writer, piece.base, step);
		span_reader_pass(conn->reader, step);
		bytes -= step;
	}
}

bool exchange_drop(struct exchange *exchange)
{
	return body_drop(conn_of(exchange));
}

bool exchange_body_ended(struct exchange *exchange)
{
	return body_ended(conn_of(exchange));
}

/* --- the response --- */

void exchange_respond(struct exchange *exchange, const struct response *response)
{
	struct conn *conn = conn_of(exchange);
	struct codec_state *state = &conn->codec;

	ASSERT(!exchange->responded && response->fields.bytes <= EXCHANGE_FIELDS_BYTES);
	state->streams = response->body_bytes == BODY_UNKNOWN;
	conn->head = conn->world->head;
	conn->head_bytes =
		(uint32_t)conn->world->codec->head(conn->world, state, response, conn->head);
	state->streams &= !state->bodiless;
	exchange->left = state->bodiless ? 0 : response->body_bytes;
	exchange->responded = true;
	conn->world->counters->errors += response->status >= 400 && !response->relayed;
}

bool exchange_responded(const struct exchange *exchange)
{
	return exchange->responded;
}

uint64_t exchange_left(const struct exchange *exchange)
{
	return exchange->left;
}

static void pass_over(struct room_writer *writer, size_t bytes)
{
	while (bytes > 0) {
		size_t room = room_writer_piece(writer).bytes;
		size_t step = room < bytes ? room : bytes;

		room_writer_advance(writer, step);
		bytes -= step;
	}
}

static void put_head(struct conn *conn, struct room_writer *writer)
{
	if (conn->head_bytes > 0)
		room_writer_put(writer, conn->head, conn->head_bytes);
}

/* What was put has left the head behind. */
static void commit(struct conn *conn, size_t bytes)
{
	output_commit(conn, bytes);
	if (conn->head_bytes > 0)
		conn_forget_head(conn);
	conn->exchange.out = true;
}

/* Cuts what was lent down to where a piece's bytes may stand. */
static void lend_piece(struct conn *conn, size_t before, size_t bytes, struct room_writer *writer)
{
	struct conn_world *world = conn->world;
	size_t left = before + bytes;

	for (unsigned i = 0; i < world->room_count; i++) {
		struct room room = world->rooms[i];

		if (room.bytes > left)
			room.bytes = left;
		world->pieces[i] = room;
		left -= room.bytes;
	}
	*writer = room_writer_of(world->pieces, world->room_count);
	pass_over(writer, before);
}

static bool stream_room(struct conn *conn, size_t bytes, struct room_writer *writer_out)
{
	const struct codec *codec = conn->world->codec;
	uint8_t scratch[CODEC_PIECE_BYTES];
	size_t before = conn->head_bytes + codec->piece(&conn->codec, bytes, scratch);
	size_t behind = codec->piece_end(&conn->codec, scratch);
	struct room_writer writer;

	if (!output_reserve(conn, before + bytes + behind, &writer))
		return false;
	lend_piece(conn, before, bytes, writer_out);
	return true;
}

bool exchange_room(struct exchange *exchange, size_t bytes, struct room_writer *writer_out)
{
	struct conn *conn = conn_of(exchange);

	ASSERT(exchange->responded && bytes > 0 && bytes <= LIMIT_CHUNK_BYTES);
	ASSERT(bytes <= exchange->left);
	if (conn->codec.streams)
		return stream_room(conn, bytes, writer_out);
	if (!output_reserve(conn, conn->head_bytes + bytes, writer_out))
		return false;
	put_head(conn, writer_out);
	return true;
}

/* Puts around `bytes` in the room lent what belongs there. */
static void stream_put(struct conn *conn, size_t bytes)
{
	const struct codec *codec = conn->world->codec;
	struct room_writer writer = room_writer_of(conn->world->rooms, conn->world->room_count);
	uint8_t scratch[CODEC_PIECE_BYTES];
	size_t count = codec->piece(&conn->codec, bytes, scratch);
	size_t total = conn->head_bytes + count + bytes;

	put_head(conn, &writer);
	room_writer_put(&writer, scratch, count);
	pass_over(&writer, bytes);
	count = codec->piece_end(&conn->codec, scratch);
	room_writer_put(&writer, scratch, count);
	conn->codec.begun = true;
	commit(conn, total + count);
}

void exchange_put(struct exchange *exchange, size_t bytes)
{
	struct conn *conn = conn_of(exchange);

	if (bytes == 0)
		return;
	conn->world->counters->response_bytes += bytes;
	if (conn->codec.streams) {
		stream_put(conn, bytes);
		return;
	}
	exchange->left -= bytes;
	commit(conn, conn->head_bytes + bytes);
}

bool exchange_put_head(struct exchange *exchange)
{
	struct conn *conn = conn_of(exchange);
	struct room_writer writer;

	ASSERT(exchange->responded);
	if (conn->head_bytes == 0)
		return true;
	if (!output_reserve(conn, conn->head_bytes, &writer))
		return false;
	put_head(conn, &writer);
	commit(conn, conn->head_bytes);
	return true;
}

int64_t exchange_send_file(struct exchange *exchange, int fd, uint64_t offset)
{
	struct conn *conn = conn_of(exchange);
	int64_t sent;

	ASSERT(!conn->codec.streams && exchange->left > 0);
	if (!output_sends_files(conn))
		return -EOPNOTSUPP;
	if (!exchange_put_head(exchange))
		return 0;
	sent = output_send_file(conn, fd, offset, exchange->left);
	if (sent > 0) {
		exchange->left -= (uint64_t)sent;
		exchange->out = true;
		conn->world->counters->response_bytes += (uint64_t)sent;
	}
	return sent;
}

/* Puts the head of a response without a body, or what ends a stream. False: no room. */
static bool put_end(struct conn *conn)
{
	const struct codec_state *state = &conn->codec;
	uint8_t end[CODEC_PIECE_BYTES];
	size_t end_bytes = state->streams ? conn->world->codec->end(state, end) : 0;
	size_t bytes = conn->head_bytes + end_bytes;
	struct room_writer writer;

	if (bytes == 0)
		return true;
	if (!output_reserve(conn, bytes, &writer))
		return false;
	put_head(conn, &writer);
	room_writer_put(&writer, end, end_bytes);
	commit(conn, bytes);
	return true;
}

bool exchange_finish(struct exchange *exchange)
{
	struct conn *conn = conn_of(exchange);
	struct codec_state *state = &conn->codec;

	ASSERT(exchange->responded && (exchange->left == 0 || state->streams));
	if (!exchange->finished)
		exchange->finished = (conn->head_bytes == 0 && !state->streams) || put_end(conn);
	return exchange->finished;
}

bool exchange_refuse(struct exchange *exchange, unsigned status, const char *text)
{
	struct room_writer writer;

	if (!exchange->responded)
		exchange_respond(exchange, &(struct response){.status = (uint16_t)status,
							      .body_bytes = strlen(text),
							      .type = "text/plain"});
	if (exchange->left > 0) {
		if (!exchange_room(exchange, exchange->left, &writer))
			return false;
		room_writer_put(&writer, (const uint8_t *)text, exchange->left);
		exchange_put(exchange, exchange->left);
	}
	return exchange_finish(exchange);
}

void exchange_break(struct exchange *exchange)
{
	exchange->broken = true;
	if (!conn_of(exchange)->reader) /* nobody visits it now */
		exchange_wake(exchange);
}

/* --- time --- */

uint64_t exchange_now_ns(const struct exchange *exchange)
{
	return conn_of(exchange)->world->now_ns;
}

void exchange_wake(struct exchange *exchange)
{
	struct conn *conn = conn_of(exchange);

	list_push(&conn->world->woken, &conn->ready);
}

void *exchange_state(const struct exchange *exchange)
{
	return exchange->state;
}

void exchange_set_state(struct exchange *exchange, void *state)
{
	exchange->state = state;
}
