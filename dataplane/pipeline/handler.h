/*
 * handler: what a request is answered with.
 *
 *	respond  a fixed number of bytes, each 0x5A; the request's body is read and dropped
 *	echo     the request's own body
 *
 * A handler decides and produces bytes; it never touches a connection. Bodies move in chunks, so
 * that neither a large request nor a large response needs memory of its size.
 *
 * Plane: parse is setup; the rest is turn.
 */
#ifndef WEIR_PIPELINE_HANDLER_H
#define WEIR_PIPELINE_HANDLER_H

#include "dataplane/core/span.h"
#include "dataplane/proto/frame.h"

#include <stdbool.h>
#include <stdint.h>

enum handler_kind {
	HANDLER_RESPOND,
	HANDLER_ECHO,
};

struct handler {
	enum handler_kind kind;
	uint32_t response_bytes; /* respond: body bytes of each response */
};

/* Reads a handler's name. 0, or -EINVAL with `kind_out` untouched. */
int handler_parse(const char *name, enum handler_kind *kind_out);

/* What handler_parse accepts, for messages. */
extern const char handler_usage[];

/*
 * Whether the request's body becomes the response's; else it is dropped before the response begins.
 */
static inline bool handler_uses_body(const struct handler *handler)
{
	return handler->kind == HANDLER_ECHO;
}

/* Whether all responses have the same body, whatever was asked. */
static inline bool handler_answers_alike(const struct handler *handler)
{
	return handler->kind == HANDLER_RESPOND;
}

/* Body bytes of the response to a request of `request_bytes`. */
static inline uint32_t handler_response_bytes(const struct handler *handler, uint32_t request_bytes)
{
	return handler->kind == HANDLER_ECHO ? request_bytes : handler->response_bytes;
}

/*
 * Produces the next `bytes` of the response into `writer`, taking as many of the request from
 * `reader` if it uses them.
 */
static inline void handler_produce(const struct handler *handler, struct span_reader *reader,
				   struct room_writer *writer, size_t bytes)
{
	if (handler->kind == HANDLER_RESPOND) {
		room_writer_fill(writer, FRAME_FILL_BYTE, bytes);
		return;
	}
	while (bytes > 0) {
		struct span piece = span_reader_piece(reader);
		size_t step = piece.bytes < bytes ? piece.bytes : bytes;

		room_writer_put(writer, piece.base, step);
		span_reader_skip(reader, step);
		bytes -= step;
	}
}

#endif
