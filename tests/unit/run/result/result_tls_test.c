/* What a sample says of TLS, and what is wrong where its sides disagree. */
#include "apps/run/result/result.h"
#include "tests/support/suite.h"

#include <string.h>

#define KIND "TLSv1.3 TLS_AES_256_GCM_SHA384 X25519"
#define OTHER_KIND "TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256 P-256"

static json_t *reasons;

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, 0, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	return json;
}

/* A sample's TLS from a server's snapshot and a client's result; its faults are in `reasons`. */
static json_t *tls_of(const char *after_text, const char *client_text)
{
	json_t *ready = parse("{\"tls\": {\"on\": true, \"provider\": \"P\"}}");
	json_t *after = parse(after_text), *client = parse(client_text), *tls;

	json_decref(reasons);
	reasons = json_array();
	tls = result_tls(&(struct result_parts){
		.reasons = reasons, .ready = ready, .after = after, .client = client});
	CU_ASSERT_PTR_NULL(json_object_get(json_object_get(ready, "tls"), "negotiated"));
	json_decref(ready);
	json_decref(after);
	json_decref(client);
	return tls;
}

static json_int_t conns_of(const json_t *tls, const char *side, const char *kind)
{
	const json_t *negotiated = json_object_get(json_object_get(tls, side), "negotiated");

	return json_integer_value(json_object_get(negotiated, kind));
}

static void expect_reason(const char *words)
{
	CU_ASSERT_EQUAL_FATAL(json_array_size(reasons), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(json_string_value(json_array_get(reasons, 0)), words));
}

static void both_sides_stand_in_it(void)
{
	json_t *tls = tls_of("{\"tls_negotiated\": {\"" KIND "\": 9, \"" OTHER_KIND "\": 1}}",
			     "{\"tls\": {\"on\": true, \"negotiated\": {\"" KIND "\": 8}}}");

	CU_ASSERT_EQUAL(json_array_size(reasons), 0);
	CU_ASSERT_EQUAL(conns_of(tls, "server", KIND), 9);
	CU_ASSERT_EQUAL(conns_of(tls, "server", OTHER_KIND), 1);
	CU_ASSERT_EQUAL(conns_of(tls, "client", KIND), 8);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(json_object_get(tls, "server"), "provider")),
		"P");
	json_decref(tls);
}

static void disagreement_is_named(void)
{
	json_decref(tls_of("{\"tls_negotiated\": {\"" OTHER_KIND "\": 9}}",
			   "{\"tls\": {\"negotiated\": {\"" KIND "\": 8}}}"));
	expect_reason("the client negotiated " KIND ", the server did not");
}

/* A table that overflowed does not have every name. */
static void overflow_is_not_judged(void)
{
	json_decref(tls_of("{\"tls_negotiated\": {\"" OTHER_KIND "\": 9, \"other\": 8}}",
			   "{\"tls\": {\"negotiated\": {\"" KIND "\": 8}}}"));
	CU_ASSERT_EQUAL(json_array_size(reasons), 0);
}

static void nothing_negotiated_is_named(void)
{
	json_decref(tls_of("{\"tls_negotiated\": {\"" KIND "\": 1}}",
			   "{\"tls\": {\"negotiated\": {}}}"));
	expect_reason("no handshake");
}

/* A program of an older commit may serve or load. */
static void silence_is_no_disagreement(void)
{
	json_t *tls = tls_of("{}", "{\"tls\": {\"negotiated\": {\"" KIND "\": 8}}}");
	const json_t *server = json_object_get(tls, "server");

	CU_ASSERT_EQUAL(json_array_size(reasons), 0);
	CU_ASSERT_TRUE(json_is_null(json_object_get(server, "negotiated")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(server, "negotiated_reason")),
			       "the server did not say");
	json_decref(tls);
	tls = tls_of("{\"tls_negotiated\": {\"" KIND "\": 8}}", "{}");
	CU_ASSERT_EQUAL(json_array_size(reasons), 0);
	CU_ASSERT_TRUE(json_is_null(json_object_get(tls, "client")));
	json_decref(tls);
}

static void clients_are_summed(void)
{
	json_t *one = parse("{\"tls\": {\"negotiated\": {\"" KIND "\": 8}}}");
	json_t *other =
		parse("{\"tls\": {\"negotiated\": {\"" KIND "\": 2, \"" OTHER_KIND "\": 4}}}");
	const struct result_client clients[] = {{"client 1", NULL, one}, {"client 2", NULL, other}};
	json_t *tls;

	json_decref(reasons);
	reasons = json_array();
	tls = result_tls(&(struct result_parts){
		.reasons = reasons, .client = one, .clients = clients, .client_count = 2});
	CU_ASSERT_EQUAL(conns_of(tls, "client", KIND), 10);
	CU_ASSERT_EQUAL(conns_of(tls, "client", OTHER_KIND), 4);
	json_decref(tls);
	json_decref(one);
	json_decref(other);
}

static const struct suite_test tests[] = {
	{"what both sides negotiated stands in the result", both_sides_stand_in_it},
	{"a disagreement is named", disagreement_is_named},
	{"a table that overflowed is not judged", overflow_is_not_judged},
	{"a client that negotiated nothing is named", nothing_negotiated_is_named},
	{"a side that does not say is unknown, and no disagreement", silence_is_no_disagreement},
	{"several clients are summed by name", clients_are_summed},
};

SUITE_MAIN("run result tls", tests)
