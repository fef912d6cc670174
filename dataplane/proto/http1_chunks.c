#include "dataplane/proto/http1.h"
#include "dataplane/proto/http1_set.h"

/* Places within a line: of a size's line, and of a trailer's. All begin with BEGIN. */
enum place {
	BEGIN,
	SIZE,
	EXTENSION, /* behind ';' */
	EXTENSION_NAME,
	EXTENSION_VALUE, /* behind '=' */
	EXTENSION_TOKEN,
	EXTENSION_QUOTED,
	EXTENSION_ESCAPED,
	EXTENSION_CLOSED, /* behind the second quote */
	NAME,
	VALUE,
	LAST_LF, /* of the empty line that ends all trailers */
	LF,
	WRONG,
};

static int digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum place behind_size(uint8_t c)
{
	if (c == '\r')
		return LF;
	return c == ';' ? EXTENSION : WRONG;
}

/* The place behind byte `c` of a size; a size that 63 bits do not hold has none. */
static enum place take_size(struct http1_chunks *chunks, uint8_t c)
{
	int digit = digit_of(c);

	if (digit < 0) {
		chunks->line_bytes = 1;
		return chunks->within == BEGIN ? WRONG : behind_size(c);
	}
	if (++chunks->line_bytes > HTTP1_SIZE_DIGITS || chunks->size > (uint64_t)INT64_MAX >> 4)
		return WRONG;
	chunks->size = chunks->size << 4 | (unsigned)digit;
	return SIZE;
}

/* RFC 9112 section 7.1.1, without the white space that it calls bad. */
static enum place take_extension(enum place place, uint8_t c)
{
	bool is_token = http1_set_token.has[c];

	switch (place) {
	case EXTENSION:
		return is_token ? EXTENSION_NAME : WRONG;
	case EXTENSION_NAME:
		if (is_token)
			return EXTENSION_NAME;
		return c == '=' ? EXTENSION_VALUE : behind_size(c);
	case EXTENSION_VALUE:
		if (c == '"')
			return EXTENSION_QUOTED;
		return is_token ? EXTENSION_TOKEN : WRONG;
	case EXTENSION_TOKEN:
		return is_token ? EXTENSION_TOKEN : behind_size(c);
	case EXTENSION_QUOTED:
		if (c == '"' || c == '\\')
			return c == '"' ? EXTENSION_CLOSED : EXTENSION_ESCAPED;
		return http1_set_value.has[c] ? EXTENSION_QUOTED : WRONG;
	case EXTENSION_ESCAPED:
		return http1_set_value.has[c] ? EXTENSION_QUOTED : WRONG;
	default:
		return behind_size(c);
	}
}

static void begin(struct http1_chunks *chunks, enum http1_chunk_state state)
{
	chunks->state = state;
	chunks->within = BEGIN;
	chunks->line_bytes = 0;
}

/* One byte of the line of a chunk's size; whether it may stand there. */
static bool take_size_line(struct http1_chunks *chunks, uint8_t c)
{
	enum place place = (enum place)chunks->within;

	if (place == LF && c == '\n') {
		begin(chunks, chunks->size > 0 ? HTTP1_CHUNK_DATA : HTTP1_CHUNK_TRAILER);
		chunks->left = chunks->size;
		chunks->size = 0;
		return true;
	}
	if (place <= SIZE)
		place = take_size(chunks, c);
	else if (place != LF && (c == '\r' || ++chunks->line_bytes <= HTTP1_EXTENSION_BYTES))
		place = take_extension(place, c);
	else
		place = WRONG;
	chunks->within = (uint8_t)place;
	return place != WRONG;
}

static bool take_crlf(struct http1_chunks *chunks, uint8_t c)
{
	if (chunks->within == BEGIN) {
		chunks->within = LF;
		return c == '\r';
	}
	if (c == '\n')
		begin(chunks, HTTP1_CHUNK_SIZE);
	return c == '\n';
}

/* What frames or routes a message, or ends its connection, is no trailer (RFC 9110 6.5.1). */
static const char *const no_trailers[] = {"content-length", "transfer-encoding", "host",
					  "connection"};

enum { NO_TRAILERS = sizeof(no_trailers) / sizeof(no_trailers[0]) };

/* One byte of a trailer's name; chunks->like says which of no_trailers it can still become. */
static enum place take_trailer_name(struct http1_chunks *chunks, uint8_t c)
{
	bool is_end = c == ':';

	for (unsigned i = 0; i < NO_TRAILERS; i++) {
		if (!(chunks->like & 1 << i))
			continue;
		if (is_end && !no_trailers[i][chunks->line_bytes])
			return WRONG;
		if ((c | 0x20) != no_trailers[i][chunks->line_bytes])
			chunks->like &= (uint8_t) ~(1 << i);
	}
	chunks->line_bytes++;
	if (is_end)
		return VALUE;
	return http1_set_token.has[c] ? NAME : WRONG;
}

static enum place take_trailer(struct http1_chunks *chunks, enum place place, uint8_t c)
{
	switch (place) {
	case BEGIN:
		if (c == '\r')
			return LAST_LF;
		chunks->like = (1 << NO_TRAILERS) - 1;
		chunks->line_bytes = 0;
		return c == ':' ? WRONG : take_trailer_name(chunks, c);
	case NAME:
		return take_trailer_name(chunks, c);
	case VALUE:
		if (c == '\r')
			return LF;
		return http1_set_value.has[c] ? VALUE : WRONG;
	default:
		return c == '\n' ? BEGIN : WRONG;
	}
}

static bool take_trailer_line(struct http1_chunks *chunks, uint8_t c)
{
	enum place place = (enum place)chunks->within;
	bool is_last = place == LAST_LF;

	if (++chunks->trailer_bytes > HTTP1_TRAILER_BYTES)
		return false;
	place = take_trailer(chunks, place, c);
	chunks->within = (uint8_t)place;
	if (is_last && place != WRONG)
		chunks->state = HTTP1_CHUNK_END;
	return place != WRONG;
}

static bool take(struct http1_chunks *chunks, uint8_t c)
{
	switch (chunks->state) {
	case HTTP1_CHUNK_SIZE:
		return take_size_line(chunks, c);
	case HTTP1_CHUNK_CRLF:
		return take_crlf(chunks, c);
	default:
		return take_trailer_line(chunks, c);
	}
}

enum http1_status http1_chunks_next(struct http1_chunks *chunks, struct span_reader *reader)
{
	if (chunks->state == HTTP1_CHUNK_DATA && chunks->left == 0)
		begin(chunks, HTTP1_CHUNK_CRLF);
	while (chunks->state != HTTP1_CHUNK_DATA && chunks->state != HTTP1_CHUNK_END) {
		struct span piece = span_reader_piece(reader);
		size_t taken = 0;
		bool right = true;

		if (piece.bytes == 0)
			return HTTP1_MORE;
		while (taken < piece.bytes && right && chunks->state != HTTP1_CHUNK_DATA &&
		       chunks->state != HTTP1_CHUNK_END)
			right = take(chunks, piece.base[taken++]);
		span_reader_skip(reader, taken);
		if (!right)
			return HTTP1_BAD_CHUNK;
	}
	return HTTP1_OK;
}
