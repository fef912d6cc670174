/*
 * Bytes of any kind read as a request's head, a response's head or a chunked body. What comes of
 * them must not depend on how they were split, nor on how they were scanned; each visit sees a copy
 * of its own, so that the address sanitizer notices a read behind what is there.
 *
 * The first byte chooses what the rest is, the second how it is split, the third how much is
 * allowed.
 */
#include "dataplane/proto/http1.h"

#include <stdlib.h>
#include <string.h>

enum { CONTROL_BYTES = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_bytes);

/* The bytes of one visit. The caller frees them. */
static uint8_t *copy_of(const uint8_t *bytes, size_t count)
{
	uint8_t *copy = malloc(count ? count : 1);

	CHECK(copy);
	if (count > 0)
		memcpy(copy, bytes, count);
	return copy;
}

/* Lengths of visits from a seed: 1 to 16 bytes, now and then more. */
static size_t next_visit(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 28) == 0 ? 200 : 1 + (*seed >> 24) % 16;
}

/* What a head came to, spans as places. */
struct head {
	enum http1_status status;
	size_t bytes;
	size_t field_count, chunked, has_length, length_bytes, keep_alive;
	size_t places[6 + 4 * HTTP1_FIELDS_MAX];
};

static size_t place_of(struct span span, const uint8_t *bytes)
{
	return span.base && span.bytes > 0 ? (size_t)(span.base - bytes) : 0;
}

static void note_framing(struct head *head, const struct http1_framing *framing)
{
	head->chunked = framing->chunked;
	head->has_length = framing->has_length;
	head->length_bytes = framing->length_bytes;
	head->keep_alive = framing->keep_alive;
}

static void note_fields(struct head *head, const struct http1_field *fields, const uint8_t *bytes)
{
	for (size_t i = 0; i < head->field_count; i++) {
		size_t *places = head->places + 6 + 4 * i;

		places[0] = place_of(fields[i].name, bytes);
		places[1] = fields[i].name.bytes;
		places[2] = place_of(fields[i].value, bytes);
		places[3] = fields[i].value.bytes;
	}
}

static void note_request(struct head *head, const struct http1_request *request,
			 const uint8_t *bytes)
{
	note_framing(head, &request->framing);
	head->field_count = request->field_count;
	head->places[0] = place_of(request->target, bytes);
	head->places[1] = request->target.bytes;
	head->places[2] = request->path.bytes;
	head->places[3] = request->query.bytes;
	head->places[4] = place_of(request->host, bytes);
	head->places[5] = request->host.bytes;
	note_fields(head, request->fields, bytes);
}

static void note_response(struct head *head, const struct http1_response *response,
			  const uint8_t *bytes)
{
	note_framing(head, &response->framing);
	head->field_count = response->field_count;
	head->places[0] = response->status;
	head->places[1] = place_of(response->reason, bytes);
	head->places[2] = response->reason.bytes;
	note_fields(head, response->fields, bytes);
}

static void visit(bool is_request, const uint8_t *bytes, size_t there,
		  const struct http1_limits *limits, struct http1_scan *scan, struct head *head)
{
	static struct http1_request request;
	static struct http1_response response;
	uint8_t *copy = copy_of(bytes, there);

	if (is_request)
		head->status =
			http1_parse_request(copy, there, limits, scan, &request, &head->bytes);
	else
		head->status =
			http1_parse_response(copy, there, limits, scan, &response, &head->bytes);
	if (head->status == HTTP1_OK && is_request)
		note_request(head, &request, copy);
	else if (head->status == HTTP1_OK)
		note_response(head, &response, copy);
	else
		head->bytes = 0;
	free(copy);
}

static void try_head(bool is_request, const uint8_t *bytes, size_t count,
		     const struct http1_limits *limits, uint32_t seed)
{
	static struct head whole, split;
	struct http1_scan scan = {0};

	memset(&whole, 0, sizeof(whole));
	memset(&split, 0, sizeof(split));
	http1_choose("scalar");
	visit(is_request, bytes, count, limits, &scan, &whole);
	CHECK(whole.bytes <= count);
	http1_choose(seed & 1 ? "avx2" : "sse4.2");
	memset(&scan, 0, sizeof(scan));
	split.status = HTTP1_MORE;
	for (size_t there = 0; split.status == HTTP1_MORE;) {
		visit(is_request, bytes, there, limits, &scan, &split);
		if (there == count)
			break;
		there += next_visit(&seed);
		there = there < count ? there : count;
	}
	CHECK(memcmp(&whole, &split, sizeof(whole)) == 0);
}

/* What a chunked body came to. */
struct body {
	enum http1_status status;
	enum http1_chunk_state state;
	uint64_t taken, data_bytes, sum;
};

/* Takes as much of the visit as there is a meaning in. */
static void visit_chunks(struct http1_chunks *chunks, const uint8_t *bytes, size_t there,
			 struct body *body)
{
	uint8_t *copy = copy_of(bytes, there);
	struct span span = {copy, there};
	struct span_reader reader = span_reader_of(&span, 1);

	while ((body->status = http1_chunks_next(chunks, &reader)) == HTTP1_OK &&
	       chunks->state == HTTP1_CHUNK_DATA && reader.left > 0) {
		uint8_t byte;

		span_reader_copy(&reader, &byte, 1);
		body->sum = body->sum * 31 + byte;
		body->data_bytes++;
		chunks->left--;
	}
	body->taken += there - reader.left;
	body->state = chunks->state;
	free(copy);
}

static void try_chunks(const uint8_t *bytes, size_t count, uint32_t seed)
{
	struct http1_chunks whole_chunks = {0}, split_chunks = {0};
	struct body whole = {0}, split = {0};
	size_t at = 0;

	visit_chunks(&whole_chunks, bytes, count, &whole);
	CHECK(whole.data_bytes <= whole.taken && whole.taken <= count);
	do {
		size_t step = next_visit(&seed);

		step = step < count - at ? step : count - at;
		visit_chunks(&split_chunks, bytes + at, step, &split);
		at += step;
	} while (at < count && split.status <= HTTP1_MORE && split.state != HTTP1_CHUNK_END);
	CHECK(whole.status == split.status && whole.state == split.state);
	CHECK(whole.taken == split.taken && whole.data_bytes == split.data_bytes);
	CHECK(whole.sum == split.sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_bytes)
{
	struct http1_limits limits = {HTTP1_LINE_BYTES, HTTP1_HEAD_BYTES, HTTP1_FIELDS_MAX};
	const uint8_t *bytes = input + CONTROL_BYTES;
	size_t count = input_bytes - CONTROL_BYTES;

	if (input_bytes < CONTROL_BYTES)
		return 0;
	if (input[2] & 0x80)
		limits = (struct http1_limits){input[2] & 0x7F, 2 * (input[2] & 0x7F), 3};
	if (input[0] % 3 == 2)
		try_chunks(bytes, count, input[1]);
	else
		try_head(input[0] % 3 == 0, bytes, count, &limits, input[1]);
	return 0;
}
