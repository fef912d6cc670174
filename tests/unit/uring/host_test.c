/* What a host may forbid or lack, and what is said then. */
#include "dataplane/core/clock.h"
#include "stacks/bare.h"
#include "tests/support/suite.h"
#include "tests/unit/epoll/bench.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILTER_LACKS = 77 }; /* the child could not set its filter */

/*
 * From here on the system call `number` fails with `error_number`; false if the host has no such
 * filters.
 */
static bool forbid(unsigned number, unsigned error_number)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(rules) / sizeof(rules[0]), .filter = rules};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Whether open and probe both fail with the error, and their texts hold the word. */
static bool both_fail(int code, const char *word)
{
	struct tp_config config = {
		.limits = {.conn_max = 4, .recv_bytes = 4096, .send_bytes = 4096},
		.device = "",
		.cpu = -1,
		.workers = 1,
	};
	struct tp_feature features[TP_FEATURES_MAX];
	struct tp_error opening = {{0}}, probing = {{0}};
	struct tp *tp;

	return uring_ops.open(&config, &tp, &opening) == code && strstr(opening.text, word) &&
	       uring_ops.probe(features, TP_FEATURES_MAX, &probing) == code &&
	       strstr(probing.text, word);
}

/* In a process of its own: the filter stays for good. */
static void expect_refusal(unsigned number, unsigned error_number, const char *word)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (!forbid(number, error_number))
			_exit(FILTER_LACKS);
		_exit(both_fail(-(int)error_number, word) ? 0 : 1);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == FILTER_LACKS) {
		suite_skip("this host has no filters of system calls");
		return;
	}
	CU_ASSERT_TRUE(WIFEXITED(status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

static void forbidden_names_the_switch(void)
{
	expect_refusal(SYS_io_uring_setup, EPERM, "kernel.io_uring_disabled");
}

static void unknown_names_the_kernel(void)
{
	expect_refusal(SYS_io_uring_setup, ENOSYS, "5.19");
}

static void unknown_flags_name_the_kernel(void)
{
	expect_refusal(SYS_io_uring_setup, EINVAL, "too old");
}

static void no_memory_names_the_limit(void)
{
	expect_refusal(SYS_io_uring_setup, ENOMEM, "ulimit -l");
}

static void no_descriptor_names_the_limit(void)
{
	expect_refusal(SYS_io_uring_setup, EMFILE, "ulimit -n");
}

/* The same for what holds although the call fails. */
static void expect_although(unsigned number, unsigned error_number, bool (*holds)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (!forbid(number, error_number))
			_exit(FILTER_LACKS);
		_exit(holds() ? 0 : 1);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == FILTER_LACKS) {
		suite_skip("this host has no filters of system calls");
		return;
	}
	CU_ASSERT_TRUE(WIFEXITED(status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

static bool receives_into_its_own_ring(void)
{
	static struct bench bench;
	struct bench_conn *conn;
	uint8_t back[5];
	int fd;

	if (!bench_open_joined(&bench, &conn, &fd) || write(fd, "bytes", 5) != 5 ||
	    !bench_until(&bench, conn, TP_READABLE) || bench_read(&bench, conn, back, 5) != 5 ||
	    memcmp(back, "bytes", 5) != 0 || bench_detail(&bench, "ring_receives") == 0)
		return false;
	bench_close(&bench);
	return true;
}

/*
 * Where nothing can be registered there are no shared buffers, and bytes still come: each into its
 * connection's own memory.
 */
static void without_registration_it_still_works(void)
{
	expect_although(SYS_io_uring_register, EINVAL, receives_into_its_own_ring);
}

static bool bare_echo_is_refused(void)
{
	const struct tp_addr addr = {.ip = INADDR_LOOPBACK};
	const struct tp_config transport = {
		.limits = {.conn_max = 4},
		.device = "",
		.cpu = -1,
		.workers = 1,
	};
	static const uint8_t response[64];
	const struct bare_config config = {
		.transport = &transport,
		.listen = &addr,
		.request_bytes = 64,
		.response_bytes = sizeof(response),
		.response = response,
	};
	struct tp_error error = {{0}};
	struct bare *bare;

	return uring_bare_ops.open(&config, &bare, &error) == -ENOTSUP &&
	       strstr(error.text, "multishot");
}

static void a_bare_echo_needs_shared_buffers(void)
{
	expect_although(SYS_io_uring_register, EINVAL, bare_echo_is_refused);
}

/* From here on so many more descriptors can be opened. */
static void limit_descriptors(unsigned more)
{
	int lowest_free = dup(STDIN_FILENO);
	struct rlimit limit;

	close(lowest_free);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)lowest_free + more;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Opens with descriptors for the ring and a listener, none to look with; whether all stays well. */
static bool opens_without_spare_descriptors(void)
{
	static struct bench bench;
	struct bench_conn *conn;
	struct rlimit before;
	int fd;

	getrlimit(RLIMIT_NOFILE, &before);
	limit_descriptors(2);
	if (!bench_open(&bench, 4))
		return false;
	setrlimit(RLIMIT_NOFILE, &before);
	bench_idle(&bench);
	if (bench.conn_count > 0 || bench_counters(&bench).accepted > 0)
		return false;
	conn = bench_join(&bench, &fd);
	if (write(fd, "bytes", 5) != 5 || !bench_until(&bench, conn, TP_READABLE))
		return false;
	bench_close(&bench);
	return true;
}

static void nothing_is_accepted_that_nobody_dialled(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(opens_without_spare_descriptors() ? 0 : 1);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_TRUE(WIFEXITED(status));
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

static void what_lacks_is_named(void)
{
	struct tp_feature features[TP_FEATURES_MAX];
	struct tp_error error;
	int count = uring_ops.probe(features, TP_FEATURES_MAX, &error);

	CU_ASSERT_TRUE(count > 0);
	for (int i = 0; i < count; i++)
		CU_ASSERT_EQUAL(features[i].present, features[i].absent == NULL);
}

static void awkward_options_are_refused_in_words(void)
{
	uint64_t values[TP_OPTIONS_MAX];
	struct tp_config config = {
		.limits = {.conn_max = 4, .recv_bytes = 4096, .send_bytes = 4096},
		.device = "",
		.cpu = -1,
		.workers = 1,
		.options = values,
	};
	struct tp_error error = {{0}};
	struct tp *tp;

	CU_ASSERT_EQUAL(tp_options_parse(&uring_ops, "buffers=3", values, &error), 0);
	CU_ASSERT_EQUAL(uring_ops.open(&config, &tp, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "power of two"));
	CU_ASSERT_EQUAL(tp_options_parse(&uring_ops, "sqpoll=on,sqpoll-cpu=60000", values, &error),
			0);
	CU_ASSERT_EQUAL(uring_ops.open(&config, &tp, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "sqpoll-cpu"));
	CU_ASSERT_EQUAL(tp_options_parse(&uring_ops, "sqpoll-cpu=0", values, &error), 0);
	CU_ASSERT_EQUAL(uring_ops.open(&config, &tp, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "sqpoll-cpu=0"));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "add sqpoll=on"));
	CU_ASSERT_EQUAL(tp_options_parse(&uring_ops, "sqpoll-idle=5ms", values, &error), 0);
	CU_ASSERT_EQUAL(uring_ops.open(&config, &tp, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "sqpoll-idle=5ms"));
}

/* Address space in use, bytes. */
static size_t mapped_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	CU_ASSERT_EQUAL(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* The table of files comes last of all that open takes, so all the rest is to be given back. */
static void a_table_beyond_the_limit_is_refused_whole(void)
{
	enum { TRIES = 20, POOL_BYTES = 16 * 1024 * 1024 };
	uint64_t values[TP_OPTIONS_MAX];
	struct tp_config config = {
		.limits = {.conn_max = 1000, .recv_bytes = 4096, .send_bytes = 4096},
		.device = "",
		.cpu = -1,
		.workers = 1,
		.options = values,
	};
	struct rlimit limit, few;
	struct tp_error error = {{0}};
	size_t before;
	struct tp *tp;

	CU_ASSERT_EQUAL(tp_options_parse(&uring_ops, "registered-files=on", values, &error), 0);
	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	/* the hard limit too: liburing raises the other by itself */
	few = (struct rlimit){.rlim_cur = 64, .rlim_max = 64};
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &few), 0);
	before = mapped_bytes();
	for (unsigned i = 0; i < TRIES; i++)
		CU_ASSERT_EQUAL(uring_ops.open(&config, &tp, &error), -EMFILE);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "registered-files"));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "ulimit -n"));
	CU_ASSERT_TRUE(mapped_bytes() < before + POOL_BYTES);
	setrlimit(RLIMIT_NOFILE, &limit);
}

static const struct suite_test tests[] = {
	{"a host that forbids io_uring is told which switch does", forbidden_names_the_switch},
	{"a kernel without io_uring is told which has it", unknown_names_the_kernel},
	{"a kernel that refuses each way to set rings up is called too old",
	 unknown_flags_name_the_kernel},
	{"rings without memory name the limit to raise", no_memory_names_the_limit},
	{"rings without a descriptor name the limit to raise", no_descriptor_names_the_limit},
	{"without shared buffers bytes come into each connection's memory",
	 without_registration_it_still_works},
	{"without shared buffers a bare echo says what it needs", a_bare_echo_needs_shared_buffers},
	{"without a descriptor to spare it opens, and accepts nobody that did not dial",
	 nothing_is_accepted_that_nobody_dialled},
	{"a feature that lacks comes with what is done instead", what_lacks_is_named},
	{"options that do not go here are refused in words", awkward_options_are_refused_in_words},
	{"a table of files beyond the limit is refused, and nothing is kept",
	 a_table_beyond_the_limit_is_refused_whole},
};

SUITE_MAIN("uring host", tests)
