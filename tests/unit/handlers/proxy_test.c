#include "dataplane/core/limits.h"
#include "dataplane/handlers/spec.h"
#include "tests/support/suite.h"
#include "tests/unit/handlers/gateway.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The client's body without its chunks' framing; "!" behind it once the last one has come. */
static const char *joined(void)
{
	static char text[256];
	const char *at = hand_body(client);
	size_t bytes = 0, chunk;

	for (; *at; at += chunk + 2) {
		chunk = strtoul(at, NULL, 16);
		at = strstr(at, "\r\n") + 2;
		if (chunk == 0) {
			text[bytes++] = strcmp(at, "\r\n") == 0 ? '!' : '?';
			break;
		}
		memcpy(text + bytes, at, chunk);
		bytes += chunk;
	}
	text[bytes] = '\0';
	return text;
}

static void answers_are_those_of_the_upstream(void)
{
	open_proxy("proxy:127.0.0.1:8001");
	hand_serve(&hand, FIRST, "respond:100000");
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 200);
	CU_ASSERT_TRUE(hand_has(client, "Content-Length: 100000\r\n"));
	CU_ASSERT_TRUE(hand_has(client, "Via: 1.1 weir\r\n"));
	CU_ASSERT_EQUAL(strlen(hand_body(client)), 100000);
	CU_ASSERT_EQUAL(strspn(hand_body(client), "Z"), 100000);
	hand_close(&hand);
}

/* Bodies of a megabyte pass through memory of 64 KiB, there and back. */
static void bodies_are_streamed_both_ways(void)
{
	enum { BODY = 700000 };
	char *body = malloc(BODY + 1), head[128];
	size_t sent = 0;

	for (size_t i = 0; i < BODY; i++)
		body[i] = (char)('a' + i * i / 3 % 26);
	body[BODY] = '\0';
	open_proxy("proxy:127.0.0.1:8001");
	hand_serve(&hand, FIRST, "echo");
	snprintf(head, sizeof(head), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %u\r\n\r\n",
		 BODY);
	hand_send(&hand, client, head);
	for (unsigned i = 0; i < 10000 && sent < BODY; i++) {
		size_t step = BODY - sent < 7001 ? BODY - sent : 7001;
		struct room rooms[2];

		if (tp_reserve(hand.client_tp, client->conn, step, rooms) > 0) {
			hand_send_bytes(&hand, client, body + sent, step);
			sent += step;
		} else {
			hand_turn(&hand);
		}
	}
	CU_ASSERT_EQUAL(status(), 200);
	hand_await(&hand, client, (size_t)(hand_body(client) - client->text) + BODY);
	CU_ASSERT_STRING_EQUAL(hand_body(client), body);
	hand_close(&hand);
	free(body);
}

static void chunked_bodies_stay_chunked(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
			   "3\r\nabc\r\n"));
	CU_ASSERT_TRUE(hand_has(upstream, "Transfer-Encoding: chunked\r\n"));
	CU_ASSERT_STRING_EQUAL(hand_body(upstream), "0003\r\nabc\r\n");
	hand_send(&hand, client, "2\r\nde\r\n0\r\nT: 1\r\n\r\n");
	turn(3);
	CU_ASSERT_STRING_EQUAL(hand_body(upstream), "0003\r\nabc\r\n0002\r\nde\r\n0\r\n\r\n");
	hand_send(&hand, upstream,
		  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nwxyz\r\n");
	CU_ASSERT_EQUAL(status(), 200);
	CU_ASSERT_TRUE(hand_has(client, "Transfer-Encoding: chunked\r\n"));
	CU_ASSERT_STRING_EQUAL(joined(), "wxyz");
	hand_send(&hand, upstream, "0\r\n\r\n");
	turn(3);
	CU_ASSERT_STRING_EQUAL(joined(), "wxyz!");
	hand_close(&hand);
}

static void fields_of_one_hop_stay_there(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET /p?q=1 HTTP/1.1\r\nHost: www.example:81\r\nX-One: 1\r\n"
			   "Connection: X-Drop, keep-alive\r\nX-Drop: 2\r\nKeep-Alive: 5\r\n"
			   "TE: trailers\r\nUpgrade: h2c\r\nProxy-Authorization: x\r\n\r\n"));
	CU_ASSERT_STRING_EQUAL(upstream->text,
			       "GET /p?q=1 HTTP/1.1\r\nHost: www.example:81\r\nX-One: 1\r\n"
			       "Via: 1.1 weir\r\n\r\n");
	hand_send(&hand, upstream,
		  "HTTP/1.1 200 Fine\r\nX-Two: 2\r\nConnection: X-Gone\r\nX-Gone: 1\r\n"
		  "Proxy-Authenticate: x\r\nKeep-Alive: 1\r\nContent-Length: 2\r\n\r\nok");
	CU_ASSERT_EQUAL(status(), 200);
	CU_ASSERT_TRUE(hand_has(client, "X-Two: 2\r\n"));
	CU_ASSERT_FALSE(hand_has(client, "X-Gone"));
	CU_ASSERT_FALSE(hand_has(client, "Proxy-"));
	CU_ASSERT_FALSE(hand_has(client, "Keep-Alive: 1"));
	CU_ASSERT_STRING_EQUAL(hand_body(client), "ok");
	hand_close(&hand);
}

/* A list of tokens knows no quoted strings: what parts it for the parser parts it here. */
static void a_quotation_mark_hides_no_named_field(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: \"x, X-Drop ,, close\r\n"
			   "X-Drop: 1\r\n\r\n"));
	CU_ASSERT_FALSE(hand_has(upstream, "X-Drop"));
	hand_send(&hand, upstream, "HTTP/1.1 204 No Content\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 204);
	turn(3);
	CU_ASSERT_TRUE(client->finished);
	hand_close(&hand);
}

static void too_many_named_fields_are_refused(void)
{
	char request[1200] = "GET / HTTP/1.1\r\nHost: a\r\nConnection: a";

	for (unsigned i = 0; i < 300; i++)
		strcat(request, ",a");
	strcat(request, "\r\n\r\n");
	open_by_hand("");
	CU_ASSERT_FALSE(ask(request));
	CU_ASSERT_EQUAL(status(), 431);
	hand_close(&hand);
}

static void absolute_form_becomes_origin_form(void)
{
	static const char *const targets[][2] = {
		{"/p?q", "/p?q"}, {"/p?", "/p?"}, {"", "/"}, {"?", "/?"}, {"?q", "/?q"}};
	char request[128], expected[128];

	for (unsigned i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET http://b.example%s HTTP/1.1\r\nHost: b.example\r\n\r\n",
			 targets[i][0]);
		snprintf(expected, sizeof(expected), "GET %s HTTP/1.1\r\nHost: b.example\r\n",
			 targets[i][1]);
		open_by_hand("");
		CU_ASSERT_TRUE(ask(request));
		CU_ASSERT_TRUE(hand_has(upstream, expected));
		hand_close(&hand);
	}
}

/* Its route was matched by other words than those that the upstream would go by. */
static void a_path_with_parts_of_dots_is_refused(void)
{
	static const char *const targets[] = {"/a/../b", "/%2e%2E/b", "/a/..%2fb", "/a/.",
					      "http://a/b/.."};
	char request[128];

	open_by_hand("");
	for (unsigned i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: a\r\n\r\n",
			 targets[i]);
		CU_ASSERT_FALSE(ask(request));
		CU_ASSERT_EQUAL(status(), 400);
	}
	CU_ASSERT_TRUE(ask("GET /a/..b?/../ HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_close(&hand);
}

static void interim_answers_are_swallowed(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream,
		  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
	turn(3);
	CU_ASSERT_EQUAL(client->bytes, 0);
	hand_send(&hand, upstream, "HTTP/1.1 204 No Content\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 204);
	CU_ASSERT_EQUAL(strlen(hand_body(client)), 0);
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", "Connection: close\r\n"), 0);
	hand_close(&hand);
}

static void interim_answers_are_swallowed_within_a_bound(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	for (unsigned i = 0; i < 16; i++)
		hand_send(&hand, upstream, "HTTP/1.1 103 Early Hints\r\n\r\n");
	turn(3);
	CU_ASSERT_EQUAL(client->bytes, 0);
	hand_send(&hand, upstream, "HTTP/1.1 103 Early Hints\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 502);
	hand_close(&hand);
}

static void a_head_has_no_body_whatever_it_says(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 200);
	CU_ASSERT_TRUE(hand_has(client, "Content-Length: 500\r\n"));
	CU_ASSERT_EQUAL(strlen(hand_body(client)), 0);
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"x\"\r\n\r\n"));
	CU_ASSERT_EQUAL(hand.upstream_count, 1);
	hand_send(&hand, upstream, "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 304);
	CU_ASSERT_TRUE(hand_has(client, "ETag: \"x\"\r\n"));
	CU_ASSERT_EQUAL(strlen(hand_body(client)), 0);
	hand_close(&hand);
}

static void responses_may_come_in_any_pieces(void)
{
	static const char response[] = "HTTP/1.1 200 OK\r\nX: 1\r\nTransfer-Encoding: chunked\r\n"
				       "\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nT: 1\r\n\r\n";

	open_by_hand("");
	for (size_t at = 1; at < sizeof(response) - 1; at++) {
		CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
		hand_send_bytes(&hand, upstream, response, at);
		hand_send_bytes(&hand, upstream, response + at, sizeof(response) - 1 - at);
		CU_ASSERT_TRUE(hand_await_text(&hand, client, "\r\n0\r\n\r\n"));
		CU_ASSERT_STRING_EQUAL(joined(), "hello world!");
		CU_ASSERT_EQUAL(status(), 200);
	}
	CU_ASSERT_EQUAL(hand.upstream_count, 1);
	hand_close(&hand);
}

static void a_body_may_end_with_its_connection(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\n\r\nall");
	hand_send(&hand, upstream, " of it");
	hand_finish(&hand, upstream);
	CU_ASSERT_TRUE(hand_await_text(&hand, client, "0\r\n\r\n"));
	CU_ASSERT_STRING_EQUAL(joined(), "all of it!");
	CU_ASSERT_EQUAL(counters()->upstream_failures, 0);
	hand_close(&hand);
}

static void expect_cut_is_broken(const char *response, bool reset)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream, response);
	turn(3);
	if (reset)
		hand_reset(&hand, upstream);
	else
		hand_finish(&hand, upstream);
	CU_ASSERT_TRUE(was_broken());
	CU_ASSERT_EQUAL(counters()->upstream_failures, 1);
	CU_ASSERT_EQUAL(counters()->upstream_retries, 0);
	hand_close(&hand);
}

static void a_body_cut_short_is_never_a_success(void)
{
	expect_cut_is_broken("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123456789", false);
	expect_cut_is_broken("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", true);
	expect_cut_is_broken("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
			     false);
	expect_cut_is_broken("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
			     "3\r\nabc\r\n0\r\n",
			     false);
	expect_cut_is_broken("HTTP/1.1 200 OK\r\n\r\nabc", true);
	expect_cut_is_broken("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd",
			     false);
}

/* The rest of a body, the peer's end and a reset come together. */
static void what_came_before_a_reset_is_passed_on(void)
{
	static const char *const heads[] = {
		"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"};
	static const char *const bodies[] = {"hello", "hello", "5\r\nhello\r\n0\r\n\r\n"};

	for (unsigned i = 0; i < 3; i++) {
		for (unsigned together = 0; together < 2; together++) {
			open_by_hand("");
			CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
			hand_put(&hand, upstream, heads[i]);
			turn(together ? 0 : 3);
			hand_put(&hand, upstream, bodies[i]);
			hand_vanish(&hand, upstream);
			turn(3);
			CU_ASSERT_EQUAL(status(), 200);
			CU_ASSERT_STRING_EQUAL(i == 1 ? hand_body(client) : joined(),
					       i == 1 ? "hello" : "hello!");
			CU_ASSERT_EQUAL(counters()->upstream_failures, 0);
			hand_close(&hand);
		}
	}
}

/* The upstream has ended its body when it is reset, but most of it waits for the client. */
static void what_a_reset_leaves_unread_is_missed(void)
{
	char piece[8001];

	memset(piece, 'x', 8000);
	piece[8000] = '\0';
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	client->holds = true;
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\n\r\n");
	for (unsigned i = 0; i < 20; i++) {
		hand_send(&hand, upstream, piece);
		turn(2);
	}
	hand_finish(&hand, upstream);
	turn(3);
	hand_reset(&hand, upstream);
	turn(3);
	client->holds = false;
	CU_ASSERT_TRUE(was_broken());
	CU_ASSERT_PTR_NULL(strstr(client->text, "\r\n0\r\n\r\n"));
	CU_ASSERT_EQUAL(counters()->upstream_failures, 1);
	hand_close(&hand);
}

static void nonsense_is_a_bad_gateway(void)
{
	static const char *const answers[] = {
		"SMTP ready\r\n\r\n", "HTTP/1.1 99 x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\n\r\n"};

	open_by_hand("");
	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
		CU_ASSERT_EQUAL(hand.upstream_count, i + 1);
		hand_send(&hand, upstream, answers[i]);
		CU_ASSERT_EQUAL(status(), 502);
	}
	hand_close(&hand);
}

static void fields_beyond_the_bound_are_a_bad_gateway(void)
{
	enum { FIELD = 3000 };
	char *response = calloc(1, 4 * FIELD + 200);

	strcpy(response, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
	for (unsigned i = 0; i < 3; i++) {
		char *at = response + strlen(response);

		memset(at, 'x', FIELD);
		strcpy(at + FIELD, "\r\n");
		memcpy(at, "X: ", 3);
	}
	strcat(response, "\r\n");
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream, response);
	CU_ASSERT_EQUAL(status(), 502);
	hand_close(&hand);
	free(response);
}

static void what_comes_behind_a_response_is_no_other_response(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream,
		  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n"
		  "Content-Length: 6\r\n\r\nstolen");
	CU_ASSERT_EQUAL(status(), 200);
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	CU_ASSERT_EQUAL(hand.upstream_count, 2);
	turn(3);
	CU_ASSERT_EQUAL(client->bytes, 0);
	hand_close(&hand);
}

static void a_response_before_the_request_is_whole_ends_both(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"));
	hand_send(&hand, upstream, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
	CU_ASSERT_EQUAL(status(), 413);
	CU_ASSERT_STRING_EQUAL(hand_body(client), "no");
	turn(3);
	CU_ASSERT_TRUE(upstream->closed);
	hand_close(&hand);
}

static void a_client_that_leaves_takes_its_upstream_along(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_reset(&hand, client);
	turn(3);
	CU_ASSERT_TRUE(upstream->closed);
	client = hand_connect(&hand, PORT);
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 200);
	CU_ASSERT_EQUAL(counters()->upstream_failures, 0);
	hand_close(&hand);
}

/* It may read on (RFC 9112 section 9.6); the next in line waits for its answer, and no longer. */
static void a_client_that_ends_its_side_is_answered(void)
{
	struct hand_end *next;

	open_by_hand(";connections=1");
	CU_ASSERT_TRUE(ask("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_finish(&hand, client);
	next = hand_connect(&hand, PORT);
	hand_send(&hand, next, "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
	turn(3);
	CU_ASSERT_FALSE(client->finished);
	CU_ASSERT_FALSE(upstream->closed);
	hand_forget(upstream);
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	turn(3);
	CU_ASSERT_EQUAL(status(), 200);
	CU_ASSERT_TRUE(client->finished);
	CU_ASSERT_TRUE(hand_has(upstream, "GET /2 "));
	CU_ASSERT_EQUAL(hand.upstream_count, 1);
	hand_close(&hand);
}

static void a_reset_behind_its_end_is_one(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_finish(&hand, client);
	turn(3);
	CU_ASSERT_FALSE(upstream->closed);
	hand_reset(&hand, client);
	turn(3);
	CU_ASSERT_TRUE(upstream->closed);
	CU_ASSERT_EQUAL(counters()->upstream_failures, 0);
	hand_close(&hand);
}

/* Who reads nothing stops the upstream once the memories between are full. */
static void backpressure_reaches_the_upstream(void)
{
	enum { PIECE = 10000 };
	char piece[PIECE];
	struct room rooms[2];
	unsigned sent = 0;

	memset(piece, 'x', sizeof(piece));
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	client->holds = true;
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n");
	for (unsigned i = 0; i < 500 && sent < 50; i++) {
		if (tp_reserve(hand.upstream_tp, upstream->conn, PIECE, rooms) > 0) {
			hand_send_bytes(&hand, upstream, piece, PIECE);
			sent++;
		} else {
			hand_turn(&hand);
		}
	}
	CU_ASSERT_TRUE(sent < 4 * LIMIT_RECV_BYTES / PIECE + 2);
	client->holds = false;
	for (unsigned i = 0; i < 1000 && sent < 50; i++) {
		if (tp_reserve(hand.upstream_tp, upstream->conn, PIECE, rooms) > 0) {
			hand_send_bytes(&hand, upstream, piece, PIECE);
			sent++;
		} else {
			hand_turn(&hand);
		}
	}
	CU_ASSERT_EQUAL(status(), 200);
	hand_await(&hand, client, (size_t)(hand_body(client) - client->text) + 500000);
	CU_ASSERT_EQUAL(strlen(hand_body(client)), 500000);
	hand_close(&hand);
}

static void its_text_is_judged(void)
{
	static const char *const right[] = {"proxy:127.0.0.1:80", "proxy:127.0.0.1:80,[::1]:81",
					    "proxy:unix:/run/a.sock;connect=1s;response=2s",
					    "proxy:1.2.3.4:5;connections=1"};
	static const char *const wrong[] = {"proxy:",
					    "proxy:a:80",
					    "proxy:127.0.0.1",
					    "proxy:1.2.3.4:5,",
					    "proxy:1.2.3.4:5;",
					    "proxy:1.2.3.4:5;x=1",
					    "proxy:1.2.3.4:5;connect=0s",
					    "proxy:1.2.3.4:5;connections=0",
					    "proxy:1.2.3.4:5;ttl=1s",
					    "proxy:1.2.3.4:5;connect"};
	struct tp_error error;

	for (unsigned i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		CU_ASSERT_EQUAL(spec_judge(right[i], &error), 0);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_TRUE(spec_judge(wrong[i], &error) < 0);
}

static const struct suite_test tests[] = {
	{"answers are those of the upstream", answers_are_those_of_the_upstream},
	{"bodies are streamed both ways", bodies_are_streamed_both_ways},
	{"chunked bodies stay chunked", chunked_bodies_stay_chunked},
	{"fields of one hop stay there", fields_of_one_hop_stay_there},
	{"a quotation mark hides no field that Connection names",
	 a_quotation_mark_hides_no_named_field},
	{"a Connection that names too many fields is refused", too_many_named_fields_are_refused},
	{"absolute form becomes origin form", absolute_form_becomes_origin_form},
	{"a path with parts of dots is refused", a_path_with_parts_of_dots_is_refused},
	{"interim answers are swallowed", interim_answers_are_swallowed},
	{"interim answers are swallowed within a bound",
	 interim_answers_are_swallowed_within_a_bound},
	{"the answer to HEAD has no body, whatever it says", a_head_has_no_body_whatever_it_says},
	{"responses may come in any pieces", responses_may_come_in_any_pieces},
	{"a body may end with its connection", a_body_may_end_with_its_connection},
	{"a body cut short is never a success", a_body_cut_short_is_never_a_success},
	{"what came before a reset is passed on", what_came_before_a_reset_is_passed_on},
	{"what a reset leaves unread is missed", what_a_reset_leaves_unread_is_missed},
	{"nonsense is a bad gateway", nonsense_is_a_bad_gateway},
	{"fields beyond the bound are a bad gateway", fields_beyond_the_bound_are_a_bad_gateway},
	{"what comes behind a response is no other response",
	 what_comes_behind_a_response_is_no_other_response},
	{"a response before the request is whole ends both",
	 a_response_before_the_request_is_whole_ends_both},
	{"a client that leaves takes its upstream along",
	 a_client_that_leaves_takes_its_upstream_along},
	{"a client that ends its side is answered", a_client_that_ends_its_side_is_answered},
	{"a client's reset behind its end takes its upstream along", a_reset_behind_its_end_is_one},
	{"backpressure reaches the upstream", backpressure_reaches_the_upstream},
	{"its text is judged", its_text_is_judged},
};

SUITE_MAIN("proxy", tests)
