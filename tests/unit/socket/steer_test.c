/* How connections are spread over the listeners of several workers. */
#include "stacks/socket/steer.h"

#include "tests/support/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 4, CONNS = 64, SHARE = CONNS / WORKERS };

static uint64_t calls;

struct group {
	struct tp_addr addr;
	int listeners[WORKERS];
	unsigned taken[WORKERS];
	unsigned misled; /* connections that the wrong listener got */
};

static struct tp_addr loopback_of(enum tp_family family)
{
	static uint32_t taken;
	struct tp_addr addr = {
		.family = (uint8_t)family,
		.port = (uint16_t)(10000 + ((uint32_t)getpid() * 16 + taken++) % 20000),
	};

	if (family == TP_IPV6)
		addr.ip6[15] = 1;
	else
		addr.ip = INADDR_LOOPBACK;
	return addr;
}

static bool host_has(const char *name)
{
	struct tp_feature features[SOCKET_FEATURES];
	unsigned count = socket_probe(features, SOCKET_FEATURES);

	for (unsigned i = 0; i < count; i++)
		if (strcmp(features[i].name, name) == 0)
			return features[i].present;
	return false;
}

/* Listeners of workers that start one after the other. False, and skipped, without the family. */
static bool listen_all(struct group *group, enum tp_family family, enum socket_steer steer)
{
	struct tp_error error;

	*group = (struct group){.addr = loopback_of(family)};
	for (uint16_t i = 0; i < WORKERS; i++) {
		struct socket_settings settings = {
			.steer = steer, .worker = i, .workers = WORKERS, .cpu = i};
		int fd = socket_listen(&group->addr, &settings, &calls, &error);

		if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL) {
			suite_skip("this host has no such addresses on loopback");
			return false;
		}
		if (fd < 0)
			printf("# %s\n", error.text);
		CU_ASSERT_TRUE_FATAL(fd >= 0);
		group->listeners[i] = fd;
	}
	return true;
}

static void close_from(struct group *group, unsigned first)
{
	for (unsigned i = first; i < WORKERS; i++)
		socket_shut(group->listeners[i], &calls);
}

/* Our end of a connection whose other end waits in some listener's queue. */
static int dial(const struct tp_addr *addr)
{
	struct sockaddr_storage storage;
	socklen_t bytes = socket_address(addr, &storage);
	int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&storage, bytes), 0);
	return fd;
}

/* sin_port and sin6_port stand at the same place. */
static uint16_t port_of(const struct sockaddr_storage *storage)
{
	return ntohs(((const struct sockaddr_in *)storage)->sin_port);
}

static void accept_all(struct group *group, unsigned listeners)
{
	for (unsigned i = 0; i < listeners; i++) {
		struct sockaddr_storage peer;
		socklen_t bytes = sizeof(peer);
		int fd;

		while ((fd = accept(group->listeners[i], (struct sockaddr *)&peer, &bytes)) >= 0) {
			group->taken[i]++;
			group->misled += port_of(&peer) / 2 % WORKERS != i;
			close(fd);
		}
	}
}

static void dial_all(struct group *group, unsigned listeners)
{
	int fds[CONNS];

	for (unsigned i = 0; i < CONNS; i++)
		fds[i] = dial(&group->addr);
	accept_all(group, listeners);
	for (unsigned i = 0; i < CONNS; i++)
		close(fds[i]);
}

static void expect_even(enum tp_family family)
{
	struct group group;

	if (!host_has("reuseport-bpf")) {
		suite_skip("the kernel takes no program that chooses a listener");
		return;
	}
	if (!listen_all(&group, family, SOCKET_STEER_PORT))
		return;
	dial_all(&group, WORKERS);
	CU_ASSERT_EQUAL(group.misled, 0);
	for (unsigned i = 0; i < WORKERS; i++)
		CU_ASSERT_TRUE(group.taken[i] >= SHARE / 2 && group.taken[i] <= SHARE * 3 / 2);
	close_from(&group, 0);
}

static void ports_spread_evenly(void)
{
	expect_even(TP_IPV4);
}

static void ports_spread_evenly_over_ipv6(void)
{
	expect_even(TP_IPV6);
}

static void rest_serves_when_one_leaves(void)
{
	struct group group;
	unsigned sum = 0;

	if (!listen_all(&group, TP_IPV4, SOCKET_STEER_PORT))
		return;
	close_from(&group, WORKERS - 1);
	dial_all(&group, WORKERS - 1);
	for (unsigned i = 0; i < WORKERS - 1; i++) {
		CU_ASSERT_TRUE(group.taken[i] > 0);
		sum += group.taken[i];
		socket_shut(group.listeners[i], &calls);
	}
	CU_ASSERT_EQUAL(sum, CONNS);
}

static void hash_loses_none(void)
{
	struct group group;
	unsigned sum = 0;

	if (!listen_all(&group, TP_IPV4, SOCKET_STEER_HASH))
		return;
	dial_all(&group, WORKERS);
	for (unsigned i = 0; i < WORKERS; i++)
		sum += group.taken[i];
	CU_ASSERT_EQUAL(sum, CONNS);
	CU_ASSERT_TRUE(group.misled > 0);
	close_from(&group, 0);
}

static void listeners_know_their_cpu(void)
{
	struct group group;

	if (!host_has("incoming-cpu")) {
		suite_skip("the kernel has no SO_INCOMING_CPU");
		return;
	}
	if (!listen_all(&group, TP_IPV4, SOCKET_STEER_CPU))
		return;
	for (int i = 0; i < WORKERS; i++) {
		int cpu = -1;
		socklen_t bytes = sizeof(cpu);

		CU_ASSERT_EQUAL(
			getsockopt(group.listeners[i], SOL_SOCKET, SO_INCOMING_CPU, &cpu, &bytes),
			0);
		CU_ASSERT_EQUAL(cpu, i);
	}
	close_from(&group, 0);
}

static void features_are_named(void)
{
	struct tp_feature features[SOCKET_FEATURES + 1];

	CU_ASSERT_EQUAL(socket_probe(features, SOCKET_FEATURES + 1), SOCKET_FEATURES);
	for (unsigned i = 0; i < SOCKET_FEATURES; i++) {
		CU_ASSERT_PTR_NOT_NULL(features[i].name);
		CU_ASSERT_EQUAL(features[i].present, features[i].absent == NULL);
	}
	CU_ASSERT_EQUAL(socket_probe(features, 1), 1);
	CU_ASSERT_EQUAL(socket_probe(NULL, 0), 0);
}

static const struct suite_test tests[] = {
	{"by port, each listener gets the clients' ports that are its, and its share of them",
	 ports_spread_evenly},
	{"by port, IPv6 connections spread likewise", ports_spread_evenly_over_ipv6},
	{"by port, the others serve all when one listener leaves", rest_serves_when_one_leaves},
	{"by hash, the kernel chooses and no connection is lost", hash_loses_none},
	{"by CPU, each listener is told its worker's", listeners_know_their_cpu},
	{"what the host has or lacks is told for each feature", features_are_named},
};

SUITE_MAIN("socket steering", tests)
