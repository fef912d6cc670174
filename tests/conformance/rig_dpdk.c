/*
 * Both ends of a link in one process: memif by default, the ring pair with RIG_RING; with IPv4, or
 * with IPv6 and RIG_IPV6. Without hugepages, so that it runs anywhere.
 */
#include "stacks/dpdk/dpdk.h"
#include "tests/conformance/rig.h"

#include <stdio.h>
#include <unistd.h>

#ifdef RIG_RING
#define DEVICE_NAME "dpdk@ring"
#else
#define DEVICE_NAME "dpdk@memif"
#endif
#ifdef RIG_IPV6
const char rig_name[] = DEVICE_NAME " with IPv6";
static const bool is_ip6 = true;
#else
const char rig_name[] = DEVICE_NAME;
static const bool is_ip6 = false;
#endif
const bool rig_resets = true;
const bool rig_seals = false;

enum {
	SERVER_IP = 10 << 24 | 77 << 16 | 1,
	CLIENT_IP = 10 << 24 | 77 << 16 | 2,
	SERVER_PORT = 7878,
	NOBODY_PORT = 7879,
};

/* The server's or the client's address; only the last byte differs. */
static struct tp_addr addr_of(bool server, uint16_t port)
{
	struct tp_addr ip4 = {.ip = server ? SERVER_IP : CLIENT_IP, .port = port};
	struct tp_addr ip6 = {
		.family = TP_IPV6, .ip6 = {0xfd, 0x77, [15] = server ? 1 : 2}, .port = port};

	return is_ip6 ? ip6 : ip4;
}

static int open_side(bool server, const struct tp_limits *limits, struct tp **tp_out,
		     struct tp_error *error)
{
	static const uint8_t secret[16] = {0x5a, 1, 2, 3};
	char device[64] = "ring";
	struct tp_config config = {
		.limits = *limits,
		.device = device,
		.server = server,
		.cpu = -1,
		.workers = 1,
		.secret = secret,
	};

	if (is_ip6) {
		config.address6 = addr_of(server, 0);
		config.prefix6_bits = 64;
	} else {
		config.address = addr_of(server, 0);
		config.prefix_bits = 24;
	}
#ifndef RIG_RING
	snprintf(device, sizeof(device), "memif:/tmp/weir-conformance-%d.sock", (int)getpid());
#endif
	return dpdk_ops.open(&config, tp_out, error);
}

int rig_open(const struct tp_limits *server, const struct tp_limits *client,
	     struct rig_pair *pair_out, struct tp_error *error)
{
	int status;

	*pair_out = (struct rig_pair){
		.addr = addr_of(true, SERVER_PORT),
		.nobody = addr_of(true, NOBODY_PORT),
	};
	status = open_side(true, server, &pair_out->server, error);
	if (status < 0)
		return status;
	status = open_side(false, client, &pair_out->client, error);
	if (status < 0)
		dpdk_ops.close(pair_out->server);
	return status;
}

void rig_close(struct rig_pair *pair)
{
	if (pair->client)
		dpdk_ops.close(pair->client);
	if (pair->server)
		dpdk_ops.close(pair->server);
}
