/* Streams stay whole whatever happens in the rings between us and the kernel. */
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "stacks/uring/instance.h"
#include "tests/support/suite.h"
#include "tests/unit/epoll/bench.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNS = 8, STREAM_BYTES = 40000 };

#define DEADLINE_NS (60 * CLOCK_SECOND_NS)

static struct bench bench;
static uint8_t bytes[STREAM_BYTES], back[STREAM_BYTES], echo[CONNS][STREAM_BYTES];

/* One connection that sends back what its peer sends. */
struct stream {
	struct bench_conn *conn;
	int fd;
	size_t sent;
	size_t read;
	size_t written;
	size_t received;
	bool same;
};

/* Moves what can be moved without waiting, in pieces of at most `piece` on our side. */
static void step(struct stream *stream, uint8_t *between, size_t piece)
{
	ssize_t moved = send(stream->fd, bytes + stream->sent, STREAM_BYTES - stream->sent,
			     MSG_DONTWAIT | MSG_NOSIGNAL);
	uint8_t arrived[4096];

	stream->sent += moved > 0 ? (size_t)moved : 0;
	stream->read += bench_read(&bench, stream->conn, between + stream->read, 1500);
	for (unsigned i = 0; i < 4 && stream->written < stream->read; i++) {
		size_t left = stream->read - stream->written;
		size_t size = left < piece ? left : piece;

		if (!bench_write(&bench, stream->conn, between + stream->written, size))
			break;
		stream->written += size;
	}
	moved = recv(stream->fd, arrived, sizeof(arrived), MSG_DONTWAIT);
	if (moved <= 0)
		return;
	stream->same &= memcmp(bytes + stream->received, arrived, (size_t)moved) == 0;
	stream->received += (size_t)moved;
}

/* Echoes a stream on each of several connections at once, and checks each byte of it. */
static void echo_all(size_t piece)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;
	struct stream streams[CONNS] = {{0}};
	unsigned done = 0;

	bench_fill(bytes, sizeof(bytes));
	for (unsigned i = 0; i < CONNS; i++) {
		streams[i].same = true;
		streams[i].conn = bench_join(&bench, &streams[i].fd);
	}
	while (done < CONNS && clock_now_ns() < until_ns) {
		bench_turn(&bench, 0);
		for (unsigned i = done = 0; i < CONNS; i++) {
			step(&streams[i], echo[i], piece);
			done += streams[i].received == STREAM_BYTES;
		}
	}
	for (unsigned i = 0; i < CONNS; i++) {
		CU_ASSERT_EQUAL(streams[i].received, STREAM_BYTES);
		CU_ASSERT_TRUE(streams[i].same);
		close(streams[i].fd);
		CU_ASSERT_TRUE(bench_until(&bench, streams[i].conn, TP_FINISHED));
	}
	CU_ASSERT_EQUAL(bench_counters(&bench).received_bytes, CONNS * STREAM_BYTES);
}

static void rings_of_the_least_size_carry_all(void)
{
	if (!bench_open_with(&bench, CONNS, "entries=2,buffers=1,buffer-bytes=16"))
		return;
	echo_all(1000);
	CU_ASSERT_TRUE(bench_detail(&bench, "extra_submits") > 0);
	bench_close(&bench);
}

static void overflown_completions_are_counted_and_kept(void)
{
	if (!bench_open_with(&bench, CONNS, "entries=2,buffers=256,buffer-bytes=16"))
		return;
	echo_all(1000);
	CU_ASSERT_TRUE(bench_detail(&bench, "cq_overflows") > 0);
	bench_close(&bench);
}

static void receiving_goes_on_after_buffers_lacked(void)
{
	if (!bench_open_with(&bench, CONNS, "buffers=2,buffer-bytes=64"))
		return;
	echo_all(1000);
	CU_ASSERT_TRUE(bench_detail(&bench, "buffers_lacked") > 0);
	CU_ASSERT_TRUE(bench_detail(&bench, "multishot_ended") > 0);
	bench_close(&bench);
}

/* More comes at once than may be in sight, and the reader looks only when it is told to. */
static void what_was_out_of_sight_is_told_of(void)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;
	struct bench_conn *conn;
	size_t got = 0;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	bench_fill(bytes, sizeof(bytes));
	CU_ASSERT_EQUAL(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL), (ssize_t)sizeof(bytes));
	while (got < sizeof(bytes) && clock_now_ns() < until_ns) {
		conn->bits = 0;
		bench_turn(&bench, CLOCK_MS_NS);
		if (conn->bits & TP_READABLE)
			got += bench_read(&bench, conn, back + got, sizeof(back) - got);
	}
	CU_ASSERT_EQUAL(got, sizeof(bytes));
	CU_ASSERT_EQUAL(memcmp(bytes, back, sizeof(bytes)), 0);
	close(fd);
	bench_close(&bench);
}

static void single_shots_carry_all(void)
{
	if (!bench_open_with(&bench, CONNS, "multishot=off"))
		return;
	echo_all(1000);
	CU_ASSERT_EQUAL(bench_detail(&bench, "receives"), bench_detail(&bench, "ring_receives"));
	CU_ASSERT_EQUAL(bench_detail(&bench, "multishot_ended"), 0);
	bench_close(&bench);
}

static void completions_at_any_call_carry_all(void)
{
	if (!bench_open_with(&bench, CONNS, "defer-taskrun=off"))
		return;
	echo_all(1000);
	bench_close(&bench);
}

static void the_kernels_thread_carries_all(void)
{
	struct tp_feature features[TP_FEATURES_MAX];
	struct tp_error error;
	int count = uring_ops.probe(features, TP_FEATURES_MAX, &error);

	for (int i = 0; i < count; i++)
		if (strcmp(features[i].name, "sqpoll") == 0 && !features[i].present) {
			suite_skip("this host allows no SQPOLL");
			return;
		}
	if (!bench_open_with(&bench, CONNS, "sqpoll=on,sqpoll-cpu=0,entries=8,sqpoll-idle=1ms"))
		return;
	echo_all(1000);
	bench_close(&bench);
}

static void zero_copy_sends_deliver_exactly(void)
{
	if (!bench_open_with(&bench, CONNS, "zero-copy-bytes=1"))
		return;
	echo_all(3000);
	CU_ASSERT_TRUE(bench_detail(&bench, "zc_sends") > 0);
	/* the loopback interface copies what it was to send without */
	CU_ASSERT_TRUE(bench_detail(&bench, "zc_copied") > 0);
	bench_close(&bench);
}

/* Turns until the kernel has answered all but the accept that stays in force. */
static void expect_all_answered(void)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;

	do
		bench_turn(&bench, CLOCK_MS_NS);
	while (ur_of(bench.tp)->requests > 1 && clock_now_ns() < until_ns);
	bench_idle(&bench);
	CU_ASSERT_EQUAL(ur_of(bench.tp)->requests, 1);
}

/* The kernel answers a zero-copy send twice, also one that it never came to. */
static void each_zero_copy_send_is_answered_in_full(void)
{
	if (!bench_open_with(&bench, 4, "zero-copy-bytes=1,send-buffer=1"))
		return;
	bench.peer_buffer_bytes = 1;
	for (unsigned round = 0; round < 4; round++) {
		int fd;
		struct bench_conn *conn = bench_join(&bench, &fd);

		for (unsigned turn = 0; turn < 8; turn++) {
			for (unsigned i = 0; i < 16; i++)
				bench_write(&bench, conn, bytes, 250);
			bench_turn(&bench, 0);
		}
		if (round % 2 == 0)
			tp_abort(bench.tp, conn->conn);
		bench_reset(fd);
		bench_expect_closed(&bench, conn, round % 2 == 0 ? TP_ABORTED : TP_RESET);
		expect_all_answered();
	}
	CU_ASSERT_TRUE(bench_detail(&bench, "zc_sends") > 0);
	CU_ASSERT_EQUAL(bench_detail(&bench, "chained_sends"), 0);
	bench_close(&bench);
}

/* A connection whose peer and kernel take in very little. */
static void chains_keep_order_through_a_tiny_window(void)
{
	struct bench_conn *conn;
	size_t sent = 0, received = 0;
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;
	int fd;

	if (!bench_open_with(&bench, 4, "send-buffer=1"))
		return;
	bench.peer_buffer_bytes = 1;
	conn = bench_join(&bench, &fd);
	bench_fill(bytes, sizeof(bytes));
	while (received < STREAM_BYTES && clock_now_ns() < until_ns) {
		ssize_t got = recv(fd, back + received, 700, MSG_DONTWAIT);

		received += got > 0 ? (size_t)got : 0;
		for (unsigned i = 0; i < 10 && sent < STREAM_BYTES; i++)
			if (bench_write(&bench, conn, bytes + sent, 100))
				sent += 100;
		bench_turn(&bench, 0);
	}
	CU_ASSERT_EQUAL(received, STREAM_BYTES);
	CU_ASSERT_EQUAL(memcmp(bytes, back, STREAM_BYTES), 0);
	CU_ASSERT_TRUE(bench_detail(&bench, "chained_sends") > 0);
	CU_ASSERT_TRUE(bench_counters(&bench).reserves_refused > 0);
	close(fd);
	bench_close(&bench);
}

static void each_write_of_a_turn_is_a_send(void)
{
	uint64_t sends, chained, syscalls;
	struct bench_conn *conn;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	bench_idle(&bench);
	sends = bench_detail(&bench, "sends");
	chained = bench_detail(&bench, "chained_sends");
	syscalls = bench_counters(&bench).syscalls;
	for (unsigned i = 0; i < 20; i++)
		CU_ASSERT_TRUE(bench_write(&bench, conn, bytes, 100));
	CU_ASSERT_EQUAL(bench_counters(&bench).syscalls, syscalls);
	bench_turn(&bench, 0);
	CU_ASSERT_EQUAL(bench_detail(&bench, "sends") - sends, 20);
	CU_ASSERT_EQUAL(bench_detail(&bench, "chained_sends") - chained, 19);
	CU_ASSERT_EQUAL(bench_counters(&bench).syscalls, syscalls + 1);
	/* all of them in the one call, and nothing to call for afterwards */
	CU_ASSERT_EQUAL(recv(fd, back, sizeof(back), MSG_DONTWAIT | MSG_PEEK), 2000);
	bench_turn(&bench, 0);
	syscalls = bench_counters(&bench).syscalls;
	for (unsigned i = 0; i < 1000; i++)
		bench_turn(&bench, 0);
	CU_ASSERT_EQUAL(bench_counters(&bench).syscalls, syscalls);
	CU_ASSERT_EQUAL(recv(fd, back, 2000, MSG_WAITALL), 2000);
	close(fd);
	bench_close(&bench);
}

static void spinning_idle_makes_no_call(void)
{
	struct bench_conn *conn;
	uint64_t before;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	CU_ASSERT_EQUAL(send(fd, bytes, 100, 0), 100);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_READABLE));
	CU_ASSERT_EQUAL(bench_read(&bench, conn, back, 100), 100);
	bench_idle(&bench);
	before = bench_counters(&bench).syscalls;
	for (unsigned i = 0; i < 10000; i++)
		bench_turn(&bench, 0);
	CU_ASSERT_EQUAL(bench_counters(&bench).syscalls, before);
	/* and yet nothing is missed */
	conn->bits = 0;
	CU_ASSERT_EQUAL(send(fd, bytes, 100, 0), 100);
	for (unsigned i = 0; i < 100000000 && !(conn->bits & TP_READABLE); i++)
		bench_turn(&bench, 0);
	CU_ASSERT_TRUE(conn->bits & TP_READABLE);
	close(fd);
	bench_close(&bench);
}

/* Sends to somebody who does not read, until no more goes in; how much did. */
static size_t send_until_full(int fd)
{
	size_t sent = 0;

	for (unsigned refused = 0; refused < 3;) {
		ssize_t moved = send(fd, bytes + sent % 1000, 1000, MSG_DONTWAIT | MSG_NOSIGNAL);

		/* whole pieces, so that the stream repeats each 1000 bytes */
		sent += moved > 0 ? (size_t)moved : 0;
		refused = moved == 1000 ? 0 : refused + 1;
		bench_idle(&bench);
		if (moved > 0 && moved < 1000)
			break;
	}
	return sent;
}

static void a_stalled_reader_leaves_the_buffers_to_others(void)
{
	struct bench_conn *stalled, *other;
	int stalled_fd, other_fd;
	size_t sent, received = 0;
	uint64_t until_ns;

	if (!bench_open_with(&bench, 4, "buffers=4,buffer-bytes=1KiB,recv-buffer=4KiB"))
		return;
	bench.peer_buffer_bytes = 4096;
	stalled = bench_join(&bench, &stalled_fd);
	other = bench_join(&bench, &other_fd);
	memset(bytes, 'x', sizeof(bytes));
	sent = send_until_full(stalled_fd);
	CU_ASSERT_TRUE(sent >= 4096);
	CU_ASSERT_TRUE(bench_detail(&bench, "copied_unread_bytes") >= 4096);
	for (unsigned i = 0; i < 50; i++) {
		other->bits = 0;
		CU_ASSERT_EQUAL(send(other_fd, bytes, 500, 0), 500);
		CU_ASSERT_TRUE(bench_until(&bench, other, TP_READABLE));
		CU_ASSERT_EQUAL(bench_read(&bench, other, back, 500), 500);
	}
	until_ns = clock_now_ns() + DEADLINE_NS;
	while (received < sent && clock_now_ns() < until_ns) {
		received += bench_read(&bench, stalled, back, 333);
		bench_turn(&bench, 0);
	}
	CU_ASSERT_EQUAL(received, sent);
	close(stalled_fd);
	close(other_fd);
	bench_close(&bench);
}

/* The peer ends behind more bytes than are read, and our side has ended already. */
static void an_end_behind_unread_bytes_lets_the_worker_sleep(void)
{
	struct tp_counters before, after;
	struct bench_conn *conn;
	size_t received = 0;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	tp_finish(bench.tp, conn->conn);
	CU_ASSERT_EQUAL(recv(fd, back, 1, 0), 0);
	memset(bytes, 'x', sizeof(bytes));
	CU_ASSERT_EQUAL(send(fd, bytes, 10000, 0), 10000);
	bench_idle(&bench);
	CU_ASSERT_EQUAL(send(fd, bytes, 10000, 0), 10000);
	shutdown(fd, SHUT_WR);
	bench_idle(&bench);
	CU_ASSERT_FALSE(conn->bits & TP_FINISHED);
	before = bench_counters(&bench);
	for (unsigned i = 0; i < 50; i++)
		bench_turn(&bench, CLOCK_MS_NS);
	after = bench_counters(&bench);
	CU_ASSERT_TRUE(after.waits - before.waits >= 48);
	CU_ASSERT_TRUE(after.wakeups - before.wakeups <= 2);
	/* all that is there each turn, for with the end nothing is kept */
	for (unsigned i = 0; i < 1000 && received < 20000; i++) {
		for (size_t step = 1; step > 0; received += step)
			step = bench_read(&bench, conn, back, sizeof(back));
		bench_turn(&bench, CLOCK_MS_NS);
	}
	CU_ASSERT_EQUAL(received, 20000);
	bench_expect_closed(&bench, conn, TP_DONE);
	close(fd);
	bench_close(&bench);
}

static void a_reset_behind_the_peers_end_is_told(void)
{
	struct bench_conn *conn;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	shutdown(fd, SHUT_WR);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_FINISHED));
	bench_idle(&bench);
	bench_reset(fd);
	bench_expect_closed(&bench, conn, TP_RESET);
	CU_ASSERT_EQUAL(conn->closed, 1);
	bench_close(&bench);
}

static void small_pieces_are_lent_in_few_spans(void)
{
	struct span spans[LIMIT_SPANS];
	struct bench_conn *conn;
	unsigned count;
	int fd;

	if (!bench_open_with(&bench, 4, "buffers=512,buffer-bytes=16"))
		return;
	conn = bench_join(&bench, &fd);
	bench_fill(bytes, sizeof(bytes));
	CU_ASSERT_EQUAL(send(fd, bytes, 4000, 0), 4000);
	while (bench_counters(&bench).received_bytes < 4000)
		bench_turn(&bench, CLOCK_MS_NS);
	count = tp_peek(bench.tp, conn->conn, spans, LIMIT_SPANS);
	CU_ASSERT_EQUAL(span_reader_of(spans, count).left, 4000);
	for (size_t done = 0; done < 4000;)
		done += bench_read(&bench, conn, back + done, 4000 - done);
	CU_ASSERT_EQUAL(memcmp(bytes, back, 4000), 0);
	close(fd);
	bench_close(&bench);
}

static void accepting_is_asked_for_again(void)
{
	struct rlimit before, tight;
	int fd, lowest_free;

	if (!bench_open(&bench, 4))
		return;
	fd = bench_dial(&bench);
	lowest_free = dup(STDIN_FILENO);
	close(lowest_free);
	getrlimit(RLIMIT_NOFILE, &before);
	/* before the first poll, for a request keeps the limit that it was made under */
	tight = (struct rlimit){.rlim_cur = (rlim_t)lowest_free, .rlim_max = before.rlim_max};
	setrlimit(RLIMIT_NOFILE, &tight);
	for (unsigned i = 0; i < 100 && bench_detail(&bench, "accept_pauses") == 0; i++)
		bench_turn(&bench, CLOCK_SECOND_NS);
	setrlimit(RLIMIT_NOFILE, &before);
	CU_ASSERT_TRUE(bench_detail(&bench, "accept_pauses") > 0);
	CU_ASSERT_TRUE(bench_detail(&bench, "multishot_ended") > 0);
	for (unsigned i = 0; i < 100 && bench.conn_count == 0; i++)
		bench_turn(&bench, CLOCK_SECOND_NS);
	CU_ASSERT_TRUE(bench.conn_count > 0);
	close(fd);
	bench_close(&bench);
}

static void late_completions_are_nobodys(void)
{
	struct bench_conn *conn, *next;
	uint64_t before;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	bench_idle(&bench);
	before = bench_detail(&bench, "stale_events");
	tp_abort(bench.tp, conn->conn);
	bench_expect_closed(&bench, conn, TP_ABORTED);
	close(fd);
	next = bench_join(&bench, &fd);
	bench_idle(&bench);
	CU_ASSERT_TRUE(bench_detail(&bench, "stale_events") > before);
	CU_ASSERT_EQUAL(next->bits, TP_ACCEPTED);
	close(fd);
	bench_close(&bench);
}

static void cycles_leave_no_descriptor(void)
{
	unsigned before;
	int fd;

	if (!bench_open(&bench, 4))
		return;
	before = bench_fds_open();
	for (unsigned i = 0; i < 300; i++) {
		struct bench_conn *conn = bench_join(&bench, &fd);

		if (i % 3 == 0)
			tp_abort(bench.tp, conn->conn);
		else if (i % 3 == 1)
			bench_reset(fd);
		if (i % 3 != 1)
			close(fd);
		if (i % 3 == 2) {
			CU_ASSERT_TRUE(bench_until(&bench, conn, TP_FINISHED));
			tp_finish(bench.tp, conn->conn);
		}
		CU_ASSERT_TRUE(bench_until(&bench, conn, TP_CLOSED));
	}
	bench_idle(&bench);
	CU_ASSERT_EQUAL(bench_fds_open(), before);
	bench_close(&bench);
}

static void congestion_control_reaches_what_is_accepted(void)
{
	char name[16] = "";
	socklen_t size = sizeof(name) - 1;
	int fd;

	if (!bench_open_with(&bench, 4, "congestion=reno")) /* which every kernel has */
		return;
	bench_join(&bench, &fd);
	CU_ASSERT_EQUAL(getsockopt(bench_fd_of(fd), IPPROTO_TCP, TCP_CONGESTION, name, &size), 0);
	CU_ASSERT_STRING_EQUAL(name, "reno");
	close(fd);
	bench_close(&bench);
}

static const struct suite_test tests[] = {
	{"the congestion control reaches what is accepted",
	 congestion_control_reaches_what_is_accepted},
	{"a reader that takes all it sees is told of what was out of sight",
	 what_was_out_of_sight_is_told_of},
	{"rings of the least size carry every byte of many connections",
	 rings_of_the_least_size_carry_all},
	{"completions that overflow their ring are counted, and none is lost",
	 overflown_completions_are_counted_and_kept},
	{"receiving goes on after the shared buffers ran out",
	 receiving_goes_on_after_buffers_lacked},
	{"without multishots each request brings its bytes", single_shots_carry_all},
	{"without deferred work nothing is missed", completions_at_any_call_carry_all},
	{"a thread of the kernel's takes in requests as they come", the_kernels_thread_carries_all},
	{"zero-copy sends deliver what stood in their memory", zero_copy_sends_deliver_exactly},
	{"zero-copy sends that are broken off are answered in full, each once",
	 each_zero_copy_send_is_answered_in_full},
	{"chains of sends keep their order through a tiny window",
	 chains_keep_order_through_a_tiny_window},
	{"the writes of one turn are as many sends in one system call",
	 each_write_of_a_turn_is_a_send},
	{"spinning while nothing happens makes no system call", spinning_idle_makes_no_call},
	{"a reader that stalls leaves the shared buffers to others",
	 a_stalled_reader_leaves_the_buffers_to_others},
	{"the peer's end behind unread bytes lets the worker sleep",
	 an_end_behind_unread_bytes_lets_the_worker_sleep},
	{"a reset behind the peer's end is told although nothing is sent",
	 a_reset_behind_the_peers_end_is_told},
	{"bytes in many small buffers are lent in few spans", small_pieces_are_lent_in_few_spans},
	{"a multishot accept that ended is asked for again", accepting_is_asked_for_again},
	{"completions for an ended connection do not reach the next one",
	 late_completions_are_nobodys},
	{"connections that end in any way leave no descriptor", cycles_leave_no_descriptor},
};

SUITE_MAIN("uring ring", tests)
