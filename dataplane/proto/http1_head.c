#include "dataplane/proto/http1_head.h"
#include "dataplane/core/bytes.h"
#include "dataplane/proto/http1_set.h"

void http1_walk_init(struct http1_walk *walk, const uint8_t *bytes, size_t available,
		     const struct http1_limits *limits, const struct http1_scan *scan)
{
	ASSERT(limits->fields <= HTTP1_FIELDS_MAX);
	walk->base = bytes;
	walk->end = bytes + (available < limits->head_bytes ? available : limits->head_bytes);
	walk->line = bytes + scan->line_offset;
	walk->from = bytes + scan->scanned;
	walk->mark = scan->mark ? bytes + scan->mark : NULL;
	walk->limits = limits;
	walk->field_count = scan->field_count;
	walk->seen = scan->seen;
	walk->minor = scan->minor;
	walk->length_bytes = 0;
	walk->host = (struct span){0};
}

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

int http1_line_end(const uint8_t *at, const uint8_t *end)
{
	if (at < end && at[0] != '\r')
		return 0;
	if (end - at < 2)
		return -1;
	return at[1] == '\n';
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

/* Without the spaces and tabs around it. */
static struct span trim(const uint8_t *begin, const uint8_t *end)
{
	while (begin < end && (*begin == ' ' || *begin == '\t'))
		begin++;
	while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct span){begin, (size_t)(end - begin)};
}

/* Reads one field line. A line that begins with white space (obs-fold) has no name. */
static enum http1_status read_field(struct http1_walk *walk, struct http1_field *field)
{
	const uint8_t *name_end = walk->mark, *value_end, *from = walk->from;
	int ended;

	if (!name_end) {
		name_end = http1_run(&http1_set_token, walk->base, from, walk->end);
		if (name_end == walk->end)
			return http1_walk_out(walk, name_end);
		if (*name_end != ':' || name_end == walk->line)
			return HTTP1_BAD_FIELD;
		walk->mark = name_end;
		from = name_end + 1;
	}
	value_end = http1_run(&http1_set_value, walk->base, from, walk->end);
	ended = http1_line_end(value_end, walk->end);
	if (ended < 0)
		return http1_walk_out(walk, value_end);
	if (ended == 0)
		return HTTP1_BAD_FIELD;
	field->name = (struct span){walk->line, (size_t)(name_end - walk->line)};
	field->value = trim(name_end + 1, value_end);
	http1_walk_next(walk, value_end + 2);
	return HTTP1_OK;
}

enum http1_status http1_walk_fields(struct http1_walk *walk)
{
	while (walk->line < walk->end) {
		struct http1_field *field;
		enum http1_status status;
		int ended;

		if (*walk->line == '\r') {
			ended = http1_line_end(walk->line, walk->end);
			if (ended < 0)
				return http1_walk_out(walk, walk->line);
			if (ended == 0)
				return HTTP1_BAD_FIELD;
			http1_walk_next(walk, walk->line + 2);
			return HTTP1_OK;
		}
		if (walk->field_count == walk->limits->fields)
			return HTTP1_HEAD_TOO_LARGE;
		field = &walk->fields[walk->field_count];
		status = read_field(walk, field);
		if (status != HTTP1_OK)
			return status;
		walk->field_count++;
		status = http1_judge_field(walk, field);
		if (status != HTTP1_OK)
			return status;
	}
	return http1_walk_out(walk, walk->line);
}

struct http1_framing http1_walk_framing(const struct http1_walk *walk)
{
	bool keep_alive = walk->minor == 1 || (walk->seen & HTTP1_SEEN_KEEP_ALIVE);

	return (struct http1_framing){
		.chunked = walk->seen & HTTP1_SEEN_CODING,
		.has_length = walk->seen & HTTP1_SEEN_LENGTH,
		.length_bytes = walk->length_bytes,
		.keep_alive = keep_alive && !(walk->seen & HTTP1_SEEN_CLOSE),
	};
}
