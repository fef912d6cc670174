#include "apps/provenance/drift.h"
#include "tests/support/suite.h"

#include <string.h>

static json_t *load(const char *text)
{
	json_t *value = json_loads(text, 0, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(value);
	return value;
}

/* What drift_make says, on one line. */
static void expect(const char *before, const char *after, const char *expected)
{
	json_t *one = load(before), *other = load(after), *wanted = load(expected);
	json_t *drift = drift_make(one, other);

	CU_ASSERT_TRUE(json_equal(drift, wanted));
	if (!json_equal(drift, wanted))
		json_dumpf(drift, stderr, 0);
	json_decref(one);
	json_decref(other);
	json_decref(wanted);
	json_decref(drift);
}

static void names_what_changed(void)
{
	expect("{\"governor\": \"performance\", \"turbo\": true}",
	       "{\"governor\": \"powersave\", \"turbo\": true}",
	       "[{\"fact\": \"governor\", \"before\": \"performance\", \"after\": \"powersave\", "
	       "\"matters\": true}]");
	expect("{\"sysctls\": {\"net.core.rmem_max\": \"1\"}}",
	       "{\"sysctls\": {\"net.core.rmem_max\": \"2\"}}",
	       "[{\"fact\": \"sysctls.net.core.rmem_max\", \"before\": \"1\", \"after\": \"2\", "
	       "\"matters\": true}]");
	expect("{\"environment_bytes\": 1}", "{\"environment_bytes\": 2}",
	       "[{\"fact\": \"environment_bytes\", \"before\": 1, \"after\": 2, \"matters\": "
	       "false}]");
}

static void finds_members_by_name(void)
{
	expect("{\"nics\": [{\"name\": \"lo\", \"mtu\": 1}, {\"name\": \"eth0\", \"mtu\": 2}]}",
	       "{\"nics\": [{\"name\": \"eth0\", \"mtu\": 3}, {\"name\": \"lo\", \"mtu\": 1}]}",
	       "[{\"fact\": \"nics.eth0.mtu\", \"before\": 2, \"after\": 3, \"matters\": true}]");
	expect("{\"nics\": []}", "{\"nics\": [{\"name\": \"eth1\", \"mtu\": 3}]}",
	       "[{\"fact\": \"nics.eth1\", \"before\": \"absent\", \"after\": \"present\", "
	       "\"matters\": true}]");
	expect("{\"memory_nodes\": [{\"node\": 2, \"hugepages\": {\"2048\": {\"total\": 4}}}]}",
	       "{\"memory_nodes\": [{\"node\": 2, \"hugepages\": {\"2048\": {\"total\": 0}}}]}",
	       "[{\"fact\": \"memory_nodes.2.hugepages.2048.total\", \"before\": 4, \"after\": 0, "
	       "\"matters\": true}]");
}

static void keeps_unknown_apart(void)
{
	expect("{\"turbo\": null, \"turbo_reason\": \"a\"}",
	       "{\"turbo\": null, \"turbo_reason\": \"b\"}", "[]");
	expect("{\"turbo\": null, \"turbo_reason\": \"a\"}", "{\"turbo\": true}",
	       "[{\"fact\": \"turbo\", \"before\": null, \"after\": true, \"matters\": true}]");
	expect("[]", "{\"turbo\": true}", "[]");
}

static void leaves_the_restless_out(void)
{
	expect("{\"taken_at\": \"a\", \"loadavg\": [1, 2, 3], \"cpu_ticks\": {\"user\": 1}, "
	       "\"memory_available_kib\": 5, \"hugepages\": {\"free\": 3}, \"pressure\": {\"cpu\": "
	       "{\"some_total_us\": 4}}, \"memory_nodes\": [{\"node\": 0, \"memory_free_kib\": 1, "
	       "\"hugepages\": {\"2048\": {\"free\": 1}}}]}",
	       "{\"taken_at\": \"b\", \"loadavg\": [4, 5, 6], \"cpu_ticks\": {\"user\": 2}, "
	       "\"memory_available_kib\": 6, \"hugepages\": {\"free\": 4}, \"pressure\": {\"cpu\": "
	       "{\"some_total_us\": 5}}, \"memory_nodes\": [{\"node\": 0, \"memory_free_kib\": 2, "
	       "\"hugepages\": {\"2048\": {\"free\": 2}}}]}",
	       "[]");
}

/* The runner raises its autogroup's weight between the facts and tells more of it than it reads. */
static void knows_the_runner(void)
{
	expect("{\"autogroup\": {\"group\": \"/a\", \"nice\": -10, \"nice_before\": 0, \"raised\": "
	       "true, \"in_effect\": true, \"enabled\": 1}}",
	       "{\"autogroup\": {\"group\": \"/a\", \"nice\": -10, \"enabled\": 1}}", "[]");
}

static void gives_deltas(void)
{
	json_t *before = load("{\"cpu_ticks\": {\"user\": 100, \"nice\": 0, \"system\": 0, "
			      "\"idle\": 100, \"iowait\": 0, \"irq\": 0, \"softirq\": 0, "
			      "\"steal\": 0, \"per_second\": 100}, \"loadavg\": [0.5]}");
	json_t *after = load("{\"cpu_ticks\": {\"user\": 160, \"nice\": 0, \"system\": 0, "
			     "\"idle\": 120, \"iowait\": 0, \"irq\": 0, \"softirq\": 0, "
			     "\"steal\": 20, \"per_second\": 100}, \"loadavg\": [1.5]}");
	json_t *wanted = load("{\"schema\": \"weir.drift/1\", \"drift\": [], \"moved\": ["
			      "{\"fact\": \"cpu_ticks.user\", \"before\": 100, \"after\": 160, "
			      "\"delta\": 60}, {\"fact\": \"cpu_ticks.idle\", \"before\": 100, "
			      "\"after\": 120, \"delta\": 20}, {\"fact\": \"cpu_ticks.steal\", "
			      "\"before\": 0, \"after\": 20, \"delta\": 20}, {\"fact\": "
			      "\"loadavg.0\", \"before\": 0.5, \"after\": 1.5, \"delta\": 1.0}], "
			      "\"steal_share\": 0.2}");
	json_t *drift = drift_to_json(before, after), *none = drift_to_json(before, before);

	CU_ASSERT_TRUE(json_equal(drift, wanted));
	CU_ASSERT_TRUE(json_is_null(json_object_get(none, "steal_share")));
	CU_ASSERT_TRUE(json_is_string(json_object_get(none, "steal_share_reason")));
	json_decref(before);
	json_decref(after);
	json_decref(wanted);
	json_decref(drift);
	json_decref(none);
}

static const struct suite_test tests[] = {
	{"facts that ought to stay are named when they change", names_what_changed},
	{"members of lists are found by name and node, in any order", finds_members_by_name},
	{"reasons are no facts, but what becomes known is", keeps_unknown_apart},
	{"what never rests is no drift", leaves_the_restless_out},
	{"what the runner sets itself is no drift", knows_the_runner},
	{"what never rests has its delta, and steal its share", gives_deltas},
};

SUITE_MAIN("provenance drift", tests)
