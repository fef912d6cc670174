#include "apps/run/store/ground.h"

#include "apps/common/claim.h"
#include "apps/common/port.h"
#include "apps/common/tree.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Below the range from which kernels give out ports by themselves. */
enum { PORT_FIRST = 20000, PORT_COUNT = 10000 };

/* Of ids: that one is taken is next to impossible, that it is swept away meanwhile not quite. */
enum { ID_TRIES = 16 };

static int check_port(uint16_t port, struct tp_error *error)
{
	const struct tp_addr address = {.family = TP_IPV4, .ip = INADDR_LOOPBACK, .port = port};

	return port_check(&address, error);
}

/* A free port, but for one; different runs begin at different ones. 0 if there is none. */
static uint16_t choose_port(unsigned start, uint16_t but)
{
	struct tp_error ignored;

	for (unsigned i = 0; i < PORT_COUNT; i++) {
		uint16_t port = (uint16_t)(PORT_FIRST + (start + i) % PORT_COUNT);

		if (port != but && check_port(port, &ignored) == 0)
			return port;
	}
	return 0;
}

static uint32_t random_number(void)
{
	uint32_t number = (uint32_t)getpid();

	(void)!getrandom(&number, sizeof(number), 0);
	return number;
}

/* The wanted ports, and others where none are; a server's neighbour is its upstream's. */
static void name_ports(struct ground *ground, const struct ground_wish *wish, unsigned start)
{
	ground->port = wish->port ? wish->port : choose_port(start, wish->upstream_port);
	ground->upstream_port =
		wish->upstream_port ? wish->upstream_port
				    : choose_port((ground->port + 1u) % PORT_COUNT, ground->port);
}

static int find_ports(struct ground *ground, const struct ground_wish *wish, struct tp_error *error)
{
	int code = wish->port ? check_port(wish->port, error) : 0;

	if (code == 0 && wish->upstream_port)
		code = check_port(wish->upstream_port, error);
	if (code < 0)
		return code;
	name_ports(ground, wish, random_number() % PORT_COUNT);
	if (ground->port && ground->upstream_port)
		return 0;
	return tp_fail(error, -EADDRINUSE, "no port from %d to %d is free on 127.0.0.1", PORT_FIRST,
		       PORT_FIRST + PORT_COUNT - 1);
}

/* Names the folder after the id, which is drawn if none is given. */
static void name(struct ground *ground, const char *run_id)
{
	if (run_id)
		snprintf(ground->run_id, sizeof(ground->run_id), "%s", run_id);
	else
		snprintf(ground->run_id, sizeof(ground->run_id), "%08x", random_number());
	leftover_folder(ground->run_id, ground->folder, sizeof(ground->folder));
}

/* Makes the folder and claims it; -EEXIST or -ENOENT if somebody else was quicker. */
static int make_folder(struct ground *ground, struct tp_error *error)
{
	if (mkdir(ground->folder, 0700) < 0)
		return tp_fail(error, -errno, "cannot make the folder %s: %s", ground->folder,
			       strerror(errno));
	ground->claim = claim_take(ground->folder, leftover_claim, error);
	return ground->claim < 0 ? ground->claim : 0;
}

int ground_take(struct ground *ground, const struct ground_wish *wish, struct tp_error *error)
{
	int code = find_ports(ground, wish, error);

	if (code < 0)
		return code;
	for (unsigned i = 0; i < ID_TRIES; i++) {
		name(ground, wish->run_id);
		code = make_folder(ground, error);
		if (code != -EEXIST && code != -ENOENT && code != -EBUSY)
			break;
	}
	return code;
}

void ground_pretend(struct ground *ground, const struct ground_wish *wish)
{
	name(ground, wish->run_id ? wish->run_id : "RUN-ID");
	name_ports(ground, wish, 0);
	ground->claim = -1;
}

void ground_give_back(const struct ground *ground)
{
	tree_remove(ground->folder);
	close(ground->claim);
}
