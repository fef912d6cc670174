#include "dataplane/proto/http1_read.h"
#include "dataplane/proto/http1_vector.h"

static bool is_here(void)
{
	return __builtin_cpu_supports("sse4.2");
}

HTTP1_SSE42 static enum http1_status
read_request(const uint8_t *bytes, size_t available, const struct http1_limits *limits,
	     struct http1_scan *scan, struct http1_request *request_out, size_t *head_bytes_out)
{
	return http1_read_request(bytes, available, limits, scan, request_out, head_bytes_out,
				  http1_run_sse42);
}

HTTP1_SSE42 static enum http1_status
read_response(const uint8_t *bytes, size_t available, const struct http1_limits *limits,
	      struct http1_scan *scan, struct http1_response *response_out, size_t *head_bytes_out)
{
	return http1_read_response(bytes, available, limits, scan, response_out, head_bytes_out,
				   http1_run_sse42);
}

const struct http1_reader http1_reader_sse42 = {
	.name = "sse4.2",
	.is_here = is_here,
	.request = read_request,
	.response = read_response,
};
