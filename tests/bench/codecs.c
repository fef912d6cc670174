#include "tests/bench/codecs.h"

#include "dataplane/proto/frame.h"
#include "dataplane/proto/http1_parser.h"
#include "dataplane/proto/length.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_HTTP_PARSER
#include <http_parser.h>
#endif

static uint64_t allocations;

/* The linker sends our own code's malloc here (--wrap). */
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	allocations++;
	return __real_malloc(bytes);
}

uint64_t bench_allocations(void)
{
	return allocations;
}

bool bench_choose(const char *way)
{
	return http1_choose(way) != NULL;
}

static bool parse(const struct http1_parser *parser, const char *text, size_t bytes)
{
	static const struct http1_limits limits = {HTTP1_LINE_BYTES, HTTP1_HEAD_BYTES,
						   HTTP1_FIELDS_MAX};
	static struct http1_request request;
	struct http1_scan scan = {0};
	uint64_t reported = 0;
	size_t head_bytes;

	if (parser->parse((const uint8_t *)text, bytes, &limits, &scan, &request, &head_bytes,
			  &reported) != HTTP1_OK)
		return false;
	__asm__ volatile("" : : "r"(&request) : "memory");
	parser->release(&request);
	return true;
}

bool bench_views(const char *text, size_t bytes)
{
	return parse(&http1_parser_views, text, bytes);
}

bool bench_owned(const char *text, size_t bytes)
{
	return parse(&http1_parser_owned, text, bytes);
}

#ifdef HAVE_HTTP_PARSER

/* Its user keeps views of the target and of the fields, as ours come with the result. */
struct kept {
	struct span target;
	struct http1_field fields[HTTP1_FIELDS_MAX];
	unsigned count;
	bool is_whole;
};

static int keep_target(http_parser *parser, const char *at, size_t bytes)
{
	struct kept *kept = parser->data;

	kept->target = (struct span){(const uint8_t *)at, bytes};
	return 0;
}

static int keep_name(http_parser *parser, const char *at, size_t bytes)
{
	struct kept *kept = parser->data;

	kept->fields[kept->count].name = (struct span){(const uint8_t *)at, bytes};
	return 0;
}

static int keep_value(http_parser *parser, const char *at, size_t bytes)
{
	struct kept *kept = parser->data;

	kept->fields[kept->count++].value = (struct span){(const uint8_t *)at, bytes};
	return kept->count == HTTP1_FIELDS_MAX;
}

static int keep_end(http_parser *parser)
{
	((struct kept *)parser->data)->is_whole = true;
	return 0;
}

/* The body is passed over, which costs it a step: the head is what it is asked for. */
bool bench_http_parser(const char *text, size_t bytes)
{
	static const http_parser_settings settings = {.on_url = keep_target,
						      .on_header_field = keep_name,
						      .on_header_value = keep_value,
						      .on_headers_complete = keep_end};
	static struct kept kept;
	http_parser parser;

	kept.count = 0;
	kept.is_whole = false;
	http_parser_init(&parser, HTTP_REQUEST);
	parser.data = &kept;
	http_parser_execute(&parser, &settings, text, bytes);
	__asm__ volatile("" : : "r"(&kept) : "memory");
	return kept.is_whole;
}

bool bench_has_http_parser(void)
{
	return true;
}

#else

bool bench_http_parser(const char *text, size_t bytes)
{
	return true;
}

bool bench_has_http_parser(void)
{
	return false;
}

#endif

static uint8_t frames[BENCH_MESSAGES * (FRAME_HEAD_BYTES + BENCH_PAYLOAD_BYTES)];
static uint8_t lengths[BENCH_MESSAGES * (LENGTH_PREFIX_BYTES + BENCH_PAYLOAD_BYTES)];
static const uint8_t payload[BENCH_PAYLOAD_BYTES];

size_t bench_frame_encode(void)
{
	uint8_t *at = frames;

	for (uint64_t id = 0; id < BENCH_MESSAGES; id++) {
		frame_encode(at, &(struct frame_head){.id = id,
						      .opcode = FRAME_OPCODE_STRESS,
						      .flags = FRAME_START | FRAME_END,
						      .body_bytes = BENCH_PAYLOAD_BYTES});
		memcpy(at + FRAME_HEAD_BYTES, payload, BENCH_PAYLOAD_BYTES);
		at += FRAME_HEAD_BYTES + BENCH_PAYLOAD_BYTES;
	}
	__asm__ volatile("" : : "r"(frames) : "memory");
	return sizeof(frames);
}

size_t bench_length_encode(void)
{
	uint8_t *at = lengths;

	for (int i = 0; i < BENCH_MESSAGES; i++) {
		length_encode(at, LENGTH_BIG_ENDIAN, BENCH_PAYLOAD_BYTES);
		memcpy(at + LENGTH_PREFIX_BYTES, payload, BENCH_PAYLOAD_BYTES);
		at += LENGTH_PREFIX_BYTES + BENCH_PAYLOAD_BYTES;
	}
	__asm__ volatile("" : : "r"(lengths) : "memory");
	return sizeof(lengths);
}

/* Encodes once, so that there is something to decode. */
size_t bench_frame_decode(void)
{
	static size_t encoded;
	struct span span = {frames, sizeof(frames)};
	struct span_reader reader = span_reader_of(&span, 1);
	struct frame_head head;

	if (!encoded)
		encoded = bench_frame_encode();
	while (reader.left > 0) {
		CHECK(frame_decode(&reader, FRAME_LENGTH_MIN + BENCH_PAYLOAD_BYTES, &head) ==
		      FRAME_OK);
		span_reader_skip(&reader, head.body_bytes);
	}
	return encoded;
}

size_t bench_length_decode(void)
{
	static size_t encoded;
	struct span span = {lengths, sizeof(lengths)};
	struct span_reader reader = span_reader_of(&span, 1);

	if (!encoded)
		encoded = bench_length_encode();
	while (reader.left > 0)
		CHECK(length_whole(&reader, LENGTH_BIG_ENDIAN, BENCH_PAYLOAD_BYTES).base);
	return encoded;
}
