/* What is particular to the epoll stack; the contract itself is judged by tests/conformance. */
#include "stacks/epoll/epoll.h"

#include "dataplane/core/clock.h"
#include "tests/support/loopback.h"
#include "tests/support/suite.h"
#include "tests/unit/epoll/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ASKED = 200 };

static struct bench bench;
static uint8_t bytes[200000], back[200000];

/* --- setup --- */

static struct tp_config default_config(void)
{
	return (struct tp_config){
		.limits = {.conn_max = 8, .recv_bytes = 4096, .send_bytes = 4096},
		.device = "",
		.cpu = -1,
		.workers = 1,
	};
}

static int try_open(const struct tp_config *config, struct tp_error *error)
{
	struct tp *tp;
	int status = epoll_ops.open(config, &tp, error);

	if (status == 0)
		epoll_ops.close(tp);
	return status;
}

static void device_is_loopback_or_nothing(void)
{
	struct tp_config config = default_config();
	struct tp_error error = {{0}};

	CU_ASSERT_EQUAL(try_open(&config, &error), 0);
	config.device = "loopback";
	CU_ASSERT_EQUAL(try_open(&config, &error), 0);
	config.device = "memif:/run/x.sock";
	CU_ASSERT_EQUAL(try_open(&config, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "memif:/run/x.sock"));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "epoll@loopback"));
}

static void impossible_limits_are_refused(void)
{
	struct tp_config config = default_config();
	struct tp_error error = {{0}};

	config.limits.recv_bytes = 5000;
	CU_ASSERT_EQUAL(try_open(&config, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "5000"));
	config = default_config();
	config.limits.send_bytes = 0;
	CU_ASSERT_EQUAL(try_open(&config, &error), -EINVAL);
	config = default_config();
	config.limits.conn_max = 0;
	CU_ASSERT_EQUAL(try_open(&config, &error), -EINVAL);
}

static void failed_opens_leave_no_descriptor(void)
{
	struct tp_config config = default_config();
	unsigned before = bench_fds_open();
	struct tp_error error;

	config.device = "eth9";
	for (unsigned i = 0; i < 10; i++)
		CU_ASSERT_TRUE(try_open(&config, &error) < 0);
	config = default_config();
	CU_ASSERT_EQUAL(try_open(&config, &error), 0);
	CU_ASSERT_EQUAL(bench_fds_open(), before);
}

static void listeners_are_bounded(void)
{
	struct tp_error error = {{0}};
	struct tp_addr addr = {.ip = loopback_ip()};
	int status = 0;
	unsigned count;

	if (!bench_open(&bench, 4))
		return;
	for (count = 1; count < 100 && status == 0; count += status == 0) {
		addr.port = loopback_port();
		status = epoll_ops.listen(bench.tp, &addr, &error);
	}
	CU_ASSERT_EQUAL(status, -ENOSPC);
	CU_ASSERT_EQUAL(count, 8);
	bench_close(&bench);
}

static void workers_share_one_address(void)
{
	struct tp_config config = default_config();
	struct tp_addr addr = {.ip = loopback_ip(), .port = loopback_port()};
	struct tp_error error = {{0}};
	struct tp *workers[2], *stranger;

	config.workers = 2;
	for (config.worker = 0; config.worker < 2; config.worker++) {
		CU_ASSERT_EQUAL_FATAL(epoll_ops.open(&config, &workers[config.worker], &error), 0);
		CU_ASSERT_EQUAL(epoll_ops.listen(workers[config.worker], &addr, &error), 0);
	}
	config = default_config();
	CU_ASSERT_EQUAL_FATAL(epoll_ops.open(&config, &stranger, &error), 0);
	CU_ASSERT_EQUAL(epoll_ops.listen(stranger, &addr, &error), -EADDRINUSE);
	epoll_ops.close(stranger);
	epoll_ops.close(workers[0]);
	epoll_ops.close(workers[1]);
}

static void accepted_sockets_have_their_options(void)
{
	int fd, ours, nodelay = 0;
	socklen_t size = sizeof(nodelay);

	if (!bench_open(&bench, 4))
		return;
	bench_join(&bench, &fd);
	ours = bench_fd_of(fd);
	CU_ASSERT_EQUAL(getsockopt(ours, IPPROTO_TCP, TCP_NODELAY, &nodelay, &size), 0);
	CU_ASSERT_TRUE(nodelay);
	CU_ASSERT_TRUE(fcntl(ours, F_GETFL) & O_NONBLOCK);
	CU_ASSERT_TRUE(fcntl(ours, F_GETFD) & FD_CLOEXEC);
	close(fd);
	bench_close(&bench);
}

/* --- the turn --- */

static void turn_makes_three_calls(void)
{
	struct tp_counters before, after;
	struct bench_conn *conn;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	bench_idle(&bench);
	before = bench_counters(&bench);
	for (unsigned i = 0; i < 50; i++) {
		CU_ASSERT_EQUAL(send(fd, bytes, 100, 0), 100);
		conn->bits = 0;
		while (!(conn->bits & TP_READABLE))
			bench_turn(&bench, 5 * CLOCK_SECOND_NS);
		CU_ASSERT_EQUAL(bench_read(&bench, conn, back, sizeof(back)), 100);
		CU_ASSERT_TRUE(bench_write(&bench, conn, bytes, 100));
		CU_ASSERT_EQUAL(recv(fd, back, sizeof(back), 0), 100);
	}
	after = bench_counters(&bench);
	/* a look, a receive, a send; and nothing slept, since the request was there */
	CU_ASSERT_EQUAL(after.polls - before.polls, 50);
	CU_ASSERT_EQUAL(after.waits, before.waits);
	CU_ASSERT_EQUAL(after.wait_ns, before.wait_ns);
	CU_ASSERT_EQUAL(after.wakeups, before.wakeups);
	CU_ASSERT_EQUAL(after.syscalls - before.syscalls, 150);
	close(fd);
	bench_close(&bench);
}

/* A peer that asks only when the thread of the server sleeps. */
struct asker {
	int fd;
	pid_t server;
	unsigned answered;
};

static bool is_asleep(pid_t thread)
{
	char path[64], line[256] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
	file = fopen(path, "re");
	if (!file)
		return false;
	state = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return state && state[1] == ' ' && state[2] == 'S';
}

static void *ask(void *argument)
{
	struct asker *asker = argument;
	char byte = 'x';

	for (unsigned i = 0; i < ASKED; i++) {
		while (!is_asleep(asker->server))
			sched_yield();
		if (send(asker->fd, &byte, 1, MSG_NOSIGNAL) != 1 ||
		    recv(asker->fd, &byte, 1, 0) != 1)
			break;
		asker->answered++;
	}
	return NULL;
}

static uint64_t voluntary_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw;
}

/* Answers until the peer has asked all; how often the kernel put this thread to sleep. */
static uint64_t answer_all(struct bench_conn *conn)
{
	uint64_t switches = voluntary_switches();

	for (unsigned i = 0; i < ASKED; i++) {
		bench_turn(&bench, 60 * CLOCK_SECOND_NS);
		CU_ASSERT_EQUAL_FATAL(bench_read(&bench, conn, back, sizeof(back)), 1);
		CU_ASSERT_TRUE(bench_write(&bench, conn, back, 1));
	}
	return voluntary_switches() - switches;
}

static void waits_are_the_sleeps(void)
{
	struct asker asker = {.server = gettid()};
	struct tp_counters before, after;
	struct bench_conn *conn;
	uint64_t switches, waits;
	pthread_t thread;

	if (!bench_open_joined(&bench, &conn, &asker.fd))
		return;
	bench_idle(&bench);
	before = bench_counters(&bench);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, ask, &asker), 0);
	switches = answer_all(conn);
	after = bench_counters(&bench);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(asker.answered, ASKED);
	/* a sleep can be cut off before the thread has left its CPU, or be interrupted */
	waits = after.waits - before.waits;
	CU_ASSERT_EQUAL(waits, ASKED);
	CU_ASSERT_TRUE(waits <= switches + ASKED / 10 && switches <= waits + ASKED / 10);
	CU_ASSERT_EQUAL(after.wakeups - before.wakeups, ASKED);
	/* a look, a sleep, a receive, a send */
	CU_ASSERT_EQUAL(after.syscalls - before.syscalls, 4 * ASKED);
	close(asker.fd);
	bench_close(&bench);
}

static void idle_connections_wake_nobody(void)
{
	struct bench_conn out = {0};
	struct tp_error error;

	if (!bench_open(&bench, 4))
		return;
	CU_ASSERT_EQUAL_FATAL(epoll_ops.connect(bench.tp, &bench.addr, &out, &out.conn, &error), 0);
	CU_ASSERT_TRUE(bench_until(&bench, &out, TP_CONNECTED));
	CU_ASSERT_TRUE(bench_until(&bench, &bench.conns[0], TP_ACCEPTED));
	/* both ends are writable, which is no news */
	CU_ASSERT_EQUAL(bench_turn(&bench, 20 * CLOCK_MS_NS), 0);
	CU_ASSERT_TRUE(bench.turn.waited_ns >= 10 * CLOCK_MS_NS);
	bench_close(&bench);
}

static void crowd_is_accepted_in_batches(void)
{
	enum { CROWD = 200 };
	int fds[CROWD];
	unsigned turns;

	if (!bench_open(&bench, CROWD))
		return;
	for (unsigned i = 0; i < CROWD; i++)
		fds[i] = bench_dial(&bench);
	bench_turn(&bench, CLOCK_SECOND_NS);
	CU_ASSERT_TRUE(bench_counters(&bench).accepted < CROWD);
	/* the kernel reports the listener once; the rest is our own memory of it */
	for (turns = 0; turns < 50 && bench.conn_count < CROWD; turns++) {
		bench_turn(&bench, 5 * CLOCK_SECOND_NS);
		CU_ASSERT_EQUAL(bench.turn.waited_ns, 0);
	}
	CU_ASSERT_EQUAL(bench.conn_count, CROWD);
	CU_ASSERT_EQUAL(bench_counters(&bench).accepted, CROWD);
	for (unsigned i = 0; i < CROWD; i++)
		close(fds[i]);
	bench_close(&bench);
}

static void events_left_over_come_at_once(void)
{
	struct tp_event event;
	struct tp_turn turn;
	struct bench_conn *conns[3];
	int fds[3];

	if (!bench_open(&bench, 4))
		return;
	for (unsigned i = 0; i < 3; i++)
		conns[i] = bench_join(&bench, &fds[i]);
	bench_idle(&bench);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(send(fds[i], "x", 1, 0), 1);
	CU_ASSERT_EQUAL(tp_poll(bench.tp, &event, 1, 5 * CLOCK_SECOND_NS, &turn), 1);
	for (unsigned i = 1; i < 3; i++) {
		CU_ASSERT_EQUAL(tp_poll(bench.tp, &event, 1, 5 * CLOCK_SECOND_NS, &turn), 1);
		CU_ASSERT_EQUAL(event.bits, TP_READABLE);
		CU_ASSERT_EQUAL(turn.waited_ns, 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(bench_read(&bench, conns[i], back, sizeof(back)), 1);
		close(fds[i]);
	}
	bench_close(&bench);
}

static void full_ring_rests_and_resumes(void)
{
	struct tp_counters before, after;
	struct bench_conn *conn;
	size_t received = 0, sent = 0;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	bench_fill(bytes, sizeof(bytes));
	sent = (size_t)send(fd, bytes, 100000, 0);
	CU_ASSERT_EQUAL(sent, 100000);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_READABLE));
	bench_idle(&bench);
	/* full: a poll sleeps its time and asks nothing of the socket */
	before = bench_counters(&bench);
	CU_ASSERT_EQUAL(before.received_bytes, 4096);
	CU_ASSERT_EQUAL(bench_turn(&bench, 20 * CLOCK_MS_NS), 0);
	after = bench_counters(&bench);
	CU_ASSERT_TRUE(bench.turn.waited_ns >= 10 * CLOCK_MS_NS);
	CU_ASSERT_EQUAL(after.syscalls - before.syscalls, 2); /* a look, a sleep */
	CU_ASSERT_EQUAL(after.received_bytes, 4096);
	/* with room again it goes on at once, although the kernel reports nothing new */
	received += bench_read(&bench, conn, back, 100);
	CU_ASSERT_EQUAL(bench_turn(&bench, 5 * CLOCK_SECOND_NS), 1);
	CU_ASSERT_EQUAL(bench.turn.waited_ns, 0);
	for (unsigned i = 0; i < 100000 && received < sent; i++) {
		received += bench_read(&bench, conn, back + received, 1234);
		bench_turn(&bench, 0);
	}
	CU_ASSERT_EQUAL(received, sent);
	CU_ASSERT_EQUAL(memcmp(bytes, back, sent), 0);
	close(fd);
	bench_close(&bench);
}

static void urgent_data_hides_nothing(void)
{
	struct bench_conn *conn;
	size_t received = 0;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	CU_ASSERT_EQUAL(send(fd, "before", 6, 0), 6);
	CU_ASSERT_EQUAL(send(fd, "!", 1, MSG_OOB), 1);
	CU_ASSERT_EQUAL(send(fd, "behind", 6, 0), 6);
	for (unsigned i = 0; i < 1000 && received < 12; i++) {
		bench_turn(&bench, CLOCK_MS_NS);
		received += bench_read(&bench, conn, back + received, 100);
	}
	CU_ASSERT_EQUAL(received, 12);
	CU_ASSERT_EQUAL(memcmp(back, "beforebehind", 12), 0);
	close(fd);
	bench_close(&bench);
}

static void lent_room_survives_a_flush(void)
{
	struct bench_conn *conn;
	struct room rooms[2];
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	CU_ASSERT_EQUAL(tp_reserve(bench.tp, conn->conn, 5, rooms), 1);
	memcpy(rooms[0].base, "first", 5);
	tp_commit(bench.tp, conn->conn, 5);
	CU_ASSERT_EQUAL(tp_reserve(bench.tp, conn->conn, 6, rooms), 1);
	/* all that was committed leaves now, while the room behind it is being filled */
	tp_flush(bench.tp, conn->conn);
	memcpy(rooms[0].base, "second", 6);
	tp_commit(bench.tp, conn->conn, 6);
	tp_flush(bench.tp, conn->conn);
	CU_ASSERT_EQUAL(recv(fd, back, 11, MSG_WAITALL), 11);
	CU_ASSERT_EQUAL(memcmp(back, "firstsecond", 11), 0);
	CU_ASSERT_EQUAL(bench_counters(&bench).writes, 2);
	close(fd);
	bench_close(&bench);
}

static void bytes_wait_for_the_connection(void)
{
	struct bench_conn out = {0}, *in;
	struct tp_error error;

	if (!bench_open(&bench, 4))
		return;
	CU_ASSERT_EQUAL_FATAL(epoll_ops.connect(bench.tp, &bench.addr, &out, &out.conn, &error), 0);
	CU_ASSERT_TRUE(bench_write(&bench, &out, "early", 5));
	tp_finish(bench.tp, out.conn);
	CU_ASSERT_TRUE(bench_until(&bench, &out, TP_CONNECTED));
	in = &bench.conns[0];
	CU_ASSERT_TRUE(bench_until(&bench, in, TP_ACCEPTED | TP_READABLE | TP_FINISHED));
	CU_ASSERT_EQUAL(bench_read(&bench, in, back, sizeof(back)), 5);
	CU_ASSERT_EQUAL(memcmp(back, "early", 5), 0);
	tp_finish(bench.tp, in->conn);
	bench_expect_closed(&bench, &out, TP_DONE);
	bench_close(&bench);
}

/* --- ending --- */

static void peer_that_ends_still_gets_answers(void)
{
	struct bench_conn *conn;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	CU_ASSERT_EQUAL(send(fd, "question", 8, 0), 8);
	CU_ASSERT_EQUAL(shutdown(fd, SHUT_WR), 0);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_READABLE | TP_FINISHED));
	CU_ASSERT_EQUAL(bench_read(&bench, conn, back, sizeof(back)), 8);
	bench_idle(&bench);
	CU_ASSERT_EQUAL(conn->closed, 0);
	CU_ASSERT_TRUE(bench_write(&bench, conn, "answer", 6));
	tp_finish(bench.tp, conn->conn);
	bench_expect_closed(&bench, conn, TP_DONE);
	CU_ASSERT_EQUAL(recv(fd, back, 7, MSG_WAITALL), 6);
	CU_ASSERT_EQUAL(memcmp(back, "answer", 6), 0);
	close(fd);
	bench_close(&bench);
}

static void we_end_and_still_receive(void)
{
	struct bench_conn *conn;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	CU_ASSERT_TRUE(bench_write(&bench, conn, "bye", 3));
	tp_finish(bench.tp, conn->conn);
	CU_ASSERT_EQUAL(recv(fd, back, 4, MSG_WAITALL), 3);
	bench_idle(&bench);
	CU_ASSERT_EQUAL(conn->closed, 0);
	CU_ASSERT_EQUAL(send(fd, "more", 4, 0), 4);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_READABLE));
	CU_ASSERT_EQUAL(bench_read(&bench, conn, back, sizeof(back)), 4);
	close(fd);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_FINISHED | TP_CLOSED));
	CU_ASSERT_EQUAL(conn->reason, TP_DONE);
	bench_idle(&bench);
	CU_ASSERT_EQUAL(conn->closed, 1);
	bench_close(&bench);
}

static void ended_peer_does_not_keep_us_awake(void)
{
	struct bench_conn *conn;
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd))
		return;
	CU_ASSERT_EQUAL(shutdown(fd, SHUT_WR), 0);
	CU_ASSERT_TRUE(bench_until(&bench, conn, TP_FINISHED));
	bench_idle(&bench);
	CU_ASSERT_EQUAL(bench_turn(&bench, 20 * CLOCK_MS_NS), 0);
	CU_ASSERT_TRUE(bench.turn.waited_ns >= 10 * CLOCK_MS_NS);
	CU_ASSERT_FALSE(bench.turn.moved);
	close(fd);
	bench_close(&bench);
}

/* One way that a connection may end, by turns. */
static void end_somehow(unsigned way, struct bench_conn *conn, int fd)
{
	if (way == 0)
		tp_abort(bench.tp, conn->conn);
	if (way == 1)
		shutdown(fd, SHUT_WR);
	if (way == 1)
		CU_ASSERT_TRUE(bench_until(&bench, conn, TP_FINISHED));
	if (way == 1 || way == 2)
		tp_finish(bench.tp, conn->conn);
	if (way == 3)
		bench_reset(fd);
	else
		close(fd);
}

static void cycles_leak_no_descriptor(void)
{
	enum { CYCLES = 2000 };
	unsigned before = bench_fds_open();
	unsigned cycle;

	if (!bench_open(&bench, 4))
		return;
	for (cycle = 0; cycle < CYCLES; cycle++) {
		struct bench_conn *conn;
		int fd;

		conn = bench_join(&bench, &fd);
		end_somehow(cycle % 4, conn, fd);
		if (!bench_until(&bench, conn, TP_CLOSED))
			break;
	}
	CU_ASSERT_EQUAL(cycle, CYCLES);
	bench_idle(&bench);
	CU_ASSERT_EQUAL(bench_fds_open(), before + 2);
	CU_ASSERT_EQUAL(bench_counters(&bench).accepted, CYCLES);
	CU_ASSERT_EQUAL(bench_counters(&bench).closed, CYCLES);
	bench_close(&bench);
	CU_ASSERT_EQUAL(bench_fds_open(), before);
}

static const struct suite_test tests[] = {
	{"the device is loopback or nothing, all else is refused by name",
	 device_is_loopback_or_nothing},
	{"limits that no ring can have are refused", impossible_limits_are_refused},
	{"an open that fails leaves no descriptor", failed_opens_leave_no_descriptor},
	{"an instance listens on a bounded number of addresses", listeners_are_bounded},
	{"workers of one process share an address, a stranger does not", workers_share_one_address},
	{"accepted sockets are without Nagle, non-blocking and close on exec",
	 accepted_sockets_have_their_options},
	{"a request that is there and its answer cost three system calls and no wait",
	 turn_makes_three_calls},
	{"as often as a poll waits, its thread sleeps, and a sleep costs a call more",
	 waits_are_the_sleeps},
	{"connections that are merely writable wake nobody", idle_connections_wake_nobody},
	{"a crowd is accepted in batches, without sleeping between them",
	 crowd_is_accepted_in_batches},
	{"events left over come with the next poll, which does not sleep",
	 events_left_over_come_at_once},
	{"a full receive ring rests without spinning and resumes when consumed",
	 full_ring_rests_and_resumes},
	{"urgent data does not hide what comes behind it", urgent_data_hides_nothing},
	{"a lent room stays in place while older bytes are flushed", lent_room_survives_a_flush},
	{"bytes written before the connection stands leave when it does",
	 bytes_wait_for_the_connection},
	{"a peer that ended its side still gets its answer", peer_that_ends_still_gets_answers},
	{"after our end the peer may still send", we_end_and_still_receive},
	{"a peer that ended does not keep the poll awake", ended_peer_does_not_keep_us_awake},
	{"two thousand connections that end in four ways leave no descriptor",
	 cycles_leak_no_descriptor},
};

SUITE_MAIN("epoll", tests)
