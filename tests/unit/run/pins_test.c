#include "apps/run/pins.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

/*
 * CPUs 0 to count - 1, of which those `cores` apart are siblings, as Linux numbers them on most
 * hosts.
 */
static struct topology host(unsigned count, unsigned cores)
{
	struct topology topology = {.cores = cores};

	topology.cpus.count = count;
	for (unsigned i = 0; i < count; i++) {
		topology.cpus.cpu[i] = (uint16_t)i;
		topology.core[i] = (int)(i % cores);
	}
	return topology;
}

static void expect(unsigned count, unsigned cores, unsigned workers, const char *server,
		   const char *client, const char *degraded)
{
	struct pins_wish wish = {.server_workers = workers, .client_workers = workers};
	struct topology topology = host(count, cores);
	char text[CPUS_TEXT_BYTES];
	struct tp_error error;
	struct pins pins;

	CU_ASSERT_EQUAL_FATAL(pins_choose(&topology, &wish, &pins, &error), 0);
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.server, text), server);
	CU_ASSERT_STRING_EQUAL(cpus_print(&pins.client, text), client);
	CU_ASSERT_EQUAL(pins.degraded != NULL, degraded != NULL);
	if (pins.degraded && degraded)
		CU_ASSERT_PTR_NOT_NULL(strstr(pins.degraded, degraded));
}

static void leaves_a_core_where_it_can(void)
{
	expect(3, 3, 1, "1", "2", NULL);
	expect(16, 16, 2, "1,2", "3,4", NULL);
}

static void does_not_share_cores(void)
{
	expect(8, 4, 1, "1", "2", NULL);
	expect(4, 2, 1, "0", "1", "no core is left");
}

static void says_how_it_falls_short(void)
{
	expect(2, 2, 1, "0", "1", "no core is left");
	expect(2, 1, 1, "0", "1", "share physical cores");
	expect(4, 2, 2, "0,1", "2,3", "share physical cores");
}

static void refuses_too_few(void)
{
	struct pins_wish wish = {.server_workers = 1, .client_workers = 1};
	struct topology topology = host(1, 1);
	struct tp_error error;
	struct pins pins;

	CU_ASSERT_EQUAL(pins_choose(&topology, &wish, &pins, &error), -ENOSPC);
	CU_ASSERT_STRING_EQUAL(error.text,
			       "1 server and 1 client workers need 2 CPUs, but this process "
			       "may use 1");
}

static const struct suite_test tests[] = {
	{"the first core is left to the operating system where there are enough",
	 leaves_a_core_where_it_can},
	{"server and client are on different physical cores", does_not_share_cores},
	{"pins that fall short say how", says_how_it_falls_short},
	{"too few CPUs are refused", refuses_too_few},
};

SUITE_MAIN("run pins", tests)
