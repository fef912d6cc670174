#include "tests/support/suite.h"
#include "tests/unit/proto/http1_judge.h"

#include <string.h>

static void knows_methods(void)
{
	static const struct http1_verdict wrong[] = {
		{"GETX / HTTP/1.1\r\n", HTTP1_METHOD_UNKNOWN},
		{"get / HTTP/1.1\r\n", HTTP1_METHOD_UNKNOWN},
		{"Get / HTTP/1.1\r\n", HTTP1_METHOD_UNKNOWN},
		{"GE / HTTP/1.1\r\n", HTTP1_METHOD_UNKNOWN},
		{"PROPFIND / HTTP/1.1\r\n", HTTP1_METHOD_UNKNOWN},
		{"OPTIONSOPTIONS", HTTP1_METHOD_UNKNOWN},
		{"X", HTTP1_METHOD_UNKNOWN},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", HTTP1_METHOD_UNKNOWN},
		{"G=\" / HTTP/1.1\r\n", HTTP1_BAD_LINE},
		{"GET\t/ HTTP/1.1\r\n", HTTP1_BAD_LINE},
		{" GET / HTTP/1.1\r\n", HTTP1_BAD_LINE},
		{"GET\r\n", HTTP1_BAD_LINE},
		{"{", HTTP1_BAD_LINE},
		{"\x80", HTTP1_BAD_LINE},
		{"\x16\x03\x01", HTTP1_BAD_LINE}, /* TLS: a handshake record */
		{"PA", HTTP1_MORE},
		{"", HTTP1_MORE},
	};
	char text[100];

	for (int i = 0; i < HTTP1_METHOD_COUNT; i++) {
		const char *target = i == HTTP1_CONNECT ? "a:80" : "/";

		snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\n" HOST END,
			 http1_method_name((enum http1_method)i), target);
		CU_ASSERT_EQUAL(http1_feed_text(text)->request.method, i);
		http1_judge(text, strlen(text), HTTP1_OK);
	}
	http1_judge_all(wrong, COUNT(wrong));
}

static void knows_versions(void)
{
	static const struct http1_verdict cases[] = {
		{"GET / HTTP/1.1\r\n" HOST END, HTTP1_OK},
		{"GET / HTTP/1.0\r\n\r\n", HTTP1_OK},
		{"GET / HTTP/1.2\r\n", HTTP1_VERSION},
		{"GET / HTTP/1.32\r\n", HTTP1_VERSION},
		{"GET / HTTP/9.9\r\n", HTTP1_VERSION},
		{"GET / HTTP/0.9\r\n", HTTP1_VERSION},
		{"GET / HTTP/2.0\r\n", HTTP1_VERSION},
		{"GET / HTTP/4294967295.255\r\n", HTTP1_VERSION},
		{"GET / HTTP/11.1\r\n", HTTP1_BAD_LINE},
		{"GET / HTTP/1.10\r\n", HTTP1_BAD_LINE},
		{"GET / HTTP/1\r\n", HTTP1_BAD_LINE},
		{"GET / HTTP/1.\r\n", HTTP1_BAD_LINE},
		{"GET / HTTP/+1.1\r\n", HTTP1_BAD_LINE},
		{"GET / http/1.1\r\n", HTTP1_BAD_LINE},
		{"GET / HTTPS/1.1\r\n", HTTP1_BAD_LINE},
		{"GET / HTTP/1.1 \r\n", HTTP1_BAD_LINE},
		{"GET /  HTTP/1.1\r\n", HTTP1_BAD_LINE},
		{"GET  / HTTP/1.1\r\n", HTTP1_BAD_LINE},
		{"GET /\tHTTP/1.1\r\n", HTTP1_BAD_LINE},
		{"GET / HTTP/1.1\n", HTTP1_BAD_LINE},
		{"GET / HTTP/1.1\rX", HTTP1_BAD_LINE},
		{"GET / HTTP/1.1\r\r\n", HTTP1_BAD_LINE},
		{"GET /\r\n", HTTP1_BAD_LINE}, /* HTTP/0.9 */
		{"GET /\n", HTTP1_BAD_LINE},
		{"GET / \r\n", HTTP1_BAD_LINE},
		{"GET \r\n", HTTP1_BAD_LINE},
		{"GET / HTTP/1.1\r", HTTP1_MORE},
	};

	http1_judge_all(cases, COUNT(cases));
}

static void passes_over_one_empty_line(void)
{
	static const struct http1_verdict cases[] = {
		{"\r\n" LINE HOST END, HTTP1_OK},
		{"\r\n\r\n" LINE HOST END, HTTP1_BAD_LINE},
		{"\n" LINE HOST END, HTTP1_BAD_LINE},
		{"\r" LINE HOST END, HTTP1_BAD_LINE},
		{"\r", HTTP1_MORE},
		{"\r\n", HTTP1_MORE},
	};

	http1_judge_all(cases, COUNT(cases));
	CU_ASSERT_EQUAL(http1_feed_text(cases[0].text)->head_bytes, strlen(cases[0].text));
}

static const struct suite_test tests[] = {
	{"known methods are read, others answered with 501 or 400 by the byte that tells",
	 knows_methods},
	{"HTTP/1.0 and HTTP/1.1 are spoken, other versions are 505, other words 400",
	 knows_versions},
	{"one empty line before a request is passed over", passes_over_one_empty_line},
};

SUITE_MAIN("http1_line", tests)
