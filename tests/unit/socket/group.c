#include "tests/unit/socket/group.h"

#include "tests/support/loopback.h"
#include "tests/support/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uint64_t calls;

static struct tp_addr address_of(enum tp_family family)
{
	struct tp_addr addr = {.family = (uint8_t)family};

	addr.port = family == TP_IPV6 ? loopback_port6() : loopback_port();
	if (family == TP_IPV6)
		addr.ip6[15] = 1;
	else
		addr.ip = loopback_ip();
	return addr;
}

bool group_host_has(const char *feature)
{
	struct tp_feature features[SOCKET_FEATURES];
	unsigned count = socket_probe(features, SOCKET_FEATURES);

	for (unsigned i = 0; i < count; i++)
		if (strcmp(features[i].name, feature) == 0)
			return features[i].present;
	CU_FAIL("no such feature");
	return false;
}

/* 0, or the negative errno that listening failed with. */
static int try_join(struct group *group, unsigned worker)
{
	struct tp_error error;
	int fd = socket_listen(&group->addr, &group->settings[worker], &calls, &error);

	group->listeners[worker] = fd < 0 ? -1 : fd;
	if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)
		return fd;
	if (fd < 0)
		printf("# %s\n", error.text);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	return 0;
}

bool group_open(struct group *group, enum tp_family family, enum socket_steer steer)
{
	*group = (struct group){.addr = address_of(family)};
	for (uint16_t i = 0; i < GROUP_WORKERS; i++) {
		group->settings[i] = (struct socket_settings){
			.steer = steer, .worker = i, .workers = GROUP_WORKERS, .cpu = i};
		if (try_join(group, i) < 0) {
			suite_skip("this host has no such addresses on loopback");
			return false;
		}
	}
	return true;
}

void group_join(struct group *group, unsigned worker)
{
	CU_ASSERT_EQUAL(try_join(group, worker), 0);
}

void group_leave(struct group *group, unsigned worker)
{
	socket_unlisten(group->listeners[worker], &group->addr, &group->settings[worker], &calls);
	group->listeners[worker] = -1;
}

void group_close(struct group *group)
{
	for (unsigned i = 0; i < GROUP_WORKERS; i++)
		if (group->listeners[i] >= 0)
			group_leave(group, i);
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

static void accept_all(struct group *group, unsigned worker)
{
	struct sockaddr_storage peer;
	socklen_t bytes = sizeof(peer);
	int fd;

	while ((fd = accept(group->listeners[worker], (struct sockaddr *)&peer, &bytes)) >= 0) {
		group->taken[worker]++;
		group->misled += port_of(&peer) / 2 % GROUP_WORKERS != worker;
		close(fd);
	}
}

unsigned group_dial(struct group *group)
{
	int fds[GROUP_CONNS];
	unsigned sum = 0;

	group->misled = 0;
	memset(group->taken, 0, sizeof(group->taken));
	for (unsigned i = 0; i < GROUP_CONNS; i++)
		fds[i] = dial(&group->addr);
	for (unsigned i = 0; i < GROUP_WORKERS; i++) {
		accept_all(group, i);
		sum += group->taken[i];
	}
	for (unsigned i = 0; i < GROUP_CONNS; i++)
		close(fds[i]);
	return sum;
}
