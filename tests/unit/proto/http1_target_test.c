#include "tests/support/suite.h"
#include "tests/unit/proto/http1_judge.h"

#include <string.h>

static const struct {
	const char *line, *path, *query, *host; /* path NULL: 400 */
	enum http1_form form;
} targets[] = {
	{"GET /", "/", "", "a", HTTP1_ORIGIN},
	{"GET /a/../b", "/a/../b", "", "a", HTTP1_ORIGIN},
	{"GET /a?b?c", "/a", "b?c", "a", HTTP1_ORIGIN},
	{"GET /?", "/", "", "a", HTTP1_ORIGIN},
	{"GET /%41%c3%BC?%zz", "/%41%c3%BC", "%zz", "a", HTTP1_ORIGIN},
	{"GET /?%", "/", "%", "a", HTTP1_ORIGIN},
	{"GET /?a=100%&b=%4", "/", "a=100%&b=%4", "a", HTTP1_ORIGIN},
	{"GET /?%00%0d%0A", "/", "%00%0d%0A", "a", HTTP1_ORIGIN},
	{"GET http://b?%g1", "/", "%g1", "b", HTTP1_ABSOLUTE},
	{"GET //x|y", "//x|y", "", "a", HTTP1_ORIGIN},
	{"GET http://b:81/c?d", "/c", "d", "b:81", HTTP1_ABSOLUTE},
	{"GET HTTPS://b", "/", "", "b", HTTP1_ABSOLUTE},
	{"GET http://b?c", "/", "c", "b", HTTP1_ABSOLUTE},
	{"GET http://[::1]:81/", "/", "", "[::1]:81", HTTP1_ABSOLUTE},
	{"OPTIONS *", "", "", "a", HTTP1_ASTERISK},
	{"OPTIONS /", "/", "", "a", HTTP1_ORIGIN},
	{"CONNECT b:443", "", "", "b:443", HTTP1_AUTHORITY},
	{.line = "GET *"},
	{.line = "OPTIONS **"},
	{.line = "OPTIONS *?a"},
	{.line = "GET b:443"},
	{.line = "GET b"},
	{.line = "CONNECT /"},
	{.line = "CONNECT b"},
	{.line = "CONNECT b:"},
	{.line = "CONNECT http://b:1/"},
	{.line = "GET http://"},
	{.line = "GET http:///a"},
	{.line = "GET http:/a"},
	{.line = "GET ftp://b/"},
	{.line = "GET http://u@b/"},
	{.line = "GET http://b:x/"},
	{.line = "GET http://b:65536/"},
	{.line = "GET http://[.]/"},
	{.line = "GET http://[1.2.3.4]/"},
	{.line = "GET http://b/a\\b"},
	{.line = "GET /a\\b"},
	{.line = "GET /?a\\b"},
	{.line = "GET /#a"},
	{.line = "GET /?a#b"},
	{.line = "GET /%"},
	{.line = "GET /%4"},
	{.line = "GET /%4?a"},
	{.line = "GET /%zz"},
	{.line = "GET /%00"},
	{.line = "GET http://b/%g1"},
	{.line = "GET /\xC3\xBC"},
	{.line = "GET /\x7F"},
	{.line = "GET /\x01"},
};

static void splits_targets(void)
{
	for (size_t i = 0; i < COUNT(targets); i++) {
		const struct http1_fed *fed;
		char text[200];

		snprintf(text, sizeof(text), "%s HTTP/1.1\r\n" HOST END, targets[i].line);
		if (!targets[i].path) {
			http1_judge(text, strlen(text), HTTP1_BAD_LINE);
			continue;
		}
		http1_judge(text, strlen(text), HTTP1_OK);
		fed = http1_feed_text(text);
		CU_ASSERT(http1_is_text(fed->request.path, targets[i].path));
		CU_ASSERT(http1_is_text(fed->request.query, targets[i].query));
		CU_ASSERT(http1_is_text(fed->request.host, targets[i].host));
		CU_ASSERT_EQUAL(fed->request.form, targets[i].form);
	}
}

static void demands_one_host(void)
{
	static const struct http1_verdict cases[] = {
		{LINE END, HTTP1_BAD_HOST},
		{LINE "Hos: a\r\nHosts: b\r\nHoss: c\r\n" END, HTTP1_BAD_HOST},
		{LINE HOST HOST, HTTP1_BAD_HOST},
		{LINE "host: a\r\nHOST: b\r\n", HTTP1_BAD_HOST},
		{"GET / HTTP/1.0\r\n" HOST HOST, HTTP1_BAD_HOST},
		{"GET / HTTP/1.0\r\nHost: a b\r\n", HTTP1_BAD_HOST},
		{"GET http://b/ HTTP/1.1\r\n" END, HTTP1_BAD_HOST},
	};
	static const struct http1_verdict values[] = {
		{"", HTTP1_BAD_HOST},		{" ", HTTP1_BAD_HOST},
		{"a b", HTTP1_BAD_HOST},	{"a, b", HTTP1_BAD_HOST},
		{"a/b", HTTP1_BAD_HOST},	{"u@a", HTTP1_BAD_HOST},
		{"a:b", HTTP1_BAD_HOST},	{"a:1:2", HTTP1_BAD_HOST},
		{"a:123456", HTTP1_BAD_HOST},	{":80", HTTP1_BAD_HOST},
		{"[::1", HTTP1_BAD_HOST},	{"[]", HTTP1_BAD_HOST},
		{"[::1]x", HTTP1_BAD_HOST},	{"[a%20]", HTTP1_BAD_HOST},
		{"a%", HTTP1_BAD_HOST},		{"a%00", HTTP1_BAD_HOST},
		{"a?b", HTTP1_BAD_HOST},	{"a#b", HTTP1_BAD_HOST},
		{"\xC3\xBC", HTTP1_BAD_HOST},	{"\ta", HTTP1_BAD_HOST},
		{"a\t", HTTP1_BAD_HOST},	{" \t a", HTTP1_BAD_HOST},
		{"a \t ", HTTP1_BAD_HOST},	{"a:65536", HTTP1_BAD_HOST},
		{"[deadbeef]", HTTP1_BAD_HOST}, {"[1:2]", HTTP1_BAD_HOST},
		{"[1:2]:80", HTTP1_BAD_HOST},	{"[::1]:65536", HTTP1_BAD_HOST},
	};
	static const char *const before[] = {"Host:", "Host: ", "hOST: "};
	static const struct http1_verdict twice[] = {
		{LINE "Host: a\r\nHost:a\r\n" END, HTTP1_BAD_HOST},
		{LINE "Host:a\r\nHost: a\r\n" END, HTTP1_BAD_HOST},
		{LINE "Host: a\r\nHost : a\r\n" END, HTTP1_BAD_FIELD},
		{LINE "Host: a\n" END, HTTP1_BAD_FIELD},
		{LINE "Host: a\rb\r\n" END, HTTP1_BAD_FIELD},
		{LINE "Host: a:80\n" END, HTTP1_BAD_FIELD},
		{LINE "Host: a\r\n b\r\n" END, HTTP1_BAD_FIELD},
	};
	static const struct http1_verdict right[] = {
		{LINE "HOST: a.example:8080\r\n" END, HTTP1_OK},
		{LINE "Host: a:65535\r\n" END, HTTP1_OK},
		{LINE "Host: [::ffff:1.2.3.4]:65535\r\n" END, HTTP1_OK},
		{LINE "Host:  127.0.0.1:80 \r\n" END, HTTP1_OK},
		{LINE "Host:[2001:db8::1]:80\r\n" END, HTTP1_OK},
		{LINE "Host: a:\r\n" END, HTTP1_OK},
		{LINE "Host: %61_~x\r\n" END, HTTP1_OK},
		{"GET / HTTP/1.0\r\n" END, HTTP1_OK},
	};

	http1_judge_all(cases, COUNT(cases));
	http1_judge_all(right, COUNT(right));
	http1_judge_all(twice, COUNT(twice));
	for (size_t i = 0; i < COUNT(values); i++) {
		for (size_t j = 0; j < COUNT(before); j++) {
			char text[100];

			snprintf(text, sizeof(text), LINE "%s%s\r\n" END, before[j],
				 values[i].text);
			http1_judge(text, strlen(text), values[i].status);
		}
	}
}

static const struct suite_test tests[] = {
	{"targets are split in their four forms, each where it belongs", splits_targets},
	{"a request of HTTP/1.1 has exactly one good Host", demands_one_host},
};

SUITE_MAIN("http1_target", tests)
