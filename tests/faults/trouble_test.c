/* What hosts and peers do to a kernel-socket stack. */
#include "dataplane/core/clock.h"
#include "tests/support/suite.h"
#include "tests/unit/epoll/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static struct bench bench;
static uint8_t bytes[24000], back[24000];

/* --- no descriptor left --- */

/* Allows no descriptor more than there are; the limit before. */
static struct rlimit forbid_descriptors(void)
{
	struct rlimit before, tight;
	int lowest_free = dup(STDIN_FILENO);

	close(lowest_free);
	getrlimit(RLIMIT_NOFILE, &before);
	tight = (struct rlimit){.rlim_cur = (rlim_t)lowest_free, .rlim_max = before.rlim_max};
	setrlimit(RLIMIT_NOFILE, &tight);
	return before;
}

static void accept_rests_without_descriptors(void)
{
	struct rlimit before;
	uint64_t until_ns;
	unsigned turns = 0;
	int fd;

	if (!bench_open(&bench, 4))
		return;
	fd = bench_dial(&bench);
	before = forbid_descriptors();
	until_ns = clock_now_ns() + 350 * CLOCK_MS_NS;
	for (; clock_now_ns() < until_ns; turns++)
		bench_turn(&bench, CLOCK_SECOND_NS);
	setrlimit(RLIMIT_NOFILE, &before);
	CU_ASSERT_EQUAL(bench.conn_count, 0);
	/* one try at least each 100 ms and the sleep between them, however slow the host */
	CU_ASSERT_TRUE(bench_detail(&bench, "accept_pauses") >= 2);
	CU_ASSERT_TRUE(bench_detail(&bench, "accept_pauses") <= 6);
	CU_ASSERT_TRUE(turns <= 20);
	CU_ASSERT_EQUAL(bench_counters(&bench).accepts_refused, 0);
	/* it goes on by itself */
	for (turns = 0; bench.conn_count == 0 && turns < 20; turns++)
		bench_turn(&bench, CLOCK_SECOND_NS);
	CU_ASSERT_EQUAL(bench.conn_count, 1);
	close(fd);
	bench_close(&bench);
}

static void connect_without_descriptors_says_so(void)
{
	struct tp_error error = {{0}};
	struct tp_conn *conn = NULL;
	struct rlimit before;

	if (!bench_open(&bench, 4))
		return;
	before = forbid_descriptors();
	CU_ASSERT_EQUAL(bench.tp->ops->connect(bench.tp, &bench.addr, NULL, &conn, &error),
			-EMFILE);
	setrlimit(RLIMIT_NOFILE, &before);
	CU_ASSERT_PTR_NULL(conn);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "ulimit -n"));
	bench_close(&bench);
}

/* --- tiny buffers --- */

/* With such buffers the kernel moves a piece and then waits for a timer, so the amount is small. */
enum { TINY_BYTES = 24000 };

static void shrink_buffers(int fd)
{
	int tiny = 1;

	CU_ASSERT_EQUAL(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &tiny, sizeof(tiny)), 0);
	CU_ASSERT_EQUAL(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &tiny, sizeof(tiny)), 0);
}

/*
 * The peer reads nothing until both the kernel and the ring are full; what it reads then is to be
 * what was sent.
 */
static void send_through_tiny(struct bench_conn *conn, int fd)
{
	size_t sent = 0, received = 0;
	uint64_t until_ns = clock_now_ns() + 60 * CLOCK_SECOND_NS;

	while (received < TINY_BYTES && clock_now_ns() < until_ns) {
		size_t step = TINY_BYTES - sent < 1111 ? TINY_BYTES - sent : 1111;
		ssize_t got;

		if (step > 0 && bench_write(&bench, conn, bytes + sent, step))
			sent += step;
		bench_turn(&bench, 0);
		if (bench_counters(&bench).reserves_refused == 0)
			continue;
		got = recv(fd, back + received, TINY_BYTES - received, MSG_DONTWAIT);
		received += got > 0 ? (size_t)got : 0;
	}
	CU_ASSERT_EQUAL(received, TINY_BYTES);
	CU_ASSERT_EQUAL(memcmp(bytes, back, TINY_BYTES), 0);
#ifndef BENCH_URING /* where the kernel itself goes on with what it took a part of */
	CU_ASSERT_TRUE(bench_detail(&bench, "short_writes") > 0);
#endif
	CU_ASSERT_TRUE(bench_counters(&bench).reserves_refused > 0);
}

static void receive_through_tiny(struct bench_conn *conn, int fd)
{
	size_t sent = 0, received = 0;
	uint64_t until_ns = clock_now_ns() + 60 * CLOCK_SECOND_NS;

	memset(back, 0, TINY_BYTES);
	while (received < TINY_BYTES && clock_now_ns() < until_ns) {
		ssize_t took =
			send(fd, bytes + sent, TINY_BYTES - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		sent += took > 0 ? (size_t)took : 0;
		bench_turn(&bench, 0);
		/* an odd number each time, so that the ring is read into across its end */
		received += bench_read(&bench, conn, back + received, 777);
	}
	CU_ASSERT_EQUAL(received, TINY_BYTES);
	CU_ASSERT_EQUAL(memcmp(bytes, back, TINY_BYTES), 0);
}

static void tiny_buffers_carry_all(void)
{
	struct bench_conn *conn;
	int fd, ours;

	if (!bench_open(&bench, 4))
		return;
	bench.peer_buffer_bytes = 1;
	conn = bench_join(&bench, &fd);
	ours = bench_fd_of(fd);
	CU_ASSERT_TRUE_FATAL(ours >= 0);
	shrink_buffers(ours);
	bench_fill(bytes, TINY_BYTES);
	send_through_tiny(conn, fd);
	receive_through_tiny(conn, fd);
	close(fd);
	bench_close(&bench);
}

/* --- the peer resets --- */

/* Fills the kernel's memory and the ring with bytes that the peer does not read. */
static void write_until_blocked(struct bench_conn *conn)
{
	for (unsigned refused = 0; refused < 3; bench_turn(&bench, 0))
		refused = bench_write(&bench, conn, bytes, 4096) ? 0 : refused + 1;
}

static void reset_amid_a_write(void)
{
	struct bench_conn *conn;
	int fd;

	signal(SIGPIPE, SIG_DFL);
	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	write_until_blocked(conn);
	bench_reset(fd);
	bench_expect_closed(&bench, conn, TP_RESET);
	bench_idle(&bench);
	CU_ASSERT_EQUAL(conn->closed, 1);
	CU_ASSERT_EQUAL(bench_counters(&bench).closed, 1);
	bench_close(&bench);
}

static void writes_to_a_reset_peer_do_not_signal(void)
{
	struct bench_conn *conn;
	int fd;

	signal(SIGPIPE, SIG_DFL);
	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	/* behind an end a reset is a broken pipe; without a poll between, the write meets it */
	CU_ASSERT_EQUAL(shutdown(fd, SHUT_WR), 0);
	bench_reset(fd);
	for (unsigned i = 0; i < 5; i++)
		bench_write(&bench, conn, bytes, 100);
	bench_expect_closed(&bench, conn, TP_RESET);
	bench_idle(&bench);
	CU_ASSERT_EQUAL(conn->closed, 1);
	bench_close(&bench);
}

static void bytes_before_a_reset_are_read(void)
{
	struct bench_conn *conn;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	CU_ASSERT_EQUAL(send(fd, "last words", 10, 0), 10);
	bench_reset(fd);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_READABLE));
	CU_ASSERT_EQUAL(bench_read(&bench, conn, back, sizeof(back)), 10);
	CU_ASSERT_EQUAL(memcmp(back, "last words", 10), 0);
	bench_expect_closed(&bench, conn, TP_RESET);
	bench_close(&bench);
}

static void reset_shows_while_the_ring_is_full(void)
{
	struct bench_conn *conn;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	CU_ASSERT_EQUAL(send(fd, bytes, 20000, 0), 20000);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_READABLE));
	bench_idle(&bench);
	bench_reset(fd);
	bench_expect_closed(&bench, conn, TP_RESET);
	bench_close(&bench);
}

static void reset_behind_an_end_is_noticed(void)
{
	struct bench_conn *conn;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	CU_ASSERT_EQUAL(shutdown(fd, SHUT_WR), 0);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_FINISHED));
	write_until_blocked(conn);
	bench_reset(fd);
	bench_expect_closed(&bench, conn, TP_RESET);
	CU_ASSERT_EQUAL(conn->closed, 1);
	bench_close(&bench);
}

static void reset_right_behind_an_end_is_noticed(void)
{
	struct bench_conn *conn;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	write_until_blocked(conn);
	/* words, end and reset are all there before the next poll */
	CU_ASSERT_EQUAL(send(fd, "last words", 10, 0), 10);
	CU_ASSERT_EQUAL(shutdown(fd, SHUT_WR), 0);
	bench_reset(fd);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_READABLE));
	CU_ASSERT_EQUAL(bench_read(&bench, conn, back, sizeof(back)), 10);
	bench_expect_closed(&bench, conn, TP_RESET);
	bench_close(&bench);
}

static void reset_shows_when_its_bytes_fill_the_ring(void)
{
	struct bench_conn *conn;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	write_until_blocked(conn);
	CU_ASSERT_EQUAL(send(fd, bytes, 3000, 0), 3000);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_READABLE));
	bench_idle(&bench);
	/* more than the ring has room for, and nobody consumes while the write is blocked */
	CU_ASSERT_EQUAL(send(fd, bytes, 5000, 0), 5000);
	bench_reset(fd);
	bench_expect_closed(&bench, conn, TP_RESET);
	bench_close(&bench);
}

/* --- stale handles --- */

/* A copy of the descriptor keeps the closed socket alive, and in an epoll set. */
static void events_of_a_former_owner_are_dropped(void)
{
	struct bench_conn *first, *second;
	int first_fd, second_fd, copy;
	struct tp_conn *handle;

	if (!bench_open(&bench, 1))
		return;
	first = bench_join(&bench, &first_fd);
	handle = first->conn;
	copy = dup(bench_fd_of(first_fd));
	CU_ASSERT_TRUE_FATAL(copy >= 0);
	tp_abort(bench.tp, first->conn);
	CU_ASSERT_TRUE(bench_until(&bench, first, TP_CLOSED));
	bench_turn(&bench, 0);
	second = bench_join(&bench, &second_fd);
	CU_ASSERT_PTR_EQUAL(second->conn, handle);
	bench_idle(&bench);
	CU_ASSERT_EQUAL(send(first_fd, "stale", 5, MSG_NOSIGNAL), 5);
	bench_idle(&bench);
#ifndef BENCH_URING /* where requests were ended with the connection, so that none comes */
	CU_ASSERT_TRUE(bench_detail(&bench, "stale_events") > 0);
#endif
	CU_ASSERT_EQUAL(second->bits, TP_ACCEPTED);
	CU_ASSERT_EQUAL(first->closed, 1);
	CU_ASSERT_EQUAL(send(second_fd, "fresh", 5, 0), 5);
	CU_ASSERT_TRUE(bench_until(&bench, second, TP_READABLE));
	CU_ASSERT_EQUAL(bench_read(&bench, second, back, sizeof(back)), 5);
	CU_ASSERT_EQUAL(memcmp(back, "fresh", 5), 0);
	close(copy);
	close(first_fd);
	close(second_fd);
	bench_close(&bench);
}

/*
 * The next connection gets the descriptor and the memory of one that was aborted with bytes
 * waiting.
 */
static void successor_inherits_nothing(void)
{
	struct bench_conn *first, *second;
	int first_fd, second_fd, ours;

	if (!bench_open(&bench, 1))
		return;
	first = bench_join(&bench, &first_fd);
	ours = bench_fd_of(first_fd);
	CU_ASSERT_EQUAL(send(first_fd, "unread", 6, 0), 6);
	CU_ASSERT_TRUE(bench_until(&bench, first, TP_READABLE));
	CU_ASSERT_EQUAL(send(first_fd, "waiting", 7, 0), 7);
	CU_ASSERT_TRUE(tp_reserve(bench.tp, first->conn, 100, (struct room[2]){{0}}) > 0);
	tp_commit(bench.tp, first->conn, 100);
	tp_abort(bench.tp, first->conn);
	bench_expect_closed(&bench, first, TP_ABORTED);
	bench_turn(&bench, 0);
	close(first_fd);
	second = bench_join(&bench, &second_fd);
	CU_ASSERT_EQUAL(bench_fd_of(second_fd), ours);
	bench_idle(&bench);
	CU_ASSERT_EQUAL(second->bits, TP_ACCEPTED);
	CU_ASSERT_EQUAL(bench_read(&bench, second, back, sizeof(back)), 0);
	CU_ASSERT_EQUAL(recv(second_fd, back, sizeof(back), MSG_DONTWAIT), -1);
	CU_ASSERT_EQUAL(errno, EAGAIN);
	close(second_fd);
	bench_close(&bench);
}

static void handle_is_harmless_after_closed(void)
{
	struct bench_conn *conn;
	struct room rooms[2];
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	CU_ASSERT_NOT_EQUAL(tp_reserve(bench.tp, conn->conn, 100, rooms), 0);
	CU_ASSERT_EQUAL(send(fd, "abc", 3, 0), 3);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_READABLE));
	bench_reset(fd);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_CLOSED));
	CU_ASSERT_EQUAL(bench_read(&bench, conn, back, sizeof(back)), 3);
	CU_ASSERT_EQUAL(tp_reserve(bench.tp, conn->conn, 100, rooms), 0);
	tp_flush(bench.tp, conn->conn);
	tp_finish(bench.tp, conn->conn);
	tp_abort(bench.tp, conn->conn);
	bench_idle(&bench);
	CU_ASSERT_EQUAL(conn->closed, 1);
	CU_ASSERT_EQUAL(conn->reason, TP_RESET);
	bench_close(&bench);
}

static const struct suite_test tests[] = {
	{"accepting rests when no descriptor is left, without spinning, and goes on by itself",
	 accept_rests_without_descriptors},
	{"connecting without a descriptor left says what to raise",
	 connect_without_descriptors_says_so},
	{"buffers of the least size carry everything both ways", tiny_buffers_carry_all},
	{"a reset amid a blocked write ends the connection once", reset_amid_a_write},
	{"writes to a peer that reset raise no SIGPIPE", writes_to_a_reset_peer_do_not_signal},
	{"bytes that came before a reset can be read", bytes_before_a_reset_are_read},
	{"a reset shows although the receive ring is full", reset_shows_while_the_ring_is_full},
	{"a reset shows when the bytes before it fill the receive ring",
	 reset_shows_when_its_bytes_fill_the_ring},
	{"a reset behind the peer's end is noticed while a write is blocked",
	 reset_behind_an_end_is_noticed},
	{"words, end and reset in one go are read, and the reset noticed",
	 reset_right_behind_an_end_is_noticed},
	{"events for a descriptor's former owner reach nobody",
	 events_of_a_former_owner_are_dropped},
	{"a connection inherits nothing from the one before it", successor_inherits_nothing},
	{"calls on a closed connection do nothing", handle_is_harmless_after_closed},
};

SUITE_MAIN("trouble", tests)
