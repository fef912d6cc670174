#include "apps/run/plan/plan.h"
#include "dataplane/core/hugepages.h"
#include "stacks/registry.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct topology two_cores = {
	.cpus = {.count = 2, .cpu = {0, 1}}, .core = {0, 1}, .cores = 2, .packages = 1, .nodes = 1};
static struct topology two_nodes = {.cpus = {.count = 8, .cpu = {0, 1, 2, 3, 4, 5, 6, 7}},
				    .core = {0, 1, 2, 3, 4, 5, 6, 7},
				    .node = {0, 0, 0, 0, 1, 1, 1, 1},
				    .cores = 8,
				    .packages = 2,
				    .nodes = 2};
static const struct program programs[EXPERIMENT_BUILDS_MAX];
static const struct plan_ground small = {.topology = &two_cores,
					 .socket_folder = "/tmp/ground",
					 .port = 20000,
					 .programs = programs};
static const struct plan_ground large = {.topology = &two_nodes,
					 .socket_folder = "/tmp/ground",
					 .port = 20000,
					 .programs = programs};

static struct experiment *compose(const char *text)
{
	struct problems problems = {0};
	struct experiment *experiment = NULL;

	if (experiment_compose("x", text, &experiment, &problems) < 0)
		printf("# %s", problems.text);
	CU_ASSERT_FATAL(experiment != NULL);
	return experiment;
}

static struct plan *make(const struct experiment *experiment, const struct plan_ground *ground)
{
	struct problems problems = {0};
	struct plan *plan = NULL;

	if (plan_make(experiment, ground, &plan, &problems) < 0)
		printf("# %s", problems.text);
	CU_ASSERT_FATAL(plan != NULL);
	return plan;
}

#define HEAD                                                               \
	"{\"schema\": \"weir.experiment/1\", \"name\": \"x\", \"fixed\": " \
	"{\"stack\": \"epoll@loopback\"}"

#define SCENARIOS                                                                      \
	", \"scenarios\": {\"respond-64\": {\"handler\": \"respond\"}, \"echo-256\": " \
	"{\"handler\": \"echo\", \"request_bytes\": 256}}"
#define VARIANTS                                                                             \
	", \"variants\": {\"base\": {\"commit\": \"v1\"}, \"new\": {}, \"spin\": {\"set\": " \
	"{\"wait\": \"spin\"}}}"

static void names_are_factors_scenario_and_variant(void)
{
	struct experiment *experiment = compose(
		HEAD SCENARIOS VARIANTS
		", \"factors\": {\"depth\": [1, 8]}, \"excludes\": [{\"scenario\": \"echo-256\", "
		"\"depth\": 1}, {\"variant\": \"spin\", \"depth\": 1}]}");
	static const char *const names[] = {"d1.respond-64.base", "d1.respond-64.new",
					    "d8.respond-64.base", "d8.respond-64.new",
					    "d8.respond-64.spin", "d8.echo-256.base",
					    "d8.echo-256.new",	  "d8.echo-256.spin"};
	struct plan *plan = make(experiment, &small);
	json_t *cell = plan_cell_to_json(&plan->cells[7]);

	CU_ASSERT_EQUAL_FATAL(plan->cell_count, 8);
	for (unsigned i = 0; i < 8; i++) {
		CU_ASSERT_STRING_EQUAL(plan->cells[i].variant, names[i]);
		CU_ASSERT_PTR_EQUAL(plan->cells[i].program,
				    &programs[strstr(names[i], "base") ? 1 : 0]);
	}
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(cell, "scenario")), "echo-256");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(cell, "variant")), "spin");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(cell, "wait")), "spin");
	json_decref(cell);
	plan_free(plan);
	experiment_free(experiment);
}

static void a_cell_without_such_axes_says_nothing_of_them(void)
{
	struct experiment *experiment = compose(HEAD "}");
	struct plan *plan = make(experiment, &small);
	json_t *cell = plan_cell_to_json(&plan->cells[0]);

	CU_ASSERT_STRING_EQUAL(plan->cells[0].variant, "epoll@loopback");
	CU_ASSERT_PTR_NULL(json_object_get(cell, "scenario"));
	CU_ASSERT_PTR_NULL(json_object_get(cell, "variant"));
	json_decref(cell);
	plan_free(plan);
	experiment_free(experiment);
}

/* What chance makes of one build is shown by measuring it under two names. */
static void one_build_may_have_two_names(void)
{
	struct experiment *experiment = compose(HEAD ", \"variants\": {\"a\": {}, \"b\": {}}}");
	struct problems problems = {0};
	struct plan *plan = make(experiment, &small);

	CU_ASSERT_EQUAL(plan->cell_count, 2);
	plan_free(plan);
	experiment_free(experiment);
	experiment = compose(
		HEAD ", \"scenarios\": {\"a\": {\"depth\": 1}, \"b\": {\"connections\": 1}}}");
	CU_ASSERT(plan_make(experiment, &small, &plan, &problems) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "a and b are one cell"));
	experiment_free(experiment);
}

static void sides_have_workers_of_their_own(void)
{
	struct experiment *experiment = compose(
		HEAD ", \"scenarios\": {\"a\": {\"connections\": 9, \"workers\": 2, "
		     "\"client_workers\": 1}, \"b\": {\"connections\": 9, \"workers\": \"all\", "
		     "\"client_workers\": 0, \"placement\": \"across-nodes\"}, \"c\": "
		     "{\"connections\": 2, \"workers\": 1, \"client_workers\": \"all\", "
		     "\"placement\": \"across-nodes\"}}}");
	static const unsigned workers[][2] = {{2, 1}, {3, 3}, {1, 2}};
	struct plan *plan = make(experiment, &large);

	for (unsigned i = 0; i < 3; i++) {
		const struct plan_cell *cell = &plan->cells[i];

		CU_ASSERT_EQUAL(cell->pins.server.count, workers[i][0]);
		CU_ASSERT_EQUAL(cell->pins.client.count, workers[i][1]);
		CU_ASSERT_EQUAL(cell->cell.of[SETTING_WORKERS].number, workers[i][0]);
		CU_ASSERT_EQUAL(cell->cell.of[SETTING_CLIENT_WORKERS].number, workers[i][1]);
	}
	CU_ASSERT_NOT_EQUAL(plan->cells[1].pins.server_nodes.cpu[0],
			    plan->cells[1].pins.client_nodes.cpu[0]);
	plan_free(plan);
	experiment_free(experiment);
}

static void expect_form(const char *rest, const struct plan_ground *ground, const char *warmup,
			const char *duration, unsigned runs, const char *reason)
{
	char text[512];
	struct experiment *experiment;
	struct plan *plan;

	snprintf(text, sizeof(text), "%s%s}", HEAD, rest);
	experiment = compose(text);
	plan = make(experiment, ground);
	CU_ASSERT_STRING_EQUAL(plan->experiment->warmup, warmup);
	CU_ASSERT_STRING_EQUAL(plan->experiment->duration, duration);
	CU_ASSERT_EQUAL(plan->experiment->runs, runs);
	CU_ASSERT_EQUAL(plan->sample_count, plan->cell_count * runs);
	if (reason)
		CU_ASSERT_STRING_EQUAL(plan->form_reason, reason);
	CU_ASSERT_EQUAL(plan->form_reason != NULL, reason != NULL);
	plan_free(plan);
	experiment_free(experiment);
}

static void a_form_suits_the_host_unless_told(void)
{
	static const char asked[] = "the experiment asks for it";

	expect_form("", &small, "1s", "3s", 1, NULL);
	expect_form(", \"profiles\": [\"min-rtt\"]", &small, "1s", "2s", 3, "the plan is degraded");
	expect_form(", \"profiles\": [\"min-rtt\"]", &large, "15s", "30s", 3,
		    "the plan is not degraded");
	expect_form(", \"profiles\": [\"min-rtt\"], \"form\": \"full\"", &small, "15s", "30s", 3,
		    asked);
	expect_form(", \"profiles\": [\"min-rtt\"], \"form\": \"short\", \"runs\": 2, \"warmup\": "
		    "\"0s\"",
		    &large, "0s", "2s", 2, asked);
	expect_form(", \"form\": \"full\", \"duration\": \"1s\"", &small, "15s", "1s", 3, asked);
}

static void a_profile_is_lowered_to_the_host_and_says_so(void)
{
	struct experiment *experiment = compose(HEAD ", \"profiles\": [\"all\"]}");
	struct plan *plan = make(experiment, &small);
	const json_t *entry = json_array_get(plan->omitted, 0);

	/* min-rtt, pooled, pool-saturation, pipelined-throughput and capacity with one worker */
	CU_ASSERT_EQUAL(plan->cell_count, 8);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(entry, "what")),
			       "pool-saturation");
	/* no second node: 2 + 4 cells; too many workers: 6 x 4 */
	CU_ASSERT_EQUAL(json_array_size(plan->omitted), 6 + 24);
	plan_free(plan);
	plan = make(experiment, &large);
	CU_ASSERT_EQUAL(plan->cell_count, 4 + 2 * 4);
	CU_ASSERT_EQUAL(json_array_size(plan->omitted), 5 * 4);
	CU_ASSERT_PTR_NULL(plan->degraded);
	plan_free(plan);
	experiment_free(experiment);
	experiment = compose(HEAD ", \"profiles\": [\"capacity\"], \"worker_counts\": [8]}");
	CU_ASSERT(plan_make(experiment, &small, &plan, &(struct problems){0}) < 0);
	experiment_free(experiment);
}

/* Everything of the samples but what the host decides anew in each run. */
static void expect_equal(const struct plan *a, const struct plan *b)
{
	json_t *first = plan_to_json(a), *second = plan_to_json(b);

	CU_ASSERT_TRUE(
		json_equal(json_object_get(first, "samples"), json_object_get(second, "samples")));
	CU_ASSERT_TRUE(
		json_equal(json_object_get(first, "builds"), json_object_get(second, "builds")));
	CU_ASSERT_TRUE(json_equal(json_object_get(first, "effective"),
				  json_object_get(second, "effective")));
	CU_ASSERT_TRUE(
		json_equal(json_object_get(first, "order"), json_object_get(second, "order")));
	json_decref(first);
	json_decref(second);
}

/* As a result is repeated: from what stands in its plan.json under "effective". */
static void expect_replay(const struct experiment *experiment, const struct plan_ground *ground)
{
	struct plan *plan = make(experiment, ground), *again;
	json_t *json = plan_to_json(plan);
	char *text = json_dumps(json_object_get(json, "effective"), JSON_INDENT(1));
	struct experiment *effective = compose(text);

	again = make(effective, ground);
	CU_ASSERT(plan->sample_count > 0);
	expect_equal(plan, again);
	plan_free(again);
	plan_free(plan);
	experiment_free(effective);
	json_decref(json);
	free(text);
}

static void what_was_effective_makes_the_same_plan(void)
{
	static const char *const texts[] = {
		HEAD "}",
		HEAD SCENARIOS VARIANTS
		", \"factors\": {\"response_bytes\": [\"1KiB\"], \"depth\": [1, 8, "
		"32]}, \"order\": \"random(7)\", \"runs\": 3}",
		HEAD ", \"profiles\": [\"all\"]}",
		HEAD VARIANTS ", \"profiles\": [\"capacity\", \"min-rtt\"], \"worker_counts\": [4, "
			      "2, 1], \"response_kib\": [10, 0], \"order\": \"balanced\"}",
		HEAD
		", \"form\": \"short\", \"order\": \"abba\", \"factors\": {\"depth\": [1, 2]}}",
	};

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct experiment *experiment = compose(texts[i]);

		expect_replay(experiment, &small);
		expect_replay(experiment, &large);
		experiment_free(experiment);
	}
}

static void changes_are_in_what_was_effective(void)
{
	static const struct experiment_changes changes = {
		.overrides = {"depth=[2,4]", "order=random(3)", "connections=8"},
		.override_count = 3,
		.variants = {"old=v0.1"},
		.variant_count = 1,
		.profiles = NULL};
	struct problems problems = {0};
	struct experiment *experiment;
	char path[] = "/tmp/weir-replay-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");

	CU_ASSERT_FATAL(file != NULL);
	fputs(HEAD VARIANTS ", \"factors\": {\"depth\": [1]}}", file);
	fclose(file);
	CU_ASSERT_EQUAL_FATAL(experiment_read(path, &changes, &experiment, &problems), 0);
	remove(path);
	CU_ASSERT_EQUAL(experiment->axes[1].count, 4);
	expect_replay(experiment, &small);
	experiment_free(experiment);
}

/* A plan may be looked at where it could not be carried out. */
static void what_the_host_lacks_does_not_hide_the_plan(void)
{
	struct experiment *experiment = compose(
		"{\"schema\": \"weir.experiment/1\", \"name\": \"x\", \"fixed\": {\"stack\": "
		"\"dpdk@memif\", \"hugepages\": \"yes\"}}");
	struct problems problems = {0};
	struct stack_choice choice;
	struct tp_error error;
	struct plan *plan = NULL;

	if (stack_find("dpdk@memif", &choice, &error) < 0) {
		suite_skip("%s", error.text);
		experiment_free(experiment);
		return;
	}
	CU_ASSERT_EQUAL_FATAL(plan_sketch(experiment, &small, &plan, &problems), 0);
	CU_ASSERT_EQUAL(plan->sample_count, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "hugepages are to be used"));
	plan_free(plan);
	problems = (struct problems){0};
	CU_ASSERT(plan_make(experiment, &small, &plan, &problems) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "hugepages are to be used"));
	experiment_free(experiment);
}

static const struct suite_test tests[] = {
	{"a cell is named by factors, scenario and variant, which excludes can name too",
	 names_are_factors_scenario_and_variant},
	{"a cell without scenario and variant says nothing of them",
	 a_cell_without_such_axes_says_nothing_of_them},
	{"one build may be measured under two names, one scenario may not",
	 one_build_may_have_two_names},
	{"server and client have workers of their own, or all that the host has for them",
	 sides_have_workers_of_their_own},
	{"windows and runs follow the form, which follows the host, unless the file says",
	 a_form_suits_the_host_unless_told},
	{"a profile is lowered to what the host has, and the plan says so",
	 a_profile_is_lowered_to_the_host_and_says_so},
	{"what a plan says was effective makes the same plan",
	 what_was_effective_makes_the_same_plan},
	{"changes of the command line are in what was effective",
	 changes_are_in_what_was_effective},
	{"what the host lacks does not hide the plan", what_the_host_lacks_does_not_hide_the_plan},
};

SUITE_MAIN("run replay", tests)
