#include "apps/common/netif.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

static void knows_the_loopback(void)
{
	json_t *facts = json_object(), *offloads;
	struct tp_error error;

	netif_add_facts(facts, "lo");
	offloads = json_object_get(facts, "offloads");
	CU_ASSERT(json_integer_value(json_object_get(facts, "mtu")) >= 1280);
	CU_ASSERT_EQUAL(json_object_size(offloads), 5);
	CU_ASSERT(json_is_boolean(json_object_get(offloads, "tso")));
	CU_ASSERT(json_is_true(json_object_get(offloads, "tx_checksum")));
	CU_ASSERT_EQUAL(netif_await_link("lo", 0, &error), 0);
	json_decref(facts);
}

static void says_why_it_does_not_know(void)
{
	json_t *facts = json_object(), *offloads;
	struct tp_error error;

	netif_add_facts(facts, "weir-none");
	offloads = json_object_get(facts, "offloads");
	CU_ASSERT(json_is_null(json_object_get(facts, "mtu")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(facts, "mtu_reason")),
			       strerror(ENODEV));
	CU_ASSERT(json_is_null(json_object_get(offloads, "tso")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(offloads, "tso_reason")),
			       strerror(ENODEV));
	CU_ASSERT_EQUAL(netif_await_link("weir-none", 0, &error), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "weir-none"));
	json_decref(facts);
}

static const struct suite_test tests[] = {
	{"MTU and offloads of the loopback are known", knows_the_loopback},
	{"of an absent interface all is null with the reason", says_why_it_does_not_know},
};

SUITE_MAIN("common netif", tests)
