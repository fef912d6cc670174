#include "dataplane/proto/http1_line.h"
#include "dataplane/proto/http1_set.h"

/* Each with the space behind it. */
static const char methods[HTTP1_METHOD_COUNT][HTTP1_METHOD_BYTES_MAX + 1] = {
	[HTTP1_GET] = "GET ",	      [HTTP1_HEAD] = "HEAD ",	  [HTTP1_POST] = "POST ",
	[HTTP1_PUT] = "PUT ",	      [HTTP1_DELETE] = "DELETE ", [HTTP1_PATCH] = "PATCH ",
	[HTTP1_OPTIONS] = "OPTIONS ", [HTTP1_TRACE] = "TRACE ",	  [HTTP1_CONNECT] = "CONNECT ",
};

/*
 * The byte that no known method has in its place decides: one that a method could have makes it
 * unknown, and it need not be read to its end; another makes it none.
 */
static enum http1_status judge_method(const uint8_t *at, const uint8_t *end, size_t right)
{
	if (at + right == end)
		return HTTP1_MORE;
	at += right;
	return http1_set_token.has[*at] || (*at == ' ' && right > 0) ? HTTP1_METHOD_UNKNOWN
								     : HTTP1_BAD_LINE;
}

enum http1_status http1_read_any_method(const uint8_t **at, const uint8_t *end,
					enum http1_method *method_out)
{
	size_t right = 0;

	for (size_t i = 0; i < HTTP1_METHOD_COUNT; i++) {
		size_t same = 0;

		while (methods[i][same] && *at + same < end &&
		       (*at)[same] == (uint8_t)methods[i][same])
			same++;
		if (!methods[i][same]) {
			*method_out = (enum http1_method)i;
			*at += same;
			return HTTP1_OK;
		}
		right = same > right ? same : right;
	}
	return judge_method(*at, end, right);
}

const char *http1_method_name(enum http1_method method)
{
	static const char *const names[HTTP1_METHOD_COUNT] = {
		"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT",
	};

	return names[method];
}

/* " 200 ": a code of three digits from 100 on. */
static enum http1_status read_code(const uint8_t *at, const uint8_t *end, uint16_t *code_out)
{
	enum { BYTES = HTTP1_STATUS_BYTES - HTTP1_VERSION_BYTES };
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

enum http1_status http1_read_status(struct http1_walk *walk, const uint8_t *end, uint16_t *code_out)
{
	enum http1_status status = http1_read_version(walk->line, end, &walk->minor);

	if (status != HTTP1_OK)
		return status;
	return read_code(walk->line + HTTP1_VERSION_BYTES, end, code_out);
}
