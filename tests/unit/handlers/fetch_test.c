#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "tests/support/suite.h"
#include "tests/unit/handlers/cached.h"

#include <string.h>

enum { CLIENTS = 12 };

static struct hand_end *clients[CLIENTS];

/* Many ask for the same while the first of them is being answered. */
static void ask_all(void)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		clients[i] = hand_connect(&hand, PORT);
		hand_send(&hand, clients[i], cached_plain);
	}
	cached_turn(5);
}

static unsigned answered(const char *body)
{
	unsigned count = 0;

	cached_turn(20);
	for (unsigned i = 0; i < CLIENTS; i++)
		count += hand_has(clients[i], "200 OK") && strcmp(hand_body(clients[i]), body) == 0;
	return count;
}

static void many_that_ask_at_once_are_one_fetch(void)
{
	cached_open_by_hand("");
	ask_all();
	CU_ASSERT_TRUE(cached_asked());
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
	CU_ASSERT_EQUAL(answered("hello"), 0);
	hand_send(&hand, upstream, "lo");
	CU_ASSERT_EQUAL(answered("hello"), CLIENTS);
	CU_ASSERT_EQUAL(hand.upstream_count, 1);
	CU_ASSERT_FALSE(cached_asked());
	CU_ASSERT_EQUAL(cached_counters()->upstream_requests, 1);
	CU_ASSERT_EQUAL(cached_counters()->cache_misses, 1);
	CU_ASSERT_EQUAL(cached_counters()->cache_joined, CLIENTS - 1);
	CU_ASSERT_FALSE(
		cached_asked_for(cached_plain, cached_ok)); /* it stays when they have gone */
	CU_ASSERT_EQUAL(cached_counters()->cache_hits, 1);
	hand_close(&hand);
}

/* Answers each of the fetches that those make who waited in vain. */
static void expect_fetches_of_their_own(unsigned fetches)
{
	unsigned count = 0;

	while (cached_asked()) {
		count++;
		hand_send(&hand, upstream, cached_ok);
	}
	CU_ASSERT_EQUAL(count, fetches);
	CU_ASSERT_EQUAL(answered("hello"), fetches);
}

static void what_is_not_kept_each_fetches(void)
{
	cached_open_by_hand("");
	ask_all();
	CU_ASSERT_TRUE(cached_asked());
	hand_send(&hand, upstream,
		  "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nhi");
	expect_fetches_of_their_own(CLIENTS - 1);
	CU_ASSERT_STRING_EQUAL(hand_body(clients[0]), "hi");
	CU_ASSERT_EQUAL(cached_counters()->upstream_requests, CLIENTS);
	CU_ASSERT_EQUAL(cached_counters()->cache_misses, CLIENTS);
	hand_close(&hand);
}

static void a_fetch_that_breaks_off_is_not_kept(void)
{
	cached_open_by_hand("");
	ask_all();
	CU_ASSERT_TRUE(cached_asked());
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
	cached_turn(3);
	hand_reset(&hand, upstream);
	expect_fetches_of_their_own(CLIENTS - 1);
	CU_ASSERT_TRUE(clients[0]->closed);
	CU_ASSERT_EQUAL(clients[0]->reason, TP_RESET);
	CU_ASSERT_TRUE(cached_asked_for(cached_plain, cached_ok));
	hand_close(&hand);
}

static void a_client_that_leaves_its_fetch_fails_nobody(void)
{
	cached_open_by_hand("");
	ask_all();
	CU_ASSERT_TRUE(cached_asked());
	hand_reset(&hand, clients[5]);
	hand_reset(&hand, clients[0]);
	expect_fetches_of_their_own(CLIENTS - 2);
	hand_close(&hand);
}

static void nobody_waits_for_a_fetch_for_ever(void)
{
	cached_open_by_hand(";response=20ms");
	clients[0] = hand_connect(&hand, PORT);
	hand_send(&hand, clients[0], cached_plain);
	CU_ASSERT_TRUE(cached_asked());
	hand_send(&hand, client, cached_plain);
	hand_wait(&hand, 19 * CLOCK_MS_NS);
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
	CU_ASSERT_FALSE(cached_asked());
	hand_wait(&hand, CLOCK_MS_NS);
	CU_ASSERT_EQUAL(cached_counters()->cache_joined, 1);
	CU_ASSERT_TRUE(cached_asked());
	hand_send(&hand, upstream, cached_ok);
	CU_ASSERT_TRUE(hand_await_text(&hand, client, "hello"));
	CU_ASSERT_EQUAL(cached_counters()->cache_misses, 2);
	hand_close(&hand);
}

/* As much of a long answer as goes out to a client that takes nothing. */
static void send_much(void)
{
	for (unsigned i = 0; i < 50; i++) {
		char piece[10000];
		struct room rooms[2];

		memset(piece, 'x', sizeof(piece));
		if (tp_reserve(hand.upstream_tp, upstream->conn, sizeof(piece), rooms) > 0)
			hand_send_bytes(&hand, upstream, piece, sizeof(piece));
		hand_turn(&hand);
	}
}

/* A fetch by a client that takes nothing of its answer. */
static void begin_slow(void)
{
	client->holds = true;
	hand_send(&hand, client, cached_plain);
	CU_ASSERT_TRUE(cached_asked());
	hand_send(&hand, upstream, "HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n");
	send_much();
}

/* All others wait for it. */
static void open_slow(void)
{
	cached_open_by_hand("");
	begin_slow();
	ask_all();
	CU_ASSERT_EQUAL(cached_counters()->cache_joined, CLIENTS);
}

static void a_client_that_dawdles_is_overtaken(void)
{
	open_slow();
	hand_wait(&hand, LIMIT_CACHE_PATIENCE_NS - 1);
	CU_ASSERT_FALSE(cached_asked());
	hand_wait(&hand, 1);
	CU_ASSERT_TRUE(cached_asked()); /* once for all of them */
	hand_send(&hand, upstream, cached_ok);
	CU_ASSERT_EQUAL(answered("hello"), CLIENTS);
	CU_ASSERT_FALSE(cached_asked());
	CU_ASSERT_EQUAL(cached_counters()->upstream_requests, 2);
	CU_ASSERT_EQUAL(cached_counters()->cache_misses, 2);
	CU_ASSERT_EQUAL(hand_get(&hand, clients[0], "/x", ""), 200);
	CU_ASSERT_EQUAL(cached_counters()->cache_hits, 1);
	hand_close(&hand);
}

/* One that takes a little now and then is as slow as one that takes nothing. */
static void nobody_joins_a_client_that_has_dawdled(void)
{
	cached_open_by_hand("");
	begin_slow();
	for (unsigned i = 0; i < 4; i++) {
		hand_wait(&hand, LIMIT_CACHE_PATIENCE_NS / 4);
		client->holds = false;
		hand_turn(&hand);
		client->holds = true;
		send_much();
	}
	ask_all();
	CU_ASSERT_TRUE(cached_asked());
	hand_send(&hand, upstream, cached_ok);
	CU_ASSERT_EQUAL(answered("hello"), CLIENTS);
	CU_ASSERT_EQUAL(cached_counters()->cache_misses, 2);
	hand_close(&hand);
}

static void a_slow_client_that_leaves_fails_nobody(void)
{
	open_slow();
	hand_wait(&hand, LIMIT_CACHE_PATIENCE_NS);
	CU_ASSERT_TRUE(cached_asked());
	hand_reset(&hand, client);
	hand_reset(&hand, clients[0]);
	expect_fetches_of_their_own(CLIENTS - 1);
	hand_close(&hand);
}

static const struct suite_test tests[] = {
	{"many that ask at once are one fetch", many_that_ask_at_once_are_one_fetch},
	{"what is not kept, each fetches", what_is_not_kept_each_fetches},
	{"a fetch that breaks off is not kept", a_fetch_that_breaks_off_is_not_kept},
	{"a client that leaves its fetch fails nobody",
	 a_client_that_leaves_its_fetch_fails_nobody},
	{"nobody waits for a fetch for ever", nobody_waits_for_a_fetch_for_ever},
	{"a client that dawdles is overtaken", a_client_that_dawdles_is_overtaken},
	{"nobody joins a client that has dawdled", nobody_joins_a_client_that_has_dawdled},
	{"a slow client that leaves fails nobody", a_slow_client_that_leaves_fails_nobody},
};

SUITE_MAIN("fetch", tests)
