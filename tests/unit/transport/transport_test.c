#include "dataplane/transport/transport.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

static void addresses_are_written_out(void)
{
	char text[TP_ADDR_TEXT];
	struct tp_addr addr = {.ip = 0x7F000001, .port = 7878};

	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "127.0.0.1:7878");
	addr = (struct tp_addr){.ip = UINT32_MAX, .port = UINT16_MAX};
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "255.255.255.255:65535");
	addr = (struct tp_addr){.family = TP_IPV6, .port = 80, .ip6 = {[15] = 1}};
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "[::1]:80");
	addr = (struct tp_addr){
		.family = TP_IPV6, .port = 80, .ip6 = {0xFE, 0x80, [15] = 2}, .interface = 3};
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "[fe80::2%3]:80");
	addr = (struct tp_addr){.family = TP_UNIX, .path = "/run/a.sock"};
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "unix:/run/a.sock");
}

static void families_are_checked(void)
{
	static const struct tp_ops ops = {.name = "trial", .families = 1 << TP_IPV4 | 1 << TP_UNIX};
	struct tp_addr addr = {.family = TP_UNIX, .path = "/a"};
	struct tp_error error;

	CU_ASSERT_EQUAL(tp_family_check(&ops, &addr, &error), 0);
	addr = (struct tp_addr){.family = TP_IPV6, .port = 80, .ip6 = {[15] = 1}};
	CU_ASSERT_EQUAL(tp_family_check(&ops, &addr, &error), -EAFNOSUPPORT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "[::1]:80: the stack 'trial' has no IPv6"));
}

static void details_fill_the_room_and_tell_all(void)
{
	static const struct tp_detail table[] = {{"one", 1, TP_DETAIL_COUNT},
						 {"two", 2, TP_DETAIL_LEVEL}};
	struct tp_detail out[3] = {{NULL}};

	CU_ASSERT_EQUAL(tp_details_copy(table, 2, out, 1), 2);
	CU_ASSERT_STRING_EQUAL(out[0].name, "one");
	CU_ASSERT_PTR_NULL(out[1].name);
	CU_ASSERT_EQUAL(tp_details_copy(table, 2, out, 3), 2);
	CU_ASSERT_STRING_EQUAL(out[1].name, "two");
	CU_ASSERT_EQUAL(out[1].kind, TP_DETAIL_LEVEL);
	CU_ASSERT_PTR_NULL(out[2].name);
}

static const struct suite_test tests[] = {
	{"addresses are written in the usual way", addresses_are_written_out},
	{"an address of a family that a stack lacks is refused by name", families_are_checked},
	{"details fill the room there is and tell how many there are",
	 details_fill_the_room_and_tell_all},
};

SUITE_MAIN("transport", tests)
