/* The bare echo answers each request with its id, however the requests come. */
#include "dataplane/core/clock.h"
#include "dataplane/proto/frame.h"
#include "stacks/bare.h"
#include "tests/support/loopback.h"
#include "tests/support/suite.h"
#include "tests/unit/epoll/bench.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_BYTES = 280, RESPONSE_BYTES = 88, REQUESTS = 200 };

#define DEADLINE_NS (20 * CLOCK_SECOND_NS)

static struct bare *bare;
static struct bench dialer; /* for its address and its way to dial */
static uint8_t requests[REQUESTS * REQUEST_BYTES], responses[REQUESTS * RESPONSE_BYTES];

static int try_open(const char *device, const char *options, struct tp_error *error)
{
	uint64_t values[TP_OPTIONS_MAX];
	struct tp_config transport = {
		.limits = {.conn_max = 4},
		.device = device,
		.cpu = -1,
		.workers = 1,
		.options = values,
	};
	struct bare_config config = {
		.transport = &transport,
		.listen = &dialer.addr,
		.request_bytes = REQUEST_BYTES,
		.response_bytes = RESPONSE_BYTES,
	};
	uint8_t answer[RESPONSE_BYTES];
	int code = tp_options_parse(&uring_ops, options, values, error);

	bare_answer_frames(&config, answer);
	if (code == 0)
		code = uring_bare_ops.open(&config, &bare, error);
	return code;
}

static bool open_bare(const char *options)
{
	struct tp_error error;
	int code;

	clock_start();
	dialer.addr = (struct tp_addr){.ip = loopback_ip(), .port = loopback_port()};
	code = try_open("", options, &error);
	if (code < 0)
		printf("# %s\n", error.text);
	CU_ASSERT_EQUAL(code, 0);
	for (unsigned i = 0; i < REQUESTS; i++) {
		struct frame_head head = {.id = i * 0x0102030405060708ull + 7,
					  .opcode = FRAME_OPCODE_STRESS,
					  .flags = FRAME_START | FRAME_END,
					  .body_bytes = REQUEST_BYTES - FRAME_HEAD_BYTES};

		frame_encode(requests + i * REQUEST_BYTES, &head);
	}
	return code == 0;
}

static void turn(uint64_t wait_ns)
{
	struct tp_turn out;

	uring_bare_ops.turn(bare, wait_ns, &out);
}

/* Sends all requests in pieces and reads along; whether all answers came, and are right. */
static bool exchange(int fd, size_t piece)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;
	size_t sent = 0, received = 0;

	while (received < sizeof(responses) && clock_now_ns() < until_ns) {
		size_t left = sizeof(requests) - sent;
		ssize_t moved = send(fd, requests + sent, left < piece ? left : piece,
				     MSG_DONTWAIT | MSG_NOSIGNAL);

		sent += moved > 0 ? (size_t)moved : 0;
		turn(0);
		moved = recv(fd, responses + received, sizeof(responses) - received, MSG_DONTWAIT);
		received += moved > 0 ? (size_t)moved : 0;
	}
	return received == sizeof(responses);
}

static void expect_answers(void)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < REQUESTS; i++) {
		struct span span = {responses + i * RESPONSE_BYTES, RESPONSE_BYTES};
		struct span_reader reader = span_reader_of(&span, 1);
		struct frame_head head;

		wrong += frame_decode(&reader, 1 << 20, &head) != FRAME_OK ||
			 head.id != i * 0x0102030405060708ull + 7 ||
			 head.flags != (FRAME_START | FRAME_END) ||
			 head.body_bytes != RESPONSE_BYTES - FRAME_HEAD_BYTES;
		for (unsigned at = FRAME_HEAD_BYTES; at < RESPONSE_BYTES; at++)
			wrong += span.base[at] != FRAME_FILL_BYTE;
	}
	CU_ASSERT_EQUAL(wrong, 0);
}

static void answers_come_for_requests_in_any_pieces(void)
{
	static const size_t pieces[] = {1, 7, REQUEST_BYTES, REQUEST_BYTES + 1, sizeof(requests)};
	struct tp_counters counters = {0};
	struct bare_counts counts;
	int fd;

	if (!open_bare(""))
		return;
	fd = bench_dial(&dialer);
	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		CU_ASSERT_TRUE(exchange(fd, pieces[i]));
		expect_answers();
	}
	uring_bare_ops.counts(bare, &counts, &counters);
	CU_ASSERT_EQUAL(counts.requests, REQUESTS * 5);
	CU_ASSERT_EQUAL(counts.connections, 1);
	CU_ASSERT_EQUAL(counters.received_bytes, sizeof(requests) * 5);
	CU_ASSERT_EQUAL(counters.written_bytes, sizeof(responses) * 5);
	CU_ASSERT_TRUE(counters.syscalls > 0);
	close(fd);
	uring_bare_ops.close(bare);
}

/* Turns until so many connections have ended; whether they have. */
static bool await_closed(uint64_t count)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;
	struct tp_counters counters = {0};
	struct bare_counts counts;

	do {
		turn(CLOCK_MS_NS);
		uring_bare_ops.counts(bare, &counts, &counters);
	} while (counters.closed < count && clock_now_ns() < until_ns);
	return counters.closed == count;
}

static void tiny_rings_answer_all(void)
{
	int fds[3];

	if (!open_bare("entries=2,buffers=1,buffer-bytes=16"))
		return;
	for (unsigned i = 0; i < 3; i++) {
		fds[i] = bench_dial(&dialer);
		CU_ASSERT_TRUE(exchange(fds[i], 5000));
		expect_answers();
	}
	for (unsigned i = 0; i < 3; i++)
		close(fds[i]);
	CU_ASSERT_TRUE(await_closed(3));
	uring_bare_ops.close(bare);
}

static void what_cannot_be_is_refused_with_the_reason(void)
{
	struct tp_error error;

	CU_ASSERT_EQUAL(try_open("", "buffers=3", &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "power of two"));
	CU_ASSERT_EQUAL(try_open("eth7", "", &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "has no device 'eth7'"));
}

static void connections_come_and_go(void)
{
	struct tp_counters counters = {0};
	struct bare_counts counts;

	if (!open_bare(""))
		return;
	for (unsigned i = 0; i < 20; i++) {
		int fd = bench_dial(&dialer);

		CU_ASSERT_TRUE(exchange(fd, 10000));
		if (i % 2)
			bench_reset(fd);
		else
			close(fd);
		CU_ASSERT_TRUE(await_closed(i + 1));
	}
	uring_bare_ops.counts(bare, &counts, &counters);
	CU_ASSERT_EQUAL(counts.connections, 20);
	CU_ASSERT_EQUAL(counters.closed, 20);
	CU_ASSERT_EQUAL(counters.accepts_refused, 0);
	uring_bare_ops.close(bare);
}

static void closing_resets_what_is_open(void)
{
	char byte;
	int fd;

	if (!open_bare(""))
		return;
	fd = bench_dial(&dialer);
	CU_ASSERT_TRUE(exchange(fd, 10000));
	uring_bare_ops.close(bare);
	CU_ASSERT_EQUAL(recv(fd, &byte, 1, 0), -1);
	close(fd);
}

static const struct suite_test tests[] = {
	{"each request is answered with its id, in whatever pieces it comes",
	 answers_come_for_requests_in_any_pieces},
	{"with rings and buffers of the least size too, and ended connections are closed",
	 tiny_rings_answer_all},
	{"what cannot be is refused with the reason", what_cannot_be_is_refused_with_the_reason},
	{"connections come and go, ended or reset", connections_come_and_go},
	{"closing resets what is open", closing_resets_what_is_open},
};

SUITE_MAIN("uring bare", tests)
