/*
 * Kernel sockets on this host: the stack, the family of addresses and what the stack is told come
 * from the build (RIG_OPS and its header RIG_HEADER, RIG_NAME, RIG_FAMILY, RIG_OPTIONS).
 */
#include RIG_HEADER
#include "stacks/socket/socket.h"
#include "tests/conformance/rig.h"
#include "tests/support/loopback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const char rig_name[] = RIG_NAME;
const bool rig_resets = RIG_FAMILY != TP_UNIX;
const bool rig_seals = false;

/* --- free addresses --- */

static struct tp_addr loopback_of(uint16_t port)
{
	struct tp_addr addr = {.family = RIG_FAMILY, .port = port};

	if (addr.family == TP_IPV6)
		addr.ip6[15] = 1;
	else
		addr.ip = loopback_ip();
	return addr;
}

/* 0 if the address can be bound, else a negative errno. */
static int try_bind(const struct tp_addr *addr)
{
	struct sockaddr_storage storage;
	socklen_t bytes = socket_address(addr, &storage);
	uint64_t calls = 0;
	int fd = socket_make(addr, &calls);
	int on = 1, code;

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	code = bind(fd, (struct sockaddr *)&storage, bytes) < 0 ? -errno : 0;
	close(fd);
	return code;
}

static uint16_t next_port(void)
{
	return RIG_FAMILY == TP_IPV6 ? loopback_port6() : loopback_port();
}

static int take_ports(struct rig_pair *pair, struct tp_error *error)
{
	struct tp_addr any_port = loopback_of(0);
	int code = try_bind(&any_port);

	if (RIG_FAMILY == TP_IPV6 && (code == -EAFNOSUPPORT || code == -EADDRNOTAVAIL)) {
		tp_fail(error, code, "this host has no IPv6 on loopback (::1)");
		return 1;
	}
	pair->addr = loopback_of(next_port());
	pair->nobody = loopback_of(next_port());
	if (!pair->addr.port || !pair->nobody.port)
		return tp_fail(error, -EADDRNOTAVAIL, "no free port on loopback");
	return 0;
}

/* A folder of the pair's own, for the files of Unix sockets. */
static int take_folder(struct rig_pair *pair, struct tp_error *error)
{
	char *folder = strdup("/tmp/weir-conformance-XXXXXX");

	if (!folder || !mkdtemp(folder)) {
		free(folder);
		return tp_fail(error, -errno, "no folder in /tmp: %s", strerror(errno));
	}
	pair->shared = folder;
	pair->addr.family = pair->nobody.family = TP_UNIX;
	snprintf(pair->addr.path, TP_PATH_BYTES, "%s/server", folder);
	snprintf(pair->nobody.path, TP_PATH_BYTES, "%s/nobody", folder);
	return 0;
}

/* A file that the server left behind makes the folder stay, for the one who looks why. */
static void give_folder_back(char *folder)
{
	if (folder && rmdir(folder) < 0)
		printf("# %s cannot be removed: %s\n", folder, strerror(errno));
	free(folder);
}

/* --- the pair --- */

static int open_sides(const struct tp_limits *server, const struct tp_limits *client,
		      struct rig_pair *pair, struct tp_error *error)
{
	uint64_t options[TP_OPTIONS_MAX];
	struct tp_config config = {
		.cpu = -1, .workers = 1, .device = "loopback", .options = options};
	int code = tp_options_parse(&RIG_OPS, RIG_OPTIONS, options, error);

	if (code < 0)
		return code;
	config.limits = *server;
	config.server = true;
	code = RIG_OPS.open(&config, &pair->server, error);
	if (code < 0)
		return code;
	config.limits = *client;
	config.server = false;
	return RIG_OPS.open(&config, &pair->client, error);
}

int rig_open(const struct tp_limits *server, const struct tp_limits *client,
	     struct rig_pair *pair_out, struct tp_error *error)
{
	struct rig_pair pair = {0};
	int code = RIG_OPS.probe ? RIG_OPS.probe(NULL, 0, error) : 0;

	if (code < 0)
		return 1;
	code = RIG_FAMILY == TP_UNIX ? take_folder(&pair, error) : take_ports(&pair, error);
	if (code != 0)
		return code;
	code = open_sides(server, client, &pair, error);
	if (code < 0)
		rig_close(&pair);
	else
		*pair_out = pair;
	return code;
}

void rig_close(struct rig_pair *pair)
{
	if (pair->client)
		RIG_OPS.close(pair->client);
	if (pair->server)
		RIG_OPS.close(pair->server);
	give_folder_back(pair->shared);
}
