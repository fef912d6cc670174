#include "dataplane/core/clock.h"
#include "tests/support/suite.h"
#include "tests/unit/handlers/gateway.h"

#include <string.h>

static void a_connection_serves_one_request_after_the_other(void)
{
	open_proxy("proxy:127.0.0.1:8001");
	hand_serve(&hand, FIRST, "respond:10");
	for (unsigned i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 200);
	CU_ASSERT_EQUAL(counters()->upstream_connections, 1);
	CU_ASSERT_EQUAL(counters()->upstream_requests, 20);
	CU_ASSERT_EQUAL(hand_counters(&hand, 1)->connections, 1);
	hand_close(&hand);
}

static void upstreams_take_turns(void)
{
	open_proxy("proxy:127.0.0.1:8001,127.0.0.1:8002");
	hand_serve(&hand, FIRST, "respond:10");
	hand_serve(&hand, SECOND, "respond:20");
	for (unsigned i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 200);
	CU_ASSERT_EQUAL(hand_counters(&hand, 1)->requests, 5);
	CU_ASSERT_EQUAL(hand_counters(&hand, 2)->requests, 5);
	hand_close(&hand);
}

static void a_dead_upstream_is_left_out(void)
{
	open_proxy("proxy:127.0.0.1:8001,127.0.0.1:8002");
	hand_serve(&hand, SECOND, "respond:10");
	for (unsigned i = 0; i < 6; i++)
		CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 200);
	CU_ASSERT_EQUAL(counters()->upstream_failures, 1);
	CU_ASSERT_EQUAL(counters()->upstream_retries, 1);
	hand_close(&hand);
}

static void an_upstream_that_dies_is_failed_over(void)
{
	unsigned first;

	open_proxy("proxy:127.0.0.1:8001,127.0.0.1:8002");
	first = hand_serve(&hand, FIRST, "respond:10");
	hand_serve(&hand, SECOND, "respond:10");
	for (unsigned i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 200);
	hand_kill(&hand, first);
	for (unsigned i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 200);
	CU_ASSERT_EQUAL(hand_counters(&hand, 2)->requests, 2 + 8);
	hand_close(&hand);
}

static void without_upstreams_the_answer_is_502_then_503(void)
{
	open_proxy("proxy:127.0.0.1:8001,127.0.0.1:8002");
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 502);
	CU_ASSERT_EQUAL(counters()->upstream_failures, 2);
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 503);
	CU_ASSERT_EQUAL(counters()->upstream_failures, 2);
	CU_ASSERT_EQUAL(counters()->upstream_retries, 1);
	hand_close(&hand);
}

/* The back-off is a quarter of a second at first. */
static void an_upstream_that_is_back_is_asked_again(void)
{
	unsigned code = 503;

	open_proxy("proxy:127.0.0.1:8001");
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 502);
	hand_serve(&hand, FIRST, "respond:10");
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 503);
	for (unsigned i = 0; i < 1000000 && code == 503; i++)
		code = hand_get(&hand, client, "/", "");
	CU_ASSERT_EQUAL(code, 200);
	hand_close(&hand);
}

/*
 * The request goes out on a connection that has served before: its end says nothing of the
 * upstream, which would be asked again. Then some of an answer may come, and the connection breaks.
 */
static void expect_not_again(const char *request, const char *answer)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 200);
	hand_forget(upstream);
	CU_ASSERT_TRUE(ask(request));
	if (answer)
		hand_send(&hand, upstream, answer);
	hand_reset(&hand, upstream);
	CU_ASSERT_EQUAL(status(), 502);
	CU_ASSERT_EQUAL(hand.upstream_count, 1);
	CU_ASSERT_EQUAL(counters()->upstream_retries, 0);
	hand_close(&hand);
}

static void a_request_is_sent_again_only_if_it_may_be(void)
{
	expect_not_again("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", NULL);
	expect_not_again("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", NULL);
	expect_not_again("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 2");
}

static void a_stale_connection_is_no_failure_of_its_upstream(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 200);
	hand_forget(upstream);
	CU_ASSERT_TRUE(ask("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"));
	CU_ASSERT_EQUAL(hand.upstream_count, 1);
	hand_finish(&hand, upstream);
	turn(5);
	CU_ASSERT_EQUAL(hand.upstream_count, 2);
	upstream = &hand.upstreams[1];
	CU_ASSERT_TRUE(hand_has(upstream, "GET /2 "));
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 200);
	hand_close(&hand);
}

static void an_idle_connection_that_ends_is_not_used_again(void)
{
	open_by_hand("");
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT_TRUE(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"));
		CU_ASSERT_EQUAL(hand.upstream_count, i + 1);
		hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
		CU_ASSERT_EQUAL(status(), 200);
		if (i == 0)
			hand_finish(&hand, upstream);
		else
			hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\n\r\n"); /* unasked */
		turn(3);
	}
	CU_ASSERT_EQUAL(counters()->upstream_failures, 0);
	hand_close(&hand);
}

static void a_silent_upstream_is_given_up(void)
{
	open_by_hand(";response=20ms");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	for (unsigned i = 0; i < 1000000 && client->bytes == 0; i++)
		hand_turn(&hand);
	CU_ASSERT_EQUAL(status(), 504);
	turn(3);
	CU_ASSERT_TRUE(upstream->closed);
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 503);
	hand_close(&hand);

	open_by_hand(";response=20ms");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
	for (unsigned i = 0; i < 1000000 && !client->closed; i++)
		hand_turn(&hand);
	CU_ASSERT_TRUE(was_broken());
	hand_close(&hand);
}

static void a_slow_client_is_not_the_upstreams_fault(void)
{
	open_by_hand(";response=20ms");
	CU_ASSERT_TRUE(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"));
	for (uint64_t until_ns = clock_now_ns() + 60000000; clock_now_ns() < until_ns;)
		hand_turn(&hand);
	CU_ASSERT_EQUAL(client->bytes, 0);
	hand_send(&hand, client, "body");
	turn(3);
	CU_ASSERT_STRING_EQUAL(hand_body(upstream), "body");
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 200);
	hand_close(&hand);
}

static void who_finds_all_connections_in_use_waits_in_line(void)
{
	struct hand_end *clients[3];

	open_by_hand(";connections=1");
	for (unsigned i = 0; i < 3; i++) {
		clients[i] = hand_connect(&hand, PORT);
		hand_send(&hand, clients[i], "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	}
	for (unsigned i = 0; i < 3; i++) {
		turn(5);
		CU_ASSERT_EQUAL(hand.upstream_count, 1);
		upstream = &hand.upstreams[0];
		CU_ASSERT_TRUE(hand_has(upstream, "GET / "));
		hand_forget(upstream);
		hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
		CU_ASSERT_TRUE(hand_await_text(&hand, clients[i], "200 OK"));
		if (i < 2)
			CU_ASSERT_EQUAL(clients[i + 1]->bytes, 0);
	}
	hand_close(&hand);
}

static void the_line_moves_on_past_who_leaves_it(void)
{
	struct hand_end *clients[3];

	open_by_hand(";connections=1;connect=20ms");
	for (unsigned i = 0; i < 3; i++) {
		clients[i] = hand_connect(&hand, PORT);
		hand_send(&hand, clients[i], "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	}
	hand_reset(&hand, clients[1]);
	turn(3);
	hand_reset(&hand, clients[0]);
	turn(5);
	CU_ASSERT_EQUAL(hand.upstream_count, 2);
	client = clients[0] = hand_connect(&hand, PORT);
	hand_send(&hand, client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	for (unsigned i = 0; i < 1000000 && client->bytes == 0; i++)
		hand_turn(&hand);
	CU_ASSERT_EQUAL(status(), 503);
	upstream = &hand.upstreams[1];
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	CU_ASSERT_TRUE(hand_await_text(&hand, clients[2], "200 OK"));
	hand_close(&hand);
}

/* Clients whose targets tell them apart find the only connection in use, by the first of them. */
static void open_line(struct hand_end **clients)
{
	static const char *const requests[] = {"GET /0 HTTP/1.1\r\nHost: a\r\n\r\n",
					       "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n",
					       "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"};

	open_by_hand(";connections=1");
	for (unsigned i = 0; i < 3; i++) {
		clients[i] = hand_connect(&hand, PORT);
		hand_send(&hand, clients[i], requests[i]);
		turn(3);
	}
	upstream = &hand.upstreams[0];
	CU_ASSERT_TRUE(hand_has(upstream, "GET /0 "));
	hand_forget(upstream);
}

static void nobody_goes_before_the_first_in_line(void)
{
	struct hand_end *clients[3];

	open_line(clients);
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	hand_send(&hand, client, "GET /late HTTP/1.1\r\nHost: a\r\n\r\n");
	turn(3);
	CU_ASSERT_TRUE(hand_has(upstream, "GET /1 "));
	hand_close(&hand);
}

static void who_is_called_and_leaves_has_the_next_called(void)
{
	struct hand_end *clients[3];

	open_line(clients);
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	hand_reset(&hand, clients[1]);
	turn(3);
	CU_ASSERT_TRUE(hand_has(upstream, "GET /2 "));
	hand_close(&hand);
}

static const struct suite_test tests[] = {
	{"a connection serves one request after the other",
	 a_connection_serves_one_request_after_the_other},
	{"upstreams take turns", upstreams_take_turns},
	{"a dead upstream is left out", a_dead_upstream_is_left_out},
	{"an upstream that dies is failed over", an_upstream_that_dies_is_failed_over},
	{"without upstreams the answer is 502, then 503",
	 without_upstreams_the_answer_is_502_then_503},
	{"an upstream that is back is asked again", an_upstream_that_is_back_is_asked_again},
	{"a request is sent again only if it may be", a_request_is_sent_again_only_if_it_may_be},
	{"a stale connection is no failure of its upstream",
	 a_stale_connection_is_no_failure_of_its_upstream},
	{"an idle connection that ends is not used again",
	 an_idle_connection_that_ends_is_not_used_again},
	{"a silent upstream is given up", a_silent_upstream_is_given_up},
	{"a slow client is not the upstream's fault", a_slow_client_is_not_the_upstreams_fault},
	{"who finds all connections in use waits in line",
	 who_finds_all_connections_in_use_waits_in_line},
	{"nobody goes before the first in line", nobody_goes_before_the_first_in_line},
	{"who is called and leaves has the next called",
	 who_is_called_and_leaves_has_the_next_called},
	{"the line moves on past who leaves it", the_line_moves_on_past_who_leaves_it},
};

SUITE_MAIN("upstream", tests)
