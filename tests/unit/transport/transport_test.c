#include "dataplane/transport/transport.h"

#include "tests/support/suite.h"

static void addresses_are_written_out(void)
{
	char text[TP_ADDR_TEXT];
	struct tp_addr addr = {.ip = 0x7F000001, .port = 7878};

	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "127.0.0.1:7878");
	addr = (struct tp_addr){.ip = UINT32_MAX, .port = UINT16_MAX};
	CU_ASSERT_STRING_EQUAL(tp_addr_print(&addr, text), "255.255.255.255:65535");
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
	{"details fill the room there is and tell how many there are",
	 details_fill_the_room_and_tell_all},
};

SUITE_MAIN("transport", tests)
