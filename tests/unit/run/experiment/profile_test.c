#include "apps/run/experiment/profile.h"
#include "tests/support/suite.h"

#include <string.h>

/* The scenarios of a profile; their names are freed with `names`. */
static struct axis axis;

static json_t *add(const char *name, const struct profile_matrix *matrix)
{
	json_t *names = json_array();
	const struct profile *profile = profile_find(name);

	CU_ASSERT_FATAL(profile != NULL);
	axis = (struct axis){.kind = AXIS_SCENARIOS};
	CU_ASSERT_TRUE(profile_add(profile, matrix, &axis, names));
	return names;
}

static void expect(const char *name, const char *workers, unsigned connections, unsigned depth,
		   unsigned request_bytes, unsigned response_bytes, const char *placement)
{
	json_t *names = add(name, &profile_matrix_default);
	const struct setting_value *of = axis.levels[0].cell.of;

	CU_ASSERT_EQUAL_FATAL(axis.count, 1);
	CU_ASSERT_EQUAL(of[SETTING_CONNECTIONS].number, connections);
	CU_ASSERT_EQUAL(of[SETTING_DEPTH].number, depth);
	CU_ASSERT_EQUAL(of[SETTING_REQUEST_BYTES].number, request_bytes);
	CU_ASSERT_EQUAL(of[SETTING_RESPONSE_BYTES].number, response_bytes);
	CU_ASSERT_STRING_EQUAL(of[SETTING_PLACEMENT].word, placement);
	CU_ASSERT_EQUAL(setting_says(of[SETTING_WORKERS], "all"), strcmp(workers, "all") == 0);
	CU_ASSERT_EQUAL(of[SETTING_WORKERS].number, strcmp(workers, "all") == 0 ? 0 : 1);
	json_decref(names);
}

static void the_numbers_are_those_of_others(void)
{
	expect("min-rtt", "1", 1, 1, 64, 64, "same-node");
	expect("pooled", "all", 32, 1, 256, 64, "same-node");
	expect("pool-saturation", "all", 256, 1, 256, 64, "across-nodes");
	expect("pipelined-throughput", "all", 256, 8, 256, 64, "across-nodes");
	CU_ASSERT_PTR_EQUAL(profile_find("throughput"), profile_find("pipelined-throughput"));
	CU_ASSERT_PTR_NULL(profile_find("all"));
	CU_ASSERT_STRING_EQUAL(profile_full.warmup, "15s");
	CU_ASSERT_STRING_EQUAL(profile_full.duration, "30s");
	CU_ASSERT_EQUAL(profile_full.duration_ns, 30000000000);
	CU_ASSERT_EQUAL(profile_full.runs, 3);
}

static void capacity_spans_workers_and_sizes(void)
{
	static const unsigned workers[] = {1, 2, 4, 8, 16, 32, 36};
	static const unsigned kib[] = {0, 1, 10, 100};
	json_t *names = add("capacity", &profile_matrix_default);

	CU_ASSERT_EQUAL_FATAL(axis.count, 28);
	for (unsigned i = 0; i < axis.count; i++) {
		const struct setting_value *of = axis.levels[i].cell.of;

		CU_ASSERT_EQUAL(of[SETTING_WORKERS].number, workers[i / 4]);
		CU_ASSERT_EQUAL(of[SETTING_RESPONSE_BYTES].number, kib[i % 4] * 1024);
		CU_ASSERT_EQUAL(of[SETTING_CONNECTIONS].number, 50);
		CU_ASSERT_EQUAL(of[SETTING_DEPTH].number, 1);
		CU_ASSERT_EQUAL(of[SETTING_REQUEST_BYTES].number, 0);
		CU_ASSERT_TRUE(setting_says(of[SETTING_CLIENT_WORKERS], "all"));
	}
	CU_ASSERT_STRING_EQUAL(axis.levels[10].name, "capacity-4cpu-10kb");
	json_decref(names);
}

static void an_axis_without_room_is_told(void)
{
	struct profile_matrix matrix = {.worker_count_count = 16, .response_kib_count = 16};
	json_t *names = json_array();

	axis = (struct axis){.kind = AXIS_SCENARIOS};
	CU_ASSERT_FALSE(profile_add(profile_find("capacity"), &matrix, &axis, names));
	CU_ASSERT_EQUAL(axis.count, AXIS_LEVELS_MAX);
	json_decref(names);
}

static void every_profile_has_its_names(void)
{
	unsigned count;
	const char *const *names = profile_names(&count);

	CU_ASSERT_EQUAL(count, 7);
	CU_ASSERT_STRING_EQUAL(names[count - 1], "all");
	for (unsigned i = 0; i + 1 < count; i++)
		CU_ASSERT_PTR_NOT_NULL(profile_find(names[i]));
}

static void what_a_host_has_not_is_said(void)
{
	static struct topology three = {
		.cpus = {.count = 3, .cpu = {0, 1, 2}}, .core = {0, 1, 2}, .cores = 3, .nodes = 1};
	const struct link *loopback = link_find("epoll@loopback");
	json_t *names = add("capacity", &profile_matrix_default);
	struct cell one = axis.levels[0].cell, two = axis.levels[4].cell;
	struct tp_error lack;

	CU_ASSERT_TRUE(profile_settle(&one, &three, loopback, &lack));
	CU_ASSERT_STRING_EQUAL(one.of[SETTING_PLACEMENT].word, "same-node");
	CU_ASSERT_STRING_EQUAL(lack.text,
			       "server and client share the one NUMA node that there is");
	CU_ASSERT_FALSE(profile_settle(&two, &three, loopback, &lack));
	CU_ASSERT_STRING_EQUAL(
		lack.text,
		"omitted: 2 workers are more than the 1 CPU that a server may have here");
	json_decref(names);
}

static const struct suite_test tests[] = {
	{"a profile's numbers are those that others measured by", the_numbers_are_those_of_others},
	{"capacity spans counts of workers and sizes of responses",
	 capacity_spans_workers_and_sizes},
	{"more scenarios than an axis holds are told", an_axis_without_room_is_told},
	{"each name that messages offer is a profile's", every_profile_has_its_names},
	{"what a host has too little of is lowered or left out, and said",
	 what_a_host_has_not_is_said},
};

SUITE_MAIN("run profile", tests)
