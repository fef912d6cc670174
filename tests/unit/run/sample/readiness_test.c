#include "apps/run/sample/readiness.h"
#include "tests/support/suite.h"

#include <string.h>

static void a_nonce_is_new_each_time(void)
{
	char one[READINESS_NONCE_BYTES], other[READINESS_NONCE_BYTES];

	readiness_make_nonce(one);
	readiness_make_nonce(other);
	CU_ASSERT_EQUAL(strlen(one), READINESS_NONCE_BYTES - 1);
	CU_ASSERT_STRING_NOT_EQUAL(one, other);
}

static void the_environment_carries_it_and_stays_as_it_was(void)
{
	json_t *env = json_pack("{ss}", "LC_ALL", "C"), *with = readiness_env(env, "abc");

	CU_ASSERT_EQUAL(json_object_size(env), 1);
	CU_ASSERT_EQUAL(json_object_size(with), 2);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(with, "WEIR_NONCE")), "abc");
	json_decref(env);
	json_decref(with);
}

static void only_the_servers_own_line_is_accepted(void)
{
	CU_ASSERT(readiness_accept("{\"nonce\": \"abc\", \"pid\": 1}", "abc", 7));
	CU_ASSERT_FALSE(readiness_accept("{\"nonce\": \"abd\", \"pid\": 7}", "abc", 7));
	CU_ASSERT_FALSE(readiness_accept("{\"nonce\": \"\", \"pid\": 7}", "abc", 7));
	CU_ASSERT_FALSE(readiness_accept("to serve", "abc", 7));
	CU_ASSERT_FALSE(readiness_accept("[1]", "abc", 7));
}

static void a_server_that_knows_no_nonce_is_known_by_its_process(void)
{
	CU_ASSERT(readiness_accept("{\"pid\": 7}", "abc", 7));
	CU_ASSERT(readiness_accept("{\"pid\": 7, \"nonce\": null}", "abc", 7));
	CU_ASSERT_FALSE(readiness_accept("{\"pid\": 8}", "abc", 7));
	CU_ASSERT_FALSE(readiness_accept("{}", "abc", 7));
	CU_ASSERT(readiness_accept("{\"pid\": 8}", "abc", 0));
}

static const struct suite_test tests[] = {
	{"a nonce is new each time", a_nonce_is_new_each_time},
	{"the environment carries the nonce and stays as it was",
	 the_environment_carries_it_and_stays_as_it_was},
	{"only the server's own line is accepted", only_the_servers_own_line_is_accepted},
	{"a server that knows no nonce is known by its process",
	 a_server_that_knows_no_nonce_is_known_by_its_process},
};

SUITE_MAIN("run readiness", tests)
