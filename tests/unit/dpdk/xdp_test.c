/* What can be told of XDP sockets and programs where no driver is at work; the rest is in e2e. */
#include "stacks/dpdk/xdp.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void one_socket_is_found(void)
{
	int one, other;

	CU_ASSERT_EQUAL(xdp_find_socket(), -1);
	one = socket(AF_XDP, SOCK_RAW, 0);
	if (one < 0) {
		suite_skip("this kernel has no XDP sockets for us: %s", strerror(errno));
		return;
	}
	CU_ASSERT_EQUAL(xdp_find_socket(), one);
	other = socket(AF_XDP, SOCK_RAW, 0);
	CU_ASSERT_TRUE(other >= 0);
	CU_ASSERT_EQUAL(xdp_find_socket(), -1);
	close(one);
	CU_ASSERT_EQUAL(xdp_find_socket(), other);
	close(other);
}

/* Further away than any number of descriptors that would be tried one by one. */
static void socket_is_found_among_many(void)
{
	int low = socket(AF_XDP, SOCK_RAW, 0), high;
	struct rlimit limit;

	if (low < 0) {
		suite_skip("this kernel has no XDP sockets for us: %s", strerror(errno));
		return;
	}
	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	high = fcntl(low, F_DUPFD_CLOEXEC, 2000);
	close(low);
	if (high < 0)
		suite_skip("no descriptor above 2000 is allowed here");
	CU_ASSERT_EQUAL(xdp_find_socket(), high);
	close(high);
}

static void nothing_is_lost_unasked(void)
{
	int plain = socket(AF_UNIX, SOCK_STREAM, 0);
	struct xdp_losses losses = xdp_losses_of(-1);

	CU_ASSERT_EQUAL(losses.frames + losses.fill_empty, 0);
	losses = xdp_losses_of(plain);
	CU_ASSERT_EQUAL(losses.frames + losses.fill_empty, 0);
	close(plain);
}

static void no_program_is_no_loss(void)
{
	struct xdp_watch watch;

	/* neither an interface without a program nor one that is not there can lose one */
	xdp_watch_open(&watch, (int)if_nametoindex("lo"));
	CU_ASSERT_EQUAL(watch.fd, -1);
	CU_ASSERT_TRUE(xdp_watch_holds(&watch));
	xdp_watch_open(&watch, INT32_MAX);
	CU_ASSERT_EQUAL(watch.fd, -1);
	CU_ASSERT_TRUE(xdp_watch_holds(&watch));
	xdp_watch_close(&watch);
	CU_ASSERT_EQUAL(watch.fd, -1);
}

static void another_program_is_a_loss(void)
{
	/* lo has none, which is another than the one that was there */
	struct xdp_watch watch = {.fd = socket(AF_NETLINK, SOCK_RAW, 0),
				  .interface = (int)if_nametoindex("lo"),
				  .program = 77};

	CU_ASSERT_TRUE_FATAL(watch.fd >= 0);
	CU_ASSERT_FALSE(xdp_watch_holds(&watch));
	watch.program = 0;
	CU_ASSERT_TRUE(xdp_watch_holds(&watch));
	xdp_watch_close(&watch);
}

static const struct suite_test tests[] = {
	{"the only XDP socket of a process is found, one of two is not", one_socket_is_found},
	{"a socket with a descriptor above two thousand is found", socket_is_found_among_many},
	{"what is no XDP socket has lost nothing", nothing_is_lost_unasked},
	{"where no program was attached none is missed", no_program_is_no_loss},
	{"a program that is not the one of the start is missed", another_program_is_a_loss},
};

int main(int argc, char **argv)
{
	return suite_run("dpdk xdp", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
