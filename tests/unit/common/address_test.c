#include "apps/common/address.h"

#include "tests/support/suite.h"

#include <errno.h>

static void test_subnets(void)
{
	static const char *const wrong[] = {"10.0.0.1",	   "10.0.0.1/0",    "10.0.0.1/33",
					    "10.0.0.0/24", "10.0.0.255/24", "10.0.0.1/",
					    "10.0.0/8",	   "0.0.0.0/8",	    "224.0.0.1/24"};
	struct subnet subnet = {.ip = 1, .prefix_bits = 2};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(address_parse_subnet(wrong[i], &subnet), -EINVAL);
	CU_ASSERT_TRUE(subnet.ip == 1 && subnet.prefix_bits == 2);
	CU_ASSERT_EQUAL(address_parse_subnet("10.0.0.1/24", &subnet), 0);
	CU_ASSERT_TRUE(subnet.ip == 0x0a000001 && subnet.prefix_bits == 24);
	CU_ASSERT_EQUAL(address_parse_subnet("10.0.0.0/31", &subnet), 0);
	CU_ASSERT_EQUAL(address_parse_subnet("10.0.0.1/32", &subnet), 0);
}

static const struct suite_test tests[] = {
	{"a subnet's address must be a host's", test_subnets},
};

SUITE_MAIN("address", tests)
