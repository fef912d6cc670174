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
	for (unsigned i = 0; i < LINK_COUNT; i++)
		if (strcmp(links[i].name, name) == 0)
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

int link_capabilities(const struct link *link, uint32_t *capabilities_out, struct tp_error *error)
{
	const struct stack *stack;
	const char *device;
	int code = stack_find(link->name, &stack, &device, error);

	if (code < 0)
		return code;
	*capabilities_out = stack->ops->capabilities;
	return 0;
}
