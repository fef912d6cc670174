#include "dataplane/proto/http1_parser.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct http1_limits limits = {HTTP1_LINE_BYTES, HTTP1_HEAD_BYTES, HTTP1_FIELDS_MAX};

static const char complex_post[] = "POST /api/todos HTTP/1.1\r\n"
				   "Host: localhost:8080\r\n"
				   "Content-Type: application/json\r\n"
				   "Authorization: Bearer abc123\r\n"
				   "Accept: application/json\r\n"
				   "Accept-Encoding: gzip, deflate\r\n"
				   "User-Agent: benchmark/1.0\r\n"
				   "Content-Length: 27\r\n"
				   "\r\n";

static bool is(struct span span, const char *text)
{
	return span.bytes == strlen(text) &&
	       (span.bytes == 0 || memcmp(span.base, text, span.bytes) == 0);
}

/* Parses a copy of the text that is overwritten and gone before the result is looked at. */
static uint64_t parse_and_forget(const struct http1_parser *parser, const char *text,
				 struct http1_request *request)
{
	size_t bytes = strlen(text), head_bytes;
	uint8_t *copy = malloc(bytes);
	struct http1_scan scan = {0};
	uint64_t allocations = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	memcpy(copy, text, bytes);
	CU_ASSERT_EQUAL_FATAL(
		parser->parse(copy, bytes, &limits, &scan, request, &head_bytes, &allocations),
		HTTP1_OK);
	CU_ASSERT_EQUAL(head_bytes, bytes);
	memset(copy, '?', bytes);
	free(copy);
	return allocations;
}

static void owned_outlives_the_bytes(void)
{
	static struct http1_request request;
	uint64_t allocations = parse_and_forget(&http1_parser_owned, complex_post, &request);

	CU_ASSERT_EQUAL(allocations, 1 + 2 * 7);
	CU_ASSERT(is(request.target, "/api/todos") && is(request.path, "/api/todos"));
	CU_ASSERT(is(request.host, "localhost:8080"));
	CU_ASSERT(is(request.fields[5].value, "benchmark/1.0"));
	CU_ASSERT_EQUAL(request.framing.length_bytes, 27);
	http1_parser_owned.release(&request);
}

static void owned_copies_what_parts_share_once(void)
{
	static struct http1_request request;
	uint64_t allocations =
		parse_and_forget(&http1_parser_owned,
				 "GET http://b:1/c?d HTTP/1.1\r\nHost: a\r\nE:\r\n\r\n", &request);

	CU_ASSERT_EQUAL(allocations, 1 + 2 + 1); /* an empty value has no bytes to copy */
	CU_ASSERT(is(request.host, "b:1") && is(request.path, "/c") && is(request.query, "d"));
	http1_parser_owned.release(&request);
	parse_and_forget(&http1_parser_owned, "GET http://b HTTP/1.1\r\nHost: a\r\n\r\n", &request);
	CU_ASSERT(is(request.host, "b") && is(request.path, "/"));
	http1_parser_owned.release(&request);
}

static void views_allocate_nothing(void)
{
	static struct http1_request request;
	struct http1_scan scan = {0};
	uint64_t allocations = 0;
	size_t head_bytes;

	CU_ASSERT_EQUAL(http1_parser_views.parse((const uint8_t *)complex_post,
						 strlen(complex_post), &limits, &scan, &request,
						 &head_bytes, &allocations),
			HTTP1_OK);
	CU_ASSERT_EQUAL(allocations, 0);
	CU_ASSERT_PTR_EQUAL(request.target.base, complex_post + strlen("POST "));
	http1_parser_views.release(&request);
}

/* On anything but HTTP1_OK there is nothing to give back. */
static void both_judge_alike(void)
{
	static const char *const texts[] = {"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a",
					    "get", "GET / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n",
					    complex_post};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		static struct http1_request one, other;
		struct http1_scan scans[2] = {0};
		uint64_t allocations = 0;
		size_t head_bytes[2];
		const uint8_t *bytes = (const uint8_t *)texts[i];
		enum http1_status status =
			http1_parser_views.parse(bytes, strlen(texts[i]), &limits, &scans[0], &one,
						 &head_bytes[0], &allocations);

		CU_ASSERT_EQUAL(http1_parser_owned.parse(bytes, strlen(texts[i]), &limits,
							 &scans[1], &other, &head_bytes[1],
							 &allocations),
				status);
		CU_ASSERT_EQUAL(memcmp(&scans[0], &scans[1], sizeof(scans[0])), 0);
		CU_ASSERT_EQUAL(allocations > 0, status == HTTP1_OK);
		if (status == HTTP1_OK)
			http1_parser_owned.release(&other);
	}
}

static void is_found_by_name(void)
{
	CU_ASSERT_PTR_EQUAL(http1_parser_find("views"), &http1_parser_views);
	CU_ASSERT_PTR_EQUAL(http1_parser_find("owned"), &http1_parser_owned);
	CU_ASSERT_PTR_NULL(http1_parser_find("borrowed"));
}

static const struct suite_test tests[] = {
	{"what `owned` parsed outlives the bytes, for an allocation each",
	 owned_outlives_the_bytes},
	{"`owned` copies once what the parts of a request share",
	 owned_copies_what_parts_share_once},
	{"`views` allocates nothing and points into the bytes", views_allocate_nothing},
	{"both accept, await and reject the same", both_judge_alike},
	{"a parser is found by its name", is_found_by_name},
};

SUITE_MAIN("http1_parser", tests)
