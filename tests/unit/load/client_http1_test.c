#include "apps/load/client.h"

#include "tests/support/suite.h"
#include "tests/unit/load/rig.h"

#include <string.h>

static struct rig rig;

static const struct rig_config get = {.http = true,
				      .refill = CLIENT_REFILL_WINDOW,
				      .connections = 1,
				      .depth = 2,
				      .response_bytes = 64};

/* --- right servers ---------------------------------------------------------------------------- */

static void serve_rounds(const struct rig_config *config, unsigned rounds, uint64_t writes)
{
	uint64_t requests = (uint64_t)config->connections * config->depth;

	rig_start(&rig, config);
	for (unsigned i = 0; i < rounds; i++) {
		CU_ASSERT_EQUAL(client_outstanding(rig.client), requests);
		rig_answer(&rig);
		client_turn(rig.client, 0);
		rig_read(&rig);
	}
	CU_ASSERT_EQUAL(client_counters(rig.client)->responses, rounds * requests);
	CU_ASSERT_EQUAL(client_counters(rig.client)->writes, writes);
	CU_ASSERT_EQUAL(rig.record->service.count, rounds * requests);
	rig_end_well(&rig);
}

static void test_pipelined(void)
{
	struct rig_config config = get;

	config.connections = 4;
	config.depth = 8;
	serve_rounds(&config, 3, 4 + 3 * 4);
	config.refill = CLIENT_REFILL_EACH;
	serve_rounds(&config, 3, 4 + 3 * 4 * 8);
}

static void test_echo(void)
{
	static const struct rig_config config = {.http = true,
						 .answer = TALK_ECHO,
						 .refill = CLIENT_REFILL_EACH,
						 .connections = 2,
						 .depth = 3,
						 .request_bytes = 1000};

	serve_rounds(&config, 5, 2 + 5 * 2 * 3);
}

static void test_pieces(void)
{
	uint8_t bytes[1024];
	size_t count = 0;

	rig_start(&rig, &get);
	for (unsigned i = 0; i < get.depth; i++)
		count += rig_response(&rig, rig.ends[0].requests[i], bytes + count);
	rig.ends[0].request_count = 0;
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL(client_counters(rig.client)->responses, i / (count / get.depth));
		rig_send(&rig, &rig.ends[0], bytes + i, 1);
		client_turn(rig.client, 0);
	}
	CU_ASSERT_EQUAL(client_counters(rig.client)->responses, get.depth);
	rig_end_well(&rig);
}

/* Request and response rings go round, so that heads and bodies stand in two pieces. */
static void test_short_memory(void)
{
	static const struct rig_config config = {.http = true,
						 .answer = TALK_ECHO,
						 .refill = CLIENT_REFILL_WINDOW,
						 .connections = 1,
						 .depth = 1,
						 .request_bytes = 301,
						 .memory_bytes = 512};

	serve_rounds(&config, 512, 1 + 512);
}

/* --- wrong servers ---------------------------------------------------------------------------- */

static void answer_with(const char *text)
{
	rig_answer_with(&rig, (const uint8_t *)text, strlen(text));
}

static void test_status(void)
{
	rig_start(&rig, &get);
	answer_with("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone");
	rig_expect_failure(&rig, FAILURE_wrong_status, 1,
			   "connection 0: the server says 404 Not Found: gone");
	CU_ASSERT_TRUE(rig.ends[0].closed);
	rig_close(&rig);
}

/* A response without a length, which only the end of the connection ends. */
static void test_status_cut(void)
{
	rig_start(&rig, &get);
	answer_with("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nno such");
	CU_ASSERT_FALSE(client_failed(rig.client));
	tp_finish(rig.server_tp, rig.ends[0].conn);
	rig_poll(&rig);
	client_turn(rig.client, 0);
	rig_expect_failure(&rig, FAILURE_wrong_status, 1,
			   "the server says 400 Bad Request: no such");
	rig_close(&rig);
}

static void test_unasked(void)
{
	uint8_t bytes[256];

	rig_start(&rig, &get);
	client_hold(rig.client);
	rig_answer(&rig);
	client_turn(rig.client, 0);
	CU_ASSERT_FALSE(client_failed(rig.client));
	rig_answer_with(&rig, bytes, rig_response(&rig, RIG_FIRST_ID, bytes));
	rig_expect_failure(&rig, FAILURE_wrong_id, 1,
			   "behind the last response that was asked for");
	rig_close(&rig);
}

static void test_short(void)
{
	static const size_t cuts[] = {1, 17, 38, 39, 40, 50, 102};
	uint8_t bytes[256];

	for (unsigned i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		rig_start(&rig, &get);
		rig_response(&rig, RIG_FIRST_ID, bytes);
		rig_answer_with(&rig, bytes, cuts[i]);
		tp_finish(rig.server_tp, rig.ends[0].conn);
		rig_poll(&rig);
		client_turn(rig.client, 0);
		rig_expect_failure(&rig, FAILURE_short, 1,
				   "the server ended it within a response, 2 unanswered");
		rig_close(&rig);
	}
}

static const struct suite_test tests[] = {
	{"requests are pipelined, by windows and one by one", test_pipelined},
	{"an echo is verified against its own request", test_echo},
	{"responses that come a byte at a time are each seen once and whole", test_pieces},
	{"requests and responses may stand in two pieces", test_short_memory},
	{"another status is told in the server's words", test_status},
	{"an error that ends with its connection is still told", test_status_cut},
	{"a response that nobody asked for is a wrong one", test_unasked},
	{"a response cut at any place is short", test_short},
};

SUITE_MAIN("client http1", tests)
