#include "dataplane/proto/http1_head.h"

enum http1_status http1_walk_out(struct http1_walk *walk, const uint8_t *scanned)
{
	walk->from = scanned;
	return walk->end - walk->base == walk->limits->head_bytes ? HTTP1_HEAD_TOO_LARGE
								  : HTTP1_MORE;
}

void http1_walk_keep(const struct http1_walk *walk, struct http1_scan *scan)
{
	*scan = (struct http1_scan){
		.line_offset = (uint32_t)(walk->line - walk->base),
		.scanned = (uint32_t)(walk->from - walk->base),
		.mark = walk->mark ? (uint32_t)(walk->mark - walk->base) : 0,
		.field_count = (uint8_t)walk->field_count,
		.seen = (uint8_t)walk->seen,
		.minor = walk->minor,
	};
}

enum http1_status http1_read_version(const uint8_t *at, const uint8_t *end, uint8_t *minor_out)
{
	static const uint8_t wanted[HTTP1_VERSION_BYTES] = "HTTP/1.1";
	size_t i = 0;

	while (i < HTTP1_VERSION_BYTES && at + i < end && at[i] == wanted[i])
		i++;
	if (i < HTTP1_VERSION_BYTES && at + i == end)
		return HTTP1_MORE;
	*minor_out = 1;
	if (i == HTTP1_VERSION_BYTES)
		return HTTP1_OK;
	*minor_out = 0;
	if (i == HTTP1_VERSION_BYTES - 1 && at[i] == '0')
		return HTTP1_OK;
	/* Another digit in a digit's place is another version. */
	return wanted[i] == '1' && at[i] >= '0' && at[i] <= '9' ? HTTP1_VERSION : HTTP1_BAD_LINE;
}
