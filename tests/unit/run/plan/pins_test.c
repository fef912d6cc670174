#include "apps/run/plan/pins.h"
#include "tests/support/machines.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

static const char no_reserve[] = "no core is left for the operating system";
static const char shared[] =
	"workers share physical cores, and no core is left for the operating system";
static const char spread[] = "no NUMA node has room for both sides, so they spread over several";

/*
 * CPUs 0 to count - 1, of which those `cores` apart are siblings, as Linux numbers them on most
 * hosts.
 */
static struct topology *host(unsigned count, unsigned cores)
{
	static struct topology topology;

	memset(&topology, 0, sizeof(topology));
	topology.cores = cores;
	topology.cpus.count = count;
	for (unsigned i = 0; i < count; i++) {
		topology.cpus.cpu[i] = (uint16_t)i;
		topology.core[i] = (int)(i % cores);
	}
	return &topology;
}

/* One expectation; a wish is written {server, client, across}. */
struct row {
	struct pins_wish wish;
	const char *server;
	const char *client;
	const char *degraded; /* NULL: not degraded */
};

static void expect(const struct topology *topology, const struct row *row)
{
	char text[CPUS_TEXT_BYTES];
	struct tp_error error;
	static struct pins pins;

	CU_ASSERT_EQUAL_FATAL(pins_choose(topology, &row->wish, &pins, &error), 0);
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.server, text), row->server);
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.client, text), row->client);
	CU_ASSERT_EQUAL(pins.degraded != NULL, row->degraded != NULL);
	if (pins.degraded && row->degraded)
		CU_ASSERT_STRING_EQUAL(pins.degraded, row->degraded);
}

static void expect_rows(const struct topology *topology, const struct row *rows, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		expect(topology, &rows[i]);
}

#define EXPECT(topology, ...)                                                \
	do {                                                                 \
		static const struct row rows[] = {__VA_ARGS__};              \
		expect_rows(topology, rows, sizeof(rows) / sizeof(rows[0])); \
	} while (0)

static void expect_most(const struct topology *topology, unsigned together, unsigned across,
			const char *reserved)
{
	char text[CPUS_TEXT_BYTES];
	struct cpus cpus;

	CU_ASSERT_EQUAL(pins_server_most(topology, false), together);
	CU_ASSERT_EQUAL(pins_server_most(topology, true), across);
	pins_reserve(topology, &cpus);
	CU_ASSERT_STRING_EQUAL(cpus_print(&cpus, text), reserved);
}

static void takes_a_half_each(void)
{
	EXPECT(host(3, 3), {{1, 1}, "1", "2"});
	EXPECT(host(16, 16), {{2, 2}, "1,2", "8,9"},
	       {{7, 7}, "1,2,3,4,5,6,7", "8,9,10,11,12,13,14"},
	       {{1, 0}, "1", "8,9,10,11,12,13,14,15"},
	       {{7, 0}, "1,2,3,4,5,6,7", "8,9,10,11,12,13,14,15"});
	expect_most(host(16, 16), 7, 0, "0");
}

static void passes_the_half_if_it_must(void)
{
	EXPECT(host(4, 4), {{2, 1}, "1,2", "3"}, {{1, 2}, "1", "2,3"}, {{2, 0}, "1,2", "3"});
	EXPECT(host(8, 8), {{1, 6}, "1", "2,3,4,5,6,7"}, {{6, 1}, "1,2,3,4,5,6", "7"});
}

static void does_not_share_cores(void)
{
	EXPECT(host(8, 4), {{1, 1}, "1", "2"}, {{2, 2}, "0,1", "2,3", no_reserve});
	EXPECT(host(4, 2), {{1, 1}, "0", "1", no_reserve});
}

static void says_how_it_falls_short(void)
{
	EXPECT(host(2, 2), {{1, 1}, "0", "1", no_reserve}, {{1, 0}, "0", "1", no_reserve});
	EXPECT(host(2, 1), {{1, 1}, "0", "1", shared});
	EXPECT(host(4, 2), {{2, 2}, "0,2", "1,3", shared}); /* a core a side, at least */
	expect_most(host(2, 2), 0, 0, "");
	expect_most(host(2, 1), 0, 0, "");
}

static void two_sockets_with_smt(void)
{
	struct topology *topology = machine_read("two-sockets-smt");

	EXPECT(topology, {{1, 1}, "1", "2"}, {{1, 0}, "1", "2,3"}, {{2, 1}, "1,2", "3"},
	       {{2, 2}, "0,1", "2,3", no_reserve}, {{3, 3}, "1,2,3", "5,6,7", spread},
	       {{4, 4},
		"0,1,2,3",
		"4,5,6,7",
		"no NUMA node has room for both sides, so they spread over several; no core is "
		"left for the operating system"},
	       {{3, 3, true}, "1,2,3", "5,6,7"}, {{1, 0, true}, "1", "5,6,7"},
	       {{4, 4, true}, "0,1,2,3", "4,5,6,7", no_reserve},
	       {{5, 1, true}, "0,8,1,9,2", "4", shared},
	       {{9, 1, true},
		"0,8,1,9,2,10,3,11,4",
		"12",
		"no two NUMA nodes have room, so server and client are not on one each; workers "
		"share physical cores, and no core is left for the operating system"});
	expect_most(topology, 1, 3, "0,4,8,12");
}

static void four_nodes(void)
{
	struct topology *topology = machine_read("four-nodes");

	EXPECT(topology, {{1, 1}, "4", "8"}, {{1, 0}, "4", "8,12"},
	       {{5, 5}, "4,8,12,5,9", "6,10,14,7,11", spread}, {{3, 3, true}, "4,8,12", "5,9,13"});
	expect_most(topology, 1, 3, "0,1,2,3");
}

static void hybrid(void)
{
	struct topology *topology = machine_read("hybrid");

	EXPECT(topology, {{1, 1}, "2", "4"}, {{1, 0}, "2", "4,6"}, {{2, 2}, "8,9", "12,13"},
	       {{4, 0}, "8,9,10,11", "12,13,14,15"},
	       {{5, 5}, "2,4,6,8,9", "10,11,12,13,14", "the cores are of different kinds"},
	       {{6, 6},
		"0,2,4,6,8,9",
		"10,11,12,13,14,15",
		"no core is left for the operating system; the cores are of different kinds"},
	       {{1, 1, true},
		"2",
		"4",
		"server and client share a NUMA node: two were asked for, and there is only one"});
	expect_most(topology, 4, 0, "0,1");
}

static void container(void)
{
	struct topology *topology = machine_read("container");

	EXPECT(topology, {{1, 1}, "2", "3"}, {{2, 1}, "1,2", "3", no_reserve},
	       {{2, 1, true}, "2,3", "5"},
	       {{2, 2},
		"1,2",
		"3,4",
		"no NUMA node has room for both sides, so they spread over several; no core is "
		"left for the operating system"});
	expect_most(topology, 1, 2, "1,4,9");
}

static void small_machines(void)
{
	struct topology *topology = machine_read("two-cpus");

	EXPECT(topology, {{1, 1}, "0", "1", no_reserve},
	       {{1, 1, true},
		"0",
		"1",
		"server and client share a NUMA node: two were asked for, and there is only one; "
		"no core is left for the operating system"});
	expect_most(topology, 0, 0, "");
	expect_most(machine_read("one-cpu"), 0, 0, "");
}

static void isolate(struct topology *topology, const char *list)
{
	struct cpus isolated;

	CU_ASSERT_EQUAL_FATAL(cpus_parse(list, &isolated), 0);
	for (unsigned i = 0; i < topology->cpus.count; i++)
		topology->isolated[i] = cpus_have(&isolated, topology->cpus.cpu[i]);
}

static void prefers_isolated(void)
{
	struct topology *topology = host(16, 16);

	isolate(topology, "4,9-11");
	EXPECT(topology, {{1, 1}, "4", "10"}, {{2, 2}, "4,9", "10,11"},
	       {{3, 3}, "1,2,3", "8,9,10"});
	isolate(topology, "0-3");
	EXPECT(topology, {{2, 2}, "0,1", "2,3"}); /* the system's core is the first not isolated */
	expect_most(topology, 7, 0, "4");
	topology = machine_read("two-sockets-smt");
	isolate(topology, "5-7,13-15");
	EXPECT(topology, {{1, 1}, "5", "6"});
}

static void names_nodes(void)
{
	static const struct pins_wish wish = {2, 2, true};
	char text[CPUS_TEXT_BYTES];
	struct tp_error error;
	static struct pins pins;

	CU_ASSERT_EQUAL_FATAL(pins_choose(machine_read("four-nodes"), &wish, &pins, &error), 0);
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.server_nodes, text), "0");
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.client_nodes, text), "1");
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.reserved, text), "0,1,2,3");
}

static void refuses_too_few(void)
{
	struct pins_wish wish = {.server_workers = 1, .client_workers = 1};
	struct tp_error error;
	static struct pins pins;

	CU_ASSERT_EQUAL(pins_choose(machine_read("one-cpu"), &wish, &pins, &error), -ENOSPC);
	CU_ASSERT_STRING_EQUAL(error.text,
			       "1 server and 1 client workers need 2 CPUs, but this process "
			       "may use 1");
	wish = (struct pins_wish){.server_workers = 2, .client_workers = 0};
	CU_ASSERT_EQUAL(pins_choose(machine_read("two-cpus"), &wish, &pins, &error), -ENOSPC);
}

/* How many of both sides' CPUs have a value that `values` gives to CPU `index`. */
static unsigned count_like(const struct topology *topology, const struct pins *pins,
			   const int *values, unsigned index)
{
	unsigned count = 0;

	for (unsigned i = 0; i < topology->cpus.count; i++)
		count += values[i] == values[index] &&
			 (cpus_have(&pins->server, topology->cpus.cpu[i]) ||
			  cpus_have(&pins->client, topology->cpus.cpu[i]));
	return count;
}

static void check_sets(const struct topology *topology, const struct pins *pins)
{
	for (unsigned i = 0; i < pins->server.count; i++) {
		CU_ASSERT_TRUE(cpus_have(&topology->cpus, pins->server.cpu[i]));
		CU_ASSERT_FALSE(cpus_have(&pins->client, pins->server.cpu[i]));
	}
	for (unsigned i = 0; i < pins->client.count; i++)
		CU_ASSERT_TRUE(cpus_have(&topology->cpus, pins->client.cpu[i]));
	for (unsigned i = 0; i < pins->reserved.count; i++) {
		CU_ASSERT_FALSE(cpus_have(&pins->server, pins->reserved.cpu[i]));
		CU_ASSERT_FALSE(cpus_have(&pins->client, pins->reserved.cpu[i]));
	}
}

/* What pins promise that are not degraded. */
static void check_sound(const struct topology *topology, const struct pins_wish *wish,
			const struct pins *pins)
{
	struct cpus reserved;

	pins_reserve(topology, &reserved);
	CU_ASSERT_TRUE(reserved.count > 0);
	CU_ASSERT_EQUAL(pins->reserved.count, reserved.count);
	CU_ASSERT_EQUAL(pins->server_nodes.count, 1);
	CU_ASSERT_EQUAL(pins->client_nodes.count, 1);
	CU_ASSERT_EQUAL(pins->server_nodes.cpu[0] != pins->client_nodes.cpu[0], wish->across_nodes);
	for (unsigned i = 0; i < topology->cpus.count; i++)
		CU_ASSERT_TRUE(count_like(topology, pins, topology->core, i) <= 1);
}

static void check_wish(const struct topology *topology, const struct pins_wish *wish)
{
	unsigned least = wish->server_workers + (wish->client_workers ? wish->client_workers : 1);
	struct tp_error error;
	static struct pins pins;

	if (pins_choose(topology, wish, &pins, &error) < 0) {
		CU_ASSERT_TRUE(topology->cpus.count < least);
		return;
	}
	CU_ASSERT_TRUE(topology->cpus.count >= least);
	CU_ASSERT_EQUAL(pins.server.count, wish->server_workers);
	CU_ASSERT_TRUE(wish->client_workers ? pins.client.count == wish->client_workers
					    : pins.client.count >= 1);
	check_sets(topology, &pins);
	if (!pins.degraded)
		check_sound(topology, wish, &pins);
	if (wish->client_workers == 0 &&
	    wish->server_workers <= pins_server_most(topology, wish->across_nodes))
		CU_ASSERT_PTR_NULL(pins.degraded);
}

static void holds_for_every_wish(void)
{
	static const char *const machines[] = {"two-sockets-smt", "four-nodes", "hybrid",
					       "container",	  "two-cpus",	"one-cpu"};

	for (unsigned i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct topology *topology = machine_read(machines[i]);

		for (unsigned server = 1; server <= 17; server++)
			for (unsigned client = 0; client <= 17; client++)
				for (unsigned across = 0; across < 2; across++)
					check_wish(topology, &(struct pins_wish){server, client,
										 across == 1});
	}
}

/* Where an upstream goes beside one worker a side, what is kept then, and how that falls short. */
static void expect_upstream(const struct topology *topology, unsigned workers, const char *upstream,
			    const char *reserved, const char *degraded)
{
	static const struct pins_wish wish = {1, 1};
	char text[CPUS_TEXT_BYTES];
	struct tp_error error;
	static struct pins pins;

	CU_ASSERT_EQUAL_FATAL(pins_choose(topology, &wish, &pins, &error), 0);
	CU_ASSERT_EQUAL_FATAL(pins_add_upstream(topology, workers, &pins, &error), 0);
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.upstream, text), upstream);
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.reserved, text), reserved);
	CU_ASSERT_EQUAL(pins.upstream_degraded != NULL, degraded != NULL);
	if (pins.upstream_degraded && degraded)
		CU_ASSERT_PTR_NOT_NULL(strstr(pins.upstream_degraded, degraded));
	CU_ASSERT_EQUAL(pins_upstream_shares(&pins),
			degraded && strstr(degraded, "shares") != NULL);
}

static void an_upstream_has_a_core_of_its_own_where_there_is_one(void)
{
	expect_upstream(host(8, 8), 1, "2", "0", NULL); /* server 1, client 4 */
	expect_upstream(host(8, 8), 3, "2,3,5", "0", NULL);
	expect_upstream(host(4, 4), 1, "3", "0", NULL);
	expect_upstream(host(8, 4), 1, "3", "0,4", NULL); /* never on a sibling */
	/* like the server's: of its node */
	expect_upstream(machine_read("two-sockets-smt"), 1, "3", "0,4,8,12", NULL);
}

static void an_upstream_without_a_core_takes_the_systems_then_shares_the_clients(void)
{
	struct tp_error error;
	struct pins pins;

	expect_upstream(host(3, 3), 1, "0", "", "the operating system's");
	expect_upstream(host(2, 2), 1, "1", "", "shares the client's CPUs");
	expect_upstream(host(4, 2), 1, "1", "", "shares the client's CPUs");
	CU_ASSERT_EQUAL_FATAL(pins_choose(host(2, 2), &(struct pins_wish){1, 1}, &pins, &error), 0);
	CU_ASSERT_EQUAL(pins_add_upstream(host(2, 2), 2, &pins, &error), -ENOSPC);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "lower its \"workers\""));
}

static const struct suite_test tests[] = {
	{"the first core is left to the system, and each side has a half of the rest",
	 takes_a_half_each},
	{"a side that needs more than its half gets it where the other leaves it",
	 passes_the_half_if_it_must},
	{"server and client are on different physical cores", does_not_share_cores},
	{"pins that fall short say how", says_how_it_falls_short},
	{"two sockets with SMT", two_sockets_with_smt},
	{"four nodes", four_nodes},
	{"kinds of cores are not mixed while there is a choice", hybrid},
	{"a container with a part of two nodes", container},
	{"machines of two CPUs and of one", small_machines},
	{"isolated cores are taken before others", prefers_isolated},
	{"pins name their NUMA nodes and what is reserved", names_nodes},
	{"too few CPUs are refused", refuses_too_few},
	{"an upstream has a core of its own where there is one to spare",
	 an_upstream_has_a_core_of_its_own_where_there_is_one},
	{"without one it takes the operating system's, and then shares the client's",
	 an_upstream_without_a_core_takes_the_systems_then_shares_the_clients},
	{"on every machine every wish gets sets that keep apart, or a reason",
	 holds_for_every_wish},
};

SUITE_MAIN("run pins", tests)
