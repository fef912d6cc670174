#include "stacks/dpdk/device.h"
#include "stacks/dpdk/memif.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_100                                                                         \
	"/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/" \
	"0123456789/0123456789/"

static char path[64]; /* a socket's path that no other test uses */

static void good_devices_are_read(void)
{
	static const struct {
		const char *text;
		enum device_kind kind;
		const char *target;
	} cases[] = {
		{"memif:/run/weir.sock", DEVICE_MEMIF, "/run/weir.sock"},
		{"memif:a:b", DEVICE_MEMIF, "a:b"},
		{"memif:" PATH_100 "1234567", DEVICE_MEMIF, PATH_100 "1234567"},
		{"tap:weir0", DEVICE_TAP, "weir0"},
		{"tap:abcdefghijklmno", DEVICE_TAP, "abcdefghijklmno"},
		{"af_packet:eth0.1", DEVICE_AF_PACKET, "eth0.1"},
		{"af_xdp:eth0", DEVICE_AF_XDP, "eth0"},
		{"ring", DEVICE_RING, ""},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tp_error error;
		struct device device;

		CU_ASSERT_EQUAL(device_parse(cases[i].text, true, &device, &error), 0);
		CU_ASSERT_EQUAL(device.kind, cases[i].kind);
		CU_ASSERT_STRING_EQUAL(device.target, cases[i].target);
		CU_ASSERT_TRUE(device.server);
	}
}

static void bad_devices_are_refused_in_words(void)
{
	static const struct {
		const char *text;
		const char *words; /* the message has them */
	} cases[] = {
		{"", "needs a device: memif:PATH"},
		{"menif:/a", "did you mean 'memif'"},
		{"rings", "did you mean 'ring'"},
		{"memif", "needs PATH: memif:PATH"},
		{"memif:", "needs PATH: memif:PATH"},
		{"memif:" PATH_100 "12345678", "has 108 bytes, a socket's path at most 107"},
		{"memif:/a,b", "cannot carry"},
		{"memif:/a b", "cannot carry"},
		{"memif:/a\nb", "cannot carry"},
		{"tap:", "needs NAME: tap:NAME"},
		{"tap:abcdefghijklmnop", "no interface name"},
		{"tap:a/b", "no interface name"},
		{"tap:a,mac=fixed", "no interface name"},
		{"tap:..", "no interface name"},
		{"af_packet", "needs INTERFACE: af_packet:INTERFACE"},
		{"af_xdp:", "needs INTERFACE: af_xdp:INTERFACE"},
		{"af_xpd", "did you mean 'af_xdp'"},
		{"af_xdp:a,busy_budget=64", "no interface name"},
		{"ring:", "takes nothing after it"},
		{"ring:x", "takes nothing after it"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct device device = {.kind = DEVICE_KIND_COUNT};
		struct tp_error error = {0};

		CU_ASSERT_EQUAL(device_parse(cases[i].text, true, &device, &error), -EINVAL);
		CU_ASSERT_EQUAL(device.kind, DEVICE_KIND_COUNT);
		if (!strstr(error.text, cases[i].words)) {
			printf("# '%s' says: %s\n", cases[i].text, error.text);
			CU_FAIL("the message lacks its words");
		}
	}
}

/* Binds a socket of `type` at `path`, listening if it can; its descriptor. */
static int bind_socket(int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	unlink(path);
	CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	if (type != SOCK_DGRAM)
		CU_ASSERT_EQUAL(listen(fd, 4), 0);
	return fd;
}

static void free_paths_can_be_claimed(void)
{
	struct tp_error error;

	CU_ASSERT_EQUAL(memif_claim(path, &error), 0);
	CU_ASSERT_EQUAL(memif_claim("weir-relative.sock", &error), 0);
	CU_ASSERT_EQUAL(access(path, F_OK), -1);
}

static void stale_sockets_are_removed(void)
{
	struct tp_error error;

	close(bind_socket(SOCK_SEQPACKET));
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	CU_ASSERT_EQUAL(memif_claim(path, &error), 0);
	CU_ASSERT_EQUAL(access(path, F_OK), -1);
}

/* Another process listens at `path`; its pid. */
static pid_t start_owner(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	CU_ASSERT_EQUAL(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		bind_socket(SOCK_SEQPACKET);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(0);
	}
	CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void live_sockets_name_their_owner(void)
{
	pid_t pid = start_owner();
	struct tp_error error = {0};
	char words[64];

	CU_ASSERT_EQUAL(memif_claim(path, &error), -EADDRINUSE);
	snprintf(words, sizeof(words), "in use by pid %d (", (int)pid);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, words));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, path));
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	/* the same for who looked before the other bound it */
	error = (struct tp_error){0};
	CU_ASSERT_EQUAL(memif_fail_taken(path, &error), -EADDRINUSE);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, words));
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CU_ASSERT_EQUAL(memif_claim(path, &error), 0);
}

static void other_files_are_left_alone(void)
{
	struct tp_error error = {0};
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	close(fd);
	CU_ASSERT_EQUAL(memif_claim(path, &error), -EEXIST);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "is no socket"));
	CU_ASSERT_EQUAL(memif_await(path, &error), -ENOTSOCK);
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	fd = bind_socket(SOCK_STREAM);
	CU_ASSERT_EQUAL(memif_claim(path, &error), -EADDRINUSE);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "of another kind"));
	close(fd);
	unlink(path);
}

static void missing_directories_are_named(void)
{
	struct tp_error error = {0};

	CU_ASSERT_EQUAL(memif_claim("/nowhere/at/all.sock", &error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "in /nowhere/at: No such file"));
	CU_ASSERT_EQUAL(memif_await("/nowhere/at/all.sock", &error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "start the server first"));
}

static void interfaces_are_looked_at(void)
{
	struct tp_error error = {0};
	struct device device;

	CU_ASSERT_EQUAL(device_parse("tap:lo", true, &device, &error), 0);
	CU_ASSERT_EQUAL(device_check(&device, &error), -EADDRINUSE);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "exists already"));
	CU_ASSERT_EQUAL(device_parse("af_packet:weirnone0", true, &device, &error), 0);
	CU_ASSERT_EQUAL(device_check(&device, &error), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "no interface 'weirnone0'"));
	CU_ASSERT_EQUAL(device_parse("af_xdp:weirnone1", true, &device, &error), 0);
	CU_ASSERT_EQUAL(device_check(&device, &error), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "no interface 'weirnone1'"));
}

/* Debian calls librte_net_af_packet.so's package librte-net-af-packet23. */
static void packages_are_named_after_drivers(void)
{
	for (unsigned i = 0; i < DEVICE_KIND_COUNT; i++) {
		char expected[64];

		snprintf(expected, sizeof(expected), "librte-%s23", device_traits[i].driver);
		for (char *at = expected; *at; at++)
			if (*at == '_')
				*at = '-';
		CU_ASSERT_STRING_EQUAL(device_traits[i].package, expected);
	}
}

static const struct suite_test tests[] = {
	{"good devices are read", good_devices_are_read},
	{"bad devices are refused in words", bad_devices_are_refused_in_words},
	{"a free path can be claimed", free_paths_can_be_claimed},
	{"a stale socket is removed", stale_sockets_are_removed},
	{"a live socket names its owner's pid and program", live_sockets_name_their_owner},
	{"files that are no memif sockets are left alone", other_files_are_left_alone},
	{"missing directories are named", missing_directories_are_named},
	{"a missing driver's package has the name that the system knows",
	 packages_are_named_after_drivers},
	{"interfaces are looked at before they are used", interfaces_are_looked_at},
};

int main(int argc, char **argv)
{
	snprintf(path, sizeof(path), "/tmp/weir-device-test-%d.sock", (int)getpid());
	return suite_run("dpdk device", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
