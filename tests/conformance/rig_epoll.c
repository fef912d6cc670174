#ifdef RIG_URING
#include "stacks/uring/uring.h"
#define RIG_OPS uring_ops
#define RIG_NAME "uring"
#else
#include "stacks/epoll/epoll.h"
#define RIG_OPS epoll_ops
#define RIG_NAME "epoll"
#endif
#include "tests/conformance/rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Ports are taken below the range that the kernel gives to outgoing connections, so that nobody's
 * port cannot become somebody's between the probe and its use, and apart from those of a second run
 * at the same time.
 */
enum { PORT_FIRST = 10000, PORT_COUNT = 20000, PORTS_A_PROCESS = 16 };

const char rig_name[] = RIG_NAME;

static bool is_free(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;
	bool free;

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	free = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	return free;
}

/* A free port on loopback, another one at each call; 0 if there is none. */
static uint16_t next_port(void)
{
	static uint32_t calls;

	for (unsigned i = 0; i < PORT_COUNT; i++) {
		uint32_t step = (uint32_t)getpid() * PORTS_A_PROCESS + calls++;
		uint16_t port = (uint16_t)(PORT_FIRST + step % PORT_COUNT);

		if (is_free(port))
			return port;
	}
	return 0;
}

int rig_open(const struct tp_limits *server, const struct tp_limits *client,
	     struct rig_pair *pair_out, struct tp_error *error)
{
	struct tp_config config = {.cpu = -1, .workers = 1, .device = "loopback"};
	struct rig_pair pair = {
		.addr = {.ip = INADDR_LOOPBACK, .port = next_port()},
		.nobody = {.ip = INADDR_LOOPBACK, .port = next_port()},
	};
	int status;

	if (!pair.addr.port || !pair.nobody.port)
		return tp_fail(error, -EADDRNOTAVAIL, "no free port on loopback");
	config.limits = *server;
	config.server = true;
	status = RIG_OPS.open(&config, &pair.server, error);
	if (status < 0)
		return status;
	config.limits = *client;
	config.server = false;
	status = RIG_OPS.open(&config, &pair.client, error);
	if (status < 0) {
		RIG_OPS.close(pair.server);
		return status;
	}
	*pair_out = pair;
	return 0;
}

void rig_close(struct rig_pair *pair)
{
	if (pair->client)
		RIG_OPS.close(pair->client);
	if (pair->server)
		RIG_OPS.close(pair->server);
}
