#include "apps/common/binding.h"

#include "apps/common/json.h"
#include "apps/common/process.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How often a thread of this process has moved since it began; -1 if the kernel does not say. */
static long moves_of(pid_t thread)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/sched", (int)thread);
	return process_read_number(path, "se.nr_migrations");
}

void binding_note_ready(struct binding *binding)
{
	int policy = 0;
	long code;

	memset(binding, 0, sizeof(*binding));
	binding_note_cpu(binding);
	code = syscall(SYS_get_mempolicy, &policy, binding->nodes, BINDING_NODE_BITS, NULL, 0);
	binding->policy = code < 0 ? -errno : policy;
	binding->thread = (pid_t)syscall(SYS_gettid);
	binding->migrations_ready = moves_of(binding->thread);
}

static json_t *set_to_json(const cpu_set_t *set)
{
	json_t *array = json_array();

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, set))
			json_array_append_new(array, json_integer(cpu));
	return array;
}

static void add_affinity(json_t *object, pid_t thread)
{
	cpu_set_t set;

	if (sched_getaffinity(thread, sizeof(set), &set) < 0)
		json_set_unknown(object, "affinity", strerror(errno));
	else
		json_object_set_new(object, "affinity", set_to_json(&set));
}

static void add_migrations(json_t *object, const struct binding *binding)
{
	long now = moves_of(binding->thread);

	if (now < 0 || binding->migrations_ready < 0)
		json_set_unknown(object, "migrations",
				 "this kernel does not say in /proc/PID/task/TID/sched");
	else
		json_object_set_new(object, "migrations",
				    json_integer(now - binding->migrations_ready));
}

static const char *policy_name(int policy)
{
	static const char *const names[] = {
		[MPOL_DEFAULT] = "default", [MPOL_PREFERRED] = "preferred",
		[MPOL_BIND] = "bind",	    [MPOL_INTERLEAVE] = "interleave",
		[MPOL_LOCAL] = "local",
	};
	unsigned mode = (unsigned)policy & ~(unsigned)MPOL_MODE_FLAGS;

	return mode < sizeof(names) / sizeof(names[0]) && names[mode] ? names[mode] : "another";
}

static json_t *nodes_to_json(const struct binding *binding)
{
	const unsigned bits = 8 * sizeof(binding->nodes[0]);
	json_t *array = json_array();

	for (unsigned node = 0; node < BINDING_NODE_BITS; node++)
		if (binding->nodes[node / bits] >> node % bits & 1)
			json_array_append_new(array, json_integer(node));
	return array;
}

json_t *binding_to_json(const struct binding *binding)
{
	json_t *object = json_object();

	json_object_set_new(object, "thread", json_integer(binding->thread));
	add_affinity(object, binding->thread);
	json_object_set_new(object, "seen_on", set_to_json(&binding->seen));
	add_migrations(object, binding);
	if (binding->policy < 0) {
		json_set_unknown(object, "memory_policy", strerror(-binding->policy));
		json_set_unknown(object, "memory_nodes", strerror(-binding->policy));
	} else {
		json_object_set_new(object, "memory_policy",
				    json_text(policy_name(binding->policy)));
		json_object_set_new(object, "memory_nodes", nodes_to_json(binding));
	}
	return object;
}
