/*
 * The bare echo against plain blocking sockets.
 */
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "dataplane/proto/frame.h"
#include "stacks/epoll/epoll.h"
#include "tests/support/loopback.h"
#include "tests/support/suite.h"
#include "tests/unit/epoll/bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_BYTES = 40, RESPONSE_BYTES = 88, DEPTH = 32, FLOOD = 1024, TURNS_MAX = 10000 };

static struct bare *bare;
static struct bench bench; /* for its address and its dialling */
static struct tp_turn turn;

static int open_sized(uint32_t conn_max, uint32_t request_bytes, uint32_t response_bytes,
		      struct tp_error *error)
{
	static const struct tp_limits limits = {.recv_bytes = 4096, .send_bytes = 4096};
	struct tp_config transport = {.limits = limits, .device = "", .cpu = -1, .workers = 1};
	struct bare_config config = {.transport = &transport,
				     .listen = &bench.addr,
				     .request_bytes = request_bytes,
				     .response_bytes = response_bytes};
	uint8_t answer[LIMIT_CHUNK_BYTES];

	clock_start();
	transport.limits.conn_max = conn_max;
	bench = (struct bench){.addr = {.ip = loopback_ip(), .port = loopback_port()}};
	if (response_bytes >= FRAME_HEAD_BYTES && response_bytes <= sizeof(answer))
		bare_answer_frames(&config, answer);
	return epoll_bare_ops.open(&config, &bare, error);
}

static bool open_bare(uint32_t conn_max, uint32_t response_bytes)
{
	struct tp_error error = {.text = ""};
	int code = open_sized(conn_max, REQUEST_BYTES, response_bytes, &error);

	if (code < 0)
		printf("# %s\n", error.text);
	CU_ASSERT_EQUAL(code, 0);
	return code == 0;
}

static struct bare_counts counts(struct tp_counters *counters)
{
	struct bare_counts own;

	epoll_bare_ops.counts(bare, &own, counters);
	return own;
}

/* Turns until it has counted so many requests and connections; whether it has. */
static bool until(uint64_t requests, uint64_t connections)
{
	struct tp_counters counters;
	struct bare_counts now;

	for (unsigned i = 0; i < TURNS_MAX; i++) {
		now = counts(&counters);
		if (now.requests == requests && now.connections == connections)
			return true;
		epoll_bare_ops.turn(bare, 10 * CLOCK_MS_NS, &turn);
	}
	return false;
}

/* Turns until a counter has moved; asserts that it does. */
static void turn_until(enum tp_counter counter)
{
	struct tp_counters counters = {0};

	for (unsigned i = 0; i < TURNS_MAX && tp_counter_value(&counters, counter) == 0; i++) {
		epoll_bare_ops.turn(bare, 10 * CLOCK_MS_NS, &turn);
		counts(&counters);
	}
	CU_ASSERT(tp_counter_value(&counters, counter) > 0);
}

static int join(uint64_t connections)
{
	int fd = bench_dial(&bench);

	CU_ASSERT(fd >= 0);
	CU_ASSERT(until(counts(&(struct tp_counters){0}).requests, connections));
	return fd;
}

static void write_request(uint8_t *to, uint64_t id)
{
	const struct frame_head head = {.id = id,
					.opcode = FRAME_OPCODE_STRESS,
					.flags = FRAME_START | FRAME_END,
					.body_bytes = REQUEST_BYTES - FRAME_HEAD_BYTES};

	bench_fill(to, REQUEST_BYTES);
	frame_encode(to, &head);
}

static void write_answer(uint8_t *to, uint64_t id, uint32_t response_bytes)
{
	const struct frame_head head = {.id = id,
					.opcode = FRAME_OPCODE_STRESS,
					.flags = FRAME_START | FRAME_END,
					.body_bytes = response_bytes - FRAME_HEAD_BYTES};

	memset(to, FRAME_FILL_BYTE, response_bytes);
	frame_encode(to, &head);
}

/* Reads one answer and asserts every byte of it. */
static void expect_answer(int fd, uint64_t id, uint32_t response_bytes)
{
	static uint8_t wanted[LIMIT_CHUNK_BYTES], got[LIMIT_CHUNK_BYTES];

	write_answer(wanted, id, response_bytes);
	CU_ASSERT_EQUAL(recv(fd, got, response_bytes, MSG_WAITALL), (ssize_t)response_bytes);
	CU_ASSERT_EQUAL(memcmp(got, wanted, response_bytes), 0);
}

static void send_all(int fd, const uint8_t *bytes, size_t count)
{
	CU_ASSERT_EQUAL(send(fd, bytes, count, MSG_NOSIGNAL), (ssize_t)count);
}

static void waiting_connections_are_taken_when_descriptors_are_free(void)
{
	struct tp_counters counters = {0};
	struct rlimit before, none;
	int fd;

	if (!open_bare(4, RESPONSE_BYTES))
		return;
	fd = bench_dial(&bench);
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){.rlim_cur = (rlim_t)fd + 1, .rlim_max = before.rlim_max};
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
	epoll_bare_ops.turn(bare, 10 * CLOCK_MS_NS, &turn);
	CU_ASSERT_EQUAL(counts(&counters).connections, 0);
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
	CU_ASSERT(until(0, 1));
	close(fd);
	epoll_bare_ops.close(bare);
}

static void window_is_answered_in_one_write(void)
{
	uint8_t requests[DEPTH * REQUEST_BYTES];
	struct tp_counters counters = {0};
	int fd;

	if (!open_bare(4, RESPONSE_BYTES))
		return;
	fd = join(1);
	for (unsigned i = 0; i < DEPTH; i++)
		write_request(requests + (size_t)i * REQUEST_BYTES, 100 + i);
	send_all(fd, requests, sizeof(requests));
	CU_ASSERT(until(DEPTH, 1));
	for (unsigned i = 0; i < DEPTH; i++)
		expect_answer(fd, 100 + i, RESPONSE_BYTES);
	counts(&counters);
	CU_ASSERT_EQUAL(counters.writes, 1);
	CU_ASSERT_EQUAL(counters.written_bytes, DEPTH * RESPONSE_BYTES);
	CU_ASSERT_EQUAL(counters.largest_write_bytes, DEPTH * RESPONSE_BYTES);
	CU_ASSERT_EQUAL(counters.received_bytes, sizeof(requests));
	CU_ASSERT_EQUAL(counters.accepted, 1);
	close(fd);
	epoll_bare_ops.close(bare);
}

/* Two requests in two pieces, and the second piece once the first is taken in. */
static void answer_split_at(int fd, unsigned split, uint64_t served)
{
	uint8_t requests[2 * REQUEST_BYTES];
	struct tp_counters counters;
	uint64_t before;

	write_request(requests, 2 * split);
	write_request(requests + REQUEST_BYTES, 2 * split + 1);
	counts(&counters);
	before = counters.received_bytes;
	send_all(fd, requests, split);
	for (unsigned i = 0; i < TURNS_MAX && counters.received_bytes < before + split; i++) {
		epoll_bare_ops.turn(bare, 10 * CLOCK_MS_NS, &turn);
		counts(&counters);
	}
	CU_ASSERT_EQUAL(counts(&counters).requests, served + split / REQUEST_BYTES);
	send_all(fd, requests + split, sizeof(requests) - split);
	CU_ASSERT(until(served + 2, 1));
	expect_answer(fd, 2 * split, RESPONSE_BYTES);
	expect_answer(fd, 2 * split + 1, RESPONSE_BYTES);
}

static void every_split_is_answered_the_same(void)
{
	int fd;

	if (!open_bare(4, RESPONSE_BYTES))
		return;
	fd = join(1);
	for (unsigned split = 1; split < 2 * REQUEST_BYTES; split++)
		answer_split_at(fd, split, 2 * (split - 1));
	close(fd);
	epoll_bare_ops.close(bare);
}

static void single_bytes_make_a_request(void)
{
	uint8_t request[REQUEST_BYTES];
	int fd;

	if (!open_bare(4, RESPONSE_BYTES))
		return;
	fd = join(1);
	write_request(request, 0x1122334455667788);
	for (unsigned i = 0; i < REQUEST_BYTES; i++) {
		send_all(fd, request + i, 1);
		epoll_bare_ops.turn(bare, 10 * CLOCK_MS_NS, &turn);
	}
	CU_ASSERT(until(1, 1));
	expect_answer(fd, 0x1122334455667788, RESPONSE_BYTES);
	close(fd);
	epoll_bare_ops.close(bare);
}

/* More answers than the send buffer holds, so one event takes several receives. */
static void large_answers_take_several_receives(void)
{
	uint8_t requests[6 * REQUEST_BYTES];
	struct tp_counters counters;
	int fd;

	if (!open_bare(4, LIMIT_CHUNK_BYTES))
		return;
	fd = join(1);
	for (unsigned i = 0; i < 6; i++)
		write_request(requests + (size_t)i * REQUEST_BYTES, i);
	send_all(fd, requests, sizeof(requests));
	CU_ASSERT(until(6, 1));
	for (unsigned i = 0; i < 6; i++)
		expect_answer(fd, i, LIMIT_CHUNK_BYTES);
	counts(&counters);
	CU_ASSERT_EQUAL(counters.writes, 2);
	CU_ASSERT_EQUAL(counters.largest_write_bytes, 4 * LIMIT_CHUNK_BYTES);
	close(fd);
	epoll_bare_ops.close(bare);
}

/* A peer that has asked for more than the kernel holds, and has read nothing yet. */
static int join_and_flood(void)
{
	static uint8_t requests[FLOOD * REQUEST_BYTES];
	struct tp_counters counters;
	int fd;

	bench.peer_buffer_bytes = 16 * 1024;
	fd = join(1);
	for (uint64_t i = 0; i < FLOOD; i++)
		write_request(requests + i * REQUEST_BYTES, i);
	send_all(fd, requests, sizeof(requests));
	do
		epoll_bare_ops.turn(bare, 10 * CLOCK_MS_NS, &turn);
	while (turn.moved);
	CU_ASSERT(counts(&counters).requests < FLOOD);
	CU_ASSERT_EQUAL(counters.closed, 0);
	return fd;
}

/* Reads one answer, a piece each time that the server has had a turn, and judges every byte. */
static bool take_answer(int fd, uint64_t id)
{
	static uint8_t wanted[LIMIT_CHUNK_BYTES], got[LIMIT_CHUNK_BYTES];
	size_t bytes = 0;

	write_answer(wanted, id, LIMIT_CHUNK_BYTES);
	for (unsigned i = 0; i < TURNS_MAX && bytes < sizeof(got); i++) {
		ssize_t piece = recv(fd, got + bytes, sizeof(got) - bytes, MSG_DONTWAIT);

		if (piece == 0 || (piece < 0 && errno != EAGAIN))
			return false;
		bytes += piece > 0 ? (size_t)piece : 0;
		epoll_bare_ops.turn(bare, piece > 0 ? 0 : CLOCK_MS_NS, &turn);
	}
	return bytes == sizeof(got) && memcmp(got, wanted, sizeof(got)) == 0;
}

static void slow_reader_gets_every_answer(void)
{
	uint64_t taken = 0;
	int fd;

	if (!open_bare(4, LIMIT_CHUNK_BYTES))
		return;
	fd = join_and_flood();
	shutdown(fd, SHUT_WR);
	while (taken < FLOOD && take_answer(fd, taken))
		taken++;
	CU_ASSERT_EQUAL(taken, FLOOD);
	CU_ASSERT_EQUAL(counts(&(struct tp_counters){0}).requests, FLOOD);
	turn_until(TP_COUNT_closed);
	close(fd);
	epoll_bare_ops.close(bare);
}

static void rest_ends_with_its_connection(void)
{
	int fd;

	if (!open_bare(1, LIMIT_CHUNK_BYTES))
		return;
	bench_reset(join_and_flood());
	turn_until(TP_COUNT_closed);
	fd = join(2);
	epoll_bare_ops.close(bare);
	close(fd);
	if (!open_bare(1, LIMIT_CHUNK_BYTES))
		return;
	fd = join_and_flood();
	epoll_bare_ops.close(bare);
	close(fd);
}

static void last_requests_before_an_end_are_answered(void)
{
	uint8_t request[REQUEST_BYTES];
	uint8_t byte;
	int fd;

	if (!open_bare(4, RESPONSE_BYTES))
		return;
	fd = join(1);
	write_request(request, 7);
	send_all(fd, request, sizeof(request));
	shutdown(fd, SHUT_WR);
	CU_ASSERT(until(1, 1));
	expect_answer(fd, 7, RESPONSE_BYTES);
	epoll_bare_ops.turn(bare, 10 * CLOCK_MS_NS, &turn);
	CU_ASSERT_EQUAL(recv(fd, &byte, 1, 0), 0);
	close(fd);
	epoll_bare_ops.close(bare);
}

static void places_are_used_again(void)
{
	uint8_t byte;
	int fd, refused;

	if (!open_bare(1, RESPONSE_BYTES))
		return;
	fd = join(1);
	refused = bench_dial(&bench);
	turn_until(TP_COUNT_accepts_refused);
	CU_ASSERT_EQUAL(recv(refused, &byte, 1, 0), -1);
	CU_ASSERT_EQUAL(errno, ECONNRESET);
	close(refused);
	close(fd);
	turn_until(TP_COUNT_closed);
	fd = join(2);
	close(fd);
	epoll_bare_ops.close(bare);
}

static void idle_turn_sleeps_no_longer_than_told(void)
{
	struct tp_counters counters;

	if (!open_bare(1, RESPONSE_BYTES))
		return;
	epoll_bare_ops.turn(bare, 0, &turn);
	CU_ASSERT_EQUAL(turn.waited_ns, 0);
	epoll_bare_ops.turn(bare, 2 * CLOCK_MS_NS, &turn);
	CU_ASSERT(turn.waited_ns > 0 && turn.now_ns > 0);
	CU_ASSERT_FALSE(turn.moved);
	counts(&counters);
	CU_ASSERT_EQUAL(counters.waits, 1);
	CU_ASSERT_EQUAL(counters.wakeups, 0);
	CU_ASSERT_EQUAL(counters.empty_polls, 2);
	CU_ASSERT_EQUAL(counters.wait_ns, turn.waited_ns);
	epoll_bare_ops.close(bare);
}

static void request_at_hand_is_no_wait(void)
{
	struct tp_counters before, after;
	uint8_t request[REQUEST_BYTES];
	int fd;

	if (!open_bare(1, RESPONSE_BYTES))
		return;
	fd = join(1);
	write_request(request, 5);
	counts(&before);
	send_all(fd, request, sizeof(request));
	epoll_bare_ops.turn(bare, 5 * CLOCK_SECOND_NS, &turn);
	CU_ASSERT_TRUE(turn.moved);
	CU_ASSERT_EQUAL(turn.waited_ns, 0);
	CU_ASSERT_EQUAL(counts(&after).requests, 1);
	CU_ASSERT_EQUAL(after.waits, before.waits);
	CU_ASSERT_EQUAL(after.wakeups, before.wakeups);
	CU_ASSERT_EQUAL(after.wait_ns, before.wait_ns);
	/* a look, a receive, a send */
	CU_ASSERT_EQUAL(after.syscalls - before.syscalls, 3);
	close(fd);
	epoll_bare_ops.close(bare);
}

static void nothing_stays_open(void)
{
	unsigned before = bench_fds_open();
	int fd;

	if (!open_bare(4, RESPONSE_BYTES))
		return;
	fd = join(1);
	epoll_bare_ops.close(bare);
	CU_ASSERT_EQUAL(bench_fds_open(), before + 1);
	close(fd);
}

static void sizes_out_of_bounds_are_refused(void)
{
	struct tp_error error;

	CU_ASSERT_EQUAL(open_sized(1, 0, 88, &error), -EINVAL);
	CU_ASSERT_EQUAL(open_sized(1, 40, 0, &error), -EINVAL);
	CU_ASSERT_EQUAL(open_sized(1, FRAME_OFFSET_OPCODE - 1, 88, &error), -EINVAL);
	CU_ASSERT(strstr(error.text, "repeats bytes up to 12") != NULL);
	CU_ASSERT_EQUAL(open_sized(1, LIMIT_CHUNK_BYTES + 1, 88, &error), -EINVAL);
	CU_ASSERT_EQUAL(open_sized(1, 40, LIMIT_CHUNK_BYTES + 1, &error), -EINVAL);
	CU_ASSERT(strstr(error.text, "requests of 40 and responses of 16385 bytes") != NULL);
	CU_ASSERT_EQUAL(open_sized(1, FRAME_HEAD_BYTES, FRAME_HEAD_BYTES, &error), 0);
	epoll_bare_ops.close(bare);
}

static void occupied_address_is_refused(void)
{
	struct tp_error error;
	struct tp_config transport = {
		.limits = {.conn_max = 1}, .device = "", .cpu = -1, .workers = 1};
	struct bare_config config = {.transport = &transport,
				     .listen = &bench.addr,
				     .request_bytes = REQUEST_BYTES,
				     .response_bytes = RESPONSE_BYTES};
	uint8_t answer[RESPONSE_BYTES];
	struct bare *other;

	if (!open_bare(1, RESPONSE_BYTES))
		return;
	bare_answer_frames(&config, answer);
	CU_ASSERT_EQUAL(epoll_bare_ops.open(&config, &other, &error), -EADDRINUSE);
	epoll_bare_ops.close(bare);
}

static const struct suite_test tests[] = {
	{"connections that wait for descriptors are taken once there are some",
	 waiting_connections_are_taken_when_descriptors_are_free},
	{"a window of requests is answered in one write", window_is_answered_in_one_write},
	{"requests cut at any byte are answered the same", every_split_is_answered_the_same},
	{"single bytes make a request", single_bytes_make_a_request},
	{"answers beyond the send buffer take several receives",
	 large_answers_take_several_receives},
	{"a peer that reads late gets every answer, up to its end", slow_reader_gets_every_answer},
	{"answers that nobody reads end with their connection", rest_ends_with_its_connection},
	{"what came before an end is answered, then our side ends too",
	 last_requests_before_an_end_are_answered},
	{"a connection too many is reset, and a place left is used again", places_are_used_again},
	{"an idle turn sleeps only if it may, and counts that",
	 idle_turn_sleeps_no_longer_than_told},
	{"a turn that finds a request does not count a wait", request_at_hand_is_no_wait},
	{"closing leaves no descriptor open", nothing_stays_open},
	{"sizes that no chunk has, or that lack what is repeated, are refused",
	 sizes_out_of_bounds_are_refused},
	{"an occupied address is refused", occupied_address_is_refused},
};

SUITE_MAIN("epoll bare", tests)
