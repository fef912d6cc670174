#include "apps/load/client.h"

#include "dataplane/core/bytes.h"
#include "dataplane/core/clock.h"
#include "dataplane/proto/frame.h"
#include "tests/support/suite.h"
#include "tests/unit/load/rig.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct rig rig;

static const struct rig_config respond = {.answer = TALK_FILL,
					  .refill = CLIENT_REFILL_WINDOW,
					  .connections = 1,
					  .depth = 2,
					  .request_bytes = 32,
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
	CU_ASSERT_EQUAL(rig.record->intended.count, rounds * requests);
	CU_ASSERT_TRUE(rig.record->intended.sum_ns >= rig.record->service.sum_ns);
	rig_end_well(&rig);
}

static void test_windows(void)
{
	static const struct rig_config config = {.answer = TALK_FILL,
						 .refill = CLIENT_REFILL_WINDOW,
						 .connections = 4,
						 .depth = 8,
						 .request_bytes = 32,
						 .response_bytes = 64};

	serve_rounds(&config, 3, 4 + 3 * 4);
}

static void test_each(void)
{
	static const struct rig_config config = {.answer = TALK_FILL,
						 .refill = CLIENT_REFILL_EACH,
						 .connections = 4,
						 .depth = 8,
						 .request_bytes = 32,
						 .response_bytes = 64};

	serve_rounds(&config, 3, 4 + 3 * 4 * 8);
}

static void test_echo(void)
{
	static const struct rig_config config = {.answer = TALK_ECHO,
						 .refill = CLIENT_REFILL_EACH,
						 .connections = 2,
						 .depth = 3,
						 .request_bytes = 1000};

	serve_rounds(&config, 5, 2 + 5 * 2 * 3);
}

static void test_empty_bodies(void)
{
	static const struct rig_config config = {
		.answer = TALK_ECHO, .refill = CLIENT_REFILL_WINDOW, .connections = 2, .depth = 3};

	serve_rounds(&config, 5, 2 + 5 * 2);
}

static void test_window_waits_for_all(void)
{
	uint8_t bytes[256];

	rig_start(&rig, &respond);
	rig_send(&rig, &rig.ends[0], bytes, rig_response(&rig, rig.ends[0].requests[0], bytes));
	client_turn(rig.client, 0);
	CU_ASSERT_EQUAL(client_outstanding(rig.client), 1);
	CU_ASSERT_EQUAL(client_counters(rig.client)->writes, 1);
	rig_send(&rig, &rig.ends[0], bytes, rig_response(&rig, rig.ends[0].requests[1], bytes));
	client_turn(rig.client, 0);
	CU_ASSERT_EQUAL(client_outstanding(rig.client), 2);
	CU_ASSERT_EQUAL(client_counters(rig.client)->writes, 2);
	rig.ends[0].request_count = 0;
	rig_end_well(&rig);
}

/*
 * Every kind of body, a byte at a time: whatever the pieces, each response is seen once and
 * whole.
 */
static void byte_at_a_time(const struct rig_config *config)
{
	uint8_t bytes[4096];
	size_t count = 0;

	rig_start(&rig, config);
	for (unsigned i = 0; i < config->depth; i++)
		count += rig_response(&rig, rig.ends[0].requests[i], bytes + count);
	rig.ends[0].request_count = 0;
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL(client_counters(rig.client)->responses,
				i / (count / config->depth));
		rig_send(&rig, &rig.ends[0], bytes + i, 1);
		client_turn(rig.client, 0);
	}
	CU_ASSERT_EQUAL(client_counters(rig.client)->responses, config->depth);
	rig_end_well(&rig);
}

static void test_pieces(void)
{
	struct rig_config echo = respond, empty = respond;

	byte_at_a_time(&respond);
	echo.answer = TALK_ECHO;
	byte_at_a_time(&echo);
	empty.response_bytes = 0;
	byte_at_a_time(&empty);
}

static void test_short_memory(void)
{
	static const struct rig_config config = {.answer = TALK_FILL,
						 .refill = CLIENT_REFILL_EACH,
						 .connections = 1,
						 .depth = 4,
						 .request_bytes = 100,
						 .response_bytes = 8,
						 .memory_bytes = 512};
	uint64_t first_id;
	uint8_t bytes[64];

	rig_open(&rig, &config);
	rig_connect(&rig);
	client_begin(rig.client);
	rig_poll(&rig);
	/* Answers come for requests that have not been read, so send memory stays full. */
	first_id = RIG_FIRST_ID;
	for (unsigned i = 0; i < 8; i++) {
		rig_send(&rig, &rig.ends[0], bytes, rig_response(&rig, first_id + i, bytes));
		client_turn(rig.client, 0);
	}
	CU_ASSERT_EQUAL(client_counters(rig.client)->responses, 8);
	CU_ASSERT_TRUE(client_counters(rig.client)->refusals > 0);
	CU_ASSERT_TRUE(client_counters(rig.client)->requests < 12);
	for (unsigned i = 0; i < 8; i++) {
		rig_read(&rig);
		client_turn(rig.client, 0);
	}
	CU_ASSERT_EQUAL(client_counters(rig.client)->requests, 12);
	CU_ASSERT_EQUAL(rig.ends[0].request_count, 12);
	rig.ends[0].request_count = 4;
	for (unsigned i = 0; i < 4; i++)
		rig.ends[0].requests[i] = first_id + 8 + i;
	rig_end_well(&rig);
}

static void pause_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000l}, NULL);
}

/*
 * The first response comes late, the second later still. In the next window the first request is
 * due since the first response and held back until the second; before that nothing counts.
 */
static void test_due(void)
{
	uint64_t service_ns, intended_ns, held_ns;
	uint8_t bytes[256];

	rig_start(&rig, &respond);
	pause_ms(20);
	held_ns = clock_now_ns();
	for (unsigned i = 0; i < 2; i++) {
		rig_send(&rig, &rig.ends[0], bytes,
			 rig_response(&rig, rig.ends[0].requests[i], bytes));
		client_turn(rig.client, 0);
		if (i == 0)
			pause_ms(3);
	}
	held_ns = clock_now_ns() - held_ns;
	rig.ends[0].request_count = 0;
	service_ns = rig.record->service.sum_ns;
	intended_ns = rig.record->intended.sum_ns;
	rig_read(&rig);
	rig_answer(&rig);
	client_turn(rig.client, 0);
	service_ns = rig.record->service.sum_ns - service_ns;
	intended_ns = rig.record->intended.sum_ns - intended_ns;
	CU_ASSERT_TRUE(intended_ns - service_ns >= 3000000);
	CU_ASSERT_TRUE(intended_ns - service_ns <= 2 * held_ns);
	rig_read(&rig);
	rig_end_well(&rig);
}

static void test_ids(void)
{
	static const struct rig_config config = {.answer = TALK_FILL,
						 .refill = CLIENT_REFILL_EACH,
						 .connections = 3,
						 .depth = 2,
						 .request_bytes = 1,
						 .response_bytes = 1};

	rig_start(&rig, &config);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < 2; j++)
			CU_ASSERT_EQUAL(rig.ends[i].requests[j],
					RIG_FIRST_ID | (uint64_t)i << 32 | j);
	rig_end_well(&rig);
}

static void test_swap(void)
{
	struct record *other = malloc(sizeof(*other)), *first;

	rig_start(&rig, &respond);
	rig_answer(&rig);
	client_turn(rig.client, 0);
	record_reset(other);
	first = client_swap(rig.client, other);
	CU_ASSERT_PTR_EQUAL(first, rig.record);
	CU_ASSERT_EQUAL(first->service.count, 2);
	CU_ASSERT_TRUE(first->end_ns > first->begin_ns);
	CU_ASSERT_EQUAL(first->transport.counters.writes, 2);
	rig_read(&rig);
	rig_answer(&rig);
	client_turn(rig.client, 0);
	CU_ASSERT_EQUAL(first->service.count, 2);
	CU_ASSERT_EQUAL(other->service.count, 2);
	CU_ASSERT_EQUAL(other->begin_ns, first->end_ns);
	record_reset(rig.record);
	CU_ASSERT_PTR_EQUAL(client_swap(rig.client, rig.record), other);
	CU_ASSERT_EQUAL(other->transport.counters.writes, 1);
	CU_ASSERT_EQUAL(other->busy.turns, 1);
	CU_ASSERT_EQUAL(other->busy.busy_turns, 1);
	free(other);
	rig_end_well(&rig);
}

/* --- wrong servers ---------------------------------------------------------------------------- */

static void test_wrong_id(void)
{
	uint8_t bytes[256];
	size_t count;

	rig_start(&rig, &respond);
	count = rig_response(&rig, rig.ends[0].requests[1], bytes);
	rig_answer_with(&rig, bytes, count);
	rig_expect_failure(&rig, FAILURE_wrong_id, 1,
			   "response id 0x3000000000001, the next in order is 0x3000000000000");
	CU_ASSERT_TRUE(rig.ends[0].closed);
	rig_close(&rig);
}

static void test_unasked(void)
{
	uint8_t bytes[256];

	rig_start(&rig, &respond);
	client_hold(rig.client);
	rig_answer(&rig);
	client_turn(rig.client, 0);
	CU_ASSERT_FALSE(client_failed(rig.client));
	rig_answer_with(&rig, bytes, rig_response(&rig, RIG_FIRST_ID | 2, bytes));
	rig_expect_failure(&rig, FAILURE_wrong_id, 1,
			   "behind the last response that was asked for");
	rig_close(&rig);
}

static void test_wrong_head(void)
{
	uint8_t bytes[256];
	size_t count;

	for (unsigned i = 0; i < 2; i++) {
		rig_start(&rig, &respond);
		count = rig_response(&rig, rig.ends[0].requests[0], bytes);
		if (i == 0)
			bytes_put_le32(bytes + 20, FRAME_START);
		else
			bytes_put_le64(bytes + 12, 2);
		rig_answer_with(&rig, bytes, count);
		rig_expect_failure(&rig, FAILURE_wrong_head, 1, i == 0 ? "flags 0x1" : "opcode 2");
		rig_close(&rig);
	}
}

static void test_wrong_length(void)
{
	static const struct {
		uint32_t frame_len;
		const char *says;
	} rows[] = {{20 + 63, "a response body of 63 bytes, asked for 64"},
		    {20 + 65, "a response body of 65 bytes, asked for 64"},
		    {19, "too small"},
		    {UINT32_MAX, "exceeds the limit"}};
	uint8_t bytes[256];
	size_t count;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rig_start(&rig, &respond);
		count = rig_response(&rig, rig.ends[0].requests[0], bytes);
		bytes_put_le32(bytes, rows[i].frame_len);
		rig_answer_with(&rig, bytes, count);
		rig_expect_failure(&rig, FAILURE_wrong_length, 1, rows[i].says);
		rig_close(&rig);
	}
}

static void test_wrong_bytes(void)
{
	struct rig_config config = respond;
	uint8_t bytes[256];
	size_t count;

	for (unsigned i = 0; i < 2; i++) {
		config.answer = i ? TALK_ECHO : TALK_FILL;
		for (unsigned at = 0; at < 32; at++) {
			char says[64];

			rig_start(&rig, &config);
			count = rig_response(&rig, rig.ends[0].requests[0], bytes);
			bytes[FRAME_HEAD_BYTES + at] ^= 0x10;
			snprintf(says, sizeof(says), "byte %u of a response body is 0x%02x", at,
				 bytes[FRAME_HEAD_BYTES + at]);
			rig_answer_with(&rig, bytes, count);
			rig_expect_failure(&rig, FAILURE_wrong_bytes, 1, says);
			rig_close(&rig);
		}
	}
}

static void test_echo_of_another(void)
{
	struct rig_config config = respond;
	uint8_t bytes[256], other[256];
	size_t count;

	config.answer = TALK_ECHO;
	rig_start(&rig, &config);
	count = rig_response(&rig, rig.ends[0].requests[0], bytes);
	rig_response(&rig, rig.ends[0].requests[1], other);
	memcpy(bytes + FRAME_HEAD_BYTES, other + FRAME_HEAD_BYTES, 32);
	rig_answer_with(&rig, bytes, count);
	rig_expect_failure(&rig, FAILURE_wrong_bytes, 1, "byte 0 of a response body");
	rig_close(&rig);
}

/* An error frame whose body is `text`; its length. */
static size_t error_frame(const char *text, uint8_t *to)
{
	struct frame_head head = {.flags = FRAME_START | FRAME_END | FRAME_ERROR,
				  .body_bytes = (uint32_t)strlen(text)};

	frame_encode(to, &head);
	memcpy(to + FRAME_HEAD_BYTES, text, head.body_bytes);
	return FRAME_HEAD_BYTES + head.body_bytes;
}

static void test_error_frame(void)
{
	uint8_t bytes[256];

	rig_start(&rig, &respond);
	rig_answer_with(&rig, bytes, error_frame("frame length exceeds\nthe limit", bytes));
	rig_expect_failure(&rig, FAILURE_error_frame, 1,
			   "the server says: frame length exceeds?the limit");
	rig_close(&rig);
	rig_start(&rig, &respond);
	rig_answer_with(&rig, bytes, error_frame("", bytes));
	rig_expect_failure(&rig, FAILURE_error_frame, 1, "(no text)");
	rig_close(&rig);
}

static void test_error_frame_cut(void)
{
	uint8_t bytes[256];

	rig_start(&rig, &respond);
	rig_answer_with(&rig, bytes, error_frame("no more", bytes) - 5);
	CU_ASSERT_FALSE(client_failed(rig.client));
	tp_finish(rig.server_tp, rig.ends[0].conn);
	rig_poll(&rig);
	client_turn(rig.client, 0);
	rig_expect_failure(&rig, FAILURE_error_frame, 1, "the server says: no");
	rig_close(&rig);
}

/* The server ends the connection in the given way after `count` bytes of a right answer. */
static void end_after(size_t count, bool reset)
{
	uint8_t bytes[256];

	rig_start(&rig, &respond);
	rig_response(&rig, rig.ends[0].requests[0], bytes);
	if (count > 0)
		rig_answer_with(&rig, bytes, count);
	CU_ASSERT_FALSE(client_failed(rig.client));
	if (reset)
		tp_abort(rig.server_tp, rig.ends[0].conn);
	else
		tp_finish(rig.server_tp, rig.ends[0].conn);
	rig_poll(&rig);
	client_turn(rig.client, 0);
}

static void test_short(void)
{
	static const size_t cuts[] = {1, 23, 24, 50, 87};

	for (unsigned i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		end_after(cuts[i], false);
		rig_expect_failure(&rig, FAILURE_short, 1,
				   "the server ended it within a response, 2 unanswered");
		rig_close(&rig);
		end_after(cuts[i], true);
		rig_expect_failure(&rig, FAILURE_short, 1, "reset within a response");
		rig_close(&rig);
	}
}

static void test_lost(void)
{
	end_after(0, false);
	rig_expect_failure(&rig, FAILURE_lost, 2, "the server ended it with 2 requests unanswered");
	rig_close(&rig);
	end_after(0, true);
	rig_expect_failure(&rig, FAILURE_lost, 2,
			   "reset with 2 requests unanswered, before any answer; does the server's "
			   "--conn-max allow so many?");
	CU_ASSERT_EQUAL(client_outstanding(rig.client), 0);
	rig_close(&rig);
	end_after(88, false);
	rig_expect_failure(&rig, FAILURE_lost, 1,
			   "the server ended it with 1 requests unanswered; was the server told to "
			   "end?");
	CU_ASSERT_PTR_NULL(strstr(client_failures(rig.client)->text[FAILURE_lost], "--conn-max"));
	CU_ASSERT_EQUAL(client_counters(rig.client)->responses, 1);
	rig_close(&rig);
}

static void test_refused(void)
{
	struct tp *server;

	rig_open(&rig, &respond);
	server = rig.server_tp;
	memory_ops.close(server);
	client_connect(rig.client);
	client_turn(rig.client, 0);
	rig_expect_failure(&rig, FAILURE_refused, 1, ": refused; is a server running there?");
	CU_ASSERT_FALSE(client_connected(rig.client));
	client_destroy(rig.client);
	memory_ops.close(rig.client_tp);
	memory_net_destroy(rig.net);
	talk_fini(&rig.talk);
	free(rig.record);
}

static void test_timeouts(void)
{
	rig_start(&rig, &respond);
	client_fail_stalled(rig.client, 5000000000);
	rig_expect_failure(&rig, FAILURE_stalled, 2,
			   "nothing was received for 5 s while 2 requests were unanswered; is the "
			   "server stopped, or a bare one with another --request-bytes");
	rig_close(&rig);
	rig_open(&rig, &respond);
	client_fail_connecting(rig.client, 500000000);
	rig_expect_failure(&rig, FAILURE_connect_timeout, 1,
			   "0 of 1 connections came about within 0.5 s");
	rig_close(&rig);
}

static void test_send_bytes(void)
{
	CU_ASSERT_EQUAL(client_send_bytes(1, 280), 65536);
	CU_ASSERT_EQUAL(client_send_bytes(1024, 280), 524288);
	CU_ASSERT_EQUAL(client_send_bytes(1024, 1024), 1 << 20);
	CU_ASSERT_EQUAL(client_send_bytes(1024, 1025), 2 << 20);
	CU_ASSERT_EQUAL(client_send_bytes(1024, 16 << 20), 0);
}

static const struct suite_test tests[] = {
	{"refill window writes once a window and keeps the depth", test_windows},
	{"refill each writes once a response and keeps the depth", test_each},
	{"an echo is verified against its own request", test_echo},
	{"empty requests and responses are requests and responses", test_empty_bodies},
	{"a window is not refilled before its last response", test_window_waits_for_all},
	{"responses that come a byte at a time are each seen once and whole", test_pieces},
	{"requests held back by short send memory follow when there is room", test_short_memory},
	{"a request held back by its window is due since its place was free", test_due},
	{"an id names worker, connection and place in the order", test_ids},
	{"a swap parts what was before it from what is behind it", test_swap},
	{"a response out of order is a wrong id", test_wrong_id},
	{"a response that nobody asked for is a wrong id", test_unasked},
	{"other flags or another opcode are a wrong head", test_wrong_head},
	{"a length that is not the one asked for is a wrong length", test_wrong_length},
	{"a changed bit in any byte is found", test_wrong_bytes},
	{"the echo of another request is found", test_echo_of_another},
	{"an error frame is told in the server's words", test_error_frame},
	{"an error frame cut short is still told", test_error_frame_cut},
	{"a response cut at any place is short", test_short},
	{"a connection that ends between responses loses what is unanswered", test_lost},
	{"a connection to nobody is refused", test_refused},
	{"stalls and connect timeouts count what they leave open", test_timeouts},
	{"send memory holds a window or is refused", test_send_bytes},
};

SUITE_MAIN("client", tests)
