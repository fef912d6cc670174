/* What is said of statuses and codes. */
#include "dataplane/proto/http1.h"

unsigned http1_status_code(enum http1_status status)
{
	switch (status) {
	case HTTP1_LINE_TOO_LONG:
		return 414;
	case HTTP1_HEAD_TOO_LARGE:
		return 431;
	case HTTP1_METHOD_UNKNOWN:
	case HTTP1_CODING_UNKNOWN:
		return 501;
	case HTTP1_VERSION:
		return 505;
	case HTTP1_EXPECTATION:
		return 417;
	default:
		return 400;
	}
}

const char *http1_status_text(enum http1_status status)
{
	static const char *const texts[HTTP1_STATUS_COUNT] = {
		[HTTP1_OK] = "head is well formed",
		[HTTP1_MORE] = "head is incomplete",
		[HTTP1_BAD_LINE] = "first line is malformed",
		[HTTP1_BAD_FIELD] = "field line is malformed",
		[HTTP1_BAD_FRAMING] = "Content-Length or Transfer-Encoding is ambiguous",
		[HTTP1_BAD_HOST] = "Host is absent, repeated or malformed",
		[HTTP1_BAD_CHUNK] = "chunk is malformed",
		[HTTP1_LINE_TOO_LONG] = "first line exceeds the limit",
		[HTTP1_HEAD_TOO_LARGE] = "head exceeds the limit",
		[HTTP1_METHOD_UNKNOWN] = "method is unknown",
		[HTTP1_CODING_UNKNOWN] = "transfer coding is unknown",
		[HTTP1_VERSION] = "version of HTTP is not supported",
		[HTTP1_EXPECTATION] = "expectation is unknown",
	};

	return texts[status];
}

const char *http1_reason(unsigned code)
{
	static const struct {
		unsigned code;
		const char *reason;
	} reasons[] = {
		{200, "OK"},
		{100, "Continue"},
		{201, "Created"},
		{204, "No Content"},
		{206, "Partial Content"},
		{301, "Moved Permanently"},
		{302, "Found"},
		{304, "Not Modified"},
		{400, "Bad Request"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{408, "Request Timeout"},
		{411, "Length Required"},
		{412, "Precondition Failed"},
		{413, "Content Too Large"},
		{414, "URI Too Long"},
		{416, "Range Not Satisfiable"},
		{417, "Expectation Failed"},
		{431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{502, "Bad Gateway"},
		{503, "Service Unavailable"},
		{504, "Gateway Timeout"},
		{505, "HTTP Version Not Supported"},
	};

	for (unsigned i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return reasons[i].reason;
	return "";
}
