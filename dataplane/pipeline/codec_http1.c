#include "dataplane/pipeline/codec.h"

#include "dataplane/pipeline/http1_answer.h"
#include "dataplane/pipeline/http1_run.h"
#include "dataplane/pipeline/world.h"

/* --- requests --- */

static enum codec_status refuse(struct codec_state *state, unsigned code, const char *text)
{
	state->fault = (struct codec_fault){(uint16_t)code, text};
	return CODEC_BAD;
}

static enum codec_status refuse_malformed(struct codec_state *state, enum http1_status status)
{
	return refuse(state, http1_status_code(status), http1_status_text(status));
}

static enum http1_status parse(struct conn_world *world, struct codec_state *state,
			       struct span bytes, size_t *head_bytes_out)
{
	return world->parser->parse(bytes.base, bytes.bytes, &world->http1_limits,
				    &state->http1.scan, &world->request, head_bytes_out,
				    &world->counters->parser_allocations);
}

/* What is there, in one piece, as far as a head may reach. */
static struct span gather(struct conn_world *world, const struct span_reader *reader)
{
	struct span_reader ahead = *reader;
	size_t bytes = reader->left < LIMIT_HEAD_BYTES ? reader->left : LIMIT_HEAD_BYTES;

	span_reader_copy(&ahead, world->gather, bytes);
	return (struct span){world->gather, bytes};
}

/* Reads a head into the world's request, where it stands if it stands in one piece. */
static enum http1_status read_head(struct conn_world *world, struct codec_state *state,
				   struct span_reader *reader, size_t *head_bytes_out)
{
	struct span piece = span_reader_piece(reader);
	enum http1_status status;

	if (piece.bytes > 0 && piece.base == world->ahead.base) {
		*head_bytes_out = world->ahead.bytes;
		world->ahead.base = NULL;
		return HTTP1_OK;
	}
	if (piece.bytes == 0)
		return HTTP1_MORE;
	status = parse(world, state, piece, head_bytes_out);
	if (status == HTTP1_MORE && reader->left > piece.bytes)
		status = parse(world, state, gather(world, reader), head_bytes_out);
	return status;
}

/* Prepares for the body that a head announces. */
static enum codec_status expect_body(const struct conn_world *world, struct codec_state *state,
				     const struct http1_request *request)
{
	const struct http1_framing *framing = &request->framing;

	state->pieces = framing->chunked;
	state->http1.chunks = (struct http1_chunks){0};
	state->body_bytes = 0;
	state->body_left = framing->length_bytes;
	state->body_ended = !framing->chunked && framing->length_bytes == 0;
	state->expects = request->expects_continue && !state->body_ended;
	if (framing->length_bytes > world->body_max)
		return refuse(state, 413, "request body exceeds the limit");
	return CODEC_OK;
}

static enum codec_status http1_decode(struct conn_world *world, struct codec_state *state,
				      struct span_reader *reader, struct request *request_out)
{
	const struct http1_request *request = &world->request;
	enum codec_status result;
	enum http1_status status;
	size_t head_bytes;

	state->bodiless = false; /* of the request before */
	status = read_head(world, state, reader, &head_bytes);
	if (status == HTTP1_MORE)
		return CODEC_MORE;
	if (status != HTTP1_OK)
		return refuse_malformed(state, status);
	span_reader_skip(reader, head_bytes);
	state->http1.minor_0 = request->minor == 0;
	state->bodiless = request->method == HTTP1_HEAD;
	state->begun = false;
	state->close = !request->framing.keep_alive;
	result = expect_body(world, state, request);
	state->expects &= reader->left == 0; /* who sends does not wait */
	if (result == CODEC_OK && request->method == HTTP1_CONNECT)
		result = refuse(state, 501, "CONNECT is not for this server");
	if (result != CODEC_OK) {
		world->parser->release(&world->request);
		return result;
	}
	*request_out =
		(struct request){.method = request->method,
				 .path = request->path,
				 .query = request->query,
				 .body_bytes = state->pieces ? BODY_UNKNOWN : state->body_left,
				 .http = request};
	return CODEC_OK;
}

static void http1_release(struct conn_world *world)
{
	world->parser->release(&world->request);
}

static enum codec_status http1_body(struct conn_world *world, struct codec_state *state,
				    struct span_reader *reader)
{
	struct http1_chunks *chunks = &state->http1.chunks;
	enum http1_status status;

	chunks->left = 0; /* what followed directly has been taken */
	status = http1_chunks_next(chunks, reader);
	if (status == HTTP1_MORE)
		return CODEC_MORE;
	if (status != HTTP1_OK)
		return refuse_malformed(state, status);
	state->body_left = chunks->left;
	state->body_ended = chunks->state == HTTP1_CHUNK_END;
	return CODEC_OK;
}

static size_t http1_interim(uint8_t *to)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

	_Static_assert(sizeof(text) - 1 <= CODEC_PIECE_BYTES, "it is a piece");
	memcpy(to, text, sizeof(text) - 1);
	return sizeof(text) - 1;
}

/* --- responses --- */

/* Statuses whose responses end with their head (RFC 9110 section 6.4.1). */
static bool has_no_body(unsigned status)
{
	return status < 200 || status == 204 || status == 304;
}

static size_t http1_head(struct conn_world *world, struct codec_state *state,
			 const struct response *response, uint8_t *to)
{
	state->bodiless |= has_no_body(response->status);
	state->close |= state->streams && state->http1.minor_0 && !state->bodiless;
	/* the body was not asked for, and nobody knows whether it will come */
	state->close |= state->expects;
	return http1_answer_head(
		to, response,
		&(struct http1_answer){.date = response->date
						       ? response->date
						       : date_text(&world->date, world->now_ns),
				       .unframed = has_no_body(response->status) ||
						   (state->streams && state->http1.minor_0),
				       .close = state->close,
				       .keep_alive = state->http1.minor_0});
}

static size_t http1_piece(const struct codec_state *state, size_t bytes, uint8_t *to)
{
	static const char digits[] = "0123456789abcdef";

	_Static_assert(LIMIT_CHUNK_BYTES < 1 << 16, "four digits hold a piece's size");
	if (state->http1.minor_0)
		return 0;
	for (unsigned i = 0; i < 4; i++)
		to[i] = (uint8_t)digits[bytes >> (12 - 4 * i) & 15];
	memcpy(to + 4, "\r\n", 2);
	return 6;
}

static size_t http1_piece_end(const struct codec_state *state, uint8_t *to)
{
	if (state->http1.minor_0)
		return 0;
	memcpy(to, "\r\n", 2);
	return 2;
}

static size_t http1_end(const struct codec_state *state, uint8_t *to)
{
	if (state->http1.minor_0)
		return 0;
	memcpy(to, "0\r\n\r\n", 5);
	return 5;
}

static size_t http1_reject(struct conn_world *world, struct codec_state *state, uint8_t *to)
{
	size_t text_bytes = strlen(state->fault.text), head_bytes;
	struct response response = {
		.status = state->fault.status, .body_bytes = text_bytes, .type = "text/plain"};

	head_bytes = http1_answer_head(
		to, &response,
		&(struct http1_answer){.date = date_text(&world->date, world->now_ns),
				       .close = true});
	if (state->bodiless)
		return head_bytes;
	memcpy(to + head_bytes, state->fault.text, text_bytes);
	return head_bytes + text_bytes;
}

const struct codec codec_http1 = {
	.name = "http1",
	.decode = http1_decode,
	.release = http1_release,
	.body = http1_body,
	.interim = http1_interim,
	.head = http1_head,
	.piece = http1_piece,
	.piece_end = http1_piece_end,
	.end = http1_end,
	.reject = http1_reject,
	.find_run = http1_find_run,
	.write_run = http1_write_run,
};
