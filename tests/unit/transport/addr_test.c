#include "dataplane/transport/addr.h"

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
		CU_ASSERT_EQUAL(tp_addr_parse(wrong[i], &addr), -EINVAL);
	CU_ASSERT_TRUE(addr.ip == 1 && addr.port == 2);
	CU_ASSERT_EQUAL(tp_addr_parse("10.1.2.3:7878", &addr), 0);
	CU_ASSERT_TRUE(addr.ip == 0x0a010203 && addr.port == 7878);
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "10.1.2.3:7878");
	CU_ASSERT_EQUAL(tp_addr_parse("223.255.255.254:65535", &addr), 0);
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "223.255.255.254:65535");
	addr = (struct tp_addr){.ip = UINT32_MAX, .port = UINT16_MAX};
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "255.255.255.255:65535");
}

static void test_ip6_and_unix(void)
{
	struct tp_addr addr = {.ip = 1, .port = 2};
	char text[TP_ADDR_TEXT], path[5 + TP_PATH_BYTES + 1] = "unix:/";

	CU_ASSERT_EQUAL(tp_addr_parse("[::1]:7878", &addr), 0);
	CU_ASSERT_EQUAL(addr.family, TP_IPV6);
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "[::1]:7878");
	CU_ASSERT_EQUAL(tp_addr_parse("[fe80::1%lo]:80", &addr), 0);
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "[fe80::1%1]:80");
	memset(path + 6, 'x', sizeof(path) - 7);
	path[sizeof(path) - 1] = '\0';
	CU_ASSERT_EQUAL(tp_addr_parse(path, &addr), -EINVAL);
	CU_ASSERT_EQUAL(addr.family, TP_IPV6);
	path[sizeof(path) - 2] = '\0';
	CU_ASSERT_EQUAL(tp_addr_parse(path, &addr), 0);
	CU_ASSERT_EQUAL(addr.family, TP_UNIX);
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), path);
}

static const struct suite_test tests[] = {
	{"an endpoint is one host's address and a port, and comes back as it was written",
	 test_endpoints},
	{"IPv6 and Unix endpoints are read and written too", test_ip6_and_unix},
};

SUITE_MAIN("addr", tests)
