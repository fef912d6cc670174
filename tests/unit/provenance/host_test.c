#include "apps/provenance/drift.h"
#include "apps/provenance/host.h"
#include "apps/provenance/topology_facts.h"
#include "tests/support/machines.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

/* Whether every null beside or below has its reason; else names the first that has none. */
static bool has_reasons(const json_t *value, const char *name)
{
	char reason[128];
	const char *key;
	json_t *member;
	size_t i;

	json_array_foreach(value, i, member) if (json_is_null(member) ||
						 !has_reasons(member, name)) return false;
	json_object_foreach((json_t *)value, key, member)
	{
		snprintf(reason, sizeof(reason), "%s_reason", key);
		if (json_is_null(member) && !json_is_string(json_object_get(value, reason))) {
			fprintf(stderr, "# %s.%s is null without a reason\n", name, key);
			return false;
		}
		if (!has_reasons(member, key))
			return false;
	}
	return true;
}

/* What docs/results.md promises. */
static const char *const promised[] = {
	"schema",
	"taken_at",
	"hostname",
	"boot_id",
	"kernel",
	"kernel_build",
	"kernel_parameters",
	"architecture",
	"os",
	"mitigations",
	"virtualization",
	"cpu_model",
	"microcode",
	"cpus_logical",
	"cpus_allowed",
	"cores_allowed",
	"packages",
	"numa_nodes",
	"topology",
	"smt_active",
	"smt_control",
	"cpus_isolated",
	"cpus_nohz_full",
	"cpus_rcu_nocbs",
	"clocksource",
	"clocksources_available",
	"tsc",
	"governor",
	"governors",
	"frequency_drivers",
	"frequency_min_khz",
	"frequency_max_khz",
	"energy_preferences",
	"turbo",
	"idle",
	"memory_total_kib",
	"memory_available_kib",
	"swap_total_kib",
	"memory_nodes",
	"hugepages",
	"transparent_hugepages",
	"transparent_hugepages_defrag",
	"aslr",
	"numa_balancing",
	"swappiness",
	"overcommit_memory",
	"same_page_merging",
	"irq_default_affinity",
	"irqs_allowed_on",
	"irqs_served_by",
	"sysctls",
	"tcp_congestion_control",
	"tcp_rmem",
	"tcp_wmem",
	"somaxconn",
	"nics",
	"environment_bytes",
	"process_nice",
	"limits",
	"autogroup",
	"libraries",
	"loadavg",
	"cpu_ticks",
	"pressure",
};

static void has_every_fact(void)
{
	json_t *facts = host_facts();

	for (unsigned i = 0; i < sizeof(promised) / sizeof(promised[0]); i++) {
		CU_ASSERT_PTR_NOT_NULL(json_object_get(facts, promised[i]));
		if (!json_object_get(facts, promised[i]))
			fprintf(stderr, "# no %s\n", promised[i]);
	}
	CU_ASSERT_TRUE(has_reasons(facts, "host.json"));
	json_decref(facts);
}

static const json_t *find_nic(const json_t *facts, const char *name)
{
	json_t *nic;
	size_t i;

	json_array_foreach(json_object_get(facts, "nics"), i,
			   nic) if (strcmp(json_string_value(json_object_get(nic, "name")), name) ==
				    0) return nic;
	return NULL;
}

static void lists_interfaces(void)
{
	static const char *const names[] = {
		"mtu",	      "offloads", "speed_mbps", "numa_node", "irqs_served_by", "driver",
		"firmware",   "bus",	  "rings",	"queues",    "driver_version", "features",
		"coalescing",
	};
	json_t *facts = host_facts();
	const json_t *lo = find_nic(facts, "lo");

	if (!lo) {
		json_decref(facts);
		suite_skip("the loopback is down");
		return;
	}
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CU_ASSERT_PTR_NOT_NULL(json_object_get(lo, names[i]));
	CU_ASSERT_TRUE(json_array_size(json_object_get(lo, "features")) > 0);
	CU_ASSERT_TRUE(json_is_null(json_object_get(lo, "rings")));
	json_decref(facts);
}

static void does_not_drift_at_rest(void)
{
	static const char *const others[] = {"nics.", "memory_", "hugepages.", "sysctls.", "irqs_"};
	json_t *before = host_facts(), *after = host_facts();
	json_t *drift = drift_make(before, after), *entry;
	unsigned unexpected = 0;
	size_t i;

	json_array_foreach(drift, i, entry)
	{
		const char *fact = json_string_value(json_object_get(entry, "fact"));
		bool others_change_it = false;

		/* Tests that run beside make and remove interfaces and pages. */
		for (unsigned k = 0; k < sizeof(others) / sizeof(others[0]); k++)
			others_change_it |= strncmp(fact, others[k], strlen(others[k])) == 0;
		if (others_change_it || strstr(fact, "nics"))
			continue;
		fprintf(stderr, "# %s drifted\n", fact);
		unexpected++;
	}
	CU_ASSERT_EQUAL(unexpected, 0);
	json_decref(drift);
	json_decref(before);
	json_decref(after);
}

static void expect_topology(const char *machine, const char *member, const char *expected)
{
	json_t *topology = topology_to_json(machine_read(machine));
	json_t *wanted = json_loads(expected, JSON_DECODE_ANY, NULL);

	CU_ASSERT_TRUE(json_equal(json_object_get(topology, member), wanted));
	CU_ASSERT_TRUE(has_reasons(topology, machine));
	json_decref(topology);
	json_decref(wanted);
}

static void writes_topologies(void)
{
	expect_topology("two-sockets-smt", "cpus", "\"0-15\"");
	expect_topology("two-sockets-smt", "nics",
			"[{\"name\": \"eth0\", \"bus\": \"0000:81:00.0\", \"node\": 1}]");
	expect_topology("hybrid", "kinds",
			"[{\"cpus\": \"0-7\", \"name\": \"IntelCore\", \"rank\": 1}, {\"cpus\": "
			"\"8-15\", \"name\": \"IntelAtom\", \"rank\": 0}]");
	expect_topology("hybrid", "caches",
			"[{\"level\": \"L1d\", \"kib\": 48, \"cpus\": [\"0-1\", \"2-3\", \"4-5\", "
			"\"6-7\", \"8\", \"9\", \"10\", \"11\", \"12\", \"13\", \"14\", \"15\"]}, "
			"{\"level\": \"L3\", \"kib\": 24576, \"cpus\": [\"0-15\"]}]");
	expect_topology("container", "cores",
			"[{\"cpus\": \"1,9\", \"package\": 0, \"node\": 0}, {\"cpus\": \"2,10\", "
			"\"package\": 0, \"node\": 0}, {\"cpus\": \"3,11\", \"package\": 0, "
			"\"node\": 0}, {\"cpus\": \"4\", \"package\": 1, \"node\": 1}, {\"cpus\": "
			"\"5\", \"package\": 1, \"node\": 1}]");
	expect_topology("one-cpu", "caches", "[]");
	expect_topology("two-cpus", "memories", "[{\"node\": 0, \"bytes\": 2147483648}]");
}

static const struct suite_test tests[] = {
	{"every fact of a host is there, or null with a reason", has_every_fact},
	{"an interface that is up is described", lists_interfaces},
	{"a host at rest does not drift", does_not_drift_at_rest},
	{"topologies are written as they are", writes_topologies},
};

SUITE_MAIN("provenance host", tests)
