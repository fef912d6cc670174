/* What the stack can be told, and whether it reaches the sockets. */
#include "dataplane/core/clock.h"
#include "stacks/epoll/epoll.h"
#include "stacks/socket/socket.h"
#include "stacks/epoll/instance.h"
#include "tests/support/loopback.h"
#include "tests/support/suite.h"
#include "tests/unit/epoll/bench.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 77, MEGABYTE = 1 << 20 };

static struct bench bench;
static uint8_t bytes[MEGABYTE], back[MEGABYTE];

/* --- options of sockets --- */

static int option_of(int fd, int level, int name)
{
	int value = -1;
	socklen_t size = sizeof(value);

	CU_ASSERT_EQUAL(getsockopt(fd, level, name, &value, &size), 0);
	return value;
}

/* What an accepted socket and one that we opened have of an option told by `options`. */
static void expect_option(const char *options, int level, int name, int expected)
{
	struct bench_conn out = {0};
	struct tp_error error;
	int fd;

	if (!bench_open_with(&bench, 4, options))
		return;
	bench_join(&bench, &fd);
	CU_ASSERT_EQUAL(option_of(bench_fd_of(fd), level, name), expected);
	CU_ASSERT_EQUAL(epoll_ops.connect(bench.tp, &bench.addr, &out, &out.conn, &error), 0);
	CU_ASSERT_EQUAL(option_of(((struct ep_conn *)out.conn)->fd, level, name), expected);
	close(fd);
	bench_close(&bench);
}

/* The kernel doubles what it is told, for its own accounts; these are below its bounds. */
static void buffer_sizes_reach_the_sockets(void)
{
	expect_option("send-buffer=32KiB", SOL_SOCKET, SO_SNDBUF, 65536);
	expect_option("recv-buffer=16KiB", SOL_SOCKET, SO_RCVBUF, 32768);
}

static void nagle_is_off_unless_told(void)
{
	expect_option("", IPPROTO_TCP, TCP_NODELAY, 1);
	expect_option("nodelay=off", IPPROTO_TCP, TCP_NODELAY, 0);
}

static void quick_acknowledgements_are_set_on_what_is_accepted(void)
{
	int fd;

	if (!bench_open_with(&bench, 4, "quickack=on"))
		return;
	bench_join(&bench, &fd);
	CU_ASSERT_EQUAL(option_of(bench_fd_of(fd), IPPROTO_TCP, TCP_QUICKACK), 1);
	close(fd);
	bench_close(&bench);
}

/* Makes setting an option fail as where it wants privilege. */
static bool forbid(unsigned option)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsockopt, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, option, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 6, .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int poll_busily_without_privilege(void)
{
	uint64_t values[TP_OPTIONS_MAX];
	struct tp_config config = {
		.limits = {.conn_max = 4, .recv_bytes = 4096, .send_bytes = 4096},
		.cpu = -1,
		.workers = 1,
		.options = values,
	};
	struct tp_addr addr = {.ip = loopback_ip(), .port = loopback_port()};
	struct tp_error error = {{0}};
	struct tp_conn *conn;
	struct tp *tp;

	if (!forbid(SO_BUSY_POLL)) /* newer kernels want none for it */
		return CANNOT;
	if (tp_options_parse(&epoll_ops, "busy-poll=200ms", values, &error) < 0 ||
	    epoll_ops.open(&config, &tp, &error) < 0)
		return 1;
	if (epoll_ops.listen(tp, &addr, &error) != -EPERM || !strstr(error.text, "CAP_NET_ADMIN"))
		return 2;
	error.text[0] = '\0';
	if (epoll_ops.connect(tp, &addr, NULL, &conn, &error) != -EPERM ||
	    !strstr(error.text, "CAP_NET_ADMIN"))
		return 3;
	return 0;
}

/* Runs what needs a process of its own: 0 is fine, CANNOT skips. */
static void run_in_child(int (*run)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(run());
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT)
		suite_skip("this host does not let a test filter system calls");
	else
		CU_ASSERT_EQUAL(status, 0);
}

static void busy_poll_without_privilege_says_so(void)
{
	run_in_child(poll_busily_without_privilege);
}

static void busy_poll_reaches_the_sockets(void)
{
	if (geteuid() != 0)
		suite_skip("needs CAP_NET_ADMIN");
	else
		expect_option("busy-poll=50us", SOL_SOCKET, SO_BUSY_POLL, 50);
}

/* --- congestion control --- */

static void expect_algorithm(int fd, const char *expected)
{
	char name[16] = "";
	socklen_t size = sizeof(name) - 1;

	CU_ASSERT_EQUAL(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size), 0);
	CU_ASSERT_STRING_EQUAL(name, expected);
}

static void congestion_control_reaches_the_sockets(void)
{
	struct bench_conn out = {0};
	struct tp_error error;
	int fd;

	if (!bench_open_with(&bench, 4, "congestion=reno")) /* which every kernel has */
		return;
	bench_join(&bench, &fd);
	expect_algorithm(bench_fd_of(fd), "reno");
	CU_ASSERT_EQUAL(epoll_ops.connect(bench.tp, &bench.addr, &out, &out.conn, &error), 0);
	expect_algorithm(((struct ep_conn *)out.conn)->fd, "reno");
	close(fd);
	bench_close(&bench);
}

static void congestion_control_is_the_hosts_unless_told(void)
{
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_congestion_control", "re");
	char name[32] = "";
	int fd;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(fscanf(file, "%31s", name), 1);
	fclose(file);
	if (!bench_open_with(&bench, 4, ""))
		return;
	bench_join(&bench, &fd);
	expect_algorithm(bench_fd_of(fd), name);
	close(fd);
	bench_close(&bench);
}

/* What open says to a congestion control; 0 if it can be had. */
static int open_with_algorithm(const char *name, struct tp_error *error)
{
	uint64_t values[TP_OPTIONS_MAX];
	struct tp_config config = {
		.limits = {.conn_max = 4, .recv_bytes = 4096, .send_bytes = 4096},
		.cpu = -1,
		.workers = 1,
		.options = values,
	};
	char text[64];
	struct tp *tp;
	int code;

	snprintf(text, sizeof(text), "congestion=%s", name);
	CU_ASSERT_EQUAL_FATAL(tp_options_parse(&epoll_ops, text, values, error), 0);
	code = epoll_ops.open(&config, &tp, error);
	if (code == 0)
		epoll_ops.close(tp);
	return code;
}

static void a_lacking_algorithm_is_refused_with_what_there_is(void)
{
	struct tp_error error = {{0}};
	unsigned lacking = 0;

	for (unsigned i = 1; algorithm_names[i]; i++) {
		if (open_with_algorithm(algorithm_names[i], &error) == 0)
			continue;
		lacking++;
		CU_ASSERT_EQUAL(open_with_algorithm(algorithm_names[i], &error), -ENOENT);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, algorithm_names[i]));
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "reno"));
	}
	if (lacking == 0)
		suite_skip("this kernel has all of them");
}

static int choose_without_privilege(void)
{
	struct tp_error error = {{0}};

	if (!forbid(TCP_CONGESTION))
		return CANNOT;
	if (open_with_algorithm("cubic", &error) != -EPERM)
		return 1;
	return strstr(error.text, "CAP_NET_ADMIN") ? 0 : 2;
}

static void an_algorithm_without_privilege_says_so(void)
{
	run_in_child(choose_without_privilege);
}

/* --- the least buffers --- */

/* Sends and receives a megabyte at once, the peer reading and writing as it can. */
static void exchange_megabytes(struct bench_conn *conn, int fd)
{
	size_t out = 0, arrived = 0, in = 0, sent = 0;
	uint64_t until_ns = clock_now_ns() + 60 * CLOCK_SECOND_NS;
	static uint8_t other[MEGABYTE];

	while ((arrived < MEGABYTE || in < MEGABYTE) && clock_now_ns() < until_ns) {
		size_t step = MEGABYTE - out < 4096 ? MEGABYTE - out : 4096;
		ssize_t count;

		if (step > 0 && bench_write(&bench, conn, bytes + out, step))
			out += step;
		count = send(fd, bytes + sent, MEGABYTE - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
		sent += count > 0 ? (size_t)count : 0;
		bench_turn(&bench, 0);
		in += bench_read(&bench, conn, other + in, MEGABYTE - in);
		count = recv(fd, back + arrived, MEGABYTE - arrived, MSG_DONTWAIT);
		arrived += count > 0 ? (size_t)count : 0;
	}
	CU_ASSERT_EQUAL(arrived, MEGABYTE);
	CU_ASSERT_EQUAL(in, MEGABYTE);
	CU_ASSERT_EQUAL(memcmp(bytes, back, MEGABYTE), 0);
	CU_ASSERT_EQUAL(memcmp(bytes, other, MEGABYTE), 0);
}

static void least_buffers_carry_a_megabyte(void)
{
	char options[128];
	struct bench_conn *conn;
	int fd;

	snprintf(options, sizeof(options), "send-buffer=1,recv-buffer=1%s%s",
		 BENCH_OPTIONS[0] ? "," : "", BENCH_OPTIONS);
	if (!bench_open_with(&bench, 4, options))
		return;
	conn = bench_join(&bench, &fd);
	bench_fill(bytes, MEGABYTE);
	exchange_megabytes(conn, fd);
	CU_ASSERT_TRUE(option_of(bench_fd_of(fd), SOL_SOCKET, SO_SNDBUF) < 8192);
	CU_ASSERT_TRUE(option_of(bench_fd_of(fd), SOL_SOCKET, SO_RCVBUF) < 8192);
	close(fd);
	bench_close(&bench);
}

/* --- options of epoll --- */

static void batch_bounds_what_a_turn_accepts(void)
{
	enum { CROWD = 9, BATCH = 4 };
	int fds[CROWD];

	if (!bench_open_with(&bench, CROWD, "accept-batch=4"))
		return;
	for (unsigned i = 0; i < CROWD; i++)
		fds[i] = bench_dial(&bench);
	for (unsigned taken = BATCH; taken < CROWD + BATCH; taken += BATCH) {
		bench_turn(&bench, 5 * CLOCK_SECOND_NS);
		CU_ASSERT_EQUAL(bench.conn_count, taken < CROWD ? taken : CROWD);
	}
	for (unsigned i = 0; i < CROWD; i++)
		close(fds[i]);
	bench_close(&bench);
}

static void probe_fills_the_room_it_has(void)
{
	struct tp_feature features[TP_FEATURES_MAX];
	struct tp_error error;
	int count = epoll_ops.probe(features, TP_FEATURES_MAX, &error);

	CU_ASSERT_EQUAL_FATAL(count, SOCKET_FEATURES + 1);
	CU_ASSERT_STRING_EQUAL(features[SOCKET_FEATURES].name, "epoll-pwait2");
	CU_ASSERT_EQUAL(features[SOCKET_FEATURES].present,
			features[SOCKET_FEATURES].absent == NULL);
	CU_ASSERT_EQUAL(epoll_ops.probe(features, SOCKET_FEATURES, &error), SOCKET_FEATURES);
	CU_ASSERT_EQUAL(epoll_ops.probe(NULL, 0, &error), 0);
}

/* --- several workers on one Unix socket --- */

enum { WORKERS = 2, CROWD = 12, ROOM = 8 };

static void open_workers(struct tp *workers[WORKERS], const struct tp_addr *addr)
{
	struct tp_config config = {
		.limits = {.conn_max = ROOM, .recv_bytes = 4096, .send_bytes = 4096},
		.cpu = -1,
		.workers = WORKERS,
	};
	struct tp_error error;

	for (; config.worker < WORKERS; config.worker++) {
		struct tp **tp = &workers[config.worker];

		CU_ASSERT_EQUAL_FATAL(epoll_ops.open(&config, tp, &error), 0);
		CU_ASSERT_EQUAL_FATAL(epoll_ops.listen(*tp, addr, &error), 0);
	}
}

static uint64_t accepted_by(const struct tp *tp)
{
	struct tp_counters counters = {0};

	epoll_ops.counters(tp, &counters);
	return counters.accepted;
}

/* One dials at a time and another worker looks first, so that each gets a half. */
static void workers_serve_one_unix_socket(void)
{
	char folder[] = "/tmp/weir-option-XXXXXX";
	struct tp_addr addr = {.family = TP_UNIX};
	struct tp *workers[WORKERS];
	struct sockaddr_storage storage;
	struct tp_event events[4];
	struct tp_turn turn;
	int fds[CROWD];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(addr.path, sizeof(addr.path), "%s/sock", folder);
	open_workers(workers, &addr);
	for (unsigned i = 0; i < CROWD; i++) {
		socklen_t size = socket_address(&addr, &storage);

		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		CU_ASSERT_EQUAL(connect(fds[i], (struct sockaddr *)&storage, size), 0);
		for (unsigned k = 0; k < WORKERS; k++)
			tp_poll(workers[(i + k) % WORKERS], events, 4, 0, &turn);
	}
	CU_ASSERT_EQUAL(accepted_by(workers[0]) + accepted_by(workers[1]), CROWD);
	CU_ASSERT_TRUE(accepted_by(workers[0]) > 0 && accepted_by(workers[1]) > 0);
	epoll_ops.close(workers[1]);
	epoll_ops.close(workers[0]);
	for (unsigned i = 0; i < CROWD; i++)
		close(fds[i]);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

/* --- memory --- */

static size_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	CU_ASSERT_EQUAL(fscanf(file, "%*u %lu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Joins `count` and says how many bytes each added; then what an exchange on each added. */
static void measure_footprint(int *fds, unsigned count, size_t *idle_out, size_t *active_out)
{
	size_t before = resident_bytes(), idle;

	for (unsigned i = 0; i < count; i++)
		bench_join(&bench, &fds[i]);
	idle = resident_bytes();
	for (unsigned i = 0; i < count; i++)
		CU_ASSERT_EQUAL(send(fds[i], bytes, 100, 0), 100);
	for (unsigned i = 0; i < count; i++) {
		struct ep *ep = (struct ep *)bench.tp;
		struct bench_conn conn = {.conn = slab_at(&ep->conns, i)};

		for (unsigned k = 0; k < 1000 && bench_read(&bench, &conn, back, 200) == 0; k++)
			bench_turn(&bench, CLOCK_MS_NS);
		CU_ASSERT_TRUE(bench_write(&bench, &conn, bytes, 100));
	}
	*idle_out = (idle - before) / count;
	*active_out = (resident_bytes() - before) / count;
}

static void rest_costs_no_ring_memory(void)
{
	enum { MANY = 300 };
	size_t idle = 0, active = 0, page = (size_t)sysconf(_SC_PAGESIZE);
	static int fds[MANY];

	/* a huge page would be whole for the first byte of it */
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) < 0)
		suite_skip("transparent huge pages cannot be turned off here");
	resident_bytes(); /* what reading it touches is there from now on */
	if (!bench_open(&bench, MANY))
		return;
	measure_footprint(fds, MANY, &idle, &active);
	printf("# a connection's resident bytes: %zu at rest, %zu once it received and sent; its "
	       "struct is %zu\n",
	       idle, active, sizeof(struct ep_conn));
	CU_ASSERT_TRUE(idle < sizeof(struct ep_conn) + page);
	CU_ASSERT_TRUE(active < idle + page); /* its rings are leased */
	for (unsigned i = 0; i < MANY; i++)
		close(fds[i]);
	bench_close(&bench);
}

static const struct suite_test tests[] = {
	{"buffer sizes reach accepted sockets and our own", buffer_sizes_reach_the_sockets},
	{"Nagle is off unless told otherwise", nagle_is_off_unless_told},
	{"quick acknowledgements are set on what is accepted",
	 quick_acknowledgements_are_set_on_what_is_accepted},
	{"busy polling without the privilege says which is needed",
	 busy_poll_without_privilege_says_so},
	{"busy polling reaches the sockets", busy_poll_reaches_the_sockets},
	{"the congestion control reaches accepted sockets and our own",
	 congestion_control_reaches_the_sockets},
	{"the congestion control is the host's unless told otherwise",
	 congestion_control_is_the_hosts_unless_told},
	{"a congestion control that the kernel lacks is refused with those that it has",
	 a_lacking_algorithm_is_refused_with_what_there_is},
	{"a congestion control that needs a privilege says which",
	 an_algorithm_without_privilege_says_so},
	{"buffers of the least size carry a megabyte each way at once",
	 least_buffers_carry_a_megabyte},
	{"the batch bounds what a turn accepts", batch_bounds_what_a_turn_accepts},
	{"the probe tells features up to the room it has", probe_fills_the_room_it_has},
	{"workers serve one Unix socket from one queue", workers_serve_one_unix_socket},
	{"a connection at rest costs no memory of its rings", rest_costs_no_ring_memory},
};

SUITE_MAIN("epoll options", tests)
