#include "tests/support/suite.h"
#include "tests/unit/proto/http1_judge.h"

#include <stdlib.h>
#include <string.h>

static const char complex_post[] = "POST /api/todos HTTP/1.1\r\n"
				   "Host: localhost:8080\r\n"
				   "Content-Type: application/json\r\n"
				   "Authorization: Bearer abc123\r\n"
				   "Accept: application/json\r\n"
				   "Accept-Encoding: gzip, deflate\r\n"
				   "User-Agent: benchmark/1.0\r\n"
				   "Content-Length: 27\r\n"
				   "\r\n"
				   "{\"title\":\"Benchmark this\"}";

static void reads_a_post(void)
{
	const struct http1_fed *fed = http1_feed_text(complex_post);
	const struct http1_request *request = &fed->request;

	CU_ASSERT_EQUAL_FATAL(fed->status, HTTP1_OK);
	CU_ASSERT_EQUAL(fed->head_bytes, (size_t)(strchr(complex_post, '{') - complex_post));
	CU_ASSERT_EQUAL(request->method, HTTP1_POST);
	CU_ASSERT_EQUAL(request->form, HTTP1_ORIGIN);
	CU_ASSERT_EQUAL(request->minor, 1);
	CU_ASSERT(http1_is_text(request->target, "/api/todos") &&
		  http1_is_text(request->path, "/api/todos"));
	CU_ASSERT(http1_is_text(request->query, "") &&
		  http1_is_text(request->host, "localhost:8080"));
	CU_ASSERT(request->framing.has_length && request->framing.length_bytes == 27);
	CU_ASSERT(!request->framing.chunked && request->framing.keep_alive);
	CU_ASSERT(!request->expects_continue);
	CU_ASSERT_EQUAL_FATAL(request->field_count, 7);
	CU_ASSERT(http1_is_text(request->fields[4].name, "Accept-Encoding"));
	CU_ASSERT(http1_is_text(request->fields[4].value, "gzip, deflate"));
	CU_ASSERT(http1_is_text(request->fields[1].name, "Content-Type"));
	CU_ASSERT(http1_is_text(request->fields[1].value, "application/json"));
}

static void reads_a_second_head_behind_the_first(void)
{
	static const char text[] = LINE HOST END "HEAD /b HTTP/1.0\r\n\r\n";
	const struct http1_fed *fed = http1_feed_text(text);
	struct http1_scan scan = {0};
	struct http1_request next;
	size_t first = fed->head_bytes, second;

	CU_ASSERT_EQUAL_FATAL(fed->status, HTTP1_OK);
	CU_ASSERT_EQUAL(first, strlen(LINE HOST END));
	CU_ASSERT_EQUAL(http1_parse_request((const uint8_t *)text + first, strlen(text) - first,
					    &http1_feed_limits, &scan, &next, &second),
			HTTP1_OK);
	CU_ASSERT_EQUAL(second, strlen(text) - first);
	CU_ASSERT(next.method == HTTP1_HEAD && next.minor == 0 && http1_is_text(next.path, "/b"));
	CU_ASSERT(!next.framing.keep_alive && next.field_count == 0);
}

/* A head of one long target, or of one long value, `bytes` in the place that is limited. */
static enum http1_status feed_long(const char *before, size_t bytes, const char *behind,
				   const struct http1_limits *limits)
{
	static char text[HTTP1_HEAD_BYTES + 1000];
	size_t begin = strlen(before), end = strlen(behind);

	memcpy(text, before, begin);
	memset(text + begin, 'x', bytes);
	memcpy(text + begin + bytes, behind, end);
	return http1_feed(http1_feed_request, text, begin + bytes + end, limits)->status;
}

static void bounds_what_it_reads(void)
{
	static const struct http1_limits limits = {.line_bytes = 40, .head_bytes = 80, .fields = 3};
	static const char version[] = " HTTP/1.1\r\n", head[] = LINE HOST "A:", end[] = "\r\n\r\n";
	static const char three[] = LINE HOST "A:\r\nB:\r\n" END;
	static const char four[] = LINE HOST "A:\r\nB:\r\nC";
	size_t fits = limits.line_bytes - strlen("GET / HTTP/1.1");
	size_t fills = limits.head_bytes - strlen(head) - strlen(end);

	CU_ASSERT_EQUAL(feed_long("GET /", fits, version, &limits), HTTP1_MORE);
	CU_ASSERT_EQUAL(feed_long("GET /", fits + 1, version, &limits), HTTP1_LINE_TOO_LONG);
	CU_ASSERT_EQUAL(feed_long("GET /", 200, "", &limits), HTTP1_LINE_TOO_LONG);
	CU_ASSERT_EQUAL(feed_long("GET /", limits.line_bytes - 4, "", &limits), HTTP1_MORE);
	CU_ASSERT_EQUAL(feed_long(head, fills, end, &limits), HTTP1_OK);
	CU_ASSERT_EQUAL(feed_long(head, fills + 1, end, &limits), HTTP1_HEAD_TOO_LARGE);
	CU_ASSERT_EQUAL(feed_long(LINE HOST, 500, "", &limits), HTTP1_HEAD_TOO_LARGE);
	CU_ASSERT_EQUAL(http1_feed(http1_feed_request, three, strlen(three), &limits)->status,
			HTTP1_OK);
	CU_ASSERT_EQUAL(http1_feed(http1_feed_request, four, strlen(four), &limits)->status,
			HTTP1_HEAD_TOO_LARGE);
}

/* The looks at one byte are counted by what a head of the largest size costs, dripped. */
static void remembers_how_far_it_looked(void)
{
	static const char text[] = LINE HOST "Name: value";
	struct http1_fed fed = {0};

	http1_feed_request((const uint8_t *)text, strlen(text), &http1_feed_limits, &fed);
	CU_ASSERT_EQUAL(fed.status, HTTP1_MORE);
	CU_ASSERT_EQUAL(fed.scan.line_offset, strlen(LINE HOST));
	CU_ASSERT_EQUAL(fed.scan.scanned, strlen(text));
	CU_ASSERT_EQUAL(fed.scan.mark, strlen(LINE HOST "Name"));
	CU_ASSERT_EQUAL(fed.scan.field_count, 1);
}

static void survives_mutations(void)
{
	static const char alphabet[] = "\r\n\t :;,=%?#/*0519aAzZ\0\x0B\x7F\x80\xFF\"";

	srand(7);
	for (int round = 0; round < 3000; round++) {
		char text[sizeof(complex_post)];
		size_t begin = (size_t)rand() % 3 ? 0 : 120, count = 60 + (size_t)rand() % 60;

		memcpy(text, complex_post, sizeof(text));
		for (int changes = 1 + rand() % 3; changes > 0; changes--)
			text[begin + (size_t)rand() % count] =
				alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		if (begin > 0)
			memmove(text + strlen(LINE), text + begin, count);
		if (begin > 0)
			memcpy(text, LINE, strlen(LINE));
		http1_feed(http1_feed_request, text, count, &http1_feed_limits);
	}
}

static const struct suite_test tests[] = {
	{"a POST's head is read in place", reads_a_post},
	{"the head behind a head is found by its length", reads_a_second_head_behind_the_first},
	{"line, head and number of fields are bounded to the byte", bounds_what_it_reads},
	{"an incomplete head is kept by where its line begins and how far it was looked at",
	 remembers_how_far_it_looked},
	{"mutated heads come to the same at every split and with every scan", survives_mutations},
};

SUITE_MAIN("http1", tests)
