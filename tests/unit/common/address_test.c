#include "apps/common/address.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

static void test_subnets(void)
{
	static const char *const wrong[] = {
		"10.0.0.1",
		"10.0.0.1/0",
		"10.0.0.1/33",
		"10.0.0.0/24",
		"10.0.0.255/24",
		"10.0.0.1/",
		"10.0.0/8",
		"0.0.0.0/8",
		"224.0.0.1/24",
		"fd77::1",
		"fd77::1/0",
		"fd77::1/128",
		"::/64",
		"::1/64",
		"ff02::1/64",
		"::ffff:10.0.0.1/64",
		"fd77:::1/64",
		"",
		",",
		"10.0.0.1/24,",
		",fd77::1/64",
		"10.0.0.1/24,10.0.0.2/24",
		"fd77::1/64,fd77::2/64",
		"10.0.0.1/24,fd77::1",
		"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb/64"};
	struct subnet subnet = {.ip = 1, .prefix_bits = 2};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(address_parse_subnet(wrong[i], &subnet), -EINVAL);
	CU_ASSERT_TRUE(subnet.ip == 1 && subnet.prefix_bits == 2);
	CU_ASSERT_EQUAL(address_parse_subnet("10.0.0.1/24", &subnet), 0);
	CU_ASSERT_TRUE(subnet.ip == 0x0a000001 && subnet.prefix_bits == 24);
	CU_ASSERT_EQUAL(address_parse_subnet("10.0.0.0/31", &subnet), 0);
	CU_ASSERT_EQUAL(address_parse_subnet("10.0.0.1/32", &subnet), 0);
	CU_ASSERT_EQUAL(subnet.prefix6_bits, 0);
}

static void test_families(void)
{
	static const char *const both[] = {"10.0.0.1/24,fd77::1/64", "fd77::1/64,10.0.0.1/24"};
	static const uint8_t ip6[16] = {0xfd, 0x77, [15] = 1};
	struct subnet subnet;

	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(address_parse_subnet(both[i], &subnet), 0);
		CU_ASSERT_TRUE(subnet.ip == 0x0a000001 && subnet.prefix_bits == 24);
		CU_ASSERT_TRUE(memcmp(subnet.ip6, ip6, 16) == 0 && subnet.prefix6_bits == 64);
	}
	CU_ASSERT_EQUAL(address_parse_subnet("fd77::1/127", &subnet), 0);
	CU_ASSERT_TRUE(subnet.ip == 0 && subnet.prefix6_bits == 127);
}

static const struct suite_test tests[] = {
	{"a subnet's address must be a host's", test_subnets},
	{"an address of either family may be given, or one of each", test_families},
};

SUITE_MAIN("address", tests)
