#include "dataplane/proto/http1_parser.h"

static enum http1_status parse_views(const uint8_t *bytes, size_t available,
				     const struct http1_limits *limits, struct http1_scan *scan,
				     struct http1_request *request_out, size_t *head_bytes_out,
				     uint64_t *allocations)
{
	return http1_parse_request(bytes, available, limits, scan, request_out, head_bytes_out);
}

static void release_nothing(struct http1_request *request)
{
}

/* A copy of its own; empty text needs none. Without memory there is no control to measure. */
static struct span own(struct span text, uint64_t *allocations)
{
	uint8_t *copy;

	if (text.bytes == 0)
		return (struct span){0};
	copy = malloc(text.bytes);
	CHECK(copy);
	memcpy(copy, text.base, text.bytes);
	++*allocations;
	return (struct span){copy, text.bytes};
}

/* The same part of a text's copy. */
static struct span moved(struct span part, struct span from, struct span to)
{
	bool lies_within =
		part.bytes > 0 && part.base >= from.base && part.base < from.base + from.bytes;

	if (lies_within)
		part.base = to.base + (part.base - from.base);
	return part;
}

/* The Host field's own copy, which the request's host is unless its target has one. */
static void move_host(struct http1_request *request, struct span from, struct span to)
{
	if (request->host.base == from.base)
		request->host = moved(request->host, from, to);
}

static enum http1_status parse_owned(const uint8_t *bytes, size_t available,
				     const struct http1_limits *limits, struct http1_scan *scan,
				     struct http1_request *request_out, size_t *head_bytes_out,
				     uint64_t *allocations)
{
	enum http1_status status =
		http1_parse_request(bytes, available, limits, scan, request_out, head_bytes_out);
	struct span target = request_out->target;

	if (status != HTTP1_OK)
		return status;
	request_out->target = own(target, allocations);
	request_out->path = moved(request_out->path, target, request_out->target);
	request_out->query = moved(request_out->query, target, request_out->target);
	request_out->host = moved(request_out->host, target, request_out->target);
	for (unsigned i = 0; i < request_out->field_count; i++) {
		struct http1_field *field = &request_out->fields[i];
		struct span value = field->value;

		field->name = own(field->name, allocations);
		field->value = own(value, allocations);
		move_host(request_out, value, field->value);
	}
	return HTTP1_OK;
}

static void release_copies(struct http1_request *request)
{
	free((void *)request->target.base);
	for (unsigned i = 0; i < request->field_count; i++) {
		free((void *)request->fields[i].name.base);
		free((void *)request->fields[i].value.base);
	}
}

const struct http1_parser http1_parser_views = {
	.name = "views",
	.parse = parse_views,
	.release = release_nothing,
};

const struct http1_parser http1_parser_owned = {
	.name = "owned",
	.copies = true,
	.parse = parse_owned,
	.release = release_copies,
};

const struct http1_parser *http1_parser_find(const char *name)
{
	if (strcmp(name, http1_parser_views.name) == 0)
		return &http1_parser_views;
	return strcmp(name, http1_parser_owned.name) == 0 ? &http1_parser_owned : NULL;
}
