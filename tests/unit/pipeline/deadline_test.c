/* How long a peer may take: the arithmetic on invented clocks, and served peers that are late. */
#include "dataplane/pipeline/deadline.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "tests/support/suite.h"
#include "tests/unit/pipeline/talk.h"

#include <stdlib.h>
#include <string.h>

static struct talk talk;

/* --- arithmetic --- */

static const struct timeouts timeouts = {
	.head_ns = 10, .body_ns = 20, .idle_ns = 40, .send_ns = 80, .rate_bytes = 1000000000};

static uint64_t at(enum deadline_kind kind, uint64_t since_ns, uint64_t later_ns, uint64_t bytes)
{
	struct deadline deadline;

	deadline_init(&deadline);
	deadline_note(&deadline, kind, since_ns, 5);
	deadline_note(&deadline, kind, later_ns, 5 + bytes);
	return deadline_at(&deadline, &timeouts);
}

static void deadlines_are_absolute(void)
{
	CU_ASSERT_EQUAL(at(DEADLINE_HEAD, 100, 109, 7), 110);
	CU_ASSERT_EQUAL(at(DEADLINE_IDLE, 100, 109, 0), 149);
	/* a byte a nanosecond is the slowest: seven of them are worth as many nanoseconds */
	CU_ASSERT_EQUAL(at(DEADLINE_BODY, 100, 119, 7), 127);
	CU_ASSERT_EQUAL(at(DEADLINE_SEND, 100, 150, 7), 187);
	CU_ASSERT_EQUAL(at(DEADLINE_SEND, 100, 150, 700), 230); /* nothing moved since 150 */
	CU_ASSERT_EQUAL(at(DEADLINE_NONE, 100, 109, 7), TIMER_NEVER);
	CU_ASSERT_EQUAL(at(DEADLINE_LINGER, 100, 109, 7), 100 + LIMIT_LINGER_NS);
}

static void nothing_is_for_ever(void)
{
	static const struct timeouts never = {.rate_bytes = 1};
	struct deadline deadline;

	deadline_init(&deadline);
	for (unsigned kind = DEADLINE_NONE; kind <= DEADLINE_SEND; kind++) {
		deadline_note(&deadline, kind, 100, 5);
		CU_ASSERT_EQUAL(deadline_at(&deadline, &never), TIMER_NEVER);
	}
}

/* --- served peers --- */

enum { SHORT_NS = 2 * 1000 * 1000 };

static const struct codec *const protocols[] = {&codec_framed, &codec_http1};

static void open_with(const struct codec *codec, const struct timeouts *given)
{
	struct server_config config = talk_config("coalesce");

	config.codec = codec;
	config.timeouts = *given;
	talk_open(&talk, &config);
}

/* Turns, without reading, until the peer was told of an end. */
static void await_end(void)
{
	uint64_t limit_ns = clock_now_ns() + 20 * CLOCK_SECOND_NS;

	while (!talk.end->finished && !talk.end->closed && clock_now_ns() < limit_ns)
		bench_turn(&talk.bench);
	CU_ASSERT_TRUE(talk.end->finished || talk.end->closed);
}

static void silent_newcomer_is_ended(void)
{
	for (unsigned i = 0; i < 2; i++) {
		open_with(protocols[i], &(struct timeouts){.head_ns = SHORT_NS});
		await_end();
		talk_listen(&talk);
		CU_ASSERT_TRUE(talk_heard(&talk, ""));
		CU_ASSERT_EQUAL(talk_counters(&talk)->timeouts_head, 1);
		talk_close(&talk);
	}
}

static void dribbled_head_is_refused(void)
{
	static const char slow[] = "GET / HTTP/1.1\r\nHost: abcdefghijklmnopqrstuvwxyz";
	uint64_t limit_ns = clock_now_ns() + 20 * CLOCK_SECOND_NS;

	open_with(&codec_http1, &(struct timeouts){.head_ns = SHORT_NS});
	for (size_t sent = 0; !talk.end->finished && clock_now_ns() < limit_ns;) {
		if (sent < sizeof(slow) - 1)
			bench_send(&talk.bench, talk.end, (const uint8_t *)slow + sent++, 1);
		bench_turn(&talk.bench);
	}
	talk_listen(&talk);
	CU_ASSERT_TRUE(talk_heard(&talk, "HTTP/1.1 408 Request Timeout\r\n"
					 "Content-Type: text/plain\r\nContent-Length: 26\r\n"
					 "Connection: close\r\n\r\nrequest head took too long"));
	CU_ASSERT_EQUAL(talk_counters(&talk)->timeouts_head, 1);
	CU_ASSERT_EQUAL(talk_counters(&talk)->requests, 0);
	talk_close(&talk);
}

static void partial_frame_is_refused(void)
{
	static const char text[] = "request head took too long";
	uint8_t half[FRAME_HEAD_BYTES / 2] = {FRAME_LENGTH_MIN};

	open_with(&codec_framed, &(struct timeouts){.head_ns = SHORT_NS});
	bench_send(&talk.bench, talk.end, half, sizeof(half));
	await_end();
	CU_ASSERT_TRUE(bench_expect(&talk.bench, talk.end, 0, FRAME_START | FRAME_END | FRAME_ERROR,
				    (const uint8_t *)text, strlen(text)));
	CU_ASSERT_EQUAL(talk_counters(&talk)->timeouts_head, 1);
	talk_close(&talk);
}

static void missing_body_is_refused(void)
{
	static const char *const paths[] = {"/", "/echo"};
	char request[128];

	for (unsigned i = 0; i < 2; i++) {
		open_with(&codec_http1, &(struct timeouts){.body_ns = SHORT_NS, .rate_bytes = 1});
		snprintf(request, sizeof(request),
			 "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", paths[i]);
		bench_send(&talk.bench, talk.end, (const uint8_t *)request, strlen(request));
		await_end();
		talk_listen(&talk);
		CU_ASSERT_TRUE(talk_heard(&talk,
					  "HTTP/1.1 408 Request Timeout\r\n"
					  "Content-Type: text/plain\r\nContent-Length: 26\r\n"
					  "Connection: close\r\n\r\nrequest body took too long"));
		CU_ASSERT_EQUAL(talk_counters(&talk)->timeouts_body, 1);
		talk_close(&talk);
	}
}

static void missing_frame_body_names_its_request(void)
{
	static const char text[] = "request body took too long";
	uint8_t head[FRAME_HEAD_BYTES];

	frame_encode(head, &(struct frame_head){.id = 7, .opcode = 1, .body_bytes = 5});
	open_with(&codec_framed, &(struct timeouts){.body_ns = SHORT_NS});
	bench_send(&talk.bench, talk.end, head, sizeof(head));
	await_end();
	CU_ASSERT_TRUE(bench_expect(&talk.bench, talk.end, 7, FRAME_START | FRAME_END | FRAME_ERROR,
				    (const uint8_t *)text, strlen(text)));
	CU_ASSERT_EQUAL(talk_counters(&talk)->timeouts_body, 1);
	talk_close(&talk);
}

static void half_echoed_body_is_reset(void)
{
	static uint8_t part[20000];
	static const char head[] =
		"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n";

	open_with(&codec_http1, &(struct timeouts){.body_ns = SHORT_NS, .rate_bytes = 1000000000});
	bench_send(&talk.bench, talk.end, (const uint8_t *)head, strlen(head));
	bench_send(&talk.bench, talk.end, part, sizeof(part));
	await_end();
	CU_ASSERT_TRUE(talk.end->closed);
	CU_ASSERT_EQUAL(talk.end->reason, TP_RESET);
	CU_ASSERT_EQUAL(talk_counters(&talk)->timeouts_body, 1);
	talk_close(&talk);
}

static void idle_peer_is_ended_in_silence(void)
{
	open_with(&codec_http1, &(struct timeouts){.idle_ns = SHORT_NS});
	bench_send(&talk.bench, talk.end, (const uint8_t *)"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27);
	await_end();
	talk_listen(&talk);
	CU_ASSERT_TRUE(talk_heard(&talk, TALK_FIVE));
	CU_ASSERT_EQUAL(talk_counters(&talk)->timeouts_idle, 1);
	CU_ASSERT_EQUAL(talk_counters(&talk)->timeouts_head, 0);
	talk_close(&talk);
}

static void peer_that_never_reads_is_reset(void)
{
	open_with(&codec_http1, &(struct timeouts){.send_ns = SHORT_NS});
	bench_send(&talk.bench, talk.end, (const uint8_t *)"GET /big HTTP/1.1\r\nHost: a\r\n\r\n",
		   30);
	await_end();
	CU_ASSERT_TRUE(talk.end->closed);
	CU_ASSERT_EQUAL(talk.end->reason, TP_RESET);
	CU_ASSERT_EQUAL(talk_counters(&talk)->timeouts_send, 1);
	talk_close(&talk);
}

static void peer_that_never_ends_is_reset(void)
{
	open_with(&codec_http1, &(struct timeouts){.idle_ns = SHORT_NS, .send_ns = SHORT_NS});
	talk_say(&talk, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	await_end();
	while (!talk.end->closed)
		bench_turn(&talk.bench);
	bench_turn(&talk.bench);
	CU_ASSERT_EQUAL(talk.end->reason, TP_RESET);
	CU_ASSERT_EQUAL(talk_counters(&talk)->timeouts_idle, 1);
	CU_ASSERT_EQUAL(talk_counters(&talk)->timeouts_send, 1);
	CU_ASSERT_TRUE(server_idle(talk.bench.server));
	talk_close(&talk);
}

static const struct suite_test tests[] = {
	{"deadlines are absolute but for the rate", deadlines_are_absolute},
	{"a timeout of 0 is for ever", nothing_is_for_ever},
	{"a peer that says nothing is ended in silence", silent_newcomer_is_ended},
	{"a head that dribbles in is answered with 408", dribbled_head_is_refused},
	{"a part of a frame is answered with an error", partial_frame_is_refused},
	{"a body that does not come is answered with 408", missing_body_is_refused},
	{"a frame's body that does not come is answered with its id",
	 missing_frame_body_names_its_request},
	{"a body that stops when half is echoed is reset", half_echoed_body_is_reset},
	{"a peer without a further request is ended in silence", idle_peer_is_ended_in_silence},
	{"a peer that never reads is reset", peer_that_never_reads_is_reset},
	{"a peer that never ends its side is reset", peer_that_never_ends_is_reset},
};

SUITE_MAIN("deadline", tests)
