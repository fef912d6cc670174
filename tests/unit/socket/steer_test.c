/* How connections are spread over the listeners of several workers by their address and CPU. */
#include "stacks/socket/steer.h"

#include "tests/support/suite.h"
#include "tests/unit/socket/group.h"

#include <sched.h>
#include <sys/socket.h>

/* The ports are the kernel's choice: what can be promised of them is whose they are, no more. */
static void expect_exact(enum tp_family family)
{
	struct group group;

	if (!group_host_has("reuseport-bpf")) {
		suite_skip("the kernel takes no program that chooses a listener");
		return;
	}
	if (!group_open(&group, family, SOCKET_STEER_PORT))
		return;
	CU_ASSERT_EQUAL(group_dial(&group), GROUP_CONNS);
	CU_ASSERT_EQUAL(group.misled, 0);
	group_close(&group);
}

static void ports_lead_to_their_listener(void)
{
	expect_exact(TP_IPV4);
}

static void ports_lead_to_their_listener_over_ipv6(void)
{
	expect_exact(TP_IPV6);
}

static void rest_serves_when_one_leaves(void)
{
	struct group group;

	if (!group_open(&group, TP_IPV4, SOCKET_STEER_PORT))
		return;
	group_leave(&group, GROUP_WORKERS - 1);
	CU_ASSERT_EQUAL(group_dial(&group), GROUP_CONNS);
	for (unsigned i = 0; i < GROUP_WORKERS - 1; i++)
		CU_ASSERT_TRUE(group.taken[i] > 0);
	group_close(&group);
}

static void hash_loses_none(void)
{
	struct group group;

	if (!group_open(&group, TP_IPV4, SOCKET_STEER_HASH))
		return;
	CU_ASSERT_EQUAL(group_dial(&group), GROUP_CONNS);
	CU_ASSERT_TRUE(group.misled > 0);
	group_close(&group);
}

static void listeners_know_their_cpu(void)
{
	struct group group;

	if (!group_host_has("incoming-cpu")) {
		suite_skip("SO_INCOMING_CPU does not choose in a group here");
		return;
	}
	if (!group_open(&group, TP_IPV4, SOCKET_STEER_CPU))
		return;
	for (int i = 0; i < GROUP_WORKERS; i++) {
		int cpu = -1;
		socklen_t bytes = sizeof(cpu);

		CU_ASSERT_EQUAL(
			getsockopt(group.listeners[i], SOL_SOCKET, SO_INCOMING_CPU, &cpu, &bytes),
			0);
		CU_ASSERT_EQUAL(cpu, i);
	}
	group_close(&group);
}

static bool pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) == 0;
}

static void clients_cpu_leads_to_its_listener(void)
{
	struct group group;
	cpu_set_t allowed;

	CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	if (CPU_COUNT(&allowed) < 2 || !group_host_has("incoming-cpu")) {
		suite_skip("needs two CPUs, and SO_INCOMING_CPU to choose in a group");
		return;
	}
	if (!group_open(&group, TP_IPV4, SOCKET_STEER_CPU))
		return;
	for (int cpu = 0; cpu < GROUP_WORKERS; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CU_ASSERT_TRUE(pin(cpu));
		CU_ASSERT_EQUAL(group_dial(&group), GROUP_CONNS);
		CU_ASSERT_EQUAL(group.taken[cpu], GROUP_CONNS);
	}
	CU_ASSERT_EQUAL(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
	group_close(&group);
}

static void asking_for_features_leaves_the_thread_its_cpus(void)
{
	struct tp_feature features[SOCKET_FEATURES];
	cpu_set_t before, after;

	CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof(before), &before), 0);
	socket_probe(features, SOCKET_FEATURES);
	CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof(after), &after), 0);
	CU_ASSERT_TRUE(CPU_EQUAL(&before, &after));
}

static void features_are_named(void)
{
	struct tp_feature features[SOCKET_FEATURES + 1];

	CU_ASSERT_EQUAL(socket_probe(features, SOCKET_FEATURES + 1), SOCKET_FEATURES);
	for (unsigned i = 0; i < SOCKET_FEATURES; i++) {
		CU_ASSERT_PTR_NOT_NULL(features[i].name);
		CU_ASSERT_EQUAL(features[i].present, features[i].absent == NULL);
	}
	CU_ASSERT_EQUAL(socket_probe(features, 1), 1);
	CU_ASSERT_EQUAL(socket_probe(NULL, 0), 0);
}

static const struct suite_test tests[] = {
	{"by port, each listener gets the clients' ports that are its",
	 ports_lead_to_their_listener},
	{"by port, IPv6 connections are led likewise", ports_lead_to_their_listener_over_ipv6},
	{"by port, the others serve all when one listener leaves", rest_serves_when_one_leaves},
	{"by hash, the kernel chooses and no connection is lost", hash_loses_none},
	{"by CPU, each listener is told its worker's", listeners_know_their_cpu},
	{"by CPU, the client's leads to the listener that was told it",
	 clients_cpu_leads_to_its_listener},
	{"asking for the features leaves the thread its CPUs",
	 asking_for_features_leaves_the_thread_its_cpus},
	{"what the host has or lacks is told for each feature", features_are_named},
};

SUITE_MAIN("socket steering", tests)
