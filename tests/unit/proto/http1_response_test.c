#include "tests/support/suite.h"
#include "tests/unit/proto/http1_feed.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LINE "HTTP/1.1 200 OK\r\n"
#define END "\r\n"

struct verdict {
	const char *text;
	enum http1_status status;
};

static const struct http1_fed *feed(const char *text)
{
	return http1_feed(http1_feed_response, text, strlen(text), &http1_feed_limits);
}

static void judge_all(const struct verdict *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum http1_status got = feed(cases[i].text)->status;

		CU_ASSERT_EQUAL(got, cases[i].status);
		if (got != cases[i].status)
			printf("# case %zu: %s\n", i, http1_status_text(got));
	}
}

static void reads_a_head(void)
{
	static const char text[] = "HTTP/1.1 404 Not Found\r\n"
				   "Server: nginx\r\n"
				   "Content-Length: 5\r\n"
				   "Connection: keep-alive\r\n"
				   "\r\n"
				   "hello";
	const struct http1_fed *fed = feed(text);
	const struct http1_response *response = &fed->response;

	CU_ASSERT_EQUAL_FATAL(fed->status, HTTP1_OK);
	CU_ASSERT_EQUAL(fed->head_bytes, strlen(text) - strlen("hello"));
	CU_ASSERT(response->minor == 1 && response->status == 404);
	CU_ASSERT_EQUAL(memcmp(response->reason.base, "Not Found\r\n", 11), 0);
	CU_ASSERT_EQUAL(response->reason.bytes, strlen("Not Found"));
	CU_ASSERT_EQUAL(response->field_count, 3);
	CU_ASSERT(response->framing.has_length && response->framing.length_bytes == 5);
	CU_ASSERT(response->framing.keep_alive && !response->framing.chunked);
}

static void knows_status_lines(void)
{
	static const struct verdict cases[] = {
		{LINE END, HTTP1_OK},
		{"HTTP/1.0 200 OK\r\n" END, HTTP1_OK},
		{"HTTP/1.1 100 \r\n" END, HTTP1_OK},
		{"HTTP/1.1 999 \t\xC3\xBC\r\n" END, HTTP1_OK},
		{"HTTP/1.1 200\r\n", HTTP1_BAD_LINE},
		{"HTTP/1.1  200 OK\r\n", HTTP1_BAD_LINE},
		{"HTTP/1.1 099 OK\r\n", HTTP1_BAD_LINE},
		{"HTTP/1.1 20 OK\r\n", HTTP1_BAD_LINE},
		{"HTTP/1.1 2000 OK\r\n", HTTP1_BAD_LINE},
		{"HTTP/1.1 2x0 OK\r\n", HTTP1_BAD_LINE},
		{"HTTP/1.1 -20 OK\r\n", HTTP1_BAD_LINE},
		{"HTTP/1.1\t200 OK\r\n", HTTP1_BAD_LINE},
		{"HTTP/1.1 200 O\x01", HTTP1_BAD_LINE},
		{"HTTP/1.1 200 OK\n", HTTP1_BAD_LINE},
		{"HTTP/1.1 200 OK\rX", HTTP1_BAD_LINE},
		{"\r\n" LINE, HTTP1_BAD_LINE},
		{"http/1.1 200 OK\r\n", HTTP1_BAD_LINE},
		{"ICY 200 OK\r\n", HTTP1_BAD_LINE},
		{"HTTP/2.0 200 OK\r\n", HTTP1_VERSION},
		{"HTTP/1.9 200 OK\r\n", HTTP1_VERSION},
		{"HTTP/1.1 200 OK\r", HTTP1_MORE},
		{"HTTP/1.1 20", HTTP1_MORE},
	};

	judge_all(cases, COUNT(cases));
}

static void judges_framing_as_of_requests(void)
{
	static const struct verdict cases[] = {
		{LINE "Transfer-Encoding: chunked\r\n" END, HTTP1_OK},
		{LINE "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", HTTP1_BAD_FRAMING},
		{LINE "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", HTTP1_BAD_FRAMING},
		{LINE "Content-Length: 5\r\nContent-Length: 5\r\n", HTTP1_BAD_FRAMING},
		{LINE "Content-Length: 5, 5\r\n", HTTP1_BAD_FRAMING},
		{LINE "Transfer-Encoding: gzip\r\n", HTTP1_CODING_UNKNOWN},
		{"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n", HTTP1_BAD_FRAMING},
		{LINE "A : b\r\n", HTTP1_BAD_FIELD},
		{LINE "A: b\r\n c\r\n", HTTP1_BAD_FIELD},
		{LINE "A: b\n", HTTP1_BAD_FIELD},
		{LINE "Host: a\r\nHost: b c\r\n" END, HTTP1_OK}, /* means nothing here */
	};

	judge_all(cases, COUNT(cases));
	CU_ASSERT_FALSE(feed("HTTP/1.0 200 OK\r\n" END)->response.framing.keep_alive);
	CU_ASSERT_FALSE(feed(LINE "Connection: close\r\n" END)->response.framing.keep_alive);
	CU_ASSERT_FALSE(feed(LINE END)->response.framing.has_length);
}

static void bounds_what_it_reads(void)
{
	static const struct http1_limits limits = {.line_bytes = 15, .head_bytes = 40, .fields = 2};
	static const struct verdict cases[] = {
		{"HTTP/1.1 200 OK\r\n" END, HTTP1_OK},
		{"HTTP/1.1 200 OKX\r\n" END, HTTP1_LINE_TOO_LONG},
		{"HTTP/1.1 200 OKXX", HTTP1_LINE_TOO_LONG},
		{LINE "A:\r\nB:\r\n" END, HTTP1_OK},
		{LINE "A:\r\nB:\r\nC", HTTP1_HEAD_TOO_LARGE},
		{LINE "A: 3456789012345678\r\n" END, HTTP1_OK},
		{LINE "A: 34567890123456789\r\n" END, HTTP1_HEAD_TOO_LARGE},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		CU_ASSERT_EQUAL(http1_feed(http1_feed_response, cases[i].text,
					   strlen(cases[i].text), &limits)
					->status,
				cases[i].status);
}

static void says_codes_in_words(void)
{
	for (int i = 0; i < HTTP1_STATUS_COUNT; i++)
		CU_ASSERT(strlen(http1_status_text((enum http1_status)i)) > 0);
	CU_ASSERT_EQUAL(http1_status_code(HTTP1_BAD_CHUNK), 400);
	CU_ASSERT_EQUAL(http1_status_code(HTTP1_LINE_TOO_LONG), 414);
	CU_ASSERT_EQUAL(http1_status_code(HTTP1_HEAD_TOO_LARGE), 431);
	CU_ASSERT_EQUAL(http1_status_code(HTTP1_METHOD_UNKNOWN), 501);
	CU_ASSERT_EQUAL(http1_status_code(HTTP1_CODING_UNKNOWN), 501);
	CU_ASSERT_EQUAL(http1_status_code(HTTP1_VERSION), 505);
	CU_ASSERT_EQUAL(http1_status_code(HTTP1_EXPECTATION), 417);
	CU_ASSERT_STRING_EQUAL(http1_reason(404), "Not Found");
	CU_ASSERT_STRING_EQUAL(http1_reason(299), "");
}

static void survives_mutations(void)
{
	static const char text[] = LINE "Connection: close\r\nContent-Length: 10\r\n"
					"Server: x\r\nTransfer-Encoding: chunked\r\n" END;
	static const char alphabet[] = "\r\n\t :,01aA\0\x7F\x80";

	srand(11);
	for (int round = 0; round < 2000; round++) {
		char changed[sizeof(text)];

		memcpy(changed, text, sizeof(text));
		for (int changes = 1 + rand() % 3; changes > 0; changes--)
			changed[(size_t)rand() % (sizeof(text) - 1)] =
				alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		http1_feed(http1_feed_response, changed, sizeof(text) - 1, &http1_feed_limits);
	}
}

static const struct suite_test tests[] = {
	{"a response's head is read in place", reads_a_head},
	{"a status line is version, space, code, space and maybe a reason", knows_status_lines},
	{"framing and fields are judged as strictly as a request's", judges_framing_as_of_requests},
	{"line, head and number of fields are bounded to the byte", bounds_what_it_reads},
	{"every status has its words, and the code that answers it", says_codes_in_words},
	{"mutated heads come to the same at every split and with every scan", survives_mutations},
};

SUITE_MAIN("http1_response", tests)
