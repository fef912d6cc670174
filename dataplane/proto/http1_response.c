#include "dataplane/proto/http1_head.h"
#include "dataplane/proto/http1_set.h"

/* " 200 ": a code of three digits from 100 on. HTTP1_MORE: all of what is there is right. */
static enum http1_status read_code(const uint8_t *at, const uint8_t *end, uint16_t *code_out)
{
	enum { BYTES = 5 };
	unsigned code = 0;

	for (unsigned i = 0; i < BYTES; i++, at++) {
		bool is_digit = i > 0 && i < BYTES - 1;

		if (at == end)
			return HTTP1_MORE;
		if (is_digit ? *at < (i == 1 ? '1' : '0') || *at > '9' : *at != ' ')
			return HTTP1_BAD_LINE;
		if (is_digit)
			code = code * 10 + (*at - '0');
	}
	*code_out = (uint16_t)code;
	return HTTP1_OK;
}

static enum http1_status read_reason(struct http1_walk *walk, const uint8_t *reason,
				     const uint8_t *end, struct http1_response *response)
{
	const uint8_t *from = walk->from > reason ? walk->from : reason;
	const uint8_t *reason_end = http1_run(&http1_set_value, walk->base, from, end);
	int ended = http1_line_end(reason_end, end);

	walk->from = reason_end;
	if (ended <= 0)
		return ended < 0 ? HTTP1_MORE : HTTP1_BAD_LINE;
	response->reason = (struct span){reason, (size_t)(reason_end - reason)};
	http1_walk_next(walk, reason_end + 2);
	return HTTP1_OK;
}

/* The space behind the code is needed, the reason is not (RFC 9112 section 4). */
static enum http1_status read_line(struct http1_walk *walk, struct http1_response *response)
{
	const uint8_t *at = walk->line, *end = walk->end;
	size_t bytes_max = (size_t)walk->limits->line_bytes + 2;
	bool is_clipped = (size_t)(end - at) >= bytes_max;
	enum http1_status status;

	end = is_clipped ? at + bytes_max : end;
	status = http1_read_version(at, end, &walk->minor);
	at += HTTP1_VERSION_BYTES;
	if (status == HTTP1_OK)
		status = read_code(at, end, &response->status);
	at += sizeof(" 200 ") - 1;
	if (status == HTTP1_OK)
		status = read_reason(walk, at, end, response);
	if (status != HTTP1_MORE)
		return status;
	return is_clipped ? HTTP1_LINE_TOO_LONG : http1_walk_out(walk, walk->from);
}

enum http1_status http1_parse_response(const uint8_t *bytes, size_t available,
				       const struct http1_limits *limits, struct http1_scan *scan,
				       struct http1_response *response_out, size_t *head_bytes_out)
{
	struct http1_walk walk = {.fields = response_out->fields};
	bool is_past_line = http1_scan_is_past_line(scan);
	enum http1_status status = HTTP1_OK;

	http1_walk_init(&walk, bytes, available, limits, scan);
	if (!is_past_line)
		status = read_line(&walk, response_out);
	if (status == HTTP1_OK)
		status = http1_walk_fields(&walk);
	if (status == HTTP1_MORE)
		http1_walk_keep(&walk, scan);
	if (status != HTTP1_OK)
		return status;
	*scan = (struct http1_scan){0};
	if (is_past_line)
		return http1_parse_response(bytes, available, limits, scan, response_out,
					    head_bytes_out);
	response_out->minor = walk.minor;
	response_out->framing = http1_walk_framing(&walk);
	response_out->field_count = walk.field_count;
	*head_bytes_out = (size_t)(walk.line - bytes);
	return HTTP1_OK;
}
