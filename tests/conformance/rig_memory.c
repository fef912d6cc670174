#include "stacks/memory/memory.h"
#include "tests/conformance/rig.h"

const char rig_name[] = "memory";
const bool rig_resets = true;
const bool rig_seals = false;

int rig_open(const struct tp_limits *server, const struct tp_limits *client,
	     struct rig_pair *pair_out, struct tp_error *error)
{
	struct tp_config config = {.cpu = -1, .workers = 1};
	struct memory_net *net;
	int status = memory_net_create(&net);

	if (status < 0)
		return tp_fail(error, status, "no memory for a network");
	config.shared = net;
	*pair_out = (struct rig_pair){.addr.port = 1, .nobody.port = 2, .shared = net};
	config.limits = *server;
	status = memory_ops.open(&config, &pair_out->server, error);
	if (status < 0)
		goto free_net;
	config.limits = *client;
	status = memory_ops.open(&config, &pair_out->client, error);
	if (status == 0)
		return 0;
	memory_ops.close(pair_out->server);
free_net:
	memory_net_destroy(net);
	return status;
}

void rig_close(struct rig_pair *pair)
{
	if (pair->client)
		memory_ops.close(pair->client);
	if (pair->server)
		memory_ops.close(pair->server);
	memory_net_destroy(pair->shared);
}
