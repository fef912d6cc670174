/* What opening a dpdk instance refuses, and how it says so. */
#include "dataplane/core/clock.h"
#include "stacks/dpdk/dpdk.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char memif[64];

static struct tp_config config_of(const char *device, bool server)
{
	static const uint8_t secret[16] = {1};

	return (struct tp_config){
		.limits = {.conn_max = 16, .recv_bytes = 65536, .send_bytes = 65536},
		.device = device,
		.address = {.ip = server ? 0x0a4d0001 : 0x0a4d0002},
		.prefix_bits = 24,
		.server = server,
		.cpu = -1,
		.workers = 1,
		.secret = secret,
	};
}

/* Opening must fail with `code` and `words` in its message. */
static void expect_refusal(const struct tp_config *config, int code, const char *words)
{
	struct tp_error error = {0};
	struct tp *tp = NULL;
	int failure = dpdk_ops.open(config, &tp, &error);

	CU_ASSERT_EQUAL(failure, code);
	CU_ASSERT_PTR_NULL(tp);
	if (!strstr(error.text, words)) {
		printf("# code %d says: %s\n", failure, error.text);
		CU_FAIL("the message lacks its words");
	}
	if (failure == 0)
		dpdk_ops.close(tp);
}

static void address_is_asked_for(void)
{
	struct tp_config config = config_of(memif, true);

	config.address.ip = 0;
	expect_refusal(&config, -EINVAL, "--address IP/LEN");
	config = config_of(memif, true);
	config.prefix_bits = 0;
	expect_refusal(&config, -EINVAL, "--address IP/LEN");
	config.prefix_bits = 31;
	expect_refusal(&config, -EINVAL, "no room for a peer");
}

static void one_worker_only(void)
{
	struct tp_config config = config_of(memif, true);

	config.workers = 2;
	expect_refusal(&config, -EINVAL, "one queue pair");
}

static void device_is_asked_for(void)
{
	struct tp_config config = config_of("", true);

	expect_refusal(&config, -EINVAL, "needs a device");
	config.device = NULL;
	expect_refusal(&config, -EINVAL, "needs a device");
}

static void write_number(const char *path, int number)
{
	FILE *file = fopen(path, "w");

	if (file)
		fprintf(file, "%d\n", number);
	if (file)
		fclose(file);
}

/* Lets this process see 5 hugepages of 2 MiB, 3 of them free. */
static int pretend_hugepages(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/sys/kernel/mm/hugepages", "tmpfs", 0, NULL) < 0 ||
	    mkdir("/sys/kernel/mm/hugepages/hugepages-2048kB", 0755) < 0)
		return -1;
	write_number("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", 5);
	write_number("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", 3);
	return 0;
}

enum { REFUSED_WELL, REFUSED_BADLY, CANNOT_TELL };

static int try_without_hugepages(void)
{
	struct tp_config config = config_of(memif, true);
	struct tp_error error = {0};
	struct tp *tp;

	if (pretend_hugepages() < 0)
		return CANNOT_TELL;
	config.hugepages = true;
	if (dpdk_ops.open(&config, &tp, &error) == -ENOMEM &&
	    strstr(error.text, "(32 of 2 MiB) and 6 MiB are free") &&
	    strstr(error.text, "`sysctl vm.nr_hugepages=66`") &&
	    strstr(error.text, "`--hugepages no`"))
		return REFUSED_WELL;
	printf("# %s\n", error.text);
	fflush(stdout);
	return REFUSED_BADLY;
}

static void missing_hugepages_are_explained(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(try_without_hugepages());
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_TRUE(WIFEXITED(status));
	if (WEXITSTATUS(status) == CANNOT_TELL)
		suite_skip("this takes the right to mount");
	else
		CU_ASSERT_EQUAL(WEXITSTATUS(status), REFUSED_WELL);
}

static void clients_need_a_server(void)
{
	struct tp_config config = config_of(memif, false);

	expect_refusal(&config, -ENOENT, "start the server first");
}

static void a_socket_has_one_server(void)
{
	struct tp_config config = config_of(memif, true);
	struct tp_error error;
	struct tp *tp;

	CU_ASSERT_EQUAL_FATAL(dpdk_ops.open(&config, &tp, &error), 0);
	expect_refusal(&config, -EADDRINUSE, "in use by this process itself");
	dpdk_ops.close(tp);
	CU_ASSERT_EQUAL_FATAL(dpdk_ops.open(&config, &tp, &error), 0);
	dpdk_ops.close(tp);
}

static void *open_elsewhere(void *argument)
{
	expect_refusal(argument, -EBUSY, "another thread");
	return NULL;
}

static void other_threads_are_refused(void)
{
	struct tp_config config = config_of("ring", true);
	struct tp_error error;
	pthread_t thread;
	struct tp *tp;

	CU_ASSERT_EQUAL_FATAL(dpdk_ops.open(&config, &tp, &error), 0);
	pthread_create(&thread, NULL, open_elsewhere, &config);
	pthread_join(thread, NULL);
	dpdk_ops.close(tp);
}

static void hugepages_cannot_change(void)
{
	struct tp_config config = config_of("ring", true);
	struct tp_error error;
	struct tp *tp;

	CU_ASSERT_EQUAL_FATAL(dpdk_ops.open(&config, &tp, &error), 0);
	dpdk_ops.close(tp);
	config.hugepages = true;
	expect_refusal(&config, -EBUSY, "without hugepages");
}

static void ring_sides_are_taken_once(void)
{
	struct tp_config config = config_of("ring", true);
	struct tp_error error;
	struct tp *tp;

	CU_ASSERT_EQUAL_FATAL(dpdk_ops.open(&config, &tp, &error), 0);
	expect_refusal(&config, -EADDRINUSE, "has a dpdk@ring server already");
	dpdk_ops.close(tp);
}

static void foreign_addresses_cannot_be_listened_on(void)
{
	struct tp_config config = config_of("ring", true);
	struct tp_addr addr = {.ip = 0x0a4d0009, .port = 7878};
	struct tp_error error = {0};
	struct tp *tp;

	CU_ASSERT_EQUAL_FATAL(dpdk_ops.open(&config, &tp, &error), 0);
	CU_ASSERT_EQUAL(dpdk_ops.listen(tp, &addr, &error), -EADDRNOTAVAIL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "10.77.0.9"));
	addr.ip = config.address.ip;
	CU_ASSERT_EQUAL(dpdk_ops.listen(tp, &addr, &error), 0);
	CU_ASSERT_EQUAL(dpdk_ops.listen(tp, &addr, &error), -EADDRINUSE);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "7878"));
	dpdk_ops.close(tp);
}

static void families_are_those_of_its_addresses(void)
{
	struct tp_addr ip6 = {.family = TP_IPV6, .ip6 = {0xfd, 0x77, [15] = 1}, .port = 7878};
	struct tp_addr ip4 = {.ip = 0x0a4d0001, .port = 7879};
	struct tp_config config = config_of("ring", true);
	struct tp_error error = {0};
	struct tp *tp;

	CU_ASSERT_EQUAL_FATAL(dpdk_ops.open(&config, &tp, &error), 0);
	CU_ASSERT_EQUAL(dpdk_ops.listen(tp, &ip6, &error), -EAFNOSUPPORT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "given no IPv6 address"));
	dpdk_ops.close(tp);
	config.address6 = ip6;
	config.prefix6_bits = 64;
	CU_ASSERT_EQUAL_FATAL(dpdk_ops.open(&config, &tp, &error), 0);
	CU_ASSERT_EQUAL(dpdk_ops.listen(tp, &ip6, &error), 0);
	CU_ASSERT_EQUAL(dpdk_ops.listen(tp, &ip4, &error), 0);
	ip6.ip6[15] = 9;
	CU_ASSERT_EQUAL(dpdk_ops.listen(tp, &ip6, &error), -EADDRNOTAVAIL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "[fd77::9]"));
	dpdk_ops.close(tp);
	config.address.ip = 0;
	CU_ASSERT_EQUAL_FATAL(dpdk_ops.open(&config, &tp, &error), 0);
	CU_ASSERT_EQUAL(dpdk_ops.listen(tp, &ip4, &error), -EAFNOSUPPORT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "given no IPv4 address"));
	dpdk_ops.close(tp);
	config.prefix6_bits = 128;
	expect_refusal(&config, -EINVAL, "no room for a peer");
}

static void connecting_without_a_peer_fails(void)
{
	struct tp_config config = config_of("ring", false);
	struct tp_addr addr = {.ip = 0x0a4d0001, .port = 7878};
	struct tp_error error = {0};
	struct tp_conn *conn;
	struct tp *tp;

	CU_ASSERT_EQUAL_FATAL(dpdk_ops.open(&config, &tp, &error), 0);
	CU_ASSERT_EQUAL(dpdk_ops.connect(tp, &addr, NULL, &conn, &error), -ENETDOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "nobody is at its other end"));
	dpdk_ops.close(tp);
}

/* The tests of what is refused before DPDK starts come first: it starts once a process. */
static const struct suite_test tests[] = {
	{"a missing address is asked for", address_is_asked_for},
	{"more than one worker is refused with the reason", one_worker_only},
	{"a missing device is asked for", device_is_asked_for},
	{"missing hugepages are explained, with the way out", missing_hugepages_are_explained},
	{"a client without a server is told so", clients_need_a_server},
	{"a memif socket has one server", a_socket_has_one_server},
	{"other threads than the first are refused", other_threads_are_refused},
	{"hugepages cannot be had once DPDK runs without", hugepages_cannot_change},
	{"each side of the ring is taken once", ring_sides_are_taken_once},
	{"addresses of others cannot be listened on", foreign_addresses_cannot_be_listened_on},
	{"the families are those of the addresses given", families_are_those_of_its_addresses},
	{"connecting without a peer fails in words", connecting_without_a_peer_fails},
};

int main(int argc, char **argv)
{
	clock_start();
	snprintf(memif, sizeof(memif), "memif:/tmp/weir-open-test-%d.sock", (int)getpid());
	return suite_run("dpdk open", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
