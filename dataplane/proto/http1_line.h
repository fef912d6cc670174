/*
 * http1_line: the parts of request lines and status lines that are no runs.
 *
 * Private to http1. The common cases are inline and read a word where one is there.
 *
 * Plane: turn.
 */
#ifndef WEIR_PROTO_HTTP1_LINE_H
#define WEIR_PROTO_HTTP1_LINE_H

#include "dataplane/core/bytes.h"
#include "dataplane/proto/http1_head.h"

enum {
	HTTP1_METHOD_BYTES_MAX = 8,					     /* "OPTIONS " */
	HTTP1_STATUS_BYTES = HTTP1_VERSION_BYTES + (int)sizeof(" 200 ") - 1, /* of its line */
};

/* HTTP1_OK: a line ends at `at`. */
static inline enum http1_status http1_judge_line_end(const uint8_t *at, const uint8_t *end)
{
	int ended = http1_line_end(at, end);

	if (ended < 0)
		return HTTP1_MORE;
	return ended ? HTTP1_OK : HTTP1_BAD_LINE;
}

/* Any method. Passes over it and the space behind it. */
enum http1_status http1_read_any_method(const uint8_t **at, const uint8_t *end,
					enum http1_method *method_out);

/* The same, quick to find the two most common ones. */
static inline enum http1_status http1_read_method(const uint8_t **at, const uint8_t *end,
						  enum http1_method *method_out)
{
	bool is_get, is_post;

	if (end - *at < HTTP1_METHOD_BYTES_MAX)
		return http1_read_any_method(at, end, method_out);
	is_get = bytes_get_le32(*at) == bytes_get_le32((const uint8_t *)"GET ");
	is_post = bytes_get_le32(*at) == bytes_get_le32((const uint8_t *)"POST") && (*at)[4] == ' ';
	if (!is_get && !is_post)
		return http1_read_any_method(at, end, method_out);
	*method_out = is_get ? HTTP1_GET : HTTP1_POST;
	*at += is_get ? sizeof("GET ") - 1 : sizeof("POST ") - 1;
	return HTTP1_OK;
}

/* Reads a request line from the end of its target, walk->mark, on. */
static inline enum http1_status http1_read_line_end(struct http1_walk *walk, const uint8_t *end)
{
	const uint8_t *at = walk->mark + 1;
	enum http1_status status = HTTP1_OK;

	if (end - at >= HTTP1_VERSION_BYTES &&
	    bytes_get_le64(at) == bytes_get_le64((const uint8_t *)"HTTP/1.1"))
		walk->minor = 1;
	else
		status = http1_read_version(at, end, &walk->minor);
	if (status == HTTP1_OK)
		status = http1_judge_line_end(at + HTTP1_VERSION_BYTES, end);
	if (status == HTTP1_OK)
		http1_walk_next(walk, at + HTTP1_VERSION_BYTES + 2);
	return status;
}

/* Reads version, code and the space behind it at walk->line: HTTP1_STATUS_BYTES. */
enum http1_status http1_read_status(struct http1_walk *walk, const uint8_t *end,
				    uint16_t *code_out);

#endif
