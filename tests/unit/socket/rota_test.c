/* Connections that go to several workers' listeners in turn. */
#include "stacks/socket/rota.h"

#include "tests/support/loopback.h"
#include "tests/support/suite.h"
#include "tests/unit/socket/group.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHARE = GROUP_CONNS / GROUP_WORKERS, CANNOT = 77, FD_MAX = 1024 };

static unsigned fds_open(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < FD_MAX; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* False, and skipped, where this host has no turns or no such addresses. */
static bool open_in_turn(struct group *group, enum tp_family family)
{
	if (!group_host_has("reuseport-ebpf")) {
		suite_skip("this host does not let a program deal connections out in turn");
		return false;
	}
	return group_open(group, family, SOCKET_STEER_TURN);
}

static unsigned in_turn(const struct group *group)
{
	unsigned count = 0;

	for (unsigned i = 0; i < GROUP_WORKERS; i++)
		count += socket_in_turn(&group->addr, &group->settings[i]);
	return count;
}

static void expect_even(struct group *group)
{
	CU_ASSERT_EQUAL(group_dial(group), GROUP_CONNS);
	for (unsigned i = 0; i < GROUP_WORKERS; i++)
		CU_ASSERT_EQUAL(group->taken[i], SHARE);
}

static void shares_are_equal_of(enum tp_family family)
{
	struct group group;

	if (!open_in_turn(&group, family))
		return;
	CU_ASSERT_EQUAL(in_turn(&group), GROUP_WORKERS);
	expect_even(&group);
	expect_even(&group);
	group_close(&group);
	CU_ASSERT_EQUAL(in_turn(&group), 0);
}

static void shares_are_equal(void)
{
	shares_are_equal_of(TP_IPV4);
}

static void shares_are_equal_over_ipv6(void)
{
	shares_are_equal_of(TP_IPV6);
}

static void rest_serves_when_one_leaves(void)
{
	for (unsigned leaver = 0; leaver < GROUP_WORKERS; leaver++) {
		struct group group;

		if (!open_in_turn(&group, TP_IPV4))
			return;
		group_leave(&group, leaver);
		CU_ASSERT_EQUAL(in_turn(&group), GROUP_WORKERS - 1);
		CU_ASSERT_EQUAL(group_dial(&group), GROUP_CONNS);
		for (unsigned i = 0; i < GROUP_WORKERS; i++)
			CU_ASSERT_TRUE(i == leaver || group.taken[i] >= SHARE);
		group_close(&group);
	}
}

static void leavers_may_come_back(void)
{
	for (unsigned leaver = 0; leaver < GROUP_WORKERS; leaver++) {
		struct group group;

		if (!open_in_turn(&group, TP_IPV4))
			return;
		group_leave(&group, leaver);
		group_join(&group, leaver);
		CU_ASSERT_EQUAL(in_turn(&group), GROUP_WORKERS);
		expect_even(&group);
		group_close(&group);
	}
}

static void two_groups_have_turns_of_their_own(void)
{
	struct group one, other;

	if (!open_in_turn(&one, TP_IPV4) || !open_in_turn(&other, TP_IPV4))
		return;
	expect_even(&one);
	expect_even(&other);
	group_close(&one);
	expect_even(&other);
	group_close(&other);
}

static void last_one_gives_descriptors_back(void)
{
	unsigned before = fds_open();
	struct group group;

	if (!open_in_turn(&group, TP_IPV4))
		return;
	for (unsigned i = 0; i < GROUP_WORKERS - 1; i++)
		group_leave(&group, i);
	CU_ASSERT_EQUAL(fds_open(), before + 1 + 3);
	group_leave(&group, GROUP_WORKERS - 1);
	CU_ASSERT_EQUAL(fds_open(), before);
}

static void later_worker_needs_the_first(void)
{
	struct tp_addr addr = {.ip = loopback_ip(), .port = loopback_port()};
	struct socket_settings settings = {
		.steer = SOCKET_STEER_TURN, .worker = 1, .workers = 2, .cpu = -1};
	struct tp_error error;
	uint64_t calls = 0;
	int fd = socket_listen(&addr, &settings, &calls, &error);

	CU_ASSERT_TRUE_FATAL(fd >= 0);
	CU_ASSERT_FALSE(socket_in_turn(&addr, &settings));
	CU_ASSERT_EQUAL(rota_join(fd, &addr, &settings, &calls), -ENOTCONN);
	socket_unlisten(fd, &addr, &settings, &calls);
}

/* More than there is room for serve as well as they can, and what leaves makes room. */
static void groups_are_bounded(void)
{
	static struct group groups[ROTA_GROUPS + 1];
	unsigned before = fds_open();

	for (unsigned i = 0; i < ROTA_GROUPS + 1; i++) {
		if (!open_in_turn(&groups[i], TP_IPV4))
			return;
		CU_ASSERT_EQUAL(in_turn(&groups[i]), i < ROTA_GROUPS ? GROUP_WORKERS : 0);
	}
	CU_ASSERT_EQUAL(group_dial(&groups[ROTA_GROUPS]), GROUP_CONNS);
	if (group_host_has("reuseport-bpf"))
		CU_ASSERT_EQUAL(groups[ROTA_GROUPS].misled, 0);
	group_close(&groups[0]);
	group_close(&groups[ROTA_GROUPS]);
	group_open(&groups[0], TP_IPV4, SOCKET_STEER_TURN);
	CU_ASSERT_EQUAL(in_turn(&groups[0]), GROUP_WORKERS);
	for (unsigned i = 0; i < ROTA_GROUPS; i++)
		group_close(&groups[i]);
	CU_ASSERT_EQUAL(fds_open(), before);
}

/* A listener that is closed without a word leaves a group that the next on its address replaces. */
static void forgotten_group_is_replaced(void)
{
	unsigned before = fds_open();
	struct group group;

	if (!open_in_turn(&group, TP_IPV4))
		return;
	for (unsigned i = 0; i < GROUP_WORKERS; i++) {
		close(group.listeners[i]);
		group.listeners[i] = -1;
	}
	for (unsigned i = 0; i < GROUP_WORKERS; i++)
		group_join(&group, i);
	expect_even(&group);
	group_close(&group);
	CU_ASSERT_EQUAL(fds_open(), before);
}

/* --- a host that does not let us --- */

static bool forbid_bpf(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int serve_without_privilege(void)
{
	struct group group;

	if (!forbid_bpf())
		return CANNOT;
	if (group_host_has("reuseport-ebpf") || !group_open(&group, TP_IPV4, SOCKET_STEER_TURN))
		return 1;
	if (in_turn(&group) != 0)
		return 2;
	if (group_dial(&group) != GROUP_CONNS)
		return 3;
	/* by port is next best, where there is that */
	return group_host_has("reuseport-bpf") && group.misled > 0 ? 4 : 0;
}

/* A network of our own in which each connection is confirmed by a cookie. */
static bool make_cookie_network(void)
{
	static const char always[] = "2";
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	bool made;
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		return false;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	made = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
	close(fd);
	fd = open("/proc/sys/net/ipv4/tcp_syncookies", O_WRONLY | O_CLOEXEC);
	made = made && fd >= 0 && write(fd, always, sizeof(always) - 1) == sizeof(always) - 1;
	close(fd);
	return made;
}

/* Were the acknowledgement dealt out too, every other worker would get nothing. */
static int serve_under_cookies(void)
{
	struct group group;

	if (!group_host_has("reuseport-ebpf") || !make_cookie_network())
		return CANNOT;
	if (!group_open(&group, TP_IPV4, SOCKET_STEER_TURN) || in_turn(&group) != GROUP_WORKERS)
		return 1;
	if (group_dial(&group) != GROUP_CONNS)
		return 2;
	for (unsigned i = 0; i < GROUP_WORKERS; i++)
		if (group.taken[i] == 0)
			return 3;
	return 0;
}

/* Runs it in a child, so that this process keeps what it may: 0 passes, CANNOT skips. */
static void in_child(int (*make_host_and_serve)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(make_host_and_serve());
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT)
		suite_skip("this host does not let a test make such a host");
	else
		CU_ASSERT_EQUAL(status, 0);
}

static void port_stands_in(void)
{
	in_child(serve_without_privilege);
}

static void cookies_are_hashed(void)
{
	in_child(serve_under_cookies);
}

/* --- several threads at once --- */

enum { CROWD = 8, ROUNDS = 10 };

struct member {
	pthread_t thread;
	pthread_barrier_t *start;
	struct group group;
	unsigned joined;
};

static void *come_and_go(void *argument)
{
	struct member *member = argument;
	struct group *group = &member->group;
	uint64_t calls = 0;

	pthread_barrier_wait(member->start);
	for (unsigned i = 0; i < GROUP_WORKERS; i++)
		rota_join(group->listeners[i], &group->addr, &group->settings[i], &calls);
	member->joined = in_turn(group);
	for (unsigned i = 0; i < GROUP_WORKERS; i++)
		rota_leave(&group->addr, &group->settings[i], &calls);
	return NULL;
}

/* The listeners are made by hash, one thread's after the other's, so that only joining is tried. */
static void threads_do_not_disturb_each_other(void)
{
	static struct member members[CROWD];
	unsigned before = fds_open();
	pthread_barrier_t start;

	if (!group_host_has("reuseport-ebpf")) {
		suite_skip("this host does not let a program deal connections out in turn");
		return;
	}
	pthread_barrier_init(&start, NULL, CROWD);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < CROWD; i++) {
			members[i].start = &start;
			group_open(&members[i].group, TP_IPV4, SOCKET_STEER_HASH);
		}
		for (unsigned i = 0; i < CROWD; i++)
			CU_ASSERT_EQUAL_FATAL(
				pthread_create(&members[i].thread, NULL, come_and_go, &members[i]),
				0);
		for (unsigned i = 0; i < CROWD; i++) {
			pthread_join(members[i].thread, NULL);
			CU_ASSERT_EQUAL(members[i].joined, GROUP_WORKERS);
			group_close(&members[i].group);
		}
	}
	pthread_barrier_destroy(&start);
	CU_ASSERT_EQUAL(fds_open(), before);
}

static const struct suite_test tests[] = {
	{"64 connections over 4 listeners are 16 each", shares_are_equal},
	{"64 connections over IPv6 are 16 each too", shares_are_equal_over_ipv6},
	{"whoever leaves, the others serve all and none gets less", rest_serves_when_one_leaves},
	{"whoever comes back gets its share again", leavers_may_come_back},
	{"two addresses have turns of their own", two_groups_have_turns_of_their_own},
	{"the last listener to leave gives the descriptors back", last_one_gives_descriptors_back},
	{"a later worker without the first is served by the kernel's hash",
	 later_worker_needs_the_first},
	{"addresses beyond the room serve by port, and one that leaves makes room",
	 groups_are_bounded},
	{"a group whose listeners were just closed is replaced", forgotten_group_is_replaced},
	{"without the privilege it is named as absent, and the port chooses", port_stands_in},
	{"under SYN cookies every worker is served", cookies_are_hashed},
	{"groups of several threads come and go at once", threads_do_not_disturb_each_other},
};

SUITE_MAIN("socket rota", tests)
