#include "apps/common/port.h"

#include "tests/support/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Binds to a free port of `ip`; the descriptor. */
static int bind_any(uint32_t ip, bool share, uint16_t *port_out)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(ip)};
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = share;

	CU_ASSERT_FATAL(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&address, bytes), 0);
	getsockname(fd, (struct sockaddr *)&address, &bytes);
	*port_out = ntohs(address.sin_port);
	return fd;
}

static int check(uint16_t port, struct tp_error *error)
{
	const struct tp_addr addr = {.family = TP_IPV4, .ip = INADDR_LOOPBACK, .port = port};

	return port_check(&addr, error);
}

static void held_by(uint32_t ip, bool share, bool listens)
{
	struct tp_error error;
	char pid[32];
	uint16_t port;
	int fd = bind_any(ip, share, &port);

	if (listens)
		CU_ASSERT_EQUAL(listen(fd, 1), 0);
	snprintf(pid, sizeof(pid), "(pid %d)", (int)getpid());
	CU_ASSERT_EQUAL(check(port, &error), -EADDRINUSE);
	if (listens)
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, pid));
	close(fd);
	CU_ASSERT_EQUAL(check(port, &error), 0);
}

static void a_listener_is_named(void)
{
	held_by(INADDR_LOOPBACK, false, true);
	held_by(INADDR_ANY, false, true);
}

static void a_shared_port_is_held(void)
{
	held_by(INADDR_LOOPBACK, true, true);
	held_by(INADDR_ANY, true, true);
}

static void a_bound_port_is_held(void)
{
	held_by(INADDR_LOOPBACK, false, false);
}

static void an_address_of_another_host(void)
{
	const struct tp_addr addr = {.family = TP_IPV4, .ip = 0xC0000201, .port = 7878};
	struct tp_error error;

	CU_ASSERT_EQUAL(port_check(&addr, &error), -EADDRNOTAVAIL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "192.0.2.1:7878 cannot be had"));
}

static void ip6_is_looked_at_in_its_own_family(void)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	struct tp_addr addr = {.family = TP_IPV6, .ip6 = {[15] = 1}};
	socklen_t bytes = sizeof(address);
	struct tp_error error;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, bytes) < 0) {
		if (fd >= 0)
			close(fd);
		suite_skip("this host has no IPv6 loopback");
		return;
	}
	CU_ASSERT_EQUAL(listen(fd, 1), 0);
	getsockname(fd, (struct sockaddr *)&address, &bytes);
	addr.port = ntohs(address.sin6_port);
	CU_ASSERT_EQUAL(port_check(&addr, &error), -EADDRINUSE);
	close(fd);
	CU_ASSERT_EQUAL(port_check(&addr, &error), 0);
}

static const struct suite_test tests[] = {
	{"a listener holds its port, on one address or on all, and is named", a_listener_is_named},
	{"a port that its holder would share is held all the same", a_shared_port_is_held},
	{"a port that is bound and not listened on is held", a_bound_port_is_held},
	{"an address that is none of this host's is named", an_address_of_another_host},
	{"an IPv6 address is looked at in its own family", ip6_is_looked_at_in_its_own_family},
};

SUITE_MAIN("port", tests)
