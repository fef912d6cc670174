#include "dataplane/handlers/proxied_body.h"

#include "dataplane/core/limits.h"

#include <stdio.h>

/* --- the request --- */

/* "1234\r\n" before a chunk, "\r\n" behind it; "0\r\n\r\n" ends the body. */
enum { CHUNK_SIZE_BYTES = 6, CHUNK_END_BYTES = 2, LAST_CHUNK_BYTES = 5 };

_Static_assert(LIMIT_CHUNK_BYTES <= 0xFFFF, "a chunk's size has four digits");

static bool reserve(struct proxied *proxied, size_t bytes, struct room rooms[2],
		    struct room_writer *writer_out)
{
	struct tp *tp = proxied->proxy->world->tp;
	unsigned count = tp_reserve(tp, proxied->conn->handle, bytes, rooms);

	*writer_out = room_writer_of(rooms, count);
	return count > 0;
}

static void commit(struct proxied *proxied, size_t bytes)
{
	tp_commit(proxied->proxy->world->tp, proxied->conn->handle, bytes);
	proxied->sent = true;
	proxied->moved = true;
}

static bool send_text(struct proxied *proxied, const void *text, size_t bytes)
{
	struct room rooms[2];
	struct room_writer writer;

	if (!reserve(proxied, bytes, rooms, &writer))
		return false;
	room_writer_put(&writer, text, bytes);
	commit(proxied, bytes);
	return true;
}

/* The next `bytes` of the body, as a chunk where they are none of a known length. */
static bool send_piece(struct proxied *proxied, size_t bytes)
{
	size_t around = proxied->chunked ? CHUNK_SIZE_BYTES + CHUNK_END_BYTES : 0;
	struct room rooms[2];
	struct room_writer writer;
	char size[CHUNK_SIZE_BYTES + 1];

	if (!reserve(proxied, bytes + around, rooms, &writer))
		return false;
	if (proxied->chunked) {
		snprintf(size, sizeof(size), "%04x\r\n", (unsigned)bytes);
		room_writer_put(&writer, (const uint8_t *)size, CHUNK_SIZE_BYTES);
	}
	exchange_copy(proxied->exchange, &writer, bytes);
	if (proxied->chunked)
		room_writer_put(&writer, (const uint8_t *)"\r\n", CHUNK_END_BYTES);
	proxied->body_taken = true;
	commit(proxied, bytes + around);
	return true;
}

static void send_body(struct proxied *proxied)
{
	size_t ready;

	while ((ready = exchange_ready(proxied->exchange)) > 0) {
		if (!send_piece(proxied, ready < LIMIT_CHUNK_BYTES ? ready : LIMIT_CHUNK_BYTES))
			return;
	}
	if (!exchange_body_ended(proxied->exchange))
		proxied->wants_body = true;
	else if (!proxied->chunked || send_text(proxied, "0\r\n\r\n", LAST_CHUNK_BYTES))
		proxied->request_done = true;
}

void proxied_send(struct proxied *proxied)
{
	bool moved = proxied->moved;

	proxied->moved = false;
	if (!proxied->sent && !send_text(proxied, proxied->head, proxied->head_bytes))
		return;
	if (!proxied->request_done)
		send_body(proxied);
	if (proxied->moved)
		tp_flush(proxied->proxy->world->tp, proxied->conn->handle);
	proxied->moved |= moved;
}

/* --- the response --- */

/*
 * Bytes that are body at the reader's place, 0 for none; or PASS_BROKEN by `status_out`, PASS_WHOLE
 * behind the last.
 */
static uint64_t find_body(struct proxied *proxied, struct span_reader *reader,
			  enum proxied_pass *status_out)
{
	enum http1_status status;

	*status_out = PASS_WAIT;
	switch (proxied->body) {
	case BODY_NONE:
		*status_out = PASS_WHOLE;
		return 0;
	case BODY_LENGTH:
		if (proxied->left == 0)
			*status_out = PASS_WHOLE;
		return proxied->left;
	case BODY_UNTIL_CLOSE: /* its end is none of its bytes */
		return reader->left;
	case BODY_CHUNKED:
		break;
	}
	status = http1_chunks_next(&proxied->chunks, reader);
	if (status == HTTP1_OK && proxied->chunks.state == HTTP1_CHUNK_DATA)
		return proxied->chunks.left;
	if (status != HTTP1_MORE)
		*status_out = status == HTTP1_OK ? PASS_WHOLE : PASS_BROKEN;
	return 0;
}

/* Copies `bytes` of the body into the client's room. */
static void copy_body(struct proxied *proxied, struct span_reader *reader,
		      struct room_writer *writer, size_t bytes)
{
	struct proxied_tap *tap = proxied->tap;

	for (size_t left = bytes; left > 0;) {
		struct span piece = span_reader_piece(reader);

		piece.bytes = piece.bytes < left ? piece.bytes : left;
		room_writer_put(writer, piece.base, piece.bytes);
		if (tap)
			tap->on_body(tap, piece);
		span_reader_skip(reader, piece.bytes);
		left -= piece.bytes;
	}
	exchange_put(proxied->exchange, bytes);
	proxied->moved = true;
	if (proxied->body == BODY_LENGTH)
		proxied->left -= bytes;
	else if (proxied->body == BODY_CHUNKED)
		proxied->chunks.left -= bytes;
}

/* Passes on what the reader has, until it has no more or the client has no room. */
static enum proxied_pass pass_read(struct proxied *proxied, struct span_reader *reader)
{
	enum proxied_pass status;
	struct room_writer writer;

	for (;;) {
		uint64_t bytes = find_body(proxied, reader, &status);

		bytes = bytes < reader->left ? bytes : reader->left;
		bytes = bytes < LIMIT_CHUNK_BYTES ? bytes : LIMIT_CHUNK_BYTES;
		if (bytes == 0)
			return status;
		if (!exchange_room(proxied->exchange, bytes, &writer)) {
			proxied->wants_room = true;
			return PASS_WAIT;
		}
		copy_body(proxied, reader, &writer, bytes);
	}
}

/* A head whose body is long in coming does not wait for it. */
static void pass_head(struct proxied *proxied)
{
	if (!proxied->wants_room && !exchange_put_head(proxied->exchange))
		proxied->wants_room = true;
}

enum proxied_pass proxied_pass(struct proxied *proxied)
{
	struct upstream_conn *conn = proxied->conn;
	struct tp *tp = proxied->proxy->world->tp;
	enum proxied_pass status;
	struct span spans[LIMIT_SPANS];
	size_t lent;

	do {
		unsigned count = tp_peek(tp, conn->handle, spans, LIMIT_SPANS);
		struct span_reader reader = span_reader_of(spans, count);

		lent = reader.left;
		status = pass_read(proxied, &reader);
		if (lent == 0 && proxied->body == BODY_UNTIL_CLOSE && conn->finished)
			status = PASS_WHOLE;
		if (lent > reader.left)
			tp_consume(tp, conn->handle, lent - reader.left);
		proxied->keep_alive &= reader.left == 0 || status != PASS_WHOLE;
		lent -= reader.left;
	} while (status == PASS_WAIT && !proxied->wants_room && lent > 0);
	if (status == PASS_WAIT && (conn->closed || (conn->finished && !proxied->wants_room)))
		return PASS_BROKEN;
	if (status == PASS_WAIT)
		pass_head(proxied);
	return status;
}
