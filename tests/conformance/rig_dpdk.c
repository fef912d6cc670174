/*
 * Both ends of a link in one process: memif by default, the ring pair with RIG_RING. Without
 * hugepages, so that it runs anywhere.
 */
#include "stacks/dpdk/dpdk.h"
#include "tests/conformance/rig.h"

#include <stdio.h>
#include <unistd.h>

#ifdef RIG_RING
const char rig_name[] = "dpdk@ring";
#else
const char rig_name[] = "dpdk@memif";
#endif
const bool rig_resets = true;
const bool rig_seals = false;

enum {
	SERVER_IP = 10 << 24 | 77 << 16 | 1,
	CLIENT_IP = 10 << 24 | 77 << 16 | 2,
	SERVER_PORT = 7878,
	NOBODY_PORT = 7879,
};

static int open_side(bool server, const struct tp_limits *limits, struct tp **tp_out,
		     struct tp_error *error)
{
	static const uint8_t secret[16] = {0x5a, 1, 2, 3};
	char device[64] = "ring";
	struct tp_config config = {
		.limits = *limits,
		.device = device,
		.address.ip = server ? SERVER_IP : CLIENT_IP,
		.prefix_bits = 24,
		.server = server,
		.cpu = -1,
		.workers = 1,
		.secret = secret,
	};

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
		.addr = {.ip = SERVER_IP, .port = SERVER_PORT},
		.nobody = {.ip = SERVER_IP, .port = NOBODY_PORT},
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
