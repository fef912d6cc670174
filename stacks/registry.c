#include "stacks/registry.h"

#include "dataplane/core/nearest.h"
#include "stacks/epoll/epoll.h"
#include "stacks/memory/memory.h"
#ifdef WEIR_HAVE_DPDK
#include "stacks/dpdk/dpdk.h"
#define DPDK_OPS &dpdk_ops
#define DPDK_ABSENT NULL
#else
#define DPDK_OPS NULL
#define DPDK_ABSENT "built without DPDK: install libdpdk-dev and build again"
#endif

#include <errno.h>
#include <string.h>

static const struct stack stacks[] = {
	{
		.name = "epoll",
		.ops = &epoll_ops,
		.device_default = "loopback",
		.devices = "loopback (the default)",
		.about = "kernel TCP sockets, readiness by epoll",
		.uses_descriptors = true,
	},
	{
		.name = "uring",
		.absent = "this version has no io_uring stack",
		.devices = "",
		.about = "kernel TCP sockets, completions by io_uring",
	},
	{
		.name = "dpdk",
		.ops = DPDK_OPS,
		.absent = DPDK_ABSENT,
		.devices = "memif:PATH, tap:NAME, af_packet:INTERFACE, ring",
		.about = "DPDK poll-mode drivers under weir's own TCP",
	},
	{
		.name = "memory",
		.ops = &memory_ops,
		.devices = "",
		.about = "two instances in one process; the reference for tests, not for "
			 "measurements",
	},
};

const struct stack *stack_list(unsigned *count_out)
{
	*count_out = sizeof(stacks) / sizeof(stacks[0]);
	return stacks;
}

static int fail_unknown(const char *name, struct tp_error *error)
{
	const char *names[sizeof(stacks) / sizeof(stacks[0])];
	unsigned count = sizeof(stacks) / sizeof(stacks[0]);

	for (unsigned i = 0; i < count; i++)
		names[i] = stacks[i].name;
	return tp_fail(error, -ENOENT,
		       "unknown stack '%s'; did you mean '%s'? `weir stacks` lists all", name,
		       nearest_of(name, names, count));
}

int stack_find(const char *spec, const struct stack **stack_out, const char **device_out,
	       struct tp_error *error)
{
	size_t name_bytes = strcspn(spec, "@");
	const char *device = spec[name_bytes] ? spec + name_bytes + 1 : "";
	char name[32];

	if (name_bytes >= sizeof(name))
		return tp_fail(error, -ENOENT, "unknown stack '%s'; `weir stacks` lists all", spec);
	memcpy(name, spec, name_bytes);
	name[name_bytes] = '\0';
	for (unsigned i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		if (strcmp(stacks[i].name, name) != 0)
			continue;
		if (!stacks[i].ops)
			return tp_fail(error, -ENOTSUP, "the stack '%s' is absent: %s", name,
				       stacks[i].absent);
		*stack_out = &stacks[i];
		*device_out = device;
		return 0;
	}
	return fail_unknown(name, error);
}
