/*
 * Bytes of any kind read as a request's head, a response's head or a chunked body. What comes of
 * them must not depend on how they were split, nor on how they were scanned, nor on whether a
 * request's parser copies; each visit sees a copy of its own, so that the address sanitizer notices
 * a read behind what is there. A reading that differs from the first one is named before the end.
 *
 * The first byte chooses what the rest is, the second how it is split, the third how much is
 * allowed.
 */
#include "dataplane/proto/http1_parser.h"

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

/* How bytes arrive. */
struct split {
	const char *name;
	size_t most; /* bytes of a visit at most; more than one: by the seed */
	uint32_t seed;
};

/* The length of the next visit, of `left` bytes. By a seed: 1 to 16 bytes, now and then more. */
static size_t next_visit(struct split *split, size_t left)
{
	size_t visit = split->most;

	if (split->most > 1 && split->most < SIZE_MAX) {
		split->seed = split->seed * 1664525 + 1013904223;
		visit = (split->seed >> 28) == 0 ? split->most : 1 + (split->seed >> 24) % 16;
	}
	return visit < left ? visit : left;
}

#define WHOLE ((struct split){"whole", SIZE_MAX, 0})
#define SPLIT(seed) ((struct split){"split", 200, seed})
#define DRIPPED ((struct split){"a byte at a time", 1, 0})

/* What a head came to; the text of its parts is in the sum. */
struct head {
	enum http1_status status;
	size_t bytes;
	uint64_t sum;
};

/* FNV-1a */
static void note_number(struct head *head, uint64_t number)
{
	head->sum = (head->sum ^ number) * 0x100000001B3;
}

static void note_text(struct head *head, struct span text)
{
	note_number(head, text.bytes);
	for (size_t i = 0; i < text.bytes; i++)
		note_number(head, text.base[i]);
}

static void note_common(struct head *head, unsigned minor, const struct http1_framing *framing,
			const struct http1_field *fields, unsigned field_count)
{
	note_number(head, minor);
	note_number(head, framing->chunked);
	note_number(head, framing->has_length);
	note_number(head, framing->length_bytes);
	note_number(head, framing->keep_alive);
	note_number(head, field_count);
	for (unsigned i = 0; i < field_count; i++) {
		note_text(head, fields[i].name);
		note_text(head, fields[i].value);
	}
}

static void note_request(struct head *head, const struct http1_request *request)
{
	note_number(head, request->method);
	note_number(head, request->form);
	note_number(head, request->expects_continue);
	note_text(head, request->target);
	note_text(head, request->path);
	note_text(head, request->query);
	note_text(head, request->host);
	note_common(head, request->minor, &request->framing, request->fields, request->field_count);
}

static void note_response(struct head *head, const struct http1_response *response)
{
	note_number(head, response->status);
	note_text(head, response->reason);
	note_common(head, response->minor, &response->framing, response->fields,
		    response->field_count);
}

/* How a head is read. */
struct reading {
	const struct http1_parser *parser; /* NULL: it is a response's */
	const char *way;		   /* as http1_choose has it */
	struct split split;
};

static void visit(const struct http1_parser *parser, const uint8_t *bytes, size_t there,
		  const struct http1_limits *limits, struct http1_scan *scan, struct head *head)
{
	static struct http1_request request;
	static struct http1_response response;
	uint8_t *copy = copy_of(bytes, there);
	uint64_t allocations = 0;

	*head = (struct head){0};
	if (parser)
		head->status = parser->parse(copy, there, limits, scan, &request, &head->bytes,
					     &allocations);
	else
		head->status =
			http1_parse_response(copy, there, limits, scan, &response, &head->bytes);
	if (head->status == HTTP1_OK && parser) {
		if (parser->copies)
			memset(copy, '?', there);
		note_request(head, &request);
		parser->release(&request);
	} else if (head->status == HTTP1_OK) {
		note_response(head, &response);
	} else {
		head->bytes = 0;
	}
	free(copy);
}

static struct head read_head(struct reading reading, const uint8_t *bytes, size_t count,
			     const struct http1_limits *limits)
{
	struct http1_scan scan = {0};
	struct head head;
	size_t there = 0;

	do {
		there += next_visit(&reading.split, count - there);
		visit(reading.parser, bytes, there, limits, &scan, &head);
	} while (head.status == HTTP1_MORE && there < count);
	CHECK(head.bytes <= count);
	return head;
}

/* Ends the process, with words, if a reading came to another end than the first one. */
static void compare_heads(const struct reading *reading, const struct head *head,
			  const struct head *first)
{
	if (head->status == first->status && head->bytes == first->bytes && head->sum == first->sum)
		return;
	fprintf(stderr,
		"http1_fuzz: %s, %s, %s: \"%s\", %zu bytes, sum %llx\n"
		"http1_fuzz: the first reading, whole, in scalar: \"%s\", %zu bytes, sum %llx\n",
		reading->parser ? reading->parser->name : "response", reading->way,
		reading->split.name, http1_status_text(head->status), head->bytes,
		(unsigned long long)head->sum, http1_status_text(first->status), first->bytes,
		(unsigned long long)first->sum);
	abort();
}

static void try_head(bool is_request, const uint8_t *bytes, size_t count,
		     const struct http1_limits *limits, uint32_t seed)
{
	static const char *const ways[] = {"scalar", "sse4.2", "avx2"};
	const struct http1_parser *const parsers[] = {&http1_parser_views, &http1_parser_owned};
	const struct split splits[] = {WHOLE, SPLIT(seed)};
	struct head first = {0};
	bool has_first = false;

	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!http1_choose(ways[i]))
			continue;
		/* By parser and split; a response has one parser. */
		for (unsigned j = 0; j < (is_request ? 4 : 2); j++) {
			struct reading reading = {is_request ? parsers[j / 2] : NULL, ways[i],
						  splits[j % 2]};
			struct head head = read_head(reading, bytes, count, limits);

			if (!has_first)
				first = head;
			has_first = true;
			compare_heads(&reading, &head, &first);
		}
	}
}

/* What a chunked body came to. */
struct body {
	enum http1_status status;
	enum http1_chunk_state state;
	uint64_t taken, data_bytes, sum;
};

/* Takes as much of the visit as there is a meaning in; it lies in two pieces. */
static void visit_chunks(struct http1_chunks *chunks, const uint8_t *bytes, size_t there,
			 size_t first_bytes, struct body *body)
{
	uint8_t *copies[] = {copy_of(bytes, first_bytes),
			     copy_of(bytes + first_bytes, there - first_bytes)};
	struct span pieces[] = {{copies[0], first_bytes}, {copies[1], there - first_bytes}};
	struct span_reader reader = span_reader_of(pieces, 2);

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
	free(copies[0]);
	free(copies[1]);
}

static struct body read_body(struct split split, const uint8_t *bytes, size_t count)
{
	struct http1_chunks chunks = {0};
	struct body body = {0};
	size_t at = 0;

	do {
		size_t step = next_visit(&split, count - at);

		visit_chunks(&chunks, bytes + at, step, step * (split.seed & 0xFF) / 256, &body);
		at += step;
	} while (at < count && body.status <= HTTP1_MORE && body.state != HTTP1_CHUNK_END);
	CHECK(body.data_bytes <= body.taken && body.taken <= count);
	return body;
}

static void try_chunks(const uint8_t *bytes, size_t count, uint32_t seed)
{
	const struct split splits[] = {SPLIT(seed), DRIPPED, {"in two pieces", SIZE_MAX, seed}};
	struct body whole = read_body(WHOLE, bytes, count);

	for (unsigned i = 0; i < sizeof(splits) / sizeof(splits[0]); i++) {
		struct body body = read_body(splits[i], bytes, count);

		if (body.status == whole.status && body.state == whole.state &&
		    body.taken == whole.taken && body.data_bytes == whole.data_bytes &&
		    body.sum == whole.sum)
			continue;
		fprintf(stderr,
			"http1_fuzz: chunks, %s: \"%s\", state %d, %llu of %llu bytes are data\n"
			"http1_fuzz: chunks, whole: \"%s\", state %d, %llu of %llu bytes are "
			"data\n",
			splits[i].name, http1_status_text(body.status), (int)body.state,
			(unsigned long long)body.data_bytes, (unsigned long long)body.taken,
			http1_status_text(whole.status), (int)whole.state,
			(unsigned long long)whole.data_bytes, (unsigned long long)whole.taken);
		abort();
	}
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
