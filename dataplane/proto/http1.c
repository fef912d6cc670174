#include "dataplane/proto/http1.h"
#include "dataplane/proto/http1_read.h"

#include <string.h>

/* The one that http1_choose chose. */
static const struct http1_reader *reader = &http1_reader_scalar;

static bool has_sse42(void)
{
	return __builtin_cpu_supports("sse4.2");
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static bool has_scalar(void)
{
	return true;
}

/* The best first. */
static const struct {
	const char *name;
	bool (*is_here)(void);
	const struct http1_reader *reader;
} choices[] = {
	{"avx2", has_avx2, &http1_reader_avx2},
	{"sse4.2", has_sse42, &http1_reader_sse42},
	{"scalar", has_scalar, &http1_reader_scalar},
};

const char *http1_choose(const char *name)
{
	http1_sets_draw();
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		if ((name && strcmp(name, choices[i].name) != 0) || !choices[i].is_here())
			continue;
		reader = choices[i].reader;
		return choices[i].name;
	}
	return NULL;
}

enum http1_status http1_parse_request(const uint8_t *bytes, size_t available,
				      const struct http1_limits *limits, struct http1_scan *scan,
				      struct http1_request *request_out, size_t *head_bytes_out)
{
	return reader->request(bytes, available, limits, scan, request_out, head_bytes_out);
}

enum http1_status http1_parse_response(const uint8_t *bytes, size_t available,
				       const struct http1_limits *limits, struct http1_scan *scan,
				       struct http1_response *response_out, size_t *head_bytes_out)
{
	return reader->response(bytes, available, limits, scan, response_out, head_bytes_out);
}
