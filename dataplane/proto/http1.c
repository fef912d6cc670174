#include "dataplane/proto/http1.h"
#include "dataplane/proto/http1_read.h"

#include <string.h>

/* The one that http1_choose chose. */
static const struct http1_reader *reader = &http1_reader_scalar;

/* The best first. */
static const struct http1_reader *const readers[] = {
#if defined(__x86_64__)
	&http1_reader_avx2,
	&http1_reader_sse42,
#endif
	&http1_reader_scalar,
};

const char *http1_choose(const char *name)
{
	http1_sets_draw();
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		if ((name && strcmp(name, readers[i]->name) != 0) || !readers[i]->is_here())
			continue;
		reader = readers[i];
		return reader->name;
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
