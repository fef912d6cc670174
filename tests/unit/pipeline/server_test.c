#include "dataplane/pipeline/server.h"
#include "dataplane/core/bytes.h"
#include "dataplane/core/limits.h"
#include "tests/support/suite.h"
#include "tests/unit/pipeline/bench.h"

#include <stdlib.h>
#include <string.h>

static const struct tp_limits limits = {
	.conn_max = BENCH_CONNS, .recv_bytes = LIMIT_RECV_BYTES, .send_bytes = LIMIT_SEND_BYTES};
static const uint32_t whole = FRAME_START | FRAME_END;
static struct bench bench;

static void open_echo(const char *delivery)
{
	struct server_config config = bench_config(delivery, "echo", 0);

	bench_open(&bench, &config, &limits);
}

static void request_may_come_in_any_pieces(void)
{
	uint8_t bytes[FRAME_HEAD_BYTES + 10];
	struct bench_end *end;

	frame_encode(bytes,
		     &(struct frame_head){.id = 1, .opcode = 1, .flags = whole, .body_bytes = 10});
	memcpy(bytes + FRAME_HEAD_BYTES, "0123456789", 10);
	open_echo("coalesce");
	end = bench_connect(&bench, 0);
	for (size_t at = 0; at <= sizeof(bytes); at++) {
		if (at > 0)
			bench_send(&bench, end, bytes, at);
		bench_turn(&bench);
		if (at < sizeof(bytes))
			bench_send(&bench, end, bytes + at, sizeof(bytes) - at);
		bench_turn(&bench);
		CU_ASSERT_TRUE(
			bench_expect(&bench, end, 1, whole, (const uint8_t *)"0123456789", 10));
	}
	for (size_t at = 0; at < sizeof(bytes); at++) {
		bench_send(&bench, end, bytes + at, 1);
		bench_turn(&bench);
	}
	CU_ASSERT_TRUE(bench_expect(&bench, end, 1, whole, (const uint8_t *)"0123456789", 10));
	bench_close(&bench);
}

static void empty_bodies_are_answered(void)
{
	struct server_config config = bench_config("immediate", "respond", 0);
	struct bench_end *end;

	bench_open(&bench, &config, &limits);
	end = bench_connect(&bench, 0);
	bench_request(&bench, end, 5, 2, 0);
	bench_turn(&bench);
	CU_ASSERT_TRUE(bench_expect(&bench, end, 5, whole, NULL, 0));
	CU_ASSERT_TRUE(bench_expect(&bench, end, 6, whole, NULL, 0));
	bench_close(&bench);
}

/*
 * Sends `request` bytes of one frame and takes `response` bytes back in whatever pieces they come;
 * whether the body is right.
 */
static bool exchange_large(struct bench_end *end, const uint8_t *request, size_t request_bytes,
			   uint8_t *response, size_t response_bytes)
{
	size_t sent = 0, received = 0;

	for (unsigned turns = 0; turns < 100000 && received < response_bytes; turns++) {
		size_t step = request_bytes - sent < 5000 ? request_bytes - sent : 5000;
		struct room rooms[2];

		if (step > 0 && tp_reserve(bench.client_tp, end->conn, step, rooms) > 0) {
			bench_send(&bench, end, request + sent, step);
			sent += step;
		}
		bench_turn(&bench);
		received += bench_read(&bench, end, response + received, response_bytes - received);
	}
	return received == response_bytes;
}

static void echo_streams_what_no_memory_holds(void)
{
	enum { BODY = 1000003, FRAME = BODY + FRAME_HEAD_BYTES };
	uint8_t *request = malloc(FRAME), *response = malloc(FRAME);
	struct bench_end *end;

	frame_encode(request, &(struct frame_head){
				      .id = 9, .opcode = 1, .flags = whole, .body_bytes = BODY});
	for (size_t i = 0; i < BODY; i++)
		request[FRAME_HEAD_BYTES + i] = (uint8_t)(i * i >> 5);
	open_echo("coalesce");
	end = bench_connect(&bench, 0);
	CU_ASSERT_TRUE(exchange_large(end, request, FRAME, response, FRAME));
	CU_ASSERT_EQUAL(memcmp(request, response, FRAME), 0);
	bench_request(&bench, end, 10, 1, 3);
	bench_turn(&bench);
	CU_ASSERT_TRUE(bench_expect(&bench, end, 10, whole, (const uint8_t *)"\n\n\n", 3));
	bench_close(&bench);
	free(request);
	free(response);
}

static void large_responses_are_whole(void)
{
	enum { BODY = 300000, FRAME = BODY + FRAME_HEAD_BYTES };
	struct server_config config = bench_config("immediate", "respond", BODY);
	uint8_t request[FRAME_HEAD_BYTES], *response = malloc(FRAME);
	struct bench_end *end;
	bool right = true;

	frame_encode(request, &(struct frame_head){.id = 3, .opcode = 1, .flags = whole});
	bench_open(&bench, &config, &limits);
	end = bench_connect(&bench, 0);
	CU_ASSERT_TRUE(exchange_large(end, request, sizeof(request), response, FRAME));
	CU_ASSERT_EQUAL(bytes_get_le32(response), FRAME_LENGTH_MIN + BODY);
	for (size_t i = FRAME_HEAD_BYTES; i < FRAME; i++)
		right &= response[i] == FRAME_FILL_BYTE;
	CU_ASSERT_TRUE(right);
	bench_close(&bench);
	free(response);
}

/*
 * The connection is to be told of its error and then to end; nothing behind the bad frame may be
 * served.
 */
static void expect_rejected(struct bench_end *end, const char *text)
{
	uint64_t requests = server_counters(bench.server)->requests;

	bench_turn(&bench);
	CU_ASSERT_TRUE(bench_expect(&bench, end, 0, whole | FRAME_ERROR, (const uint8_t *)text,
				    strlen(text)));
	bench_turn(&bench);
	CU_ASSERT_TRUE(end->finished);
	CU_ASSERT_EQUAL(server_counters(bench.server)->requests, requests);
	CU_ASSERT_EQUAL(server_counters(bench.server)->errors, 1);
	tp_finish(bench.client_tp, end->conn);
	bench_turn(&bench);
	bench_turn(&bench);
	CU_ASSERT_TRUE(end->closed);
	CU_ASSERT_EQUAL(end->reason, TP_DONE);
	CU_ASSERT_TRUE(server_idle(bench.server));
}

static void impossible_lengths_are_rejected(void)
{
	static const struct {
		uint32_t length;
		enum frame_status status;
	} cases[] = {{0, FRAME_TOO_SHORT},
		     {19, FRAME_TOO_SHORT},
		     {LIMIT_FRAME_BYTES + 1, FRAME_TOO_LONG},
		     {UINT32_MAX, FRAME_TOO_LONG}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[4 + 2 * FRAME_HEAD_BYTES] = {0};
		struct bench_end *end;

		bytes_put_le32(bytes, cases[i].length);
		/* a valid frame right behind, which must not be served */
		frame_encode(bytes + 4, &(struct frame_head){.id = 1, .opcode = 1, .flags = whole});
		open_echo("coalesce");
		end = bench_connect(&bench, 0);
		bench_send(&bench, end, bytes, i % 2 ? sizeof(bytes) : 4);
		expect_rejected(end, frame_status_text(cases[i].status));
		bench_close(&bench);
	}
}

static void good_requests_before_a_bad_one_are_answered(void)
{
	uint8_t bad[4] = {1, 0, 0, 0};
	struct bench_end *end;

	open_echo("coalesce");
	end = bench_connect(&bench, 0);
	bench_request(&bench, end, 1, 2, 1);
	bench_send(&bench, end, bad, 4);
	bench_turn(&bench);
	CU_ASSERT_TRUE(bench_expect(&bench, end, 1, whole, (const uint8_t *)"\1", 1));
	CU_ASSERT_TRUE(bench_expect(&bench, end, 2, whole, (const uint8_t *)"\2", 1));
	CU_ASSERT_TRUE(bench_expect(&bench, end, 0, whole | FRAME_ERROR,
				    (const uint8_t *)frame_status_text(FRAME_TOO_SHORT),
				    strlen(frame_status_text(FRAME_TOO_SHORT))));
	CU_ASSERT_EQUAL(server_counters(bench.server)->requests, 2);
	bench_close(&bench);
}

static void flood_after_an_error_is_cut_off(void)
{
	static uint8_t junk[30000];
	struct bench_end *end;

	open_echo("immediate");
	end = bench_connect(&bench, 0);
	for (unsigned i = 0; i < 100 && !end->closed; i++) {
		struct room rooms[2];

		if (tp_reserve(bench.client_tp, end->conn, sizeof(junk), rooms))
			bench_send(&bench, end, junk, sizeof(junk));
		bench_turn(&bench);
	}
	CU_ASSERT_TRUE(end->closed);
	CU_ASSERT_EQUAL(end->reason, TP_RESET);
	bench_close(&bench);
}

static void answers_follow_a_half_close(void)
{
	struct bench_end *end;

	open_echo("coalesce");
	end = bench_connect(&bench, 0);
	bench_request(&bench, end, 1, 3, 1);
	tp_finish(bench.client_tp, end->conn);
	for (unsigned i = 0; i < 4; i++)
		bench_turn(&bench);
	for (uint8_t i = 1; i <= 3; i++)
		CU_ASSERT_TRUE(bench_expect(&bench, end, i, whole, &i, 1));
	CU_ASSERT_TRUE(end->finished);
	CU_ASSERT_TRUE(end->closed);
	CU_ASSERT_EQUAL(end->reason, TP_DONE);
	CU_ASSERT_TRUE(server_idle(bench.server));
	CU_ASSERT_EQUAL(server_counters(bench.server)->cut_short, 0);
	bench_close(&bench);
}

static void cut_requests_are_counted(void)
{
	uint8_t bytes[FRAME_HEAD_BYTES + 10] = {0};

	frame_encode(bytes,
		     &(struct frame_head){.id = 1, .opcode = 1, .flags = whole, .body_bytes = 10});
	for (size_t cut = 1; cut < sizeof(bytes); cut++) {
		struct bench_end *end;

		open_echo("coalesce");
		end = bench_connect(&bench, 0);
		bench_send(&bench, end, bytes, cut);
		tp_finish(bench.client_tp, end->conn);
		for (unsigned i = 0; i < 4; i++)
			bench_turn(&bench);
		CU_ASSERT_TRUE(end->closed);
		CU_ASSERT_EQUAL(server_counters(bench.server)->cut_short, 1);
		CU_ASSERT_EQUAL(server_counters(bench.server)->responses, 0);
		CU_ASSERT_TRUE(server_idle(bench.server));
		bench_close(&bench);
	}
}

static void reader_that_never_reads_is_held(void)
{
	struct server_config config = bench_config("coalesce", "respond", 1000);
	struct bench_end *greedy, *other;
	unsigned sent = 0;
	uint8_t body[1000];

	memset(body, FRAME_FILL_BYTE, sizeof(body));
	bench_open(&bench, &config, &limits);
	greedy = bench_connect(&bench, 0);
	other = bench_connect(&bench, 1);
	for (unsigned i = 0; i < 10000; i++) {
		struct room rooms[2];

		if (tp_reserve(bench.client_tp, greedy->conn, 25, rooms)) {
			bench_request(&bench, greedy, sent, 1, 1);
			sent++;
		}
		bench_turn(&bench);
	}
	/* its requests pile up in bounded memory; the other is served all the same */
	CU_ASSERT_TRUE(sent < 10000);
	CU_ASSERT_TRUE(server_counters(bench.server)->stalls > 0);
	bench_request(&bench, other, 77, 1, 1);
	bench_turn(&bench);
	CU_ASSERT_TRUE(bench_expect(&bench, other, 77, whole, body, 1000));
	for (unsigned i = 0; i < sent; i++) {
		for (unsigned turns = 0; turns < 10; turns++)
			bench_turn(&bench);
		if (!bench_expect(&bench, greedy, i, whole, body, 1000)) {
			CU_FAIL("a held response is missing or wrong");
			break;
		}
	}
	bench_close(&bench);
}

enum { MIXED = 12, MIXED_BODY = 30 };

static uint32_t mixed_body_bytes(unsigned index)
{
	return index * 7 % MIXED_BODY;
}

/* Requests with bodies of different lengths, and with and without a needless START. */
static size_t write_mixed(uint8_t *to)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < MIXED; i++) {
		struct frame_head head = {.id = 100 + i,
					  .opcode = i,
					  .flags = i % 2 ? whole : FRAME_END, /* as good */
					  .body_bytes = mixed_body_bytes(i)};

		frame_encode(to + bytes, &head);
		memset(to + bytes + FRAME_HEAD_BYTES, (int)i, head.body_bytes);
		bytes += FRAME_HEAD_BYTES + head.body_bytes;
	}
	return bytes;
}

static bool expect_mixed_answer(struct bench_end *end, unsigned index, bool echoes)
{
	uint32_t bytes = echoes ? mixed_body_bytes(index) : 3;
	uint8_t body[MIXED_BODY];

	memset(body, echoes ? (int)index : FRAME_FILL_BYTE, sizeof(body));
	return bench_expect(&bench, end, 100 + index, whole, body, bytes);
}

/*
 * A run of requests takes another way than one that is cut. Both must end alike, wherever the run
 * is cut, whatever its policy.
 */
static void expect_mixed(const char *delivery, const char *handler, unsigned writes)
{
	uint8_t requests[MIXED * (FRAME_HEAD_BYTES + MIXED_BODY)];
	size_t bytes = write_mixed(requests), bodies = bytes - MIXED * FRAME_HEAD_BYTES;
	struct server_config config = bench_config(delivery, handler, 3);
	bool echoes = strcmp(handler, "echo") == 0;

	for (size_t cut = 0; cut < bytes; cut++) {
		const struct server_counters *counters;
		struct bench_end *end;

		bench_open(&bench, &config, &limits);
		counters = server_counters(bench.server);
		end = bench_connect(&bench, 0);
		if (cut > 0)
			bench_send(&bench, end, requests, cut);
		bench_turn(&bench);
		bench_send(&bench, end, requests + cut, bytes - cut);
		bench_turn(&bench);
		for (unsigned i = 0; i < MIXED; i++)
			CU_ASSERT_TRUE(expect_mixed_answer(end, i, echoes));
		CU_ASSERT_EQUAL(counters->requests, MIXED);
		CU_ASSERT_EQUAL(counters->request_bytes, bodies);
		CU_ASSERT_EQUAL(counters->responses, MIXED);
		CU_ASSERT_EQUAL(counters->response_bytes, echoes ? bodies : MIXED * 3);
		if (cut == 0)
			CU_ASSERT_EQUAL(bench_counters(&bench).writes, writes);
		bench_close(&bench);
	}
}

static void runs_are_answered_like_single_requests(void)
{
	CU_ASSERT_EQUAL(FRAME_FILL_BYTE, 'Z');
	expect_mixed("immediate", "respond", MIXED);
	expect_mixed("coalesce", "respond", 1);
	expect_mixed("flush-at:60", "respond", 4); /* of three responses of 27 bytes */
	expect_mixed("immediate", "echo", MIXED);
	expect_mixed("coalesce", "echo", 1);
}

static void run_ends_before_a_bad_frame(void)
{
	struct server_config config = bench_config("coalesce", "respond", 3);
	uint8_t bad[FRAME_HEAD_BYTES] = {FRAME_LENGTH_MIN - 1};
	struct bench_end *end;

	bench_open(&bench, &config, &limits);
	end = bench_connect(&bench, 0);
	bench_request(&bench, end, 1, 5, 8);
	bench_send(&bench, end, bad, sizeof(bad));
	bench_turn(&bench);
	for (unsigned i = 1; i <= 5; i++)
		CU_ASSERT_TRUE(bench_expect(&bench, end, i, whole, (const uint8_t *)"ZZZ", 3));
	expect_rejected(end, "frame length is smaller than the fixed header");
	bench_close(&bench);
}

static void run_ends_with_the_share(void)
{
	struct server_config config = bench_config("coalesce", "respond", 3);
	const struct server_counters *counters;
	struct bench_end *end;

	config.turn_requests = 10;
	bench_open(&bench, &config, &limits);
	counters = server_counters(bench.server);
	end = bench_connect(&bench, 0);
	bench_request(&bench, end, 0, 25, 8);
	bench_turn(&bench);
	CU_ASSERT_EQUAL(counters->responses, 10);
	CU_ASSERT_EQUAL(counters->yields, 1);
	bench_turn(&bench);
	CU_ASSERT_EQUAL(counters->responses, 20);
	bench_turn(&bench);
	CU_ASSERT_EQUAL(counters->responses, 25);
	CU_ASSERT_EQUAL(counters->yields, 2);
	bench_close(&bench);
}

/* Requests come and answers leave in pieces of any length, so rings wrap and send memory fails. */
static void answers_are_right_whatever_the_room(void)
{
	enum { COUNT = 4000, BODY = 999, REQUEST = FRAME_HEAD_BYTES + 11 };
	struct server_config config = bench_config("coalesce", "respond", BODY);
	unsigned asked = 0, answered = 0;
	uint8_t body[BODY];
	struct bench_end *end;

	memset(body, FRAME_FILL_BYTE, sizeof(body));
	bench_open(&bench, &config, &limits);
	end = bench_connect(&bench, 0);
	srand(3);
	for (unsigned turns = 0; turns < 100000 && answered < COUNT; turns++) {
		unsigned burst = 1 + (unsigned)rand() % 200, reads = (unsigned)rand() % 100;
		struct room rooms[2];

		if (asked + burst <= COUNT + 200 &&
		    tp_reserve(bench.client_tp, end->conn, (size_t)burst * REQUEST, rooms)) {
			bench_request(&bench, end, asked, burst, 11);
			asked += burst;
		}
		bench_turn(&bench);
		while (reads-- > 0 && bench_expect(&bench, end, answered, whole, body, BODY))
			answered++;
	}
	CU_ASSERT(answered >= COUNT);
	CU_ASSERT(server_counters(bench.server)->stalls > 0);
	bench_close(&bench);
}

enum { SHORT_FRAME = 1000, SHORT_BODY = SHORT_FRAME - FRAME_HEAD_BYTES };

/* The peer reads nothing until there is room for three more answers, but not for four. */
static unsigned fill_but_for_three(struct bench_end *end, uint32_t request_body)
{
	unsigned answers = (limits.recv_bytes + limits.send_bytes) / SHORT_FRAME - 3;

	for (unsigned i = 0; i < answers; i++) {
		bench_request(&bench, end, i, 1, request_body);
		bench_turn(&bench);
	}
	CU_ASSERT_EQUAL_FATAL(server_counters(bench.server)->responses, answers);
	CU_ASSERT_EQUAL_FATAL(bench_counters(&bench).reserves_refused, 0);
	return answers;
}

/* Eight requests at once where there is room for three answers; then the peer reads. */
static void expect_short_room(const char *handler, uint32_t request_body, unsigned refused)
{
	struct server_config config = bench_config("coalesce", handler, SHORT_BODY);
	const struct server_counters *counters;
	uint8_t answers[4 * SHORT_FRAME];
	struct bench_end *end;
	size_t bytes = 0, got;
	unsigned before;

	bench_open(&bench, &config, &limits);
	counters = server_counters(bench.server);
	end = bench_connect(&bench, 0);
	before = fill_but_for_three(end, request_body);
	bench_request(&bench, end, before, 8, request_body);
	for (unsigned i = 0; i < 3; i++) { /* a refused run brings no visit of its own */
		bench_turn(&bench);
		CU_ASSERT_EQUAL(counters->responses, before + 3);
		CU_ASSERT_EQUAL(counters->stalls, 1);
		CU_ASSERT_EQUAL(bench_counters(&bench).reserves_refused, refused);
		CU_ASSERT_EQUAL(bench_counters(&bench).writes, before + 1);
	}
	do {
		got = bench_read(&bench, end, answers, sizeof(answers));
		bytes += got;
		bench_turn(&bench);
	} while (got > 0);
	CU_ASSERT_EQUAL(bytes, (size_t)(before + 8) * SHORT_FRAME);
	CU_ASSERT_EQUAL(counters->responses, before + 8);
	bench_close(&bench);
}

static void short_room_is_used_by_runs_and_steps_alike(void)
{
	expect_short_room("spin:1", 0, 1);
	expect_short_room("respond", 0, 2); /* the run, and the step after it */
	expect_short_room("echo", SHORT_BODY, 2);
}

static void draining_answers_and_ends(void)
{
	struct bench_end *busy, *idle, *late;

	open_echo("coalesce");
	busy = bench_connect(&bench, 0);
	idle = bench_connect(&bench, 1);
	bench_request(&bench, busy, 1, 3, 1);
	server_drain(bench.server);
	bench_turn(&bench);
	for (uint8_t i = 1; i <= 3; i++)
		CU_ASSERT_TRUE(bench_expect(&bench, busy, i, whole, &i, 1));
	bench_turn(&bench);
	CU_ASSERT_TRUE(busy->finished);
	CU_ASSERT_TRUE(idle->finished);
	late = bench_connect(&bench, 2);
	bench_turn(&bench);
	CU_ASSERT_TRUE(late->closed);
	tp_finish(bench.client_tp, busy->conn);
	tp_finish(bench.client_tp, idle->conn);
	for (unsigned i = 0; i < 3; i++)
		bench_turn(&bench);
	CU_ASSERT_TRUE(server_idle(bench.server));
	CU_ASSERT_EQUAL(server_counters(bench.server)->connections_refused, 1);
	bench_close(&bench);
}

static void full_server_resets_newcomers(void)
{
	struct server_config config = bench_config("coalesce", "echo", 0);
	struct bench_end *second, *first;

	config.conn_max = 1;
	bench_open(&bench, &config, &limits);
	first = bench_connect(&bench, 0);
	second = bench_connect(&bench, 1);
	bench_turn(&bench);
	CU_ASSERT_TRUE(second->closed);
	CU_ASSERT_EQUAL(second->reason, TP_RESET);
	bench_request(&bench, first, 1, 1, 1);
	bench_turn(&bench);
	CU_ASSERT_TRUE(bench_expect(&bench, first, 1, whole, (const uint8_t *)"\1", 1));
	bench_close(&bench);
}

static const struct suite_test tests[] = {
	{"a request is answered the same in whatever pieces it comes",
	 request_may_come_in_any_pieces},
	{"an empty body gets one frame with START and END", empty_bodies_are_answered},
	{"echo streams a body larger than any buffer", echo_streams_what_no_memory_holds},
	{"a response larger than the send memory arrives whole", large_responses_are_whole},
	{"impossible lengths get an error frame, then the end, and nothing behind them is served",
	 impossible_lengths_are_rejected},
	{"good requests before a bad one are answered first",
	 good_requests_before_a_bad_one_are_answered},
	{"a peer that floods on after its error is reset", flood_after_an_error_is_cut_off},
	{"requests before a half-close are answered, then both sides are done",
	 answers_follow_a_half_close},
	{"a request cut short by its peer is counted, wherever it is cut",
	 cut_requests_are_counted},
	{"a peer that does not read is held in bounded memory and harms nobody",
	 reader_that_never_reads_is_held},
	{"a run of requests is answered like single ones, wherever it is cut",
	 runs_are_answered_like_single_requests},
	{"a run ends before a bad frame", run_ends_before_a_bad_frame},
	{"a run ends with the share of the turn", run_ends_with_the_share},
	{"answers are right in whatever pieces requests and room come",
	 answers_are_right_whatever_the_room},
	{"what room is left is used, whether by a run or step by step",
	 short_room_is_used_by_runs_and_steps_alike},
	{"draining answers what was received, ends everyone and refuses newcomers",
	 draining_answers_and_ends},
	{"a full server resets newcomers and serves on", full_server_resets_newcomers},
};

SUITE_MAIN("server", tests)
