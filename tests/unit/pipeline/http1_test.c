/* What HTTP/1.1 makes of the pipeline: bodies both ways, order, splits, writes, ends. */
#include "dataplane/core/limits.h"
#include "tests/support/suite.h"
#include "tests/unit/pipeline/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

static struct talk talk;

static void simple_requests_are_answered(void)
{
	CU_ASSERT_TRUE(talk_answers(&talk, GET, TALK_FIVE));
	CU_ASSERT_TRUE(talk_answers(&talk, GET GET, TALK_FIVE TALK_FIVE));
	CU_ASSERT_TRUE(talk_answers(&talk, "GET http://a/get?x=1 HTTP/1.1\r\nHost: a\r\n\r\n",
				    OK "Content-Length: 3\r\n\r\nZZZ"));
	CU_ASSERT_TRUE(talk_answers(&talk, "DELETE /spin HTTP/1.1\r\nHost: a\r\n\r\n", TALK_FIVE));
	CU_ASSERT_TRUE(talk_answers(
		&talk, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody" GET,
		OK "Content-Length: 4\r\n\r\nbody" TALK_FIVE));
	CU_ASSERT_TRUE(talk_answers(&talk, "PUT /echo HTTP/1.1\r\nHost: a\r\n\r\n" GET,
				    OK "Content-Length: 0\r\n\r\n" TALK_FIVE));
	CU_ASSERT_TRUE(talk_answers(
		&talk, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody" GET,
		TALK_FIVE TALK_FIVE));
}

static void chunks_go_both_ways(void)
{
	CU_ASSERT_TRUE(
		talk_answers(&talk,
			     "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
			     "3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: dropped\r\n\r\n" GET,
			     OK "Transfer-Encoding: chunked\r\n\r\n"
				"0003\r\nabc\r\n0001\r\nd\r\n0\r\n\r\n" TALK_FIVE));
	CU_ASSERT_TRUE(talk_answers(
		&talk,
		"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" GET,
		OK "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" TALK_FIVE));
	CU_ASSERT_TRUE(
		talk_answers(&talk,
			     "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
			     "3\r\nabc\r\n0\r\n\r\n" GET,
			     TALK_FIVE TALK_FIVE));
}

static void head_gets_the_head_alone(void)
{
	CU_ASSERT_TRUE(talk_answers(&talk, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" GET,
				    OK "Content-Length: 5\r\n\r\n" TALK_FIVE));
	CU_ASSERT_TRUE(talk_answers(
		&talk, "HEAD /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody" GET,
		OK "Content-Length: 4\r\n\r\n" TALK_FIVE));
	CU_ASSERT_TRUE(
		talk_answers(&talk,
			     "HEAD /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
			     "1\r\na\r\n0\r\n\r\n" GET,
			     OK "Transfer-Encoding: chunked\r\n\r\n" TALK_FIVE));
}

/* Says it on a connection of its own, which has to be ended by the server behind the answer. */
static void expect_last(const char *request, const char *answer)
{
	struct server_config config = talk_config("immediate");

	talk_open(&talk, &config);
	talk_say(&talk, request);
	CU_ASSERT_TRUE(talk_heard(&talk, answer));
	CU_ASSERT_TRUE(talk.end->finished);
	tp_finish(talk.bench.client_tp, talk.end->conn);
	talk_listen(&talk);
	CU_ASSERT_TRUE(talk.end->closed);
	CU_ASSERT_EQUAL(talk.end->reason, TP_DONE);
	CU_ASSERT_TRUE(server_idle(talk.bench.server));
	talk_close(&talk);
}

static void close_is_asked_for(void)
{
	static const char closing[] = OK "Content-Length: 5\r\nConnection: close\r\n\r\nZZZZZ";

	expect_last("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" GET, closing);
	expect_last("GET / HTTP/1.0\r\n\r\n" GET, closing);
	expect_last("POST / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n"
		    "Content-Length: 3\r\n\r\nabc" GET,
		    closing);
}

static void http_1_0_is_kept_alive_if_asked(void)
{
	CU_ASSERT_TRUE(talk_answers(
		&talk, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" GET,
		OK "Content-Length: 5\r\nConnection: keep-alive\r\n\r\nZZZZZ" TALK_FIVE));
}

static void own_methods_are_answered(void)
{
	static const char allow[] = "Allow: GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS\r\n";
	char answer[512];

	snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n%s\r\n%s", allow,
		 TALK_FIVE);
	CU_ASSERT_TRUE(talk_answers(&talk, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n" GET, answer));
	snprintf(answer, sizeof(answer),
		 "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n%s\r\n%s", allow,
		 TALK_FIVE);
	CU_ASSERT_TRUE(talk_answers(&talk, "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n" GET, answer));
	CU_ASSERT_TRUE(talk_answers(&talk, "OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n", TALK_FIVE));
	expect_last(
		"CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n" GET,
		"HTTP/1.1 501 Not Implemented\r\nContent-Type: text/plain\r\n"
		"Content-Length: 30\r\nConnection: close\r\n\r\nCONNECT is not for this server");
}

static void no_route_is_404(void)
{
	static const struct route get = {
		.path = "/x", .methods = 1 << HTTP1_GET, .handler = "echo"};
	struct server_config config = talk_config("coalesce");

	config.routes = &get;
	config.route_count = 1;
	talk_open(&talk, &config);
	talk_say(&talk, "GET /y HTTP/1.1\r\nHost: a\r\n\r\n");
	CU_ASSERT_TRUE(talk_heard(&talk, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n"
					 "Content-Length: 20\r\n\r\nno route leads there"));
	talk_say(&talk, "HEAD /y HTTP/1.1\r\nHost: a\r\n\r\n");
	CU_ASSERT_TRUE(talk_heard(&talk, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n"
					 "Content-Length: 20\r\n\r\n"));
	talk_say(&talk, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
	CU_ASSERT_TRUE(talk_heard(&talk, "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n"
					 "Allow: GET\r\n\r\n"));
	CU_ASSERT_EQUAL(talk_counters(&talk)->responses, 3);
	talk_close(&talk);
}

static void expectation_is_met_before_the_wait(void)
{
	static const char head[] = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
				   "Expect: 100-continue\r\n\r\n";
	static const char answer[] = OK "Content-Length: 3\r\n\r\nabc";
	struct server_config config = talk_config("coalesce");
	char text[256];

	talk_open(&talk, &config);
	talk_say(&talk, head);
	CU_ASSERT_TRUE(talk_heard(&talk, "HTTP/1.1 100 Continue\r\n\r\n"));
	talk_say(&talk, "a");
	CU_ASSERT_TRUE(talk_heard(&talk, ""));
	talk_say(&talk, "bc");
	CU_ASSERT_TRUE(talk_heard(&talk, answer));
	/* nothing is said to a peer that did not wait */
	snprintf(text, sizeof(text), "%sabc", head);
	talk_say(&talk, text);
	CU_ASSERT_TRUE(talk_heard(&talk, answer));
	snprintf(text, sizeof(text), "%sa", head);
	talk_say(&talk, text);
	CU_ASSERT_TRUE(talk_heard(&talk, ""));
	talk_say(&talk, "bc");
	CU_ASSERT_TRUE(talk_heard(&talk, answer));
	talk_close(&talk);
}

static void expectation_is_for_chunks_too(void)
{
	struct server_config config = talk_config("coalesce");

	talk_open(&talk, &config);
	talk_say(&talk, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
			"Expect: 100-continue\r\n\r\n");
	CU_ASSERT_TRUE(talk_heard(&talk, "HTTP/1.1 100 Continue\r\n\r\n"));
	talk_say(&talk, "1\r\na\r\n");
	CU_ASSERT_TRUE(talk_heard(&talk, ""));
	talk_say(&talk, "0\r\n\r\n" GET);
	CU_ASSERT_TRUE(talk_heard(&talk, TALK_FIVE TALK_FIVE));
	talk_close(&talk);
}

static void refused_expectation_ends_the_connection(void)
{
	expect_last("TRACE / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
		    "Expect: 100-continue\r\n\r\n",
		    "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nConnection: close\r\n"
		    "Allow: GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS\r\n\r\n");
}

/* --- splits --- */

#define MIX                                                                               \
	GET "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"                                          \
	    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"            \
	    "POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx" \
	    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"            \
	    "2;e\r\nab\r\n0\r\nT: v\r\n\r\n"                                              \
	    "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n" GET GET                               \
	    "GET /get HTTP/1.1\r\nHost: a\r\n\r\n" GET "GET / HTTP/1.1\r\nBad\r\n\r\n" GET

static void every_split_gives_the_same_bytes(void)
{
	static const char mix[] = MIX;
	struct server_config config = talk_config("coalesce");
	static char whole[8192];

	talk_open(&talk, &config);
	talk_say(&talk, mix);
	memcpy(whole, talk.heard, talk.heard_bytes + 1);
	CU_ASSERT_TRUE(strstr(whole, "400 Bad Request") != NULL);
	CU_ASSERT_EQUAL(talk_counters(&talk)->responses, 10);
	CU_ASSERT_EQUAL(talk_counters(&talk)->errors, 1);
	talk_close(&talk);
	for (size_t cut = 1; cut < sizeof(mix) - 1; cut++) {
		talk_open(&talk, &config);
		talk_send(&talk, mix, cut);
		talk_send(&talk, mix + cut, sizeof(mix) - 1 - cut);
		CU_ASSERT_TRUE_FATAL(talk_heard(&talk, whole));
		talk_close(&talk);
	}
	talk_open(&talk, &config);
	for (size_t at = 0; at < sizeof(mix) - 1; at++)
		talk_send(&talk, mix + at, 1);
	CU_ASSERT_TRUE(talk_heard(&talk, whole));
	talk_close(&talk);
}

/* Says a head, then one that begins as it or ends as it does; each has an answer of its own. */
static void head_is_known_by_all_its_bytes(void)
{
	static const struct {
		const char *request, *answer;
	} heads[] = {
		{GET, TALK_FIVE},
		{"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", TALK_FIVE},
		{"GET /get HTTP/1.1\r\nHost: a\r\n\r\n", OK "Content-Length: 3\r\n\r\nZZZ"},
		{"GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
		 OK "Content-Length: 5\r\nConnection: keep-alive\r\n\r\nZZZZZ"},
		{"GET /echo HTTP/1.1\r\nHost: a\r\n\r\n", OK "Content-Length: 0\r\n\r\n"},
		{"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxy", TALK_FIVE},
	};
	enum { COUNT = sizeof(heads) / sizeof(heads[0]) };
	struct server_config config = talk_config("coalesce");

	talk_open(&talk, &config);
	for (unsigned pair = 0; pair < COUNT * COUNT; pair++) {
		unsigned order[] = {pair / COUNT, pair / COUNT, pair % COUNT, pair / COUNT};
		char requests[512] = "", answers[1024] = "";

		for (unsigned i = 0; i < 4; i++) {
			strcat(requests, heads[order[i]].request);
			strcat(answers, heads[order[i]].answer);
		}
		talk_say(&talk, requests);
		CU_ASSERT_TRUE_FATAL(talk_heard(&talk, answers));
		talk_say(&talk, heads[order[0]].request); /* and in a visit of its own */
		CU_ASSERT_TRUE_FATAL(talk_heard(&talk, heads[order[0]].answer));
	}
	CU_ASSERT_EQUAL(talk_counters(&talk)->responses, COUNT * COUNT * 5);
	talk_close(&talk);
}

static void thousand_pipelined_requests_are_answered_in_order(void)
{
	enum { COUNT = 1000, TEXT = 128 };
	struct server_config config = talk_config("coalesce");
	char *requests = malloc(COUNT * TEXT), *answers = malloc(COUNT * TEXT);
	size_t asked = 0, answered = 0, sent = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		char body[16];
		int bytes = snprintf(body, sizeof(body), "%u", i);

		asked += (size_t)sprintf(requests + asked,
					 "POST /echo HTTP/1.1\r\nHost: a\r\n"
					 "Content-Length: %d\r\n\r\n%s",
					 bytes, body);
		answered += (size_t)sprintf(answers + answered, OK "Content-Length: %d\r\n\r\n%s",
					    bytes, body);
	}
	srand(5);
	for (unsigned round = 0; round < 3; round++) {
		talk_open(&talk, &config);
		for (sent = 0; sent < asked;) {
			size_t step = 1 + (size_t)rand() % (round ? 300 : 30000);

			step = step < asked - sent ? step : asked - sent;
			talk_send(&talk, requests + sent, step);
			sent += step;
		}
		CU_ASSERT_TRUE(talk_heard(&talk, answers));
		talk_close(&talk);
	}
	free(requests);
	free(answers);
}

/* --- bodies --- */

static uint8_t *body_of(size_t bytes)
{
	uint8_t *body = malloc(bytes + 1);

	for (size_t i = 0; i < bytes; i++)
		body[i] = (uint8_t)(i * i >> 7 ^ i);
	return body;
}

/* Takes chunks apart, in place; the length of what they held, or -1. */
static long dechunk(char *text, size_t bytes)
{
	char *from = text, *to = text, *end = text + bytes;

	while (from < end) {
		char *line_end;
		size_t size = strtoul(from, &line_end, 16);

		if (line_end == from || memcmp(line_end, "\r\n", 2) != 0)
			return -1;
		from = line_end + 2;
		if (size == 0)
			return from + 2 == end && memcmp(from, "\r\n", 2) == 0 ? to - text : -1;
		if (from + size + 2 > end || memcmp(from + size, "\r\n", 2) != 0)
			return -1;
		memmove(to, from, size);
		to += size;
		from += size + 2;
	}
	return -1;
}

static void expect_body(const uint8_t *body, size_t bytes)
{
	char *at = strstr(talk.heard, "\r\n\r\n");
	size_t left;
	long got;

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	left = talk.heard_bytes - (size_t)(at + 4 - talk.heard);
	got = memmem(talk.heard, (size_t)(at - talk.heard), "chunked", 7) ? dechunk(at + 4, left)
									  : (long)left;
	CU_ASSERT_EQUAL(got, (long)bytes);
	CU_ASSERT_EQUAL(memcmp(at + 4, body, bytes), 0);
	talk.heard_bytes = 0;
}

/* Sends a body in chunks of a length that fits nothing. */
static void send_chunks(const uint8_t *body, size_t bytes)
{
	char line[16];

	for (size_t at = 0; at < bytes;) {
		size_t step = bytes - at < 7001 ? bytes - at : 7001;

		snprintf(line, sizeof(line), "%zx\r\n", step);
		talk_say(&talk, line);
		talk_send(&talk, body + at, step);
		talk_say(&talk, "\r\n");
		at += step;
	}
	talk_say(&talk, "0\r\n\r\n");
}

static void bodies_of_any_length_come_back(void)
{
	static const size_t lengths[] = {
		0, 1, 16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 64 * 1024 + 1, 100 * 1024};
	struct server_config config = talk_config("immediate");

	talk_open(&talk, &config);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint8_t *body = body_of(lengths[i]);
		char head[128];

		snprintf(head, sizeof(head),
			 "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n",
			 lengths[i]);
		talk_say(&talk, head);
		talk_send(&talk, body, lengths[i]);
		expect_body(body, lengths[i]);
		talk_say(&talk, "POST /echo HTTP/1.1\r\nHost: a\r\n"
				"Transfer-Encoding: chunked\r\n\r\n");
		send_chunks(body, lengths[i]);
		expect_body(body, lengths[i]);
		free(body);
	}
	CU_ASSERT_EQUAL(talk_counters(&talk)->responses, 2 * sizeof(lengths) / sizeof(lengths[0]));
	talk_close(&talk);
}

static void stream_to_http_1_0_is_ended_by_the_close(void)
{
	expect_last("POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
		    "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		    OK "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
		       "0003\r\nabc\r\n0\r\n\r\n");
}

/* --- delivery --- */

struct delivery_case {
	const char *policy, *request;
	unsigned depth;
	uint64_t writes;
};

/* Responses of 120 bytes: nine of them reach 1,024. */
static void writes_follow_the_policy(void)
{
	static const char post[] =
		"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nZZZZZ";
	static const struct delivery_case cases[] = {
		{"immediate", GET, 1, 1},	{"immediate", GET, 32, 32},
		{"coalesce", GET, 1, 1},	{"coalesce", GET, 32, 1},
		{"flush-at:1024", GET, 32, 4},	{"flush-at:1", GET, 32, 32},
		{"immediate", post, 32, 32},	{"coalesce", post, 32, 1},
		{"flush-at:1024", post, 32, 4},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct server_config config = talk_config(cases[i].policy);
		char requests[4096] = "";

		for (unsigned n = 0; n < cases[i].depth; n++)
			strcat(requests, cases[i].request);
		talk_open(&talk, &config);
		bench_send(&talk.bench, talk.end, (uint8_t *)requests, strlen(requests));
		bench_turn(&talk.bench);
		CU_ASSERT_EQUAL(talk_counters(&talk)->responses, cases[i].depth);
		CU_ASSERT_EQUAL(bench_counters(&talk.bench).writes, cases[i].writes);
		talk_close(&talk);
	}
}

static void reader_that_never_reads_is_held(void)
{
	static const char request[] = "GET /big HTTP/1.1\r\nHost: a\r\n\r\n";
	struct server_config config = talk_config("coalesce");
	uint64_t committed;

	talk_open(&talk, &config);
	bench_send(&talk.bench, talk.end, (const uint8_t *)request, sizeof(request) - 1);
	for (unsigned i = 0; i < 20; i++)
		bench_turn(&talk.bench);
	committed = bench_counters(&talk.bench).written_bytes;
	CU_ASSERT_TRUE(committed <= 2 * 64 * 1024);
	CU_ASSERT_TRUE(talk_counters(&talk)->stalls > 0);
	CU_ASSERT_EQUAL(talk_counters(&talk)->responses, 0);
	talk_listen(&talk);
	CU_ASSERT_EQUAL(talk_counters(&talk)->responses, 1);
	CU_ASSERT_TRUE(talk.heard_bytes > 300000);
	talk_close(&talk);
}

static void draining_answers_and_says_close(void)
{
	struct server_config config = talk_config("coalesce");

	talk_open(&talk, &config);
	bench_send(&talk.bench, talk.end, (const uint8_t *)GET GET, 2 * strlen(GET));
	server_drain(talk.bench.server);
	talk_listen(&talk);
	CU_ASSERT_TRUE(talk_heard(&talk, TALK_FIVE OK
				  "Content-Length: 5\r\nConnection: close\r\n\r\nZZZZZ"));
	CU_ASSERT_TRUE(talk.end->finished);
	talk_close(&talk);
}

static void owning_parser_answers_alike(void)
{
	struct server_config config = talk_config("coalesce");

	config.parser = &http1_parser_owned;
	talk_open(&talk, &config);
	talk_say(&talk, GET GET "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" GET);
	CU_ASSERT_TRUE(talk_heard(&talk, TALK_FIVE TALK_FIVE TALK_FIVE TALK_FIVE));
	/* every head is paid for, also a known one: its target, and the parts of each field */
	CU_ASSERT_TRUE(talk_counters(&talk)->parser_allocations >= 3 * 3 + 5);
	talk_close(&talk);
}

static const struct suite_test tests[] = {
	{"requests are answered by the handler of their route", simple_requests_are_answered},
	{"chunks are taken and sent, and trailers dropped", chunks_go_both_ways},
	{"HEAD gets the head alone", head_gets_the_head_alone},
	{"the connection ends behind the answer when that was asked for", close_is_asked_for},
	{"HTTP/1.0 is kept alive only if it asks", http_1_0_is_kept_alive_if_asked},
	{"OPTIONS *, TRACE and CONNECT are the server's own", own_methods_are_answered},
	{"what no route takes is 404 or 405", no_route_is_404},
	{"100 Continue is sent before the body is awaited, and only then",
	 expectation_is_met_before_the_wait},
	{"100 Continue is sent for chunks too", expectation_is_for_chunks_too},
	{"a refused expectation ends the connection", refused_expectation_ends_the_connection},
	{"every split of the input gives the same bytes out", every_split_gives_the_same_bytes},
	{"a head is known by all of its bytes", head_is_known_by_all_its_bytes},
	{"1,000 pipelined requests are answered in order, however they are split",
	 thousand_pipelined_requests_are_answered_in_order},
	{"bodies of any length come back the same, plain and chunked",
	 bodies_of_any_length_come_back},
	{"a stream ends with its connection when asked", stream_to_http_1_0_is_ended_by_the_close},
	{"writes follow the delivery policy, counted exactly", writes_follow_the_policy},
	{"a peer that does not read is held in bounded memory", reader_that_never_reads_is_held},
	{"draining answers what was received and says close with the last",
	 draining_answers_and_says_close},
	{"the owning parser answers alike, and its allocations are counted",
	 owning_parser_answers_alike},
};

SUITE_MAIN("http1", tests)
