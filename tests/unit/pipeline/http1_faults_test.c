/* Requests that are wrong: what stood before them is answered, then the error, then the end. */
#include "dataplane/core/limits.h"
#include "tests/support/suite.h"
#include "tests/unit/pipeline/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST "Host: a\r\n"
#define GET "GET / HTTP/1.1\r\n" HOST "\r\n"
#define POST "POST /echo HTTP/1.1\r\n" HOST
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"

static struct talk talk;

struct fault {
	const char *request;
	unsigned code;
};

/* The answer must be the one to a good request, and then an error of this code and the end. */
static void expect_fault(const struct fault *fault)
{
	struct server_config config = talk_config("coalesce");
	char status[32];
	const char *error;

	config.body_max = 1000;
	talk_open(&talk, &config);
	talk_say(&talk, GET);
	talk_say(&talk, fault->request);
	CU_ASSERT_EQUAL(strncmp(talk.heard, TALK_FIVE, strlen(TALK_FIVE)), 0);
	error = talk.heard + strlen(TALK_FIVE);
	snprintf(status, sizeof(status), "HTTP/1.1 %u ", fault->code);
	if (strncmp(error, status, strlen(status)) != 0) {
		printf("# '%.200s' got '%.60s'\n", fault->request, error);
		CU_FAIL("wrong code");
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "\r\nConnection: close\r\n"));
	CU_ASSERT_PTR_NULL(strstr(error + 1, "HTTP/1.1"));
	CU_ASSERT_TRUE(talk.end->finished);
	CU_ASSERT_EQUAL(talk_counters(&talk)->errors, 1);
	talk_close(&talk);
}

/* It has nobody who reads its body, and what follows it is another answer's. */
static void refused_head_has_no_body(void)
{
	struct server_config config = talk_config("coalesce");
	const char *end;

	config.body_max = 1000;
	talk_open(&talk, &config);
	talk_say(&talk, "HEAD / HTTP/1.1\r\n" HOST "Content-Length: 1001\r\n\r\n");
	CU_ASSERT_EQUAL(strncmp(talk.heard, "HTTP/1.1 413 ", 13), 0);
	end = strstr(talk.heard, "\r\n\r\n");
	CU_ASSERT_TRUE(end && end[4] == '\0');
	talk_close(&talk);
	talk_open(&talk, &config);
	talk_say(&talk, "HEAD / HTTP/1.1\r\n" HOST "\r\n");
	talk.heard_bytes = 0;
	talk_say(&talk, "BREW / HTTP/1.1\r\n" HOST "\r\n");
	end = strstr(talk.heard, "\r\n\r\n");
	CU_ASSERT_TRUE(end && end[4] != '\0');
	talk_close(&talk);
}

static void expect_faults(const struct fault *faults, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		expect_fault(&faults[i]);
}

#define EXPECT(faults) expect_faults(faults, sizeof(faults) / sizeof((faults)[0]))

static void ambiguous_framing_is_refused(void)
{
	static const struct fault faults[] = {
		{POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" GET, 400},
		{POST "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd" GET, 400},
		{POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc" GET, 400},
		{POST "Content-Length: 3, 3\r\n\r\nabc" GET, 400},
		{POST "Content-Length: +3\r\n\r\nabc" GET, 400},
		{POST "Content-Length: -3\r\n\r\nabc" GET, 400},
		{POST "Content-Length: 0x3\r\n\r\nabc" GET, 400},
		{POST "Content-Length: 3 3\r\n\r\nabc" GET, 400},
		{POST "Content-Length:\r\n\r\nabc" GET, 400},
		{POST "Content-Length: 99999999999999999999\r\n\r\nabc" GET, 400},
		{POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" GET, 400},
		{POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" GET, 501},
		{"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" GET, 400},
	};

	EXPECT(faults);
}

static void malformed_lines_are_refused(void)
{
	static const struct fault faults[] = {
		{"GET / HTTP/1.1\r\nHost : a\r\n\r\n" GET, 400},
		{"GET / HTTP/1.1\r\n Host: a\r\n\r\n" GET, 400},
		{"GET / HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n" GET, 400},
		{"GET / HTTP/1.1\r\n" HOST "no colon\r\n\r\n" GET, 400},
		{"GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n" GET, 400},
		{"GET / HTTP/1.1\n" HOST "\r\n" GET, 400},
		{"GET / HTTP/1.1\r\n" HOST "A: b\rc\r\n\r\n" GET, 400},
		{"GET / HTTP/1.1\r\n\r\n" GET, 400},
		{"GET / HTTP/1.1\r\n" HOST HOST "\r\n" GET, 400},
		{"GET / HTTP/1.32\r\n" HOST "\r\n" GET, 505},
		{"GET / HTTP/9.9\r\n" HOST "\r\n" GET, 505},
		{"GET /\r\n\r\n" GET, 400},
		{"G=\" / HTTP/1.1\r\n" HOST "\r\n" GET, 400},
		{"BREW / HTTP/1.1\r\n" HOST "\r\n" GET, 501},
		{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n" GET, 400},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" GET, 501},
	};

	EXPECT(faults);
}

static void malformed_chunks_are_refused(void)
{
	static const struct fault faults[] = {
		{CHUNKED "0x5\r\nabcde\r\n0\r\n\r\n" GET, 400},
		{CHUNKED "-1\r\nabcde\r\n0\r\n\r\n" GET, 400},
		{CHUNKED "\r\nabcde\r\n0\r\n\r\n" GET, 400},
		{CHUNKED "11111111111111111\r\nabcde\r\n0\r\n\r\n" GET, 400},
		{CHUNKED "5 \r\nabcde\r\n0\r\n\r\n" GET, 400},
		{CHUNKED "5\nabcde\r\n0\r\n\r\n" GET, 400},
	};

	EXPECT(faults);
}

static void too_much_is_refused(void)
{
	static char line[HTTP1_LINE_BYTES + 64], field[HTTP1_HEAD_BYTES + 64], many[4096];
	struct fault faults[] = {
		{line, 414},
		{field, 431},
		{many, 431},
		{POST "Content-Length: 1001\r\n\r\n", 413},
	};
	int at;

	at = snprintf(line, sizeof(line), "GET /");
	memset(line + at, 'x', HTTP1_LINE_BYTES + 1);
	at = snprintf(field, sizeof(field), "GET / HTTP/1.1\r\nA: ");
	memset(field + at, 'x', HTTP1_HEAD_BYTES);
	at = snprintf(many, sizeof(many), "GET / HTTP/1.1\r\n" HOST);
	for (unsigned i = 0; i < HTTP1_FIELDS_MAX; i++)
		at += snprintf(many + at, sizeof(many) - (size_t)at, "A: b\r\n");
	snprintf(many + at, sizeof(many) - (size_t)at, "\r\n");
	EXPECT(faults);
}

/* A body that is found wrong when a part of it is echoed already can only be reset. */
static void expect_reset(const char *request)
{
	struct server_config config = talk_config("coalesce");

	config.body_max = 1000;
	talk_open(&talk, &config);
	talk_say(&talk, request);
	CU_ASSERT_TRUE(talk.end->closed);
	CU_ASSERT_EQUAL(talk.end->reason, TP_RESET);
	CU_ASSERT_EQUAL(talk_counters(&talk)->responses, 0);
	talk_close(&talk);
}

static void fault_within_a_response_resets(void)
{
	expect_reset(CHUNKED "5\r\nabcde5\r\n" GET);
	expect_reset(CHUNKED "5\r\nabcde\r\nx\r\n" GET);
	expect_reset(CHUNKED "5\r\nabcde\r\n3e4\r\n");
	expect_reset(CHUNKED "5\r\nabcde\r\n0\r\nbad trailer\r\n\r\n" GET);
}

static void chunks_over_the_bound_are_refused(void)
{
	static const struct fault faults[] = {
		{CHUNKED "3e9\r\n", 413},
		{"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n3e8\r\n",
		 413},
	};

	EXPECT(faults);
}

static void body_ends_where_it_says(void)
{
	CU_ASSERT_TRUE(talk_answers(&talk,
				    "POST / HTTP/1.1\r\n" HOST "Content-Length: 27\r\n\r\n" GET GET,
				    TALK_FIVE TALK_FIVE));
	CU_ASSERT_EQUAL(strlen(GET), 27);
}

static void cut_requests_are_counted(void)
{
	static const char post[] = POST "Content-Length: 3\r\n\r\nabc";
	struct server_config config = talk_config("coalesce");

	for (size_t cut = 1; cut < sizeof(post) - 1; cut++) {
		talk_open(&talk, &config);
		talk_send(&talk, post, cut);
		tp_finish(talk.bench.client_tp, talk.end->conn);
		talk_listen(&talk);
		CU_ASSERT_TRUE(talk.end->closed);
		CU_ASSERT_EQUAL(talk_counters(&talk)->cut_short, 1);
		CU_ASSERT_EQUAL(talk_counters(&talk)->responses, 0);
		CU_ASSERT_TRUE(server_idle(talk.bench.server));
		talk_close(&talk);
	}
}

static const struct suite_test tests[] = {
	{"ambiguous framing is refused, and nothing behind it served",
	 ambiguous_framing_is_refused},
	{"malformed lines are refused", malformed_lines_are_refused},
	{"malformed chunks are refused", malformed_chunks_are_refused},
	{"what is too long, too large or too many is refused", too_much_is_refused},
	{"a fault behind the beginning of the response resets", fault_within_a_response_resets},
	{"chunks over the bound are refused", chunks_over_the_bound_are_refused},
	{"a refused HEAD has no body, and an error behind a HEAD has its text",
	 refused_head_has_no_body},
	{"a body ends where it says, whatever it holds", body_ends_where_it_says},
	{"a request cut short by its peer is counted, wherever it is cut",
	 cut_requests_are_counted},
};

SUITE_MAIN("http1_faults", tests)
