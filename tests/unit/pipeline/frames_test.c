/* Messages of several frames, both ways. */
#include "dataplane/core/limits.h"
#include "tests/support/suite.h"
#include "tests/unit/pipeline/bench.h"

#include <stdlib.h>
#include <string.h>

static const struct tp_limits limits = {
	.conn_max = BENCH_CONNS, .recv_bytes = LIMIT_RECV_BYTES, .send_bytes = LIMIT_SEND_BYTES};
static const uint32_t whole = FRAME_START | FRAME_END;
static struct bench bench;

static struct bench_end *open_server(const char *handler)
{
	struct server_config config = bench_config("coalesce", handler, 3);

	config.body_max = 1000;
	bench_open(&bench, &config, &limits);
	return bench_connect(&bench, 0);
}

/* Writes a frame of opcode 1; its length. */
static size_t put(uint8_t *to, uint64_t id, uint32_t flags, const char *body)
{
	struct frame_head head = {
		.id = id, .opcode = 1, .flags = flags, .body_bytes = (uint32_t)strlen(body)};

	frame_encode(to, &head);
	memcpy(to + FRAME_HEAD_BYTES, body, head.body_bytes);
	return FRAME_HEAD_BYTES + head.body_bytes;
}

/* A message of three frames and a whole one behind it. */
static size_t put_messages(uint8_t *to)
{
	size_t bytes = put(to, 1, FRAME_START, "abc");

	bytes += put(to + bytes, 1, 0, "de");
	bytes += put(to + bytes, 1, FRAME_END, "f");
	return bytes + put(to + bytes, 2, whole, "g");
}

static bool expect(struct bench_end *end, uint64_t id, uint32_t flags, const char *body)
{
	return bench_expect(&bench, end, id, flags, (const uint8_t *)body, strlen(body));
}

static void turns(unsigned count)
{
	while (count-- > 0)
		bench_turn(&bench);
}

static void streamed_body_is_echoed_as_a_stream(void)
{
	uint8_t bytes[256];
	size_t count = put_messages(bytes);
	struct bench_end *end = open_server("echo");

	bench_send(&bench, end, bytes, count);
	turns(1);
	CU_ASSERT_TRUE(expect(end, 1, FRAME_START, "abc"));
	CU_ASSERT_TRUE(expect(end, 1, 0, "de"));
	CU_ASSERT_TRUE(expect(end, 1, 0, "f"));
	CU_ASSERT_TRUE(expect(end, 1, FRAME_END, ""));
	CU_ASSERT_TRUE(expect(end, 2, whole, "g"));
	CU_ASSERT_EQUAL(server_counters(bench.server)->requests, 2);
	CU_ASSERT_EQUAL(server_counters(bench.server)->request_bytes, 7);
	CU_ASSERT_EQUAL(server_counters(bench.server)->responses, 2);
	CU_ASSERT_EQUAL(server_counters(bench.server)->response_bytes, 7);
	bench_close(&bench);
}

static void empty_stream_is_one_frame(void)
{
	uint8_t bytes[64];
	struct bench_end *end = open_server("echo");
	size_t count = put(bytes, 1, FRAME_START, "");

	count += put(bytes + count, 1, FRAME_END, "");
	bench_send(&bench, end, bytes, count);
	turns(1);
	CU_ASSERT_TRUE(expect(end, 1, whole, ""));
	bench_close(&bench);
}

static void streamed_body_is_dropped_at_every_split(void)
{
	uint8_t bytes[256];
	size_t count = put_messages(bytes);

	for (size_t cut = 1; cut < count; cut++) {
		struct bench_end *end = open_server("respond");

		bench_send(&bench, end, bytes, cut);
		turns(1);
		bench_send(&bench, end, bytes + cut, count - cut);
		turns(1);
		CU_ASSERT_TRUE(expect(end, 1, whole, "ZZZ"));
		CU_ASSERT_TRUE(expect(end, 2, whole, "ZZZ"));
		CU_ASSERT_EQUAL(server_counters(bench.server)->request_bytes, 7);
		bench_close(&bench);
	}
}

/* What follows the beginning of message 1 is wrong. */
static void expect_error(uint64_t id, uint32_t flags, const char *body, const char *text)
{
	uint8_t bytes[2048];
	struct bench_end *end = open_server("respond");
	size_t count = put(bytes, 1, FRAME_START, "abc");

	count += put(bytes + count, id, flags, body);
	count += put(bytes + count, 3, whole, "never served");
	bench_send(&bench, end, bytes, count);
	turns(2);
	CU_ASSERT_TRUE(expect(end, 1, whole | FRAME_ERROR, text));
	CU_ASSERT_TRUE(end->finished);
	CU_ASSERT_EQUAL(server_counters(bench.server)->errors, 1);
	CU_ASSERT_EQUAL(server_counters(bench.server)->requests, 1);
	bench_close(&bench);
}

static void wrong_frames_within_a_message_are_refused(void)
{
	char large[999];

	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	expect_error(2, FRAME_END, "d", "frame of another message within a message");
	expect_error(1, FRAME_START, "d", "frame begins anew within a message");
	expect_error(1, whole, "d", "frame begins anew within a message");
	expect_error(1, FRAME_END | FRAME_ERROR, "d", "frame begins anew within a message");
	expect_error(1, FRAME_END, large, "request body exceeds the limit");
}

static void cut_streams_are_counted(void)
{
	uint8_t bytes[64];
	struct bench_end *end = open_server("respond");
	size_t count = put(bytes, 1, FRAME_START, "abc");

	bench_send(&bench, end, bytes, count);
	tp_finish(bench.client_tp, end->conn);
	turns(4);
	CU_ASSERT_TRUE(end->closed);
	CU_ASSERT_EQUAL(server_counters(bench.server)->cut_short, 1);
	CU_ASSERT_TRUE(server_idle(bench.server));
	bench_close(&bench);
}

static const struct suite_test tests[] = {
	{"a streamed body is echoed as a stream", streamed_body_is_echoed_as_a_stream},
	{"an empty stream is one frame", empty_stream_is_one_frame},
	{"a streamed body is dropped, at every split", streamed_body_is_dropped_at_every_split},
	{"wrong frames within a message are refused with its id",
	 wrong_frames_within_a_message_are_refused},
	{"a message cut short is counted", cut_streams_are_counted},
};

SUITE_MAIN("frames", tests)
