/* Listening on Unix sockets: files that are there already, workers that share, what is left. */
#include "stacks/socket/socket.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct socket_settings alone = {.workers = 1, .cpu = -1};
static const struct socket_settings first = {.worker = 0, .workers = 2, .cpu = -1};
static const struct socket_settings second = {.worker = 1, .workers = 2, .cpu = -1};

static uint64_t calls;
static char folder[] = "/tmp/weir-local-XXXXXX";
static struct tp_addr addr;
static struct tp_error error;

static void make_folder(void)
{
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	addr = (struct tp_addr){.family = TP_UNIX};
	snprintf(addr.path, sizeof(addr.path), "%s/sock", folder);
	error.text[0] = '\0';
}

/* Fails the test if anything was left in the folder. */
static void remove_folder(void)
{
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static bool is_socket(void)
{
	struct stat status;

	return lstat(addr.path, &status) == 0 && S_ISSOCK(status.st_mode);
}

static int dial(int *verdict_out)
{
	return socket_connect(&addr, &alone, verdict_out, &calls, &error);
}

static void expect_reachable(int listener)
{
	int verdict = -1, fd = dial(&verdict), peer;

	CU_ASSERT_TRUE(fd >= 0 && verdict == 0);
	peer = accept(listener, NULL, NULL);
	CU_ASSERT_TRUE(peer >= 0);
	close(peer);
	close(fd);
}

static void file_comes_and_goes(void)
{
	int fd;

	make_folder();
	fd = socket_listen(&addr, &alone, &calls, &error);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	CU_ASSERT_TRUE(is_socket());
	expect_reachable(fd);
	socket_unlisten(fd, &addr, &alone, &calls);
	CU_ASSERT_FALSE(is_socket());
	remove_folder();
}

static void stale_file_is_replaced(void)
{
	int fd;

	make_folder();
	for (unsigned i = 0; i < 3; i++) {
		fd = socket_listen(&addr, &alone, &calls, &error);
		CU_ASSERT_TRUE_FATAL(fd >= 0);
		close(fd); /* as if the process had been killed */
		CU_ASSERT_TRUE(is_socket());
	}
	fd = socket_listen(&addr, &alone, &calls, &error);
	expect_reachable(fd);
	socket_unlisten(fd, &addr, &alone, &calls);
	remove_folder();
}

static void live_holder_is_named(void)
{
	char who[32];
	int fd;

	make_folder();
	fd = socket_listen(&addr, &alone, &calls, &error);
	CU_ASSERT_EQUAL(socket_listen(&addr, &alone, &calls, &error), -EADDRINUSE);
	snprintf(who, sizeof(who), "(pid %d)", (int)getpid());
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, who));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, addr.path));
	socket_unlisten(fd, &addr, &alone, &calls);
	remove_folder();
}

/* The descriptor of a socket of the test's own at the path. */
static int bind_there(int type)
{
	struct sockaddr_storage storage;
	socklen_t bytes = socket_address(&addr, &storage);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&storage, bytes), 0);
	return fd;
}

static void holder_that_does_not_listen_yet_is_respected(void)
{
	char who[32];
	int fd;

	make_folder();
	fd = bind_there(SOCK_STREAM);
	CU_ASSERT_EQUAL(socket_listen(&addr, &alone, &calls, &error), -EADDRINUSE);
	snprintf(who, sizeof(who), "(pid %d)", (int)getpid());
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, who));
	CU_ASSERT_TRUE(is_socket());
	close(fd);
	unlink(addr.path);
	remove_folder();
}

static void other_kind_of_socket_is_respected(void)
{
	int fd, verdict;

	make_folder();
	fd = bind_there(SOCK_DGRAM);
	CU_ASSERT_EQUAL(socket_listen(&addr, &alone, &calls, &error), -EADDRINUSE);
	CU_ASSERT_EQUAL(dial(&verdict), -EPROTOTYPE);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "no stream socket"));
	CU_ASSERT_TRUE(is_socket());
	close(fd);
	unlink(addr.path);
	remove_folder();
}

static void plain_file_is_left_alone(void)
{
	struct stat status;
	int fd;

	make_folder();
	fd = open(addr.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CU_ASSERT_EQUAL(write(fd, "kept", 4), 4);
	close(fd);
	CU_ASSERT_EQUAL(socket_listen(&addr, &alone, &calls, &error), -EEXIST);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, addr.path));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "no socket"));
	CU_ASSERT_TRUE(lstat(addr.path, &status) == 0 && status.st_size == 4);
	unlink(addr.path);
	remove_folder();
}

static void missing_folder_says_so(void)
{
	make_folder();
	remove_folder();
	CU_ASSERT_EQUAL(socket_listen(&addr, &alone, &calls, &error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "folder is not there"));
}

static int listen_as_nobody(void)
{
	if (chmod(folder, 0755) < 0 || setgid(65534) < 0 || setuid(65534) < 0)
		return 77;
	if (socket_listen(&addr, &alone, &calls, &error) != -EACCES)
		return 1;
	return strstr(error.text, "may not be written") ? 0 : 2;
}

static void forbidden_folder_says_so(void)
{
	int status = 0;
	pid_t child;

	make_folder();
	child = fork();
	if (child == 0)
		_exit(listen_as_nobody());
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	remove_folder();
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		suite_skip("needs root, to become another user");
	else
		CU_ASSERT_EQUAL(status, 0);
}

static void successors_file_stays(void)
{
	int old, new;

	make_folder();
	old = socket_listen(&addr, &alone, &calls, &error);
	unlink(addr.path);
	new = socket_listen(&addr, &alone, &calls, &error);
	CU_ASSERT_TRUE_FATAL(old >= 0 && new >= 0);
	socket_unlisten(old, &addr, &alone, &calls);
	CU_ASSERT_TRUE(is_socket());
	expect_reachable(new);
	socket_unlisten(new, &addr, &alone, &calls);
	remove_folder();
}

static void workers_share_one_queue(void)
{
	int one, two;

	make_folder();
	CU_ASSERT_EQUAL(socket_listen(&addr, &second, &calls, &error), -ENOTCONN);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "worker 1"));
	one = socket_listen(&addr, &first, &calls, &error);
	two = socket_listen(&addr, &second, &calls, &error);
	CU_ASSERT_TRUE_FATAL(one >= 0 && two >= 0 && one != two);
	CU_ASSERT_TRUE(fcntl(two, F_GETFD) & FD_CLOEXEC && fcntl(two, F_GETFL) & O_NONBLOCK);
	expect_reachable(one);
	expect_reachable(two);
	socket_unlisten(two, &addr, &second, &calls);
	CU_ASSERT_TRUE(is_socket());
	expect_reachable(one);
	socket_unlisten(one, &addr, &first, &calls);
	remove_folder();
}

static void nobody_is_a_refusal(void)
{
	int verdict = 0, fd;

	make_folder();
	fd = dial(&verdict);
	CU_ASSERT_TRUE(fd >= 0 && socket_reason(verdict) == TP_REFUSED);
	close(fd);
	close(bind_there(SOCK_STREAM));
	fd = dial(&verdict);
	CU_ASSERT_TRUE(fd >= 0 && socket_reason(verdict) == TP_REFUSED);
	close(fd);
	unlink(addr.path);
	remove_folder();
}

static void full_queue_is_told(void)
{
	enum { MANY = 8 };
	int fds[MANY], count = 0, verdict, listener;

	make_folder();
	listener = bind_there(SOCK_STREAM);
	CU_ASSERT_EQUAL(listen(listener, 1), 0);
	while (count < MANY && (fds[count] = dial(&verdict)) >= 0)
		count++;
	CU_ASSERT_TRUE_FATAL(count > 0 && count < MANY);
	CU_ASSERT_EQUAL(fds[count], -EAGAIN);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "queue is full"));
	while (count-- > 0)
		close(fds[count]);
	close(listener);
	unlink(addr.path);
	remove_folder();
}

/* --- two processes that start at the same moment --- */

/* In memory that both have. */
struct race {
	pthread_barrier_t step;
	int listeners[2]; /* or a negative errno */
	bool reached[2];
};

static struct race *make_race(void)
{
	struct race *race = mmap(NULL, sizeof(*race), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t shared;

	CU_ASSERT_TRUE_FATAL(race != MAP_FAILED);
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&race->step, &shared, 2);
	pthread_barrierattr_destroy(&shared);
	return race;
}

/* Whether it is this process that the path leads to. */
static bool leads_here(void)
{
	struct ucred peer = {0};
	socklen_t bytes = sizeof(peer);
	int verdict = -1, fd = dial(&verdict);

	if (fd < 0)
		return false;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
	close(fd);
	return verdict == 0 && peer.pid == getpid();
}

static void race_once(struct race *race, unsigned me)
{
	int fd;

	pthread_barrier_wait(&race->step);
	race->listeners[me] = fd = socket_listen(&addr, &alone, &calls, &error);
	pthread_barrier_wait(&race->step);
	race->reached[me] = fd >= 0 && leads_here();
	pthread_barrier_wait(&race->step);
	if (fd >= 0)
		close(fd); /* the file stays, for both to find it stale */
}

static void race_as_child(struct race *race, unsigned rounds)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 0; i < rounds; i++) {
		race_once(race, 1);
		pthread_barrier_wait(&race->step);
	}
	_exit(0);
}

static void one_of_two_replaces_a_stale_file(void)
{
	enum { ROUNDS = 500 };
	struct race *race = make_race();
	pid_t child;

	make_folder();
	close(bind_there(SOCK_STREAM));
	child = fork();
	CU_ASSERT_TRUE_FATAL(child >= 0);
	if (child == 0)
		race_as_child(race, ROUNDS);
	for (unsigned i = 0; i < ROUNDS; i++) {
		race_once(race, 0);
		CU_ASSERT_TRUE(race->reached[0] != race->reached[1]);
		CU_ASSERT_EQUAL(race->listeners[race->reached[0]], -EADDRINUSE);
		pthread_barrier_wait(&race->step);
	}
	CU_ASSERT_EQUAL(waitpid(child, NULL, 0), child);
	pthread_barrier_destroy(&race->step);
	munmap(race, sizeof(*race));
	unlink(addr.path);
	remove_folder();
}

static void folder_that_stays_locked_says_so(void)
{
	int holder;

	make_folder();
	holder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL(flock(holder, LOCK_EX), 0);
	CU_ASSERT_EQUAL(socket_listen(&addr, &alone, &calls, &error), -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "locked"));
	close(holder);
	remove_folder();
}

static const struct suite_test tests[] = {
	{"listening makes the file, ending removes it", file_comes_and_goes},
	{"a file that nobody serves any more is replaced", stale_file_is_replaced},
	{"a file that is served names its holder", live_holder_is_named},
	{"a socket that is bound and does not listen yet is not taken for stale",
	 holder_that_does_not_listen_yet_is_respected},
	{"a datagram socket is neither replaced nor connected to",
	 other_kind_of_socket_is_respected},
	{"a file that is no socket is refused by name and left alone", plain_file_is_left_alone},
	{"a missing folder says so", missing_folder_says_so},
	{"a folder that may not be written to says so", forbidden_folder_says_so},
	{"a file that another listener has put there stays", successors_file_stays},
	{"workers share one queue, which the first makes", workers_share_one_queue},
	{"a path without a listener refuses, file or not", nobody_is_a_refusal},
	{"of two processes that find a file stale at once, one replaces it and is reached",
	 one_of_two_replaces_a_stale_file},
	{"a folder that another program keeps locked says so", folder_that_stays_locked_says_so},
	{"a listener's full queue fails the attempt at once", full_queue_is_told},
};

SUITE_MAIN("socket local", tests)
