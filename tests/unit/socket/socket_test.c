#include "stacks/socket/socket.h"

#include "tests/support/loopback.h"
#include "tests/support/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* One worker, or the first of two that share an address. */
static const struct socket_settings *settings_of(bool share)
{
	static const struct socket_settings settings[2] = {
		{.nodelay = true, .workers = 1, .cpu = -1},
		{.nodelay = true, .workers = 2, .cpu = -1},
	};

	return &settings[share];
}

static uint64_t calls;

static struct tp_addr next_addr(void)
{
	return (struct tp_addr){.ip = loopback_ip(), .port = loopback_port()};
}

/* --- a second process that holds an address --- */

struct squat {
	int family;
	bool shares;  /* sets SO_REUSEPORT, as a second server of ours would */
	bool listens; /* else it only binds */
};

static const char squatter_name[] = "weir-squatter";

static int squat_on(const struct squat *squat, const struct tp_addr *addr)
{
	struct sockaddr_in in4 = {.sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(addr->ip),
				  .sin_port = htons(addr->port)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(addr->port)};
	int fd = socket(squat->family, SOCK_STREAM, 0);
	int on = 1, status;

	if (squat->shares)
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	if (squat->family == AF_INET6)
		status = bind(fd, (struct sockaddr *)&in6, sizeof(in6));
	else
		status = bind(fd, (struct sockaddr *)&in4, sizeof(in4));
	return status == 0 && (!squat->listens || listen(fd, 1) == 0) ? 0 : 1;
}

/* Starts the process; its pid once it holds the address, or -1 if it cannot. */
static pid_t squat_start(const struct squat *squat, const struct tp_addr *addr)
{
	int ready[2];
	char word = 1;
	pid_t child;

	if (pipe(ready) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, squatter_name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		word = (char)squat_on(squat, addr);
		if (write(ready[1], &word, 1) == 1 && word == 0)
			pause();
		_exit(1);
	}
	if (child > 0 && read(ready[0], &word, 1) == 1 && word == 0) {
		close(ready[0]);
		close(ready[1]);
		return child;
	}
	close(ready[0]);
	close(ready[1]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return -1;
}

static void squat_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * Listening where the squatter sits fails with its pid and name, or says that it cannot be found.
 */
static void expect_occupied(const struct squat *squat, bool share, bool is_named)
{
	struct tp_addr addr = next_addr();
	pid_t pid = squat_start(squat, &addr);
	struct tp_error error = {{0}};
	char who[64], where[TP_ADDR_TEXT];

	if (pid < 0) {
		suite_skip("a second process cannot hold such an address here");
		return;
	}
	snprintf(who, sizeof(who), "%s (pid %d)", squatter_name, (int)pid);
	CU_ASSERT_EQUAL(socket_listen(&addr, settings_of(share), &calls, &error), -EADDRINUSE);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, tp_addr_print(&addr, where)));
	if (is_named)
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, who));
	if (!is_named)
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "cannot be found"));
	squat_end(pid);
}

static void holder_is_named(void)
{
	expect_occupied(&(struct squat){.family = AF_INET, .listens = true}, false, true);
}

static void holder_is_named_to_sharers(void)
{
	expect_occupied(&(struct squat){.family = AF_INET, .listens = true}, true, true);
}

static void sharing_holder_is_no_worker_of_ours(void)
{
	expect_occupied(&(struct squat){.family = AF_INET, .shares = true, .listens = true}, true,
			true);
}

static void holder_of_both_families_is_named(void)
{
	expect_occupied(&(struct squat){.family = AF_INET6, .listens = true}, false, true);
}

static void holder_that_only_binds_cannot_be_found(void)
{
	expect_occupied(&(struct squat){.family = AF_INET}, false, false);
}

static void own_process_is_named(void)
{
	struct tp_addr addr = next_addr();
	struct tp_error error = {{0}};
	char who[32];
	int fd = socket_listen(&addr, settings_of(false), &calls, &error);

	CU_ASSERT_TRUE_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(socket_listen(&addr, settings_of(false), &calls, &error), -EADDRINUSE);
	snprintf(who, sizeof(who), "(pid %d)", (int)getpid());
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, who));
	close(fd);
}

static void ipv6_holder_is_named_and_ipv4_left_free(void)
{
	struct tp_addr four = next_addr(), six = {.family = TP_IPV6, .port = four.port};
	struct tp_error error = {{0}};
	char who[32];
	int fd, other;

	six.ip6[15] = 1;
	fd = socket_listen(&six, settings_of(false), &calls, &error);
	if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL) {
		suite_skip("this host has no IPv6 on loopback");
		return;
	}
	CU_ASSERT_EQUAL(socket_listen(&six, settings_of(false), &calls, &error), -EADDRINUSE);
	snprintf(who, sizeof(who), "(pid %d)", (int)getpid());
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, who));
	other = socket_listen(&four, settings_of(false), &calls, &error);
	CU_ASSERT_TRUE(fd >= 0 && other >= 0);
	close(other);
	close(fd);
}

static void freed_address_can_be_taken_again(void)
{
	struct tp_addr addr = next_addr();
	struct tp_error error;

	for (unsigned i = 0; i < 3; i++) {
		int fd = socket_listen(&addr, settings_of(i % 2), &calls, &error);

		CU_ASSERT_TRUE(fd >= 0);
		close(fd);
	}
}

struct worker {
	pthread_t thread;
	pthread_barrier_t *start;
	struct tp_addr addr;
	uint64_t calls;
	struct tp_error error;
	int fd;
};

static void *listen_as_worker(void *argument)
{
	struct worker *worker = argument;

	pthread_barrier_wait(worker->start);
	worker->fd =
		socket_listen(&worker->addr, settings_of(true), &worker->calls, &worker->error);
	return NULL;
}

/* Each tests the address before it takes it, and none may take another's test for a stranger. */
static void workers_may_listen_at_once(void)
{
	enum { ROUNDS = 50, WORKERS = 4 };
	struct worker workers[WORKERS] = {0};
	pthread_barrier_t start;

	pthread_barrier_init(&start, NULL, WORKERS);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct tp_addr addr = next_addr();

		for (unsigned i = 0; i < WORKERS; i++) {
			workers[i].addr = addr;
			workers[i].start = &start;
			CU_ASSERT_EQUAL_FATAL(pthread_create(&workers[i].thread, NULL,
							     listen_as_worker, &workers[i]),
					      0);
		}
		for (unsigned i = 0; i < WORKERS; i++)
			pthread_join(workers[i].thread, NULL);
		for (unsigned i = 0; i < WORKERS; i++) {
			CU_ASSERT_TRUE(workers[i].fd >= 0);
			close(workers[i].fd);
		}
	}
	pthread_barrier_destroy(&start);
}

/* The others hold the address now and then, and must never look like a stranger who does. */
static void *come_and_go(void *argument)
{
	enum { ROUNDS = 1000 };
	struct worker *worker = argument;

	pthread_barrier_wait(worker->start);
	for (unsigned i = 0; i < ROUNDS; i++) {
		worker->fd = socket_listen(&worker->addr, settings_of(true), &worker->calls,
					   &worker->error);
		if (worker->fd < 0)
			break;
		close(worker->fd);
	}
	return NULL;
}

static void workers_may_come_and_go(void)
{
	enum { WORKERS = 8 };
	struct worker workers[WORKERS] = {0};
	struct tp_addr addr = next_addr();
	pthread_barrier_t start;

	pthread_barrier_init(&start, NULL, WORKERS);
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i].addr = addr;
		workers[i].start = &start;
		CU_ASSERT_EQUAL_FATAL(
			pthread_create(&workers[i].thread, NULL, come_and_go, &workers[i]), 0);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		pthread_join(workers[i].thread, NULL);
		if (workers[i].fd < 0)
			printf("# %s\n", workers[i].error.text);
		CU_ASSERT_TRUE(workers[i].fd >= 0);
	}
	pthread_barrier_destroy(&start);
}

static void foreign_address_says_why(void)
{
	struct tp_addr addr = {.ip = 0xC6336401,
			       .port = 12345}; /* 198.51.100.1, for documentation */
	struct tp_error error = {{0}};

	CU_ASSERT_EQUAL(socket_listen(&addr, settings_of(false), &calls, &error), -EADDRNOTAVAIL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "198.51.100.1:12345"));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "no interface"));
}

/* --- words --- */

static void reasons_follow_the_errno(void)
{
	CU_ASSERT_EQUAL(socket_reason(ECONNREFUSED), TP_REFUSED);
	CU_ASSERT_EQUAL(socket_reason(ECONNRESET), TP_RESET);
	CU_ASSERT_EQUAL(socket_reason(EPIPE), TP_RESET);
	CU_ASSERT_EQUAL(socket_reason(ETIMEDOUT), TP_TIMEOUT);
	CU_ASSERT_EQUAL(socket_reason(EHOSTUNREACH), TP_UNREACHABLE);
	CU_ASSERT_EQUAL(socket_reason(ENETUNREACH), TP_UNREACHABLE);
	CU_ASSERT_EQUAL(socket_reason(ENETDOWN), TP_LINK_DOWN);
	CU_ASSERT_EQUAL(socket_reason(EIO), TP_FAILED);
}

static void accept_failures_are_told_apart(void)
{
	CU_ASSERT_EQUAL(socket_accept_verdict(EAGAIN), SOCKET_ACCEPT_DRAINED);
	CU_ASSERT_EQUAL(socket_accept_verdict(ECONNABORTED), SOCKET_ACCEPT_NEXT);
	CU_ASSERT_EQUAL(socket_accept_verdict(EINTR), SOCKET_ACCEPT_NEXT);
	CU_ASSERT_EQUAL(socket_accept_verdict(EMFILE), SOCKET_ACCEPT_PAUSE);
	CU_ASSERT_EQUAL(socket_accept_verdict(ENFILE), SOCKET_ACCEPT_PAUSE);
	CU_ASSERT_EQUAL(socket_accept_verdict(ENOBUFS), SOCKET_ACCEPT_PAUSE);
	CU_ASSERT_EQUAL(socket_accept_verdict(ENOMEM), SOCKET_ACCEPT_PAUSE);
}

static const struct suite_test tests[] = {
	{"an occupied address names the process that holds it", holder_is_named},
	{"workers that would share an address are told of a foreign holder",
	 holder_is_named_to_sharers},
	{"a foreign holder that shares is refused too", sharing_holder_is_no_worker_of_ours},
	{"a holder of the port in both families is found", holder_of_both_families_is_named},
	{"a holder that only binds is said not to be found",
	 holder_that_only_binds_cannot_be_found},
	{"an address that this process holds names this process", own_process_is_named},
	{"an IPv6 address names its holder and leaves the port free for IPv4",
	 ipv6_holder_is_named_and_ipv4_left_free},
	{"an address that was given up can be taken again", freed_address_can_be_taken_again},
	{"workers may listen on one address at the same moment", workers_may_listen_at_once},
	{"workers that come and go on one address never take each other for a stranger",
	 workers_may_come_and_go},
	{"an address of no interface here says so", foreign_address_says_why},
	{"the reason of a death follows from the errno", reasons_follow_the_errno},
	{"failures to accept are told apart", accept_failures_are_told_apart},
};

SUITE_MAIN("socket", tests)
