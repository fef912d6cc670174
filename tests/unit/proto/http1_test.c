#include "dataplane/proto/http1.h"
#include "tests/support/suite.h"
#include "tests/unit/proto/http1_feed.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LINE "GET / HTTP/1.1\r\n"
#define HOST "Host: a\r\n"
#define END "\r\n"

struct verdict {
	const char *text;
	enum http1_status status;
};

static const struct http1_fed *feed(const char *text)
{
	return http1_feed(http1_feed_request, text, strlen(text), &http1_feed_limits);
}

/* Says which text failed: an assertion of a loop does not. */
static void judge(const char *text, size_t bytes, enum http1_status wanted)
{
	enum http1_status got =
		http1_feed(http1_feed_request, text, bytes, &http1_feed_limits)->status;

	CU_ASSERT_EQUAL(got, wanted);
	if (got != wanted)
		printf("# %.*s: %s\n", (int)strcspn(text, "\r"), text, http1_status_text(got));
}

static void judge_all(const struct verdict *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		judge(cases[i].text, strlen(cases[i].text), cases[i].status);
}

/* Each value as the value of field `name`, once, in a request that is right without it. */
static void judge_values(const char *name, const struct verdict *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char text[512];
		int bytes = snprintf(text, sizeof(text), LINE HOST "%s:%s\r\n\r\n", name,
				     cases[i].text);

		judge(text, (size_t)bytes, cases[i].status);
	}
}

static bool is(struct span span, const char *text)
{
	return span.bytes == strlen(text) &&
	       (span.bytes == 0 || memcmp(span.base, text, span.bytes) == 0);
}

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
	const struct http1_fed *fed = feed(complex_post);
	const struct http1_request *request = &fed->request;

	CU_ASSERT_EQUAL_FATAL(fed->status, HTTP1_OK);
	CU_ASSERT_EQUAL(fed->head_bytes, (size_t)(strchr(complex_post, '{') - complex_post));
	CU_ASSERT_EQUAL(request->method, HTTP1_POST);
	CU_ASSERT_EQUAL(request->form, HTTP1_ORIGIN);
	CU_ASSERT_EQUAL(request->minor, 1);
	CU_ASSERT(is(request->target, "/api/todos") && is(request->path, "/api/todos"));
	CU_ASSERT(is(request->query, "") && is(request->host, "localhost:8080"));
	CU_ASSERT(request->framing.has_length && request->framing.length_bytes == 27);
	CU_ASSERT(!request->framing.chunked && request->framing.keep_alive);
	CU_ASSERT(!request->expects_continue);
	CU_ASSERT_EQUAL_FATAL(request->field_count, 7);
	CU_ASSERT(is(request->fields[4].name, "Accept-Encoding"));
	CU_ASSERT(is(request->fields[4].value, "gzip, deflate"));
	CU_ASSERT(is(request->fields[1].name, "Content-Type"));
	CU_ASSERT(is(request->fields[1].value, "application/json"));
}

static void reads_a_second_head_behind_the_first(void)
{
	static const char text[] = LINE HOST END "HEAD /b HTTP/1.0\r\n\r\n";
	const struct http1_fed *fed = feed(text);
	struct http1_scan scan = {0};
	struct http1_request next;
	size_t first = fed->head_bytes, second;

	CU_ASSERT_EQUAL_FATAL(fed->status, HTTP1_OK);
	CU_ASSERT_EQUAL(first, strlen(LINE HOST END));
	CU_ASSERT_EQUAL(http1_parse_request((const uint8_t *)text + first, strlen(text) - first,
					    &http1_feed_limits, &scan, &next, &second),
			HTTP1_OK);
	CU_ASSERT_EQUAL(second, strlen(text) - first);
	CU_ASSERT(next.method == HTTP1_HEAD && next.minor == 0 && is(next.path, "/b"));
	CU_ASSERT(!next.framing.keep_alive && next.field_count == 0);
}

static void knows_methods(void)
{
	static const struct verdict wrong[] = {
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
		CU_ASSERT_EQUAL(feed(text)->request.method, i);
		judge(text, strlen(text), HTTP1_OK);
	}
	judge_all(wrong, COUNT(wrong));
}

static void knows_versions(void)
{
	static const struct verdict cases[] = {
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

	judge_all(cases, COUNT(cases));
}

static void passes_over_one_empty_line(void)
{
	static const struct verdict cases[] = {
		{"\r\n" LINE HOST END, HTTP1_OK},
		{"\r\n\r\n" LINE HOST END, HTTP1_BAD_LINE},
		{"\n" LINE HOST END, HTTP1_BAD_LINE},
		{"\r" LINE HOST END, HTTP1_BAD_LINE},
		{"\r", HTTP1_MORE},
		{"\r\n", HTTP1_MORE},
	};

	judge_all(cases, COUNT(cases));
	CU_ASSERT_EQUAL(feed(cases[0].text)->head_bytes, strlen(cases[0].text));
}

static const struct {
	const char *line, *path, *query, *host; /* path NULL: 400 */
	enum http1_form form;
} targets[] = {
	{"GET /", "/", "", "a", HTTP1_ORIGIN},
	{"GET /a/../b", "/a/../b", "", "a", HTTP1_ORIGIN},
	{"GET /a?b?c", "/a", "b?c", "a", HTTP1_ORIGIN},
	{"GET /?", "/", "", "a", HTTP1_ORIGIN},
	{"GET /%41%c3%BC?%zz", "/%41%c3%BC", "%zz", "a", HTTP1_ORIGIN},
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
			judge(text, strlen(text), HTTP1_BAD_LINE);
			continue;
		}
		judge(text, strlen(text), HTTP1_OK);
		fed = feed(text);
		CU_ASSERT(is(fed->request.path, targets[i].path));
		CU_ASSERT(is(fed->request.query, targets[i].query));
		CU_ASSERT(is(fed->request.host, targets[i].host));
		CU_ASSERT_EQUAL(fed->request.form, targets[i].form);
	}
}

static void demands_one_host(void)
{
	static const struct verdict cases[] = {
		{LINE END, HTTP1_BAD_HOST},
		{LINE "Hos: a\r\nHosts: b\r\nHoss: c\r\n" END, HTTP1_BAD_HOST},
		{LINE HOST HOST, HTTP1_BAD_HOST},
		{LINE "host: a\r\nHOST: b\r\n", HTTP1_BAD_HOST},
		{"GET / HTTP/1.0\r\n" HOST HOST, HTTP1_BAD_HOST},
		{"GET / HTTP/1.0\r\nHost: a b\r\n", HTTP1_BAD_HOST},
		{"GET http://b/ HTTP/1.1\r\n" END, HTTP1_BAD_HOST},
	};
	static const struct verdict values[] = {
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
	static const struct verdict right[] = {
		{LINE "HOST: a.example:8080\r\n" END, HTTP1_OK},
		{LINE "Host: a:65535\r\n" END, HTTP1_OK},
		{LINE "Host: [::ffff:1.2.3.4]:65535\r\n" END, HTTP1_OK},
		{LINE "Host:  127.0.0.1:80 \r\n" END, HTTP1_OK},
		{LINE "Host:[2001:db8::1]:80\r\n" END, HTTP1_OK},
		{LINE "Host: a:\r\n" END, HTTP1_OK},
		{LINE "Host: %61_~x\r\n" END, HTTP1_OK},
		{"GET / HTTP/1.0\r\n" END, HTTP1_OK},
	};

	judge_all(cases, COUNT(cases));
	judge_all(right, COUNT(right));
	for (size_t i = 0; i < COUNT(values); i++) {
		char text[100];

		snprintf(text, sizeof(text), LINE "Host:%s\r\n" END, values[i].text);
		judge(text, strlen(text), values[i].status);
	}
}

static void takes_field_lines_as_they_must_be(void)
{
	static const struct verdict cases[] = {
		{LINE HOST "A:\r\n" END, HTTP1_OK},
		{LINE HOST "A: \t b\x80\xFF c \t\r\n" END, HTTP1_OK},
		{LINE HOST "!#$%&'*+-.^_`|~09azAZ: x\r\n" END, HTTP1_OK},
		{LINE HOST "A:::\r\n" END, HTTP1_OK},
		{LINE HOST "A : b", HTTP1_BAD_FIELD},
		{LINE HOST "A\t: b", HTTP1_BAD_FIELD},
		{LINE HOST " A: b", HTTP1_BAD_FIELD},
		{LINE " A: b", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\r\n c\r\n", HTTP1_BAD_FIELD}, /* obs-fold */
		{LINE HOST "A: b\r\n\tc\r\n", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\r\n \r\n", HTTP1_BAD_FIELD},
		{LINE HOST ": b", HTTP1_BAD_FIELD},
		{LINE HOST "A\r\n", HTTP1_BAD_FIELD},
		{LINE HOST "A b: c", HTTP1_BAD_FIELD},
		{LINE HOST "A(: c", HTTP1_BAD_FIELD},
		{LINE HOST "A\x80: c", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\n", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\rc\r\n", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\r\r\n", HTTP1_BAD_FIELD},
		{LINE HOST "A: \x7F", HTTP1_BAD_FIELD},
		{LINE HOST "A: \x0B", HTTP1_BAD_FIELD},
		{LINE HOST "\n", HTTP1_BAD_FIELD},
		{LINE HOST "\r\r", HTTP1_BAD_FIELD},
		{LINE HOST "A: b\r", HTTP1_MORE},
		{LINE HOST "\r", HTTP1_MORE},
	};
	static const char nul_in_name[] = LINE "A\0: b", nul_in_value[] = LINE "A: b\0";
	static const char nul_in_target[] = "GET /\0";
	const struct http1_fed *fed;

	judge_all(cases, COUNT(cases));
	judge(nul_in_name, sizeof(nul_in_name) - 1, HTTP1_BAD_FIELD);
	judge(nul_in_value, sizeof(nul_in_value) - 1, HTTP1_BAD_FIELD);
	judge(nul_in_target, sizeof(nul_in_target) - 1, HTTP1_BAD_LINE);
	fed = feed(cases[1].text);
	CU_ASSERT(is(fed->request.fields[1].value, "b\x80\xFF c"));
}

/* Every byte at every place of a head: those that may stand there are known to the grammar. */
static void refuses_control_bytes_everywhere(void)
{
	static const char text[] = LINE "Host: a\r\nName: value\r\n" END;

	for (size_t place = 0; place < sizeof(text) - 1; place++) {
		for (int c = 0; c < 0x20; c++) {
			char changed[sizeof(text)];
			struct http1_fed fed = {0};
			bool is_space_or_same;

			memcpy(changed, text, sizeof(text));
			is_space_or_same = changed[place] == c || c == '\t';
			changed[place] = (char)c;
			http1_feed_request((const uint8_t *)changed, sizeof(text) - 1,
					   &http1_feed_limits, &fed);
			if (!is_space_or_same)
				CU_ASSERT(fed.status > HTTP1_MORE);
		}
	}
}

static void takes_content_length_as_digits_alone(void)
{
	static const struct verdict cases[] = {
		{" 0", HTTP1_OK},
		{"5 ", HTTP1_OK},
		{" 010", HTTP1_OK},
		{"9223372036854775807", HTTP1_OK},
		{"9223372036854775808", HTTP1_BAD_FRAMING},
		{"18446744073709551616", HTTP1_BAD_FRAMING},
		{"00000000000000000005", HTTP1_BAD_FRAMING},
		{"", HTTP1_BAD_FRAMING},
		{"+1", HTTP1_BAD_FRAMING},
		{"-1", HTTP1_BAD_FRAMING},
		{"0x10", HTTP1_BAD_FRAMING},
		{"1_0", HTTP1_BAD_FRAMING},
		{"1 0", HTTP1_BAD_FRAMING},
		{"1Z", HTTP1_BAD_FRAMING},
		{"5, 5", HTTP1_BAD_FRAMING},
		{"5,", HTTP1_BAD_FRAMING},
		{"1.0", HTTP1_BAD_FRAMING},
		{"\"5\"", HTTP1_BAD_FRAMING},
		{"5;", HTTP1_BAD_FRAMING},
		{"\t5", HTTP1_BAD_FRAMING},
		{"5\t", HTTP1_BAD_FRAMING},
		{" \t 5", HTTP1_BAD_FRAMING},
		{"5 \t ", HTTP1_BAD_FRAMING},
		{"\t", HTTP1_BAD_FRAMING},
	};
	static const struct verdict twice[] = {
		{LINE "Content-Length: 5\r\ncontent-length: 5\r\n", HTTP1_BAD_FRAMING},
		{LINE "Content-Length: 5\r\nContent-Length: 6\r\n", HTTP1_BAD_FRAMING},
		{LINE "Content-Length: 5\r\n\r\n", HTTP1_BAD_HOST},
	};

	judge_values("CONTENT-length", cases, COUNT(cases));
	judge_all(twice, COUNT(twice));
	CU_ASSERT_EQUAL(feed(LINE HOST "Content-Length: 9223372036854775807\r\n" END)
				->request.framing.length_bytes,
			INT64_MAX);
	CU_ASSERT_FALSE(feed(LINE HOST END)->request.framing.has_length);
}

static void takes_transfer_encoding_as_chunked_alone(void)
{
	static const struct verdict cases[] = {
		{"chunked", HTTP1_OK},
		{"  Chunked ", HTTP1_OK},
		{"\tchunked", HTTP1_BAD_FRAMING},
		{"chunked\t", HTTP1_BAD_FRAMING},
		{"chunked \t ", HTTP1_BAD_FRAMING},
		{"gzip\t", HTTP1_CODING_UNKNOWN},
		{"", HTTP1_BAD_FRAMING},
		{"xchunked", HTTP1_CODING_UNKNOWN},
		{"identity", HTTP1_CODING_UNKNOWN},
		{"gzip, chunked", HTTP1_CODING_UNKNOWN},
		{"chunked, cow", HTTP1_CODING_UNKNOWN},
		{"chunked, chunked", HTTP1_BAD_FRAMING},
		{",chunked", HTTP1_BAD_FRAMING},
		{"chunked,", HTTP1_BAD_FRAMING},
		{"chunked;a=b", HTTP1_BAD_FRAMING},
		{"chunked chunked", HTTP1_BAD_FRAMING},
		{"\"chunked\"", HTTP1_BAD_FRAMING},
		{"chunked\x0B", HTTP1_BAD_FIELD},
	};
	static const struct verdict wholes[] = {
		{LINE "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
		 HTTP1_BAD_FRAMING},
		{LINE "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", HTTP1_BAD_FRAMING},
		{LINE "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", HTTP1_BAD_FRAMING},
		{LINE "Content-Length: 5\r\nTransfer-Encoding: gzip\r\n", HTTP1_BAD_FRAMING},
		{"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n", HTTP1_BAD_FRAMING},
		{LINE HOST "Transfer_Encoding: cow\r\n" END, HTTP1_OK},
	};

	judge_values("transfer-ENCODING", cases, COUNT(cases));
	judge_all(wholes, COUNT(wholes));
	CU_ASSERT(feed(LINE HOST "Transfer-Encoding: chunked\r\n" END)->request.framing.chunked);
}

static void keeps_alive_as_told(void)
{
	static const struct {
		const char *value;
		bool by_1_1, by_1_0;
	} cases[] = {
		{"", true, false},
		{"close", false, false},
		{"CLOSE", false, false},
		{"Keep-Alive", true, true},
		{"upgrade, keep-alive", true, true},
		{"keep-alive , close", false, false},
		{",,close,", false, false},
		{"closed", true, false},
		{"x-close", true, false},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[200];

		snprintf(text, sizeof(text), LINE HOST "Connection: %s\r\n" END, cases[i].value);
		CU_ASSERT_EQUAL(feed(text)->request.framing.keep_alive, cases[i].by_1_1);
		text[strlen("GET / HTTP/1.")] = '0';
		CU_ASSERT_EQUAL(feed(text)->request.framing.keep_alive, cases[i].by_1_0);
	}
	CU_ASSERT_FALSE(feed(LINE HOST "Connection: keep-alive\r\nconnection: close\r\n" END)
				->request.framing.keep_alive);
}

static void knows_what_is_expected(void)
{
	static const struct verdict cases[] = {
		{LINE "Expect: 200-ok\r\n", HTTP1_EXPECTATION},
		{LINE "Expect:\r\n", HTTP1_EXPECTATION},
		{LINE "Expect: 100-continue, 100-continue\r\n", HTTP1_EXPECTATION},
		{LINE "Expect: 100-continue\r\nEXPECT: 100-continue\r\n", HTTP1_BAD_FIELD},
		{"GET / HTTP/1.0\r\nExpect: 200-ok\r\n" END, HTTP1_OK},
		{"GET / HTTP/1.0\r\nExpect: 200-ok\r\nExpect: a\r\n", HTTP1_BAD_FIELD},
	};

	judge_all(cases, COUNT(cases));
	CU_ASSERT(feed(LINE HOST "Expect: 100-Continue\r\n" END)->request.expects_continue);
	CU_ASSERT_FALSE(
		feed("GET / HTTP/1.0\r\nExpect: 100-continue\r\n" END)->request.expects_continue);
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
	{"known methods are read, others answered with 501 or 400 by the byte that tells",
	 knows_methods},
	{"HTTP/1.0 and HTTP/1.1 are spoken, other versions are 505, other words 400",
	 knows_versions},
	{"one empty line before a request is passed over", passes_over_one_empty_line},
	{"targets are split in their four forms, each where it belongs", splits_targets},
	{"a request of HTTP/1.1 has exactly one good Host", demands_one_host},
	{"field lines are taken as the grammar has them and in no other way",
	 takes_field_lines_as_they_must_be},
	{"a control byte is refused at every place", refuses_control_bytes_everywhere},
	{"Content-Length is digits alone, once, within 63 bits",
	 takes_content_length_as_digits_alone},
	{"Transfer-Encoding is chunked alone, once, and not beside a length",
	 takes_transfer_encoding_as_chunked_alone},
	{"Connection decides what follows, or else the version", keeps_alive_as_told},
	{"100-continue is expected by HTTP/1.1 alone", knows_what_is_expected},
	{"line, head and number of fields are bounded to the byte", bounds_what_it_reads},
	{"an incomplete head is kept by where its line begins and how far it was looked at",
	 remembers_how_far_it_looked},
	{"mutated heads come to the same at every split and with every scan", survives_mutations},
};

SUITE_MAIN("http1", tests)
