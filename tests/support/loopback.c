#include "tests/support/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * A process begins where others rarely do: some tests take a port of every address. On ::1 a
 * process keeps to as many ports as its ids are apart.
 */
enum { PORT_FIRST = 10000, PORT_COUNT = 20000, PORTS_A_PROCESS = 16, PID_BITS = 22 };

uint32_t loopback_ip(void)
{
	return 0x7F400000 | ((uint32_t)getpid() & ((1u << PID_BITS) - 1));
}

static uint16_t port_of(uint32_t step)
{
	uint32_t place = (uint32_t)getpid() * PORTS_A_PROCESS + step;

	return (uint16_t)(PORT_FIRST + place % PORT_COUNT);
}

/* Connections of an earlier test in TIME-WAIT are no reason to refuse. */
static bool can_bind(const void *address, socklen_t bytes, int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;
	bool can;

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	can = bind(fd, address, bytes) == 0;
	close(fd);
	return can;
}

uint16_t loopback_port(void)
{
	static uint32_t calls;

	for (unsigned i = 0; i < PORT_COUNT; i++) {
		uint16_t port = port_of(calls++);
		struct sockaddr_in address = {.sin_family = AF_INET,
					      .sin_addr.s_addr = htonl(loopback_ip()),
					      .sin_port = htons(port)};

		if (can_bind(&address, sizeof(address), AF_INET))
			return port;
	}
	return 0;
}

uint16_t loopback_port6(void)
{
	static uint32_t calls;

	for (unsigned i = 0; i < PORTS_A_PROCESS; i++) {
		uint16_t port = port_of(calls++ % PORTS_A_PROCESS);
		struct sockaddr_in6 address = {.sin6_family = AF_INET6,
					       .sin6_addr = IN6ADDR_LOOPBACK_INIT,
					       .sin6_port = htons(port)};

		if (can_bind(&address, sizeof(address), AF_INET6))
			return port;
	}
	return 0;
}
