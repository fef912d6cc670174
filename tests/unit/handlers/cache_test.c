#include "dataplane/core/clock.h"
#include "dataplane/handlers/spec.h"
#include "tests/support/suite.h"
#include "tests/unit/handlers/cached.h"

#include <stdio.h>
#include <string.h>

static void an_answer_is_fetched_once(void)
{
	cached_open("", "respond:100000");
	for (unsigned i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(hand_get(&hand, client, "/x", ""), 200);
		CU_ASSERT_EQUAL(strlen(hand_body(client)), 100000);
		CU_ASSERT_EQUAL(strspn(hand_body(client), "Z"), 100000);
		CU_ASSERT_EQUAL(hand_has(client, "Age: 0\r\n"), i > 0);
	}
	CU_ASSERT_EQUAL(hand_counters(&hand, 1)->requests, 1);
	CU_ASSERT_EQUAL(cached_counters()->cache_misses, 1);
	CU_ASSERT_EQUAL(cached_counters()->cache_hits, 9);
	hand_close(&hand);
}

static void hits_need_no_upstream(void)
{
	cached_open("", "respond:100");
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/x", ""), 200);
	hand_kill(&hand, 1);
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/x", ""), 200);
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/y", ""), 502);
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/x", ""), 200);
	hand_close(&hand);
}

static void host_and_target_tell_answers_apart(void)
{
	static const char *const requests[] = {
		"GET /x HTTP/1.1\r\nHost: a\r\n\r\n",	"GET /x HTTP/1.1\r\nHost: b\r\n\r\n",
		"GET /x?1 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /x? HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /y HTTP/1.1\r\nHost: a\r\n\r\n",	"GET /x1 HTTP/1.1\r\nHost: a\r\n\r\n"};

	cached_open_by_hand("");
	for (unsigned i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		CU_ASSERT_TRUE(cached_asked_for(requests[i], cached_ok));
	for (unsigned i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		CU_ASSERT_FALSE(cached_asked_for(requests[i], cached_ok));
	CU_ASSERT_FALSE(cached_asked_for("GET http://a/x HTTP/1.1\r\nHost: a\r\n\r\n", cached_ok));
	CU_ASSERT_FALSE(cached_asked_for("GET /x HTTP/1.1\r\nHost: A\r\n\r\n", cached_ok));
	hand_close(&hand);
}

static void fields_come_back_as_they_were(void)
{
	cached_open_by_hand("");
	CU_ASSERT_TRUE(cached_asked_for(cached_plain,
					"HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Type: a/b\r\n"
					"Age: 7\r\nETag: \"e\"\r\nContent-Length: 5\r\n\r\nhello"));
	CU_ASSERT_FALSE(cached_asked_for(cached_plain, cached_ok));
	CU_ASSERT_TRUE(hand_has(client, "X-One: 1\r\nContent-Type: a/b\r\nETag: \"e\"\r\n"));
	CU_ASSERT_TRUE(hand_has(client, "Age: 7\r\n"));
	CU_ASSERT_TRUE(hand_has(client, "Content-Length: 5\r\n"));
	CU_ASSERT_STRING_EQUAL(hand_body(client), "hello");
	hand_close(&hand);
}

static void a_head_is_answered_from_a_get(void)
{
	static const char head[] = "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n";

	cached_open_by_hand("");
	CU_ASSERT_TRUE(cached_asked_for(head, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"));
	CU_ASSERT_TRUE(cached_asked_for(cached_plain, cached_ok));
	CU_ASSERT_FALSE(cached_asked_for(head, cached_ok));
	CU_ASSERT_TRUE(hand_has(client, "Content-Length: 5\r\n"));
	CU_ASSERT_STRING_EQUAL(hand_body(client), "");
	hand_close(&hand);
}

static void chunked_answers_are_kept_whole(void)
{
	cached_open_by_hand("");
	CU_ASSERT_TRUE(cached_asked_for(cached_plain,
					"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
					"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"));
	CU_ASSERT_FALSE(cached_asked_for(cached_plain, cached_ok));
	CU_ASSERT_TRUE(hand_has(client, "Content-Length: 5\r\n"));
	CU_ASSERT_STRING_EQUAL(hand_body(client), "hello");
	hand_close(&hand);
}

static void some_answers_are_not_kept(void)
{
	static const char *const answers[] = {
		"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nCache-Control: max-age=9, Private\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nCache-Control: private=\"x\"\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nCache-Control: no-cache\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nCache-Control: max-age=0\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nCache-Control: max-age=x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nCache-Control: s-maxage=0, max-age=9\r\nContent-Length: 0\r\n"
		"\r\n",
		"HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\nAge: 9\r\nContent-Length: "
		"0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nVary: Accept-Encoding\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nExpires: 0\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
		"Expires: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n"};

	cached_open_by_hand("");
	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		CU_ASSERT_TRUE(cached_asked_for(cached_plain, answers[i]));
		CU_ASSERT_TRUE(cached_asked_for(cached_plain, answers[i]));
	}
	CU_ASSERT_EQUAL(cached_counters()->cache_hits, 0);
	hand_close(&hand);
}

static void some_answers_are_kept_though_they_say_something(void)
{
	static const char *const answers[] = {
		"HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nCache-Control: public, s-maxage=9, max-age=0\r\n"
		"Content-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nCache-Control: max-age=\"10\"\r\nAge: 9\r\n"
		"Content-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
		"Expires: Sun, 06 Nov 1994 08:50:37 GMT\r\nContent-Length: 0\r\n\r\n"};
	char request[128];

	cached_open_spec("cache:127.0.0.1:9000");
	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		snprintf(request, sizeof(request), "GET /%u HTTP/1.1\r\nHost: a\r\n\r\n", i);
		CU_ASSERT_TRUE(cached_asked_for(request, answers[i]));
		CU_ASSERT_FALSE(cached_asked_for(request, answers[i]));
	}
	CU_ASSERT_TRUE(
		cached_asked_for(cached_plain, cached_ok)); /* names no lifetime, and has none */
	CU_ASSERT_TRUE(cached_asked_for(cached_plain, cached_ok));
	hand_close(&hand);
}

static void some_requests_are_passed_on(void)
{
	static const char *const requests[] = {
		"GET /x HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\n\r\n",
		"GET /x HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\n\r\n",
		"GET /x HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"x\"\r\n\r\n",
		"GET /x HTTP/1.1\r\nHost: a\r\nCache-Control: no-cache\r\n\r\n",
		"GET /x HTTP/1.1\r\nHost: a\r\nPragma: no-cache\r\n\r\n",
		"OPTIONS /x HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nb"};

	cached_open_by_hand("");
	for (unsigned i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		CU_ASSERT_TRUE(cached_asked_for(requests[i], cached_ok));
	CU_ASSERT_TRUE(cached_asked_for(cached_plain, cached_ok)); /* none of them was kept */
	for (unsigned i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		CU_ASSERT_TRUE(
			cached_asked_for(requests[i], cached_ok)); /* nor answered from what is */
	CU_ASSERT_FALSE(cached_asked_for(cached_plain, cached_ok));
	hand_close(&hand);
}

static void what_is_changed_is_forgotten(void)
{
	static const char change[] = "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";

	cached_open_by_hand("");
	CU_ASSERT_TRUE(cached_asked_for(cached_plain, cached_ok));
	CU_ASSERT_TRUE(
		cached_asked_for(change, "HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n"));
	CU_ASSERT_FALSE(cached_asked_for(cached_plain, cached_ok));
	CU_ASSERT_TRUE(cached_asked_for(change, "HTTP/1.1 204 No Content\r\n\r\n"));
	CU_ASSERT_TRUE(cached_asked_for(cached_plain, cached_ok));
	hand_close(&hand);
}

static void what_is_stale_is_fetched_anew(void)
{
	cached_open_by_hand(";ttl=20ms");
	CU_ASSERT_TRUE(cached_asked_for(cached_plain, cached_ok));
	hand_wait(&hand, 20 * CLOCK_MS_NS - 1);
	CU_ASSERT_FALSE(cached_asked_for(cached_plain, cached_ok));
	hand_wait(&hand, 1);
	CU_ASSERT_TRUE(cached_asked_for(cached_plain,
					"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
					"Content-Length: 3\r\n\r\nnew"));
	CU_ASSERT_FALSE(cached_asked_for(cached_plain, cached_ok));
	CU_ASSERT_STRING_EQUAL(hand_body(client), "new");
	hand_close(&hand);
}

/* The body takes longer than the answer is fresh. */
static void age_counts_from_when_it_was_asked_for(void)
{
	cached_open_by_hand(";response=60s");
	hand_send(&hand, client, cached_plain);
	CU_ASSERT_TRUE(cached_asked());
	hand_wait(&hand, 2 * CLOCK_SECOND_NS);
	hand_send(&hand, upstream,
		  "HTTP/1.1 200 OK\r\nCache-Control: max-age=10\r\nAge: 1\r\n"
		  "Content-Length: 5\r\n\r\nhel");
	hand_wait(&hand, 5 * CLOCK_SECOND_NS);
	hand_send(&hand, upstream, "lo");
	cached_turn(3);
	CU_ASSERT_FALSE(cached_asked_for(cached_plain, cached_ok));
	CU_ASSERT_TRUE(hand_has(client, "Age: 8\r\n"));
	hand_wait(&hand, 2 * CLOCK_SECOND_NS);
	CU_ASSERT_TRUE(cached_asked_for(cached_plain, cached_ok));
	hand_close(&hand);
}

static void date_is_the_origins(void)
{
	static const char date[] = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";

	cached_open_by_hand("");
	CU_ASSERT_TRUE(cached_asked_for(cached_plain,
					"HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\n"
					"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
					"Content-Length: 0\r\n\r\n"));
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_TRUE(hand_has(client, date));
		CU_ASSERT_PTR_NULL(strstr(strstr(client->text, "Date: ") + 1, "Date: "));
		CU_ASSERT_FALSE(cached_asked_for(cached_plain, cached_ok));
	}
	hand_close(&hand);
}

static void bodies_without_a_certain_end_are_not_kept(void)
{
	cached_open_by_hand("");
	for (unsigned i = 0; i < 2; i++) {
		hand_forget(client);
		hand_send(&hand, client, cached_plain);
		CU_ASSERT_TRUE(cached_asked());
		hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\n\r\nhello");
		hand_finish(&hand, upstream);
		CU_ASSERT_TRUE(hand_await_text(&hand, client, "0\r\n\r\n"));
	}
	hand_close(&hand);
}

static void the_least_recently_asked_for_makes_room(void)
{
	char target[16];

	cached_open(";bytes=1MiB", "respond:100000");
	for (unsigned i = 0; i < 40; i++) {
		snprintf(target, sizeof(target), "/%u", i);
		CU_ASSERT_EQUAL(hand_get(&hand, client, target, ""), 200);
		CU_ASSERT_EQUAL(hand_get(&hand, client, "/0", ""), 200);
		CU_ASSERT_EQUAL(strlen(hand_body(client)), 100000);
	}
	CU_ASSERT_EQUAL(cached_counters()->cache_misses, 40);
	CU_ASSERT_EQUAL(cached_counters()->cache_hits, 40);
	CU_ASSERT_EQUAL(cached_counters()->cache_evicted, 30);
	CU_ASSERT_EQUAL(hand_get(&hand, client, "/1", ""), 200);
	CU_ASSERT_EQUAL(cached_counters()->cache_misses, 41);
	hand_close(&hand);
}

static void what_is_too_large_is_passed_on(void)
{
	cached_open(";bytes=1MiB", "respond:200000");
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(hand_get(&hand, client, "/x", ""), 200);
		CU_ASSERT_EQUAL(strlen(hand_body(client)), 200000);
	}
	CU_ASSERT_EQUAL(cached_counters()->cache_misses, 3);
	CU_ASSERT_EQUAL(cached_counters()->cache_hits, 0);
	hand_close(&hand);
}

static void its_text_is_judged(void)
{
	struct tp_error error;

	CU_ASSERT_EQUAL(spec_judge("cache:127.0.0.1:80", &error), 0);
	CU_ASSERT_EQUAL(spec_judge("cache:127.0.0.1:80,[::1]:81;bytes=1MiB;ttl=0s", &error), 0);
	CU_ASSERT_EQUAL(spec_judge("cache:127.0.0.1:80;connect=1s;ttl=5m", &error), 0);
	CU_ASSERT_TRUE(spec_judge("cache:127.0.0.1:80;bytes=1KiB", &error) < 0);
	CU_ASSERT_TRUE(spec_judge("cache:127.0.0.1:80;ttl=5", &error) < 0);
	CU_ASSERT_TRUE(spec_judge("cache:", &error) < 0);
}
static const struct suite_test tests[] = {
	{"an answer is fetched once", an_answer_is_fetched_once},
	{"hits need no upstream", hits_need_no_upstream},
	{"host and target tell answers apart", host_and_target_tell_answers_apart},
	{"fields come back as they were", fields_come_back_as_they_were},
	{"a HEAD is answered from a GET", a_head_is_answered_from_a_get},
	{"chunked answers are kept whole", chunked_answers_are_kept_whole},
	{"some answers are not kept", some_answers_are_not_kept},
	{"some answers are kept though they say something",
	 some_answers_are_kept_though_they_say_something},
	{"some requests are passed on", some_requests_are_passed_on},
	{"what is changed is forgotten", what_is_changed_is_forgotten},
	{"what is stale is fetched anew", what_is_stale_is_fetched_anew},
	{"age counts from when it was asked for", age_counts_from_when_it_was_asked_for},
	{"Date is the origin's", date_is_the_origins},
	{"bodies without a certain end are not kept", bodies_without_a_certain_end_are_not_kept},
	{"the least recently asked for makes room", the_least_recently_asked_for_makes_room},
	{"what is too large is passed on", what_is_too_large_is_passed_on},
	{"its text is judged", its_text_is_judged},
};

SUITE_MAIN("cache", tests)
