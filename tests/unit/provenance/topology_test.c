#include "apps/provenance/topology.h"
#include "tests/support/machines.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_counts(const char *name, unsigned cpus, unsigned cores, unsigned packages,
			  unsigned nodes)
{
	struct topology *topology = machine_read(name);

	CU_ASSERT_EQUAL(topology->cpus.count, cpus);
	CU_ASSERT_EQUAL(topology->cores, cores);
	CU_ASSERT_EQUAL(topology->packages, packages);
	CU_ASSERT_EQUAL(topology->nodes, nodes);
}

static void counts_what_is_there(void)
{
	expect_counts("two-sockets-smt", 16, 8, 2, 2);
	expect_counts("four-nodes", 16, 16, 2, 4);
	expect_counts("hybrid", 16, 12, 1, 1);
	expect_counts("container", 8, 5, 2, 2);
	expect_counts("two-cpus", 2, 2, 1, 1);
	expect_counts("one-cpu", 1, 1, 1, 1);
}

/* The values beside the CPUs as "0,0,1,1". */
static void expect_values(const struct topology *topology, const int *values, const char *expected)
{
	char text[512] = "";
	int bytes = 0;

	for (unsigned i = 0; i < topology->cpus.count; i++)
		bytes += snprintf(text + bytes, sizeof(text) - (size_t)bytes, "%s%d", i ? "," : "",
				  values[i]);
	CU_ASSERT_STRING_EQUAL(text, expected);
}

static void knows_siblings(void)
{
	struct topology *topology = machine_read("two-sockets-smt");

	expect_values(topology, topology->core, "0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7");
	expect_values(topology, topology->package, "0,0,0,0,1,1,1,1,0,0,0,0,1,1,1,1");
	expect_values(topology, topology->node, "0,0,0,0,1,1,1,1,0,0,0,0,1,1,1,1");
	CU_ASSERT_TRUE(topology_is_first_of_core(topology, 7));
	CU_ASSERT_FALSE(topology_is_first_of_core(topology, 8));
}

static void knows_nodes(void)
{
	struct topology *topology = machine_read("four-nodes");

	expect_values(topology, topology->node, "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3");
	expect_values(topology, topology->package, "0,0,1,1,0,0,1,1,0,0,1,1,0,0,1,1");
	CU_ASSERT_EQUAL_FATAL(topology->memory_count, 4);
	CU_ASSERT_EQUAL(topology->memories[3].node, 3);
	CU_ASSERT_EQUAL(topology->memories[3].bytes, 32ULL << 30);
}

static void knows_caches(void)
{
	struct topology *topology = machine_read("two-sockets-smt");
	const struct topology_cache *l1d = &topology->caches[TOPOLOGY_L1D];
	const struct topology_cache *l3 = &topology->caches[TOPOLOGY_L3];

	CU_ASSERT_EQUAL(l1d->kib[5], 32);
	CU_ASSERT_EQUAL(topology->caches[TOPOLOGY_L2].kib[5], 1024);
	CU_ASSERT_EQUAL(l3->kib[5], 32 * 1024);
	expect_values(topology, l1d->first, "0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7");
	expect_values(topology, l3->first, "0,0,0,0,4,4,4,4,0,0,0,0,4,4,4,4");
	CU_ASSERT_EQUAL(machine_read("two-cpus")->caches[TOPOLOGY_L3].kib[0], 0);
}

static void knows_kinds(void)
{
	struct topology *topology = machine_read("hybrid");

	CU_ASSERT_EQUAL_FATAL(topology->kind_count, 2);
	CU_ASSERT_STRING_EQUAL(topology->kinds[0].name, "IntelCore");
	CU_ASSERT_STRING_EQUAL(topology->kinds[1].name, "IntelAtom");
	CU_ASSERT_TRUE(topology->kinds[0].efficiency > topology->kinds[1].efficiency);
	for (unsigned i = 0; i < 16; i++)
		CU_ASSERT_EQUAL(topology->kind[i], i < 8 ? 0 : 1);
	CU_ASSERT_EQUAL(machine_read("two-cpus")->kind_count, 0);
}

static void knows_where_the_network_is(void)
{
	struct topology *topology = machine_read("two-sockets-smt");

	CU_ASSERT_EQUAL_FATAL(topology->nic_count, 1);
	CU_ASSERT_STRING_EQUAL(topology->nics[0].name, "eth0");
	CU_ASSERT_STRING_EQUAL(topology->nics[0].bus, "0000:81:00.0");
	CU_ASSERT_EQUAL(topology->nics[0].node, 1);
}

static void leaves_out_what_is_not_allowed(void)
{
	struct topology *topology = machine_read("container");
	char text[CPUS_TEXT_BYTES];

	CU_ASSERT_STRING_EQUAL(cpus_print(&topology->cpus, text), "1,2,3,4,5,9,10,11");
	expect_values(topology, topology->core, "1,2,3,4,5,1,2,3");
	expect_values(topology, topology->node, "0,0,0,1,1,0,0,0");
	expect_values(topology, topology->caches[TOPOLOGY_L3].first, "1,1,1,4,4,1,1,1");
}

static void refuses_what_is_no_topology(void)
{
	struct topology *topology = machine_read("two-cpus");
	char path[] = "/tmp/weir-topology-XXXXXX";
	int fd = mkstemp(path);
	struct tp_error error;

	CU_ASSERT_TRUE(topology_read_xml("/nonexistent.xml", topology, &error) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "/nonexistent.xml"));
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, "{}\n", 3), 3);
	close(fd);
	CU_ASSERT_TRUE(topology_read_xml(path, topology, &error) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "lstopo"));
	CU_ASSERT_EQUAL(topology->cpus.count, 2); /* untouched */
	unlink(path);
}

static void reads_this_machine(void)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	struct cpus allowed;

	CU_ASSERT_EQUAL_FATAL(topology_read(topology), 0);
	CU_ASSERT_EQUAL_FATAL(cpus_allowed(&allowed), 0);
	CU_ASSERT_EQUAL(topology->cpus.count, allowed.count);
	CU_ASSERT_TRUE(topology->cores >= 1 && topology->cores <= topology->cpus.count);
	CU_ASSERT_TRUE(topology->nodes >= 1 && topology->packages >= 1);
	for (unsigned i = 0; i < topology->cpus.count; i++)
		CU_ASSERT_TRUE(topology->core[i] <= topology->cpus.cpu[i]);
	free(topology);
}

static void reads_only_what_the_mask_has(void)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	struct cpus before, one = {.count = 1};
	struct tp_error error;

	CU_ASSERT_EQUAL_FATAL(cpus_allowed(&before), 0);
	one.cpu[0] = before.cpu[before.count - 1];
	CU_ASSERT_EQUAL_FATAL(cpus_bind(&one, &error), 0);
	CU_ASSERT_EQUAL(topology_read(topology), 0);
	CU_ASSERT_EQUAL(topology->cpus.count, 1);
	CU_ASSERT_EQUAL(topology->cpus.cpu[0], one.cpu[0]);
	CU_ASSERT_EQUAL(topology->cores, 1);
	CU_ASSERT_EQUAL(cpus_bind(&before, &error), 0);
	free(topology);
}

static void does_not_take_another_machine_for_this(void)
{
	struct topology *topology = calloc(1, sizeof(*topology));

	setenv("HWLOC_SYNTHETIC", "core:3 pu:1", 1);
	CU_ASSERT_EQUAL(topology_read(topology), -EXDEV);
	unsetenv("HWLOC_SYNTHETIC");
	free(topology);
}

static const struct suite_test tests[] = {
	{"CPUs, cores, packages and nodes are counted", counts_what_is_there},
	{"SMT siblings have one core", knows_siblings},
	{"each CPU and each memory has its NUMA node", knows_nodes},
	{"caches have sizes and say who shares them", knows_caches},
	{"kinds of cores are ranked, the fastest first", knows_kinds},
	{"a network card has a name, a bus address and a node", knows_where_the_network_is},
	{"CPUs outside the cpuset are left out", leaves_out_what_is_not_allowed},
	{"a file that is no topology is refused by name", refuses_what_is_no_topology},
	{"this machine can be read", reads_this_machine},
	{"a narrowed affinity mask narrows the topology", reads_only_what_the_mask_has},
	{"hwloc's environment cannot make this machine another",
	 does_not_take_another_machine_for_this},
};

SUITE_MAIN("provenance topology", tests)
