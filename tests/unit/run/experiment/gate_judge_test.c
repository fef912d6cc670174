#include "tests/support/suite.h"
#include "tests/unit/run/experiment/rig.h"

#include <string.h>

#define SCENARIOS                                                                             \
	"\"scenarios\": {\"small\": {\"response_bytes\": 64}, \"big\": {\"response_bytes\": " \
	"4096}},\n"
#define VARIANTS "\"variants\": {\"base\": {}, \"new\": {\"set\": {\"wait\": \"spin\"}}},\n"
#define WITH(gate) HEAD FIXED ",\n" SCENARIOS VARIANTS "\"gate\": " gate "}"

static const char *const good[] = {
	WITH("{\"kind\": \"none\"}"),
	WITH("{\"kind\": \"point\"}"),
	WITH("{\"kind\": \"point\", \"rps\": 1, \"cpu\": 1}"),
	WITH("{\"kind\": \"interval\", \"rps\": 0.5, \"cpu\": 1.5}"),
	WITH("{\"kind\": \"category\"}"),
	WITH("{\"kind\": \"category\", \"default\": 0.15, \"critical\": 0.1, \"allocator\": 0.2, "
	     "\"categories\": {\"small\": \"critical\", \"big\": \"allocator\"}}"),
	/* What is not judged needs no variants. */
	HEAD FIXED ", \"gate\": {\"kind\": \"none\"}}",
};

static const struct {
	const char *text;
	const char *expected;
} bad[] = {
	{WITH("1"), "5:9: 'gate' is 1; accepted: an object like {\"kind\": \"point\"}\n"},
	{WITH("{}"), "5:9: 'kind' is missing; accepted: none, point, interval or category\n"},
	{WITH("{\"kind\": \"pint\"}"),
	 "5:18: 'kind' is \"pint\"; accepted: none, point, interval or category\n"},
	{WITH("{\"kind\": \"point\", \"cpus\": 1.1}"),
	 "5:27: unknown key 'cpus'; did you mean 'cpu'?\n"},
	{WITH("{\"kind\": \"point\", \"critical\": 0.1}"),
	 "5:27: 'critical' does not go with the kind \"point\"\n"},
	{WITH("{\"kind\": \"none\", \"rps\": 0.9}"),
	 "5:26: 'rps' does not go with the kind \"none\"\n"},
	{WITH("{\"kind\": \"point\", \"rps\": 0}"),
	 "5:34: 'rps' is 0; accepted: a ratio above 0, at most 1, like 0.98\n"},
	{WITH("{\"kind\": \"interval\", \"rps\": 1.01}"),
	 "5:37: 'rps' is 1.01; accepted: a ratio above 0, at most 1, like 0.98\n"},
	{WITH("{\"kind\": \"point\", \"rps\": \"0.98\"}"),
	 "5:34: 'rps' is \"0.98\"; accepted: a ratio above 0, at most 1, like 0.98\n"},
	{WITH("{\"kind\": \"point\", \"cpu\": 0.98}"),
	 "5:34: 'cpu' is 0.98; accepted: a ratio of 1 or more, like 1.02\n"},
	{WITH("{\"kind\": \"category\", \"default\": 1}"),
	 "5:41: 'default' is 1; accepted: a share above 0 and below 1, like 0.15\n"},
	{WITH("{\"kind\": \"category\", \"categories\": []}"),
	 "5:44: 'categories' is []; accepted: an object, each key a scenario\n"},
	{WITH("{\"kind\": \"category\", \"categories\": {\"smal\": \"critical\"}}"),
	 "5:53: unknown scenario 'smal'; did you mean 'small'?\n"},
	{WITH("{\"kind\": \"category\", \"categories\": {\"small\": \"crit\"}}"),
	 "5:54: 'small' is \"crit\"; accepted: default, critical or allocator\n"},
	/* What cannot be judged. */
	{HEAD FIXED ",\n\"gate\": {\"kind\": \"point\"}}",
	 "3:1: 'gate' judges variants against the first of them, and there are none\n"},
	{HEAD FIXED ",\n\"variants\": {\"base\": {}},\n\"gate\": {\"kind\": \"point\"}}",
	 "4:1: 'gate' judges variants against the first of them, and there is one alone\n"},
	{HEAD FIXED ",\n" VARIANTS "\"gate\": {\"kind\": \"category\", \"categories\": {\"a\": "
		    "\"default\"}}}",
	 "4:45: there is no scenario, so there is nothing to put into a category\n"},
};

static void accepts_every_kind(void)
{
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		experiment_free(rig_read(good[i]));
}

static void names_every_fault(void)
{
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		rig_expect_problems(bad[i].text, NULL, bad[i].expected);
}

static void keeps_the_kind_and_the_text(void)
{
	struct experiment *experiment = rig_read(good[2]);
	const json_t *gate = json_object_get(experiment->json, "gate");

	CU_ASSERT_STRING_EQUAL(experiment->gate, "point");
	CU_ASSERT_EQUAL(json_object_size(gate), 3);
	experiment_free(experiment);
	experiment = rig_read(HEAD FIXED "}");
	CU_ASSERT_PTR_NULL(experiment->gate);
	experiment_free(experiment);
}

static void forgets_scenarios_that_profiles_take_away(void)
{
	static const char text[] =
		HEAD FIXED ",\n\"profiles\": [\"min-rtt\", \"pooled\"],\n" VARIANTS
			   "\"gate\": {\"kind\": \"category\", \"categories\": {\"min-rtt\": "
			   "\"critical\", \"pooled\": \"default\"}}}";
	struct experiment_changes changes = {.profiles = "pooled"};
	struct problems problems;
	struct experiment *experiment = rig_read_changed(text, &changes, &problems);
	const json_t *categories;

	CU_ASSERT_FATAL(experiment != NULL);
	categories = json_object_get(json_object_get(experiment->json, "gate"), "categories");
	CU_ASSERT_EQUAL(json_object_size(categories), 1);
	CU_ASSERT_PTR_NOT_NULL(json_object_get(categories, "pooled"));
	experiment_free(experiment);
}

static const struct suite_test tests[] = {
	{"every kind of gate is accepted", accepts_every_kind},
	{"each fault of a gate is named with its place and what is accepted", names_every_fault},
	{"the gate is kept as written", keeps_the_kind_and_the_text},
	{"categories of scenarios that --profile took away are left out",
	 forgets_scenarios_that_profiles_take_away},
};

SUITE_MAIN("run gate_judge", tests)
