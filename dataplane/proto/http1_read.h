/*
 * http1_read: requests' and responses' heads, for one way to scan.
 *
 * Private to http1: each of http1_read_{scalar,sse42,avx2}.c makes one reader of it, with
 * everything that a common head meets inlined (fields: http1_fields.h). What is rare stands in
 * http1_line.c, http1_field.c and http1_target.c, once.
 *
 * Plane: turn.
 */
#ifndef WEIR_PROTO_HTTP1_READ_H
#define WEIR_PROTO_HTTP1_READ_H

#include "dataplane/proto/http1_fields.h"
#include "dataplane/proto/http1_head.h"
#include "dataplane/proto/http1_line.h"
#include "dataplane/proto/http1_run.h"
#include "dataplane/proto/http1_target.h"

/* One way to scan; its functions are as http1_parse_request and http1_parse_response. */
struct http1_reader {
	const char *name;      /* as http1_choose has it */
	bool (*is_here)(void); /* whether this CPU can */
	enum http1_status (*request)(const uint8_t *bytes, size_t available,
				     const struct http1_limits *limits, struct http1_scan *scan,
				     struct http1_request *request_out, size_t *head_bytes_out);
	enum http1_status (*response)(const uint8_t *bytes, size_t available,
				      const struct http1_limits *limits, struct http1_scan *scan,
				      struct http1_response *response_out, size_t *head_bytes_out);
};

extern const struct http1_reader http1_reader_scalar;
extern const struct http1_reader http1_reader_sse42, http1_reader_avx2; /* x86-64 alone */

/* Finds the target's end: walk->mark. The common target is a path alone, and is split by this. */
HTTP1_INLINE enum http1_status http1_read_target(struct http1_walk *walk, const uint8_t *target,
						 const uint8_t *end, struct http1_request *request,
						 http1_run_function *run)
{
	const uint8_t *at = walk->from > target ? walk->from : target;
	bool is_path = at == target && at < end && *at == '/' && request->method != HTTP1_CONNECT;

	if (is_path)
		at = run(&http1_set_path, walk->base, at, end);
	is_path = is_path && at < end && *at == ' ';
	if (!is_path)
		at = run(&http1_set_target, walk->base, at, end);
	walk->from = at;
	if (at == end)
		return HTTP1_MORE;
	if (*at != ' ' || at == target)
		return HTTP1_BAD_LINE;
	walk->mark = at;
	request->target = (struct span){target, (size_t)(at - target)};
	if (!is_path)
		return http1_split_target(request) ? HTTP1_OK : HTTP1_BAD_LINE;
	request->form = HTTP1_ORIGIN;
	request->path = (struct span){target, (size_t)(at - target)};
	request->query = (struct span){0};
	return HTTP1_OK;
}

/* What is left of a request line behind its method. */
HTTP1_INLINE enum http1_status http1_read_behind_method(struct http1_walk *walk,
							const uint8_t *target, const uint8_t *end,
							struct http1_request *request,
							http1_run_function *run)
{
	enum http1_status status = HTTP1_OK;

	if (!walk->mark) {
		status = http1_read_target(walk, target, end, request, run);
	} else {
		request->target = (struct span){target, (size_t)(walk->mark - target)};
		http1_split_target(request);
	}
	if (status != HTTP1_OK)
		return status;
	return http1_read_line_end(walk, end);
}

/* An empty line before it is passed over, once (RFC 9112 section 2.2). */
HTTP1_INLINE enum http1_status http1_read_request_line(struct http1_walk *walk,
						       struct http1_request *request,
						       http1_run_function *run)
{
	const uint8_t *at = walk->line, *end;
	enum http1_status status;
	bool is_clipped;

	if (at < walk->end && *at == '\r') {
		int ended = http1_line_end(at, walk->end);

		if (ended <= 0)
			return ended < 0 ? http1_walk_out(walk, at) : HTTP1_BAD_LINE;
		at += 2;
	}
	is_clipped = (size_t)(walk->end - at) >= (size_t)walk->limits->line_bytes + 2;
	end = is_clipped ? at + walk->limits->line_bytes + 2 : walk->end;
	status = http1_read_method(&at, end, &request->method);
	if (status == HTTP1_OK)
		status = http1_read_behind_method(walk, at, end, request, run);
	if (status != HTTP1_MORE)
		return status;
	return is_clipped ? HTTP1_LINE_TOO_LONG : http1_walk_out(walk, walk->from);
}

/* Every request of HTTP/1.1 has a Host, also if its target names one (RFC 9112 section 3.2). */
HTTP1_INLINE enum http1_status http1_finish_request(const struct http1_walk *walk,
						    struct http1_request *request)
{
	if (walk->minor == 1 && !(walk->seen & HTTP1_SEEN_HOST))
		return HTTP1_BAD_HOST;
	request->minor = walk->minor;
	request->expects_continue = walk->minor == 1 && (walk->seen & HTTP1_SEEN_CONTINUE);
	request->framing = http1_walk_framing(walk);
	request->field_count = walk->field_count;
	if (request->form == HTTP1_ORIGIN || request->form == HTTP1_ASTERISK)
		request->host = walk->host ? walk->host->value : (struct span){0};
	return HTTP1_OK;
}

HTTP1_INLINE enum http1_status http1_read_request(const uint8_t *bytes, size_t available,
						  const struct http1_limits *limits,
						  struct http1_scan *scan,
						  struct http1_request *request_out,
						  size_t *head_bytes_out, http1_run_function *run)
{
	struct http1_walk walk = {.is_request = true, .fields = request_out->fields};
	enum http1_status status;

	for (;; *scan = (struct http1_scan){0}) {
		http1_walk_init(&walk, bytes, available, limits, scan);
		status = HTTP1_OK;
		if (!walk.is_resumed)
			status = http1_read_request_line(&walk, request_out, run);
		if (status == HTTP1_OK)
			status = http1_read_fields(&walk, run);
		if (status == HTTP1_OK)
			status = http1_finish_request(&walk, request_out);
		if (status != HTTP1_OK || !walk.is_resumed)
			break;
	}
	if (status == HTTP1_MORE)
		http1_walk_keep(&walk, scan);
	if (status != HTTP1_OK)
		return status;
	*scan = (struct http1_scan){0};
	*head_bytes_out = (size_t)(walk.line - bytes);
	return HTTP1_OK;
}

/* The space behind the code is needed, the reason is not (RFC 9112 section 4). */
HTTP1_INLINE enum http1_status http1_read_status_line(struct http1_walk *walk,
						      struct http1_response *response,
						      http1_run_function *run)
{
	size_t bytes_max = (size_t)walk->limits->line_bytes + 2;
	bool is_clipped = (size_t)(walk->end - walk->line) >= bytes_max;
	const uint8_t *end = is_clipped ? walk->line + bytes_max : walk->end;
	const uint8_t *reason = walk->line + HTTP1_STATUS_BYTES, *at;
	enum http1_status status = http1_read_status(walk, end, &response->status);

	if (status == HTTP1_OK) {
		at = run(&http1_set_value, walk->base, walk->from > reason ? walk->from : reason,
			 end);
		walk->from = at;
		status = http1_judge_line_end(at, end);
		response->reason = (struct span){reason, (size_t)(at - reason)};
	}
	if (status == HTTP1_OK)
		http1_walk_next(walk, walk->from + 2);
	if (status != HTTP1_MORE)
		return status;
	return is_clipped ? HTTP1_LINE_TOO_LONG : http1_walk_out(walk, walk->from);
}

HTTP1_INLINE enum http1_status http1_read_response(const uint8_t *bytes, size_t available,
						   const struct http1_limits *limits,
						   struct http1_scan *scan,
						   struct http1_response *response_out,
						   size_t *head_bytes_out, http1_run_function *run)
{
	struct http1_walk walk = {.fields = response_out->fields};
	enum http1_status status;

	for (;; *scan = (struct http1_scan){0}) {
		http1_walk_init(&walk, bytes, available, limits, scan);
		status = HTTP1_OK;
		if (!walk.is_resumed)
			status = http1_read_status_line(&walk, response_out, run);
		if (status == HTTP1_OK)
			status = http1_read_fields(&walk, run);
		if (status != HTTP1_OK || !walk.is_resumed)
			break;
	}
	if (status == HTTP1_MORE)
		http1_walk_keep(&walk, scan);
	if (status != HTTP1_OK)
		return status;
	*scan = (struct http1_scan){0};
	response_out->minor = walk.minor;
	response_out->framing = http1_walk_framing(&walk);
	response_out->field_count = walk.field_count;
	*head_bytes_out = (size_t)(walk.line - bytes);
	return HTTP1_OK;
}

#endif
