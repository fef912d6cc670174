#include "apps/common/ports.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What two files with these texts leave. */
static uint32_t count(const char *range, const char *reserved)
{
	char paths[2][24] = {"/tmp/weir-ports-XXXXXX", "/tmp/weir-ports-XXXXXX"};
	const char *texts[] = {range, reserved};
	uint32_t found;

	for (unsigned i = 0; i < 2; i++) {
		int fd = mkstemp(paths[i]);

		CU_ASSERT_FATAL(fd >= 0);
		CU_ASSERT_EQUAL(write(fd, texts[i], strlen(texts[i])), (ssize_t)strlen(texts[i]));
		close(fd);
	}
	found = ports_count(paths[0], paths[1]);
	unlink(paths[0]);
	unlink(paths[1]);
	return found;
}

static void the_range_less_what_is_reserved(void)
{
	CU_ASSERT_EQUAL(count("32768\t60999\n", "\n"), 28232);
	CU_ASSERT_EQUAL(count("40000 40009\n", "40000\n"), 9);
	CU_ASSERT_EQUAL(count("40000 40009\n", "1-39999,40003-40004,40009-50000\n"), 7);
	CU_ASSERT_EQUAL(count("40000 40009\n", "22,80-90,50000\n"), 10);
	CU_ASSERT_EQUAL(count("40000 40000\n", "40000\n"), 0);
	CU_ASSERT_EQUAL(count("nonsense\n", ""), UINT32_MAX);
	CU_ASSERT_EQUAL(ports_count("/nonexistent", "/nonexistent"), UINT32_MAX);
}

static void both_numbers_and_the_way_out_are_named(void)
{
	struct tp_error error;

	CU_ASSERT_EQUAL(ports_judge(PORTS_OF_NAMESPACE, true, &error), 0);
	CU_ASSERT(ports_judge(PORTS_OF_NAMESPACE + 1, true, &error) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "28233 connections need 28233 local ports, and a "
						  "new network namespace has 28232"));
	CU_ASSERT_EQUAL(ports_judge(1, false, &error), 0);
	CU_ASSERT(ports_judge(70000, false, &error) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "70000 connections need 70000 local ports"));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "sysctl -w net.ipv4.ip_local_port_range"));
}

static const struct suite_test tests[] = {
	{"local ports are the range less what is reserved within it",
	 the_range_less_what_is_reserved},
	{"too few ports are named with both numbers and the way out",
	 both_numbers_and_the_way_out_are_named},
};

SUITE_MAIN("common ports", tests)
