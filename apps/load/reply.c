#include "apps/load/reply.h"

static const struct http1_limits limits = {
	.line_bytes = HTTP1_LINE_BYTES, .head_bytes = HTTP1_HEAD_BYTES, .fields = HTTP1_FIELDS_MAX};

void reply_begin(struct reply *reply, bool chunked, uint64_t left)
{
	*reply = (struct reply){.chunked = chunked, .left = left};
}

/* Begins the body of the head just read. */
static void begin_read(struct reply *reply, const struct http1_response *response, bool bodiless)
{
	const struct http1_framing *framing = &response->framing;
	bool without = bodiless || response->status < 200 || response->status == 204 ||
		       response->status == 304;

	reply_begin(reply, framing->chunked && !without, without ? 0 : framing->length_bytes);
	if (without || framing->chunked || framing->has_length)
		return;
	reply->until_close = true;
	reply->left = UINT64_MAX;
}

enum http1_status reply_head(struct reply *reply, struct reply_scratch *scratch, bool bodiless,
			     struct span_reader *reader, struct span *head_out)
{
	struct span piece = span_reader_piece(reader);
	size_t head_bytes;
	enum http1_status status = http1_parse_response(
		piece.base, piece.bytes, &limits, &reply->scan, &scratch->response, &head_bytes);

	if (status == HTTP1_MORE && reader->left > piece.bytes) {
		piece.bytes = reader->left < sizeof(scratch->bytes) ? reader->left
								    : sizeof(scratch->bytes);
		piece.base = span_reader_peek(reader, scratch->bytes, piece.bytes);
		status = http1_parse_response(piece.base, piece.bytes, &limits, &reply->scan,
					      &scratch->response, &head_bytes);
	}
	if (status != HTTP1_OK)
		return status;
	*head_out = (struct span){piece.base, head_bytes};
	span_reader_skip(reader, head_bytes);
	begin_read(reply, &scratch->response, bodiless);
	return HTTP1_OK;
}

enum http1_status reply_body(struct reply *reply, struct span_reader *reader)
{
	enum http1_status status;

	if (reply->left > 0)
		return HTTP1_OK;
	if (!reply->chunked) {
		reply->ended = true;
		return HTTP1_OK;
	}
	status = http1_chunks_next(&reply->chunks, reader);
	if (status != HTTP1_OK)
		return status;
	reply->left = reply->chunks.left;
	reply->chunks.left = 0;
	reply->ended = reply->chunks.state == HTTP1_CHUNK_END;
	return HTTP1_OK;
}
