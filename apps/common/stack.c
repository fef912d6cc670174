#include "apps/common/stack.h"

#include "apps/common/json.h"
#include "apps/common/worker.h"
#include "dataplane/core/hugepages.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

const char stack_wait_usage[] = "default, block, spin or adaptive[:T] (spin for T, from 1us to 1s "
				"with its unit, then block)";
const char *const stack_hugepages_names[] = {"yes", "no", "auto", NULL};

static bool can(const struct stack_options *options, uint32_t capability)
{
	return (options->stack->ops->capabilities & capability) != 0;
}

int stack_wait_judge(const char *name)
{
	struct wait ignored;

	return strcmp(name, "default") == 0 ? 0 : wait_parse(name, &ignored);
}

static int parse_wait(const struct flag *flag, const char *text)
{
	if (stack_wait_judge(text) < 0)
		return -EINVAL;
	*(const char **)flag->value = text;
	return 0;
}

const struct flag_kind flag_wait = {.metavar = "default|block|spin|adaptive[:T] (T like 50us)",
				    .accepts = stack_wait_usage,
				    .parse = parse_wait};

int stack_wait_resolve(const struct stack *stack, const char *name, struct wait *wait_out)
{
	if (strcmp(name, "default") != 0)
		return wait_parse(name, wait_out);
	*wait_out = (struct wait){.kind = stack->spins ? WAIT_SPIN : WAIT_BLOCK};
	return 0;
}

static int resolve_wait(struct stack_options *options, struct flags *flags, struct tp_error *error)
{
	stack_wait_resolve(options->stack, options->wait_name, &options->wait);
	if (options->wait.kind != WAIT_SPIN && !can(options, TP_CAN_BLOCK))
		return tp_fail(error, -EINVAL,
			       "the stack '%s' cannot block; use --wait spin or default",
			       options->stack->name);
	flags_resolve(flags, "wait", wait_print(&options->wait, options->wait_text));
	return 0;
}

static void resolve_hugepages(struct stack_options *options, struct flags *flags)
{
	if (!can(options, TP_NEEDS_HUGEPAGES)) {
		flags_resolve(flags, "hugepages", NULL);
		return;
	}
	options->uses_hugepages = options->hugepages == STACK_HUGEPAGES_YES;
	if (options->hugepages == STACK_HUGEPAGES_AUTO)
		options->uses_hugepages = hugepages_count().free_mib >= HUGEPAGES_PROCESS_MIB;
	flags_resolve(flags, "hugepages", options->uses_hugepages ? "yes" : "no");
}

static int resolve_workers(struct stack_options *options, struct flags *flags, bool from_the_end,
			   struct tp_error *error)
{
	int rc;

	if (options->workers == 0)
		options->workers = options->cpus_wanted.count ? options->cpus_wanted.count : 1;
	rc = cpus_choose(&options->cpus_wanted, options->workers, from_the_end, &options->cpus,
			 error);
	if (rc < 0)
		return rc;
	snprintf(options->workers_text, sizeof(options->workers_text), "%u", options->workers);
	flags_resolve(flags, "workers", options->workers_text);
	flags_resolve(flags, "cpus", cpus_print(&options->cpus, options->cpus_text));
	return 0;
}

/* As many descriptors as the host allows: a socket needs one each. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void take_choice(struct stack_options *options, const struct stack_choice *choice)
{
	const char *device = choice->device;

	options->stack = choice->stack;
	if (!device[0] && choice->stack->device_default)
		device = choice->stack->device_default;
	snprintf(options->device, sizeof(options->device), "%s", device);
	memcpy(options->options, choice->options, sizeof(options->options));
}

/* Of the built stacks, those over kernel sockets are those that need descriptors. */
static int resolve_veth(struct stack_options *options, struct tp_error *error)
{
	options->veth_id[0] = '\0';
	if (!options->stack->uses_descriptors || !veth_is_device(options->device))
		return 0;
	return veth_read_id(options->device, options->veth_id, error);
}

int stack_resolve(struct stack_options *options, struct flags *flags, bool from_the_end,
		  struct tp_error *error)
{
	struct stack_choice choice;
	int rc = stack_find(options->spec, &choice, error);

	if (rc == 0)
		take_choice(options, &choice);
	if (rc == 0)
		rc = stack_judge_device(options->stack, options->device, error);
	if (rc == 0)
		rc = resolve_veth(options, error);
	if (rc == 0)
		rc = resolve_workers(options, flags, from_the_end, error);
	if (rc == 0)
		rc = resolve_wait(options, flags, error);
	if (rc < 0)
		return rc;
	resolve_hugepages(options, flags);
	raise_descriptor_limit();
	if (getrandom(options->secret, sizeof(options->secret), 0) != sizeof(options->secret))
		return tp_fail(error, -EIO, "the kernel has no random bytes: %s", strerror(errno));
	return 0;
}

int stack_resolve_endpoint(const struct stack_options *options, struct flags *flags,
			   const char *flag_name, struct tp_addr *addr, char text[TP_ADDR_TEXT],
			   struct tp_error *error)
{
	int code = tp_family_check(options->stack->ops, addr, error);

	if (code < 0 || !options->veth_id[0])
		return code;
	if (addr->family == TP_UNIX)
		return tp_fail(error, -EINVAL,
			       "--%s %s: a Unix socket does not go over a veth pair; use an "
			       "address of the server's end, 10.78.0.1:PORT or [fd78::1]:PORT",
			       flag_name, tp_addr_print(addr, text));
	if (flags_find(flags, flag_name)->given)
		return 0;
	addr->ip = VETH_SERVER_IP;
	flags_resolve(flags, flag_name, tp_addr_print(addr, text));
	return 0;
}

/* Descriptors open now; the standard three where /proc does not tell. */
static unsigned count_open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	unsigned count = 0;

	if (!folder)
		return STDERR_FILENO + 1;
	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count - 1; /* the folder's own */
}

/* Raises the hard limit too, which needs privilege; at most fs.nr_open. Whether it is enough. */
static bool allow_descriptors(uint64_t needed)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed)
		return true;
	limit = (struct rlimit){.rlim_cur = needed, .rlim_max = needed};
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* Whether a limit of so many could be had, without changing any. */
static bool may_allow_descriptors(uint64_t needed, uint64_t *limit_out)
{
	struct rlimit limit, raised;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_max >= needed)
		return true;
	*limit_out = limit.rlim_max;
	raised = (struct rlimit){.rlim_cur = limit.rlim_cur, .rlim_max = needed};
	if (setrlimit(RLIMIT_NOFILE, &raised) < 0)
		return false;
	setrlimit(RLIMIT_NOFILE, &limit);
	return true;
}

/*
 * What a process takes that has `open` descriptors at its start: an instance has one, its listener
 * one, listeners that are dealt connections in turn three together; one more for files opened and
 * closed on the way.
 */
static uint64_t needed_descriptors(unsigned workers, bool server, uint64_t connections,
				   unsigned open)
{
	return open + 1 + workers * (server ? 2u : 1u) + (server && workers > 1 ? 3u : 0u) +
	       connections;
}

static int fail_descriptors(uint64_t connections, uint64_t needed, uint64_t limit,
			    struct tp_error *error)
{
	return tp_fail(error, -EMFILE,
		       "%llu connections need %llu descriptors, and the limit is %llu: allow them "
		       "with `ulimit -n %llu`, or have fewer connections",
		       (unsigned long long)connections, (unsigned long long)needed,
		       (unsigned long long)limit, (unsigned long long)needed);
}

int stack_judge_descriptors(const struct stack *stack, unsigned workers, bool server,
			    uint64_t connections, unsigned files, struct tp_error *error)
{
	uint64_t needed =
		needed_descriptors(workers, server, connections, STDERR_FILENO + 1 + files);
	uint64_t limit;

	if (!stack->uses_descriptors || may_allow_descriptors(needed, &limit))
		return 0;
	return fail_descriptors(connections, needed, limit, error);
}

int stack_check_descriptors(const struct stack_options *options, bool server, uint64_t connections,
			    unsigned files, struct tp_error *error)
{
	uint64_t needed = needed_descriptors(options->workers, server, connections,
					     count_open_descriptors() + files);
	struct rlimit limit;

	if (!options->stack->uses_descriptors || allow_descriptors(needed) ||
	    getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	return fail_descriptors(connections, needed, limit.rlim_cur, error);
}

/* What worker `index`'s instance is opened with; lent from `options`. */
static struct tp_config config_of(const struct stack_options *options, uint16_t index, bool server,
				  const struct tp_limits *limits)
{
	struct tp_config config = {
		.limits = *limits,
		.device = options->device,
		.address = {.ip = options->address.ip},
		.prefix_bits = options->address.prefix_bits,
		.address6 = {.family = TP_IPV6},
		.prefix6_bits = options->address.prefix6_bits,
		.server = server,
		.hugepages = options->uses_hugepages,
		.cpu = options->cpus.cpu[index],
		.worker = index,
		.workers = (uint16_t)options->workers,
		.secret = options->secret,
		.options = options->options,
	};

	memcpy(config.address6.ip6, options->address.ip6, sizeof(config.address6.ip6));
	return config;
}

int stack_open(const struct stack_options *options, uint16_t index, bool server,
	       const struct tp_limits *limits, struct tp **tp_out, struct tp_error *error)
{
	struct tp_config config = config_of(options, index, server, limits);
	struct tp *tp;
	int rc = options->stack->ops->open(&config, &tp, error);

	if (rc < 0)
		return rc;
	if (!options->tls.on) {
		*tp_out = tp;
		return 0;
	}
	rc = tls_open(&options->tls.config, limits, tp, tp_out, error);
	if (rc < 0)
		tp->ops->close(tp);
	return rc;
}

int stack_open_bare(const struct stack_options *options, uint16_t index,
		    const struct tp_limits *limits, struct bare_config *config,
		    struct bare **bare_out, struct tp_error *error)
{
	struct tp_config transport = config_of(options, index, true, limits);

	config->transport = &transport;
	return options->stack->bare->open(config, bare_out, error);
}

/* The value of an option by its name, or `without` if the stack has none. */
static uint64_t option_of(const struct tp_ops *ops, const uint64_t *options, const char *name,
			  uint64_t without)
{
	for (unsigned i = 0; i < ops->option_count; i++)
		if (strcmp(ops->options[i].name, name) == 0)
			return options[i];
	return without;
}

uint64_t stack_option(const struct stack_options *options, const char *name, uint64_t without)
{
	return option_of(options->stack->ops, options->options, name, without);
}

const char stack_busy_unknown[] = "the kernel's submission thread works beside the worker; read "
				  "core or OS CPU";

bool stack_is_submitted_for(const struct stack_options *options)
{
	return stack_option(options, "sqpoll", 0) != 0;
}

json_t *stack_options_to_json(const struct stack_options *options)
{
	const struct tp_ops *ops = options->stack->ops;
	json_t *object = json_object();
	char text[TP_OPTION_TEXT];

	for (unsigned i = 0; i < ops->option_count; i++)
		json_object_set_new(
			object, ops->options[i].name,
			json_text(tp_option_print(&ops->options[i], options->options[i], text)));
	return object;
}

struct cpus stack_held_cpus(const struct stack *stack, const uint64_t *options,
			    const struct cpus *workers)
{
	uint64_t polled = option_of(stack->ops, options, "sqpoll-cpu", UINT64_MAX);
	struct cpus held = *workers;

	if (option_of(stack->ops, options, "sqpoll", 0) && polled <= CPUS_NUMBER_MAX &&
	    held.count < CPUS_MAX && !cpus_have(&held, (unsigned)polled))
		held.cpu[held.count++] = (uint16_t)polled;
	return held;
}

json_t *stack_features_to_json(const struct tp_ops *ops)
{
	struct tp_feature features[TP_FEATURES_MAX];
	json_t *object = json_object();
	struct tp_error ignored;
	int count = ops->probe ? ops->probe(features, TP_FEATURES_MAX, &ignored) : 0;

	for (int i = 0; i < count; i++)
		json_object_set_new(object, features[i].name, json_boolean(features[i].present));
	return object;
}

json_t *stack_capabilities_to_json(uint32_t capabilities)
{
	static const char *const names[] = {"can_block", "needs_hugepages", "refusal_is_known",
					    "sends_files"};
	json_t *array = json_array();

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (capabilities & (1u << i))
			json_array_append_new(array, json_string(names[i]));
	return array;
}

json_t *stack_hugepages_to_json(const struct stack_options *options)
{
	return can(options, TP_NEEDS_HUGEPAGES) ? json_boolean(options->uses_hugepages)
						: json_null();
}

void stack_copy_take(struct stack_copy *copy, const struct tp *tp)
{
	memset(copy, 0, sizeof(*copy));
	tp->ops->counters(tp, &copy->counters);
	copy->agreed = tls_agreed_of(tp);
	if (tp->ops->details)
		copy->detail_count = tp->ops->details(tp, copy->details, STACK_DETAILS);
	if (copy->detail_count > STACK_DETAILS)
		copy->detail_count = STACK_DETAILS;
}

/* Instances of one stack have the same details in the same order. */
static void add_details(struct stack_copy *sum, const struct stack_copy *copy)
{
	for (unsigned i = 0; i < copy->detail_count; i++) {
		const struct tp_detail *from = &copy->details[i];
		struct tp_detail *to = &sum->details[i];

		if (i >= sum->detail_count)
			*to = *from;
		else if (from->kind == TP_DETAIL_COUNT)
			to->value += from->value;
		else if (from->value < to->value)
			to->value = from->value;
	}
	if (copy->detail_count > sum->detail_count)
		sum->detail_count = copy->detail_count;
}

void stack_copy_add(struct stack_copy *sum, const struct stack_copy *copy)
{
	const uint64_t *from = (const uint64_t *)&copy->counters;
	uint64_t *to = (uint64_t *)&sum->counters;

	for (unsigned i = 0; i < TP_COUNTER_COUNT; i++) {
		if (i != TP_COUNT_largest_write_bytes)
			to[i] += from[i];
		else if (from[i] > to[i])
			to[i] = from[i];
	}
	add_details(sum, copy);
	tls_agreed_merge(&sum->agreed, &copy->agreed);
}

void stack_copy_subtract(struct stack_copy *copy, const struct stack_copy *before)
{
	const uint64_t *from = (const uint64_t *)&before->counters;
	uint64_t *to = (uint64_t *)&copy->counters;

	for (unsigned i = 0; i < TP_COUNTER_COUNT; i++)
		if (i != TP_COUNT_largest_write_bytes)
			to[i] -= from[i];
	for (unsigned i = 0; i < copy->detail_count && i < before->detail_count; i++)
		if (copy->details[i].kind == TP_DETAIL_COUNT)
			copy->details[i].value -= before->details[i].value;
}

json_t *stack_counters_to_json(const struct tp_ops *ops, const struct tp_counters *counters)
{
	json_t *object = json_object();

	for (unsigned i = 0; i < TP_COUNTER_COUNT; i++) {
		bool known = (ops->counters_known >> i & 1) != 0;

		json_object_set_new(object, tp_counter_name(i),
				    known ? json_count(tp_counter_value(counters, i))
					  : json_null());
	}
	return object;
}

json_t *stack_details_to_json(const struct stack_copy *copy, enum tp_detail_kind kind)
{
	json_t *object = json_object();

	for (unsigned i = 0; i < copy->detail_count; i++)
		if (copy->details[i].kind == kind)
			json_object_set_new(object, copy->details[i].name,
					    json_count(copy->details[i].value));
	return object;
}
