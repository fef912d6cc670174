#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "tests/support/suite.h"
#include "tests/unit/handlers/gateway.h"

#include <stdio.h>
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

static void an_upstream_that_is_back_is_asked_again(void)
{
	open_proxy("proxy:127.0.0.1:8001");
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 502);
	hand_serve(&hand, FIRST, "respond:10");
	hand_wait(&hand, LIMIT_UPSTREAM_DOWN_NS - 1);
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 503);
	hand_wait(&hand, 1);
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 200);
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
	CU_ASSERT_EQUAL(counters()->upstream_failures, 0);
	CU_ASSERT_EQUAL(counters()->upstream_retries, 1);
	hand_close(&hand);
}

/* Both are there in one turn, and the client's request is looked at first. */
static void an_idle_connection_that_has_spoken_is_not_used(void)
{
	open_by_hand("");
	CU_ASSERT_TRUE(ask("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 200);
	hand_forget(client);
	hand_put(&hand, client, "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
	hand_put(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen");
	turn(5);
	CU_ASSERT_EQUAL(client->bytes, 0);
	CU_ASSERT_EQUAL_FATAL(hand.upstream_count, 2);
	CU_ASSERT_TRUE(hand.upstreams[0].closed);
	CU_ASSERT_TRUE(hand_has(&hand.upstreams[1], "GET /2 "));
	hand_send(&hand, &hand.upstreams[1], "HTTP/1.1 204 No Content\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 204);
	hand_close(&hand);
}

static void an_upstream_that_answers_before_it_is_asked_is_refused(void)
{
	open_by_hand("");
	hand_put(&hand, client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	for (unsigned i = 0; i < 5 && hand.upstream_count == 0; i++)
		hand_turn(&hand);
	CU_ASSERT_EQUAL_FATAL(hand.upstream_count, 1);
	hand_put(&hand, &hand.upstreams[0], "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	CU_ASSERT_EQUAL(status(), 502);
	CU_ASSERT_EQUAL(counters()->upstream_failures, 1);
	hand_close(&hand);
}

/* It answers and ends, but does not take the rest of the request, so that our end never leaves. */
static void a_peer_that_ends_but_does_not_close_is_left(void)
{
	char piece[10001];

	memset(piece, 'x', 10000);
	piece[10000] = '\0';
	open_by_hand(";connections=1");
	CU_ASSERT_TRUE(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"));
	upstream->holds = true;
	for (unsigned i = 0; i < 10; i++) {
		hand_send(&hand, client, piece);
		turn(3);
	}
	hand_put(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	hand_finish(&hand, upstream);
	turn(3);
	CU_ASSERT_EQUAL(status(), 200);
	hand_wait(&hand, LIMIT_LINGER_NS - 1);
	CU_ASSERT_FALSE(upstream->closed);
	hand_wait(&hand, 1);
	CU_ASSERT_TRUE(upstream->closed);
	CU_ASSERT_TRUE(ask("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"));
	CU_ASSERT_EQUAL(hand.upstream_count, 2);
	hand_close(&hand);
}

/* All that are under way fail at once: that is one failure, and leaves it out but once. */
static void one_failure_of_many_requests_is_one(void)
{
	struct hand_end *clients[8];

	open_by_hand("");
	for (unsigned i = 0; i < 8; i++) {
		clients[i] = hand_connect(&hand, PORT);
		hand_send(&hand, clients[i],
			  "POST / HTTP/1.1\r\nHost: a\r\n"
			  "Content-Length: 0\r\n\r\n");
		turn(3);
	}
	CU_ASSERT_EQUAL_FATAL(hand.upstream_count, 8);
	for (unsigned i = 0; i < 8; i++) {
		hand_wait(&hand, CLOCK_MS_NS);
		hand_reset(&hand, &hand.upstreams[i]);
	}
	turn(3);
	CU_ASSERT_EQUAL(counters()->upstream_failures, 8);
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 503);
	hand_wait(&hand, LIMIT_UPSTREAM_DOWN_NS);
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	CU_ASSERT_EQUAL(hand.upstream_count, 9);
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
	hand_wait(&hand, 20 * CLOCK_MS_NS - 1);
	CU_ASSERT_EQUAL(client->bytes, 0);
	hand_wait(&hand, 1);
	CU_ASSERT_EQUAL(status(), 504);
	turn(3);
	CU_ASSERT_TRUE(upstream->closed);
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/", ""), 503);
	hand_close(&hand);

	open_by_hand(";response=20ms");
	CU_ASSERT_TRUE(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
	hand_wait(&hand, 20 * CLOCK_MS_NS - 1);
	CU_ASSERT_FALSE(client->closed);
	hand_wait(&hand, 1);
	CU_ASSERT_TRUE(was_broken());
	hand_close(&hand);
}

static void a_slow_client_is_not_the_upstreams_fault(void)
{
	open_by_hand(";response=20ms");
	CU_ASSERT_TRUE(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"));
	hand_wait(&hand, 60 * CLOCK_MS_NS);
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
	hand_wait(&hand, 20 * CLOCK_MS_NS);
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

/* As many clients come as there are connections; those that stay and those that do not, counted. */
static void crowd(const char *options, unsigned kept)
{
	enum { CONNS = 8 };
	char spec[128];

	snprintf(spec, sizeof(spec), "cache:127.0.0.1:%u%s", HAND_PORT, options);
	hand_open(&hand);
	hand_listen(&hand);
	hand.conn_max = CONNS;
	hand_serve(&hand, PORT, spec);
	for (unsigned i = 0; i < CONNS; i++)
		hand_connect(&hand, PORT);
	turn(3);
	for (unsigned i = 0; i < CONNS; i++)
		CU_ASSERT_EQUAL(hand.clients[i].closed, i >= kept);
	CU_ASSERT_EQUAL(hand_counters(&hand, 0)->connections, kept);
	CU_ASSERT_EQUAL(hand_counters(&hand, 0)->connections_refused, CONNS - kept);
}

/* Each of them asks at once; all are answered, by as many connections as there may be. */
static void answer_all(unsigned clients, unsigned connections)
{
	for (unsigned i = 0; i < clients; i++) {
		hand_send(&hand, &hand.clients[i],
			  "GET / HTTP/1.1\r\nHost: a\r\nPragma: x\r\n\r\n");
		turn(3);
	}
	CU_ASSERT_EQUAL_FATAL(hand.upstream_count, connections);
	for (unsigned i = 0; i < clients; i++) {
		hand_send(&hand, &hand.upstreams[i % connections],
			  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
		turn(3);
	}
	for (unsigned i = 0; i < clients; i++)
		CU_ASSERT_TRUE(hand_has(&hand.clients[i], "200 OK"));
	hand_close(&hand);
}

static void clients_leave_the_upstreams_their_connections(void)
{
	crowd(";connections=2", 6);
	answer_all(6, 2);
}

static void upstreams_leave_the_clients_half(void)
{
	crowd("", 4);
	answer_all(4, 4);
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
	{"an idle connection that has spoken is not used",
	 an_idle_connection_that_has_spoken_is_not_used},
	{"an upstream that answers before it is asked is refused",
	 an_upstream_that_answers_before_it_is_asked_is_refused},
	{"a peer that ends but does not close is left",
	 a_peer_that_ends_but_does_not_close_is_left},
	{"one failure of many requests is one", one_failure_of_many_requests_is_one},
	{"an idle connection that ends is not used again",
	 an_idle_connection_that_ends_is_not_used_again},
	{"a silent upstream is given up", a_silent_upstream_is_given_up},
	{"a slow client is not the upstream's fault", a_slow_client_is_not_the_upstreams_fault},
	{"who finds all connections in use waits in line",
	 who_finds_all_connections_in_use_waits_in_line},
	{"nobody goes before the first in line", nobody_goes_before_the_first_in_line},
	{"who is called and leaves has the next called",
	 who_is_called_and_leaves_has_the_next_called},
	{"clients leave the upstreams their connections",
	 clients_leave_the_upstreams_their_connections},
	{"upstreams leave the clients half of all connections", upstreams_leave_the_clients_half},
	{"the line moves on past who leaves it", the_line_moves_on_past_who_leaves_it},
};

SUITE_MAIN("upstream", tests)
