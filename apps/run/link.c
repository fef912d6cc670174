#include "apps/run/link.h"

#include "stacks/registry.h"

#include <string.h>

enum { LINK_COUNT = 2 };

static const struct link links[LINK_COUNT] = {
	{.name = "epoll@loopback", .server_ip = "127.0.0.1"},
	{
		.name = "dpdk@memif",
		.server_ip = "10.77.0.1",
		.server_address = "10.77.0.1/24",
		.client_address = "10.77.0.2/24",
		.workers_max = 1,
		.socket_file = true,
	},
};

const struct link *link_find(const char *name)
{
	size_t bytes = strcspn(name, ",");

	for (unsigned i = 0; i < LINK_COUNT; i++)
		if (strlen(links[i].name) == bytes && strncmp(links[i].name, name, bytes) == 0)
			return &links[i];
	return NULL;
}

const char *const *link_names(unsigned *count_out)
{
	static const char *names[LINK_COUNT];

	for (unsigned i = 0; i < LINK_COUNT; i++)
		names[i] = links[i].name;
	*count_out = LINK_COUNT;
	return names;
}
