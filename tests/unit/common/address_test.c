#include "apps/common/address.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

static void test_endpoints(void)
{
	static const char *const wrong[] = {
		"",
		"127.0.0.1",
		"127.0.0.1:",
		":7878",
		"127.0.0.1:0",
		"127.0.0.1:65536",
		"127.0.0:1",
		"127.0.0.256:1",
		"localhost:1",
		"1.2.3.4:1 ",
		"1.2.3.4:+1",
		"1.2.3.4:01",
		"224.0.0.1:80",
		"239.255.255.255:80",
		"255.255.255.255:80",
		"[::1]",
		"[::1]80",
		"[::1]:",
		"[::1]:0",
		"[::1:80",
		"::1:80",
		"[1.2.3.4]:80",
		"[ff02::1]:80",
		"[fe80::1]:80",
		"[::1%]:80",
		"[fe80::1%nosuch0]:80",
		"[0000:0000:0000:0000:0000:0000:0000:0000:0000:0001]:80",
		"unix:",
		"unix:relative.sock"};
	struct tp_addr addr = {.ip = 1, .port = 2};
	char text[TP_ADDR_TEXT];

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(address_parse_endpoint(wrong[i], &addr), -EINVAL);
	CU_ASSERT_TRUE(addr.ip == 1 && addr.port == 2);
	CU_ASSERT_EQUAL(address_parse_endpoint("10.1.2.3:7878", &addr), 0);
	CU_ASSERT_TRUE(addr.ip == 0x0a010203 && addr.port == 7878);
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "10.1.2.3:7878");
	CU_ASSERT_EQUAL(address_parse_endpoint("223.255.255.254:65535", &addr), 0);
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "223.255.255.254:65535");
	addr = (struct tp_addr){.ip = UINT32_MAX, .port = UINT16_MAX};
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "255.255.255.255:65535");
}

static void test_ip6_and_unix(void)
{
	struct tp_addr addr = {.ip = 1, .port = 2};
	char text[TP_ADDR_TEXT], path[5 + TP_PATH_BYTES + 1] = "unix:/";

	CU_ASSERT_EQUAL(address_parse_endpoint("[::1]:7878", &addr), 0);
	CU_ASSERT_EQUAL(addr.family, TP_IPV6);
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "[::1]:7878");
	CU_ASSERT_EQUAL(address_parse_endpoint("[fe80::1%lo]:80", &addr), 0);
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "[fe80::1%1]:80");
	memset(path + 6, 'x', sizeof(path) - 7);
	path[sizeof(path) - 1] = '\0';
	CU_ASSERT_EQUAL(address_parse_endpoint(path, &addr), -EINVAL);
	CU_ASSERT_EQUAL(addr.family, TP_IPV6);
	path[sizeof(path) - 2] = '\0';
	CU_ASSERT_EQUAL(address_parse_endpoint(path, &addr), 0);
	CU_ASSERT_EQUAL(addr.family, TP_UNIX);
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), path);
}

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
	{"an endpoint is one host's address and a port, and comes back as it was written",
	 test_endpoints},
	{"IPv6 and Unix endpoints are read and written too", test_ip6_and_unix},
	{"a subnet's address must be a host's", test_subnets},
};

SUITE_MAIN("address", tests)
