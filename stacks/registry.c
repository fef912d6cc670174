#include "stacks/registry.h"

#include "dataplane/core/nearest.h"
#include "stacks/epoll/epoll.h"
#include "stacks/memory/memory.h"
#include "stacks/socket/socket.h"
#ifdef WEIR_HAVE_DPDK
#include "stacks/dpdk/device.h"
#include "stacks/dpdk/dpdk.h"
#define DPDK_OPS &dpdk_ops
#define DPDK_ABSENT NULL
#else
#define DPDK_OPS NULL
#define DPDK_ABSENT "built without DPDK: install libdpdk-dev and build again"
#endif

#ifdef WEIR_HAVE_URING
#include "stacks/uring/uring.h"
#define URING_OPS &uring_ops
#define URING_BARE &uring_bare_ops
#define URING_ABSENT NULL
#else
#define URING_OPS NULL
#define URING_BARE NULL
#define URING_ABSENT "built without liburing: install liburing-dev and build again"
#endif

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int judge_sockets(const struct stack *stack, const char *device, struct tp_error *error)
{
	return socket_device_check(stack->name, device, error);
}

static int judge_dpdk(const struct stack *stack, const char *device, struct tp_error *error)
{
#ifdef WEIR_HAVE_DPDK
	struct device ignored;

	return device_parse(device, false, &ignored, error);
#else
	return 0; /* it is absent */
#endif
}

static const struct stack stacks[] = {
	{
		.name = "epoll",
		.ops = &epoll_ops,
		.device_default = "loopback",
		.devices = "loopback (the default), veth[:ID]",
		.about = "kernel TCP sockets, readiness by epoll",
		.uses_descriptors = true,
		.bare = &epoll_bare_ops,
		.judge_device = judge_sockets,
	},
	{
		.name = "uring",
		.ops = URING_OPS,
		.absent = URING_ABSENT,
		.device_default = "loopback",
		.devices = "loopback (the default), veth[:ID]",
		.about = "kernel TCP sockets, completions by io_uring",
		.uses_descriptors = true,
		.bare = URING_BARE,
		.judge_device = judge_sockets,
	},
	{
		.name = "dpdk",
		.ops = DPDK_OPS,
		.absent = DPDK_ABSENT,
		.devices = "memif:PATH, tap:NAME, af_packet:INTERFACE, af_xdp:INTERFACE, ring",
		.about = "DPDK poll-mode drivers under weir's own TCP",
		.judge_device = judge_dpdk,
		.spins = true,
	},
	{
		.name = "memory",
		.ops = &memory_ops,
		.devices = "",
		.spins = true,
		.about = "two instances in one process; the reference for tests, not for "
			 "measurements",
	},
};

const struct stack *stack_list(unsigned *count_out)
{
	*count_out = sizeof(stacks) / sizeof(stacks[0]);
	return stacks;
}

const char *stack_bare_names(char *text, size_t text_bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		if (stacks[i].bare && used < text_bytes)
			used += (size_t)snprintf(text + used, text_bytes - used, "%s%s",
						 used ? ", " : "", stacks[i].name);
	return text;
}

static int fail_unknown(const char *spec, size_t name_bytes, struct tp_error *error)
{
	char name[32], ask[NEAREST_TEXT];
	const char *names[sizeof(stacks) / sizeof(stacks[0])];
	unsigned count = sizeof(stacks) / sizeof(stacks[0]);

	if (name_bytes >= sizeof(name))
		return tp_fail(error, -ENOENT, "unknown stack '%s'; `weir stacks` lists all", spec);
	snprintf(name, sizeof(name), "%.*s", (int)name_bytes, spec);
	for (unsigned i = 0; i < count; i++)
		names[i] = stacks[i].name;
	return tp_fail(error, -ENOENT, "unknown stack '%s'; %s`weir stacks` lists all", name,
		       nearest_ask(name, names, count, "", ask));
}

static bool has_option(const struct stack *stack, const char *name, size_t bytes)
{
	for (unsigned i = 0; stack->ops && i < stack->ops->option_count; i++)
		if (strlen(stack->ops->options[i].name) == bytes &&
		    strncmp(stack->ops->options[i].name, name, bytes) == 0)
			return true;
	return false;
}

/* Refuses an option that the stack has not and another has. 0, or -EINVAL with `error` filled. */
static int refuse_foreign(const struct stack *stack, const char *name, size_t bytes,
			  struct tp_error *error)
{
	if (has_option(stack, name, bytes))
		return 0;
	for (unsigned i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		if (has_option(&stacks[i], name, bytes))
			return tp_fail(error, -EINVAL,
				       "the stack '%s' has no option '%.*s': that is an option of "
				       "'%s'; `weir stacks` lists all",
				       stack->name, (int)bytes, name, stacks[i].name);
	return 0;
}

static int parse_options(const struct stack *stack, const char *text,
			 uint64_t values_out[TP_OPTIONS_MAX], struct tp_error *error)
{
	int code = 0;

	for (const char *pair = text; *pair && code == 0; pair += pair[0] == ',') {
		code = refuse_foreign(stack, pair, strcspn(pair, "=,"), error);
		pair += strcspn(pair, ",");
	}
	return code < 0 ? code : tp_options_parse(stack->ops, text, values_out, error);
}

/* The row of a name; built or not. NULL if there is none. */
static const struct stack *find_row(const char *name, size_t bytes)
{
	for (unsigned i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		if (strlen(stacks[i].name) == bytes && strncmp(stacks[i].name, name, bytes) == 0)
			return &stacks[i];
	return NULL;
}

int stack_find(const char *spec, struct stack_choice *choice_out, struct tp_error *error)
{
	size_t name_bytes = strcspn(spec, "@,");
	const char *device = spec + name_bytes + (spec[name_bytes] == '@');
	size_t device_bytes = strcspn(device, ",");
	const char *options = device + device_bytes + (device[device_bytes] == ',');
	struct stack_choice choice = {.stack = find_row(spec, name_bytes)};
	int code;

	if (!choice.stack)
		return fail_unknown(spec, name_bytes, error);
	if (!choice.stack->ops)
		return tp_fail(error, -ENOTSUP, "the stack '%s' is absent: %s", choice.stack->name,
			       choice.stack->absent);
	if (device_bytes >= sizeof(choice.device))
		return tp_fail(error, -EINVAL,
			       "the stack '%s': a device of %zu characters; %zu "
			       "are possible",
			       choice.stack->name, device_bytes, sizeof(choice.device) - 1);
	memcpy(choice.device, device, device_bytes);
	code = parse_options(choice.stack, options, choice.options, error);
	if (code == 0)
		*choice_out = choice;
	return code;
}

int stack_judge_device(const struct stack *stack, const char *device, struct tp_error *error)
{
	return stack->judge_device ? stack->judge_device(stack, device, error) : 0;
}

int stack_check_host(const struct stack *stack, struct tp_error *error)
{
	struct tp_feature features[TP_FEATURES_MAX];
	int code = stack->ops->probe ? stack->ops->probe(features, TP_FEATURES_MAX, error) : 0;

	return code < 0 ? code : 0;
}
