/*
 * Hosts that are not as usual: no network, a peer that never answers, a kernel without a call. Each
 * is made in a child process, so that this one keeps what it has.
 */
#include "dataplane/core/clock.h"
#include "stacks/epoll/epoll.h"
#include "tests/support/suite.h"
#include "tests/unit/epoll/bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 77 };

static struct bench bench;

/* Runs `make_host_and_try` in a child: 0 passes, CANNOT skips, all else fails. */
static void in_child(int (*make_host_and_try)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(make_host_and_try());
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT)
		suite_skip("this host does not let a test make such a host");
	else
		CU_ASSERT_EQUAL(status, 0);
}

/* Connects to `addr`; 0 if the attempt ends with nothing but CLOSED and `reason`. */
static int expect_end(const struct tp_addr *addr, enum tp_reason reason)
{
	struct tp_conn *conn = NULL;
	struct tp_error error;
	struct tp_event event;
	struct tp_turn turn;
	unsigned count = 0;

	if (epoll_ops.connect(bench.tp, addr, &bench, &conn, &error) < 0)
		return 2;
	for (unsigned i = 0; i < 20 && count == 0; i++)
		count = tp_poll(bench.tp, &event, 1, CLOCK_SECOND_NS, &turn);
	if (count != 1 || event.conn != conn || conn->user != &bench)
		return 3;
	return event.bits == TP_CLOSED && event.reason == reason ? 0 : 4;
}

static int try_without_network(void)
{
	struct tp_addr addr = {.ip = 0x0A010203, .port = 9};

	if (unshare(CLONE_NEWNET) < 0)
		return CANNOT;
	return bench_open(&bench, 4) ? expect_end(&addr, TP_UNREACHABLE) : 1;
}

/* A network of our own with one link that is up, where a connect gives up after one retry. */
static bool make_impatient_network(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd, retries;
	bool made;

	if (unshare(CLONE_NEWNET) < 0)
		return false;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	made = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
	close(fd);
	retries = open("/proc/sys/net/ipv4/tcp_syn_retries", O_WRONLY);
	made = made && write(retries, "1", 1) == 1;
	close(retries);
	return made;
}

/* A listener that never accepts drops what its queue does not hold: nobody answers there. */
static int try_without_answer(void)
{
	struct tp_addr addr = {.ip = INADDR_LOOPBACK, .port = 9999};
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(addr.ip),
				      .sin_port = htons(addr.port)};
	int listener, fd;

	if (!make_impatient_network())
		return CANNOT;
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listener, 0) < 0)
		return CANNOT;
	for (unsigned i = 0; i < 2; i++) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fd, (struct sockaddr *)&address, sizeof(address));
	}
	return bench_open(&bench, 4) ? expect_end(&addr, TP_TIMEOUT) : 1;
}

/* Makes one system call fail with `error_number` from now on. */
static bool forbid_call(unsigned number, unsigned error_number)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* The older call counts milliseconds: a wait is rounded up, sleeps, and ends when bytes come. */
static int try_without_pwait2(unsigned error_number)
{
	struct bench_conn *conn;
	int fd;

	if (!bench_open(&bench, 4) || !forbid_call(SYS_epoll_pwait2, error_number))
		return CANNOT;
	conn = bench_join(&bench, &fd);
	bench_idle(&bench);
	bench_turn(&bench, 20 * CLOCK_MS_NS + 1);
	if (bench.turn.waited_ns < 20 * CLOCK_MS_NS)
		return 2;
	bench_turn(&bench, 1);
	if (bench.turn.waited_ns == 0)
		return 3;
	if (send(fd, "x", 1, 0) != 1)
		return 4;
	bench_turn(&bench, TP_WAIT_FOREVER);
	return conn->bits & TP_READABLE ? 0 : 5;
}

static int try_on_an_old_kernel(void)
{
	return try_without_pwait2(ENOSYS);
}

static int try_behind_a_filter(void)
{
	return try_without_pwait2(EPERM);
}

static void no_route_is_unreachable(void)
{
	in_child(try_without_network);
}

static void no_answer_is_a_timeout(void)
{
	in_child(try_without_answer);
}

static void old_kernels_wait_too(void)
{
	in_child(try_on_an_old_kernel);
}

static void filtered_hosts_wait_too(void)
{
	in_child(try_behind_a_filter);
}

static const struct suite_test tests[] = {
	{"an address without a route ends as unreachable", no_route_is_unreachable},
	{"a peer that never answers ends as a timeout", no_answer_is_a_timeout},
	{"a kernel without epoll_pwait2 waits in milliseconds", old_kernels_wait_too},
	{"a filter that forbids epoll_pwait2 is taken like its absence", filtered_hosts_wait_too},
};

SUITE_MAIN("epoll host", tests)
