#include "apps/run/result/result.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

/* Of two seconds, of which the upstream used 0.6 and the client 1.0 on the CPU that they share. */
static const char before_text[] =
	"{\"now_ns\": 1000000000, \"server\": {\"requests\": 100, \"responses\": 100}, "
	"\"process\": {\"user_us\": 1000, \"system_us\": 0}, \"cpu\": {\"tasks_us\": 0}}";
static const char after_text[] =
	"{\"now_ns\": 3000000000, \"server\": {\"requests\": 500, \"responses\": 500}, "
	"\"process\": {\"user_us\": 301000, \"system_us\": 300000}, \"cpu\": {\"tasks_us\": "
	"1600000}}";
static const char client_text[] =
	"{\"completed\": 9, \"elapsed_s\": 2.0, \"process\": {\"user_us\": 500000, \"system_us\": "
	"500000, \"window_s\": 2.0}, \"cpu\": {\"tasks_us\": 1800000}}";

/* The result of a sample whose upstream is on this CPU; the client is on CPU 1. */
static json_t *make(uint16_t upstream_cpu, bool upstream_told)
{
	static struct plan_cell cell;
	static struct plan_sample sample;
	json_t *before = json_loads(before_text, 0, NULL), *after = json_loads(after_text, 0, NULL);
	json_t *client = json_loads(client_text, 0, NULL), *reasons = json_array(), *result;

	cell = (struct plan_cell){.variant = "x",
				  .cell.of[SETTING_STACK].word = "epoll@loopback",
				  .cell.of[SETTING_WORKERS].number = 1,
				  .pins = {.server = {.count = 1},
					   .client = {.count = 1, .cpu = {1}},
					   .upstream = {.count = 1, .cpu = {upstream_cpu}}}};
	sample = (struct plan_sample){.id = "s0001", .run = 1, .cell = &cell};
	result =
		result_make(&(struct result_parts){.sample = &sample,
						   .reasons = reasons,
						   .started_at = "now",
						   .ready_ms = 1,
						   .before = before,
						   .after = after,
						   .upstream_before = upstream_told ? before : NULL,
						   .upstream_after = upstream_told ? after : NULL,
						   .client = client});
	json_decref(before);
	json_decref(after);
	json_decref(client);
	json_decref(reasons);
	return result;
}

static double number(const json_t *result, const char *part, const char *name)
{
	const json_t *value = json_object_get(json_object_get(result, part), name);

	CU_ASSERT(json_is_number(value));
	return json_number_value(value);
}

static void its_accounts_are_apart(void)
{
	json_t *result = make(2, true);

	CU_ASSERT_EQUAL(number(result, "upstream", "requests"), 400);
	CU_ASSERT_EQUAL(number(result, "upstream", "user_us"), 300000);
	CU_ASSERT_EQUAL(number(result, "upstream", "system_us"), 300000);
	CU_ASSERT(fabs(number(result, "upstream", "other_busy_cpus") - 0.5) < 1e-9);
	CU_ASSERT(fabs(number(result, "client", "other_busy_cpus") - 0.4) < 1e-9);
	CU_ASSERT_EQUAL(
		json_integer_value(json_array_get(
			json_object_get(json_object_get(result, "pins"), "upstream_cpus"), 0)),
		2);
	json_decref(result);
}

static void on_the_clients_cpu_neither_is_others_work(void)
{
	json_t *result = make(1, true);
	const json_t *upstream = json_object_get(result, "upstream");

	CU_ASSERT(fabs(number(result, "client", "other_busy_cpus") - 0.1) < 1e-9);
	CU_ASSERT(json_is_null(json_object_get(upstream, "other_busy_cpus")));
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(upstream, "other_busy_cpus_reason")),
		"the client has the same CPUs");
	json_decref(result);
}

static void one_that_told_nothing_has_no_zeros(void)
{
	json_t *result = make(2, false);
	const json_t *upstream = json_object_get(result, "upstream");

	CU_ASSERT(json_is_null(json_object_get(upstream, "requests")));
	CU_ASSERT(json_is_string(json_object_get(upstream, "requests_reason")));
	CU_ASSERT(json_is_null(json_object_get(json_object_get(result, "binding"), "upstream")));
	json_decref(result);
}

/* Of a result whose server counted so. */
static bool lacks_hits(const char *handlers, char *text, size_t text_bytes)
{
	json_t *result = json_pack("{s{so}}", "server", "handlers", json_loads(handlers, 0, NULL));
	bool lacks = result_lacks_hits(result, text, text_bytes);

	json_decref(result);
	return lacks;
}

static void a_cache_without_a_hit_is_told(void)
{
	char text[RESULT_HITS_BYTES];

	CU_ASSERT(lacks_hits("{\"cache_hits\": 0, \"cache_misses\": 900}", text, sizeof(text)));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "the cache had no hit, and fetched 900 answers"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "like cache:;ttl=60s?"));
	CU_ASSERT(!lacks_hits("{\"cache_hits\": 1, \"cache_misses\": 900}", text, sizeof(text)));
	CU_ASSERT(!lacks_hits("{\"cache_hits\": 0, \"cache_misses\": 0}", text, sizeof(text)));
	CU_ASSERT(!lacks_hits("{\"cache_hits\": null}", text, sizeof(text)));
	CU_ASSERT(!lacks_hits("{}", text, sizeof(text)));
}

static const struct suite_test tests[] = {
	{"an upstream's accounts stand beside the server's", its_accounts_are_apart},
	{"where upstream and client share a CPU, neither is others' work to the other",
	 on_the_clients_cpu_neither_is_others_work},
	{"of an upstream that told nothing nothing is 0", one_that_told_nothing_has_no_zeros},
	{"of a cache in front of it that had not one hit it is told",
	 a_cache_without_a_hit_is_told},
};

SUITE_MAIN("run upstream", tests)
