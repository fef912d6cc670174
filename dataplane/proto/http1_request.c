#include "dataplane/core/bytes.h"
#include "dataplane/proto/http1_head.h"
#include "dataplane/proto/http1_set.h"
#include "dataplane/proto/http1_target.h"

/* Each with the space behind it. */
enum { METHOD_BYTES_MAX = 8 };
static const struct {
	char text[METHOD_BYTES_MAX + 1];
	uint8_t bytes;
} methods[HTTP1_METHOD_COUNT] = {
	[HTTP1_GET] = {"GET ", 4},	   [HTTP1_HEAD] = {"HEAD ", 5},
	[HTTP1_POST] = {"POST ", 5},	   [HTTP1_PUT] = {"PUT ", 4},
	[HTTP1_DELETE] = {"DELETE ", 7},   [HTTP1_PATCH] = {"PATCH ", 6},
	[HTTP1_OPTIONS] = {"OPTIONS ", 8}, [HTTP1_TRACE] = {"TRACE ", 6},
	[HTTP1_CONNECT] = {"CONNECT ", 8},
};

/*
 * The byte that no known method has in its place decides: one that a method could have makes it
 * unknown, and it need not be read to its end; another makes it none.
 */
static enum http1_status judge_method(const uint8_t *at, const uint8_t *end)
{
	size_t right = 0;

	for (size_t i = 0; i < HTTP1_METHOD_COUNT; i++) {
		size_t same = 0;

		while (same < methods[i].bytes && at + same < end &&
		       at[same] == (uint8_t)methods[i].text[same])
			same++;
		right = same > right ? same : right;
	}
	if (at + right == end)
		return HTTP1_MORE;
	at += right;
	return http1_set_token.has[*at] || (*at == ' ' && right > 0) ? HTTP1_METHOD_UNKNOWN
								     : HTTP1_BAD_LINE;
}

static enum http1_status read_method(const uint8_t *at, const uint8_t *end,
				     enum http1_method *method_out)
{
	size_t there = (size_t)(end - at);

	for (size_t i = 0; i < HTTP1_METHOD_COUNT; i++) {
		if (there >= methods[i].bytes &&
		    memcmp(at, methods[i].text, methods[i].bytes) == 0) {
			*method_out = (enum http1_method)i;
			return HTTP1_OK;
		}
	}
	return judge_method(at, end);
}

/* What is left of a request line behind its method. */
static enum http1_status read_target(struct http1_walk *walk, const uint8_t *target,
				     const uint8_t *end, struct http1_request *request)
{
	const uint8_t *target_end = walk->mark, *from = walk->from;
	enum http1_status status;
	int ended;

	if (!target_end) {
		target_end = http1_run(&http1_set_target, walk->base, from > target ? from : target,
				       end);
		walk->from = target_end;
		if (target_end == end)
			return HTTP1_MORE;
		if (*target_end != ' ' || target_end == target)
			return HTTP1_BAD_LINE;
		walk->mark = target_end;
	}
	request->target = (struct span){target, (size_t)(target_end - target)};
	if (!http1_split_target(request))
		return HTTP1_BAD_LINE;
	status = http1_read_version(target_end + 1, end, &walk->minor);
	if (status != HTTP1_OK)
		return status;
	ended = http1_line_end(target_end + 1 + HTTP1_VERSION_BYTES, end);
	if (ended <= 0)
		return ended < 0 ? HTTP1_MORE : HTTP1_BAD_LINE;
	http1_walk_next(walk, target_end + 1 + HTTP1_VERSION_BYTES + 2);
	return HTTP1_OK;
}

/* An empty line before it is passed over, once (RFC 9112 section 2.2). */
static enum http1_status read_line(struct http1_walk *walk, struct http1_request *request)
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
	status = read_method(at, end, &request->method);
	if (status == HTTP1_OK)
		status = read_target(walk, at + methods[request->method].bytes, end, request);
	if (status != HTTP1_MORE)
		return status;
	return is_clipped ? HTTP1_LINE_TOO_LONG : http1_walk_out(walk, walk->from);
}

/* Every request of HTTP/1.1 has a Host, also if its target names one (RFC 9112 section 3.2). */
static enum http1_status finish(const struct http1_walk *walk, struct http1_request *request)
{
	if (walk->minor == 1 && !(walk->seen & HTTP1_SEEN_HOST))
		return HTTP1_BAD_HOST;
	request->minor = walk->minor;
	request->expects_continue = walk->minor == 1 && (walk->seen & HTTP1_SEEN_CONTINUE);
	request->framing = http1_walk_framing(walk);
	request->field_count = walk->field_count;
	if (request->form == HTTP1_ORIGIN || request->form == HTTP1_ASTERISK)
		request->host = walk->host;
	return HTTP1_OK;
}

enum http1_status http1_parse_request(const uint8_t *bytes, size_t available,
				      const struct http1_limits *limits, struct http1_scan *scan,
				      struct http1_request *request_out, size_t *head_bytes_out)
{
	struct http1_walk walk = {.is_request = true, .fields = request_out->fields};
	bool is_past_line = http1_scan_is_past_line(scan);
	enum http1_status status = HTTP1_OK;

	http1_walk_init(&walk, bytes, available, limits, scan);
	if (!is_past_line)
		status = read_line(&walk, request_out);
	if (status == HTTP1_OK)
		status = http1_walk_fields(&walk);
	if (status == HTTP1_OK)
		status = finish(&walk, request_out);
	if (status == HTTP1_MORE)
		http1_walk_keep(&walk, scan);
	if (status != HTTP1_OK)
		return status;
	*scan = (struct http1_scan){0};
	if (is_past_line)
		return http1_parse_request(bytes, available, limits, scan, request_out,
					   head_bytes_out);
	*head_bytes_out = (size_t)(walk.line - bytes);
	return HTTP1_OK;
}

const char *http1_method_name(enum http1_method method)
{
	static const char *const names[HTTP1_METHOD_COUNT] = {
		"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT",
	};

	return names[method];
}
