#include "tests/support/suite.h"
#include "tests/unit/run/experiment/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROFILES \
	"min-rtt, pooled, pool-saturation, pipelined-throughput, throughput, capacity or all"

static void scenarios_are_sets_of_settings(void)
{
	struct experiment *experiment = rig_read(
		HEAD FIXED ", \"scenarios\": {\"small\": {\"handler\": \"respond\", "
			   "\"response_bytes\": \"1KiB\"}, \"echo\": {\"handler\": \"echo\"}},\n"
			   "\"factors\": {\"depth\": [1, 8]}}");
	const struct axis *axis = experiment_axis(experiment, AXIS_SCENARIOS);

	CU_ASSERT_EQUAL(experiment->axis_count, 2);
	CU_ASSERT_EQUAL(experiment->axes[0].kind, AXIS_FACTOR);
	CU_ASSERT_FATAL(axis == &experiment->axes[1]);
	CU_ASSERT_EQUAL(axis->count, 2);
	CU_ASSERT_STRING_EQUAL(axis->levels[0].name, "small");
	CU_ASSERT_EQUAL(axis->levels[0].cell.of[SETTING_RESPONSE_BYTES].number, 1024);
	CU_ASSERT_EQUAL(axis->levels[1].mask, 1u << SETTING_HANDLER);
	CU_ASSERT_PTR_EQUAL(axis_find(axis, "echo"), &axis->levels[1]);
	CU_ASSERT_EQUAL(experiment->build_count, 1);
	experiment_free(experiment);
}

static void equal_builds_are_one(void)
{
	struct experiment *experiment = rig_read(
		HEAD FIXED ", \"variants\": {\"own\": {}, \"old\": {\"commit\": \"v1\"}, "
			   "\"native\": {\"c_args\": \"-march=native\"}, "
			   "\"old-spin\": {\"commit\": \"v1\", \"set\": {\"wait\": \"spin\"}}, "
			   "\"noring\": {\"commit\": \"v1\", \"options\": \"-During=disabled\"}}}");
	static const unsigned builds[] = {0, 1, 2, 1, 3};
	const struct axis *axis = experiment_axis(experiment, AXIS_VARIANTS);

	CU_ASSERT_FATAL(axis != NULL);
	CU_ASSERT_EQUAL_FATAL(axis->count, 5);
	for (unsigned i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(axis->levels[i].build, builds[i]);
	CU_ASSERT_STRING_EQUAL(axis->levels[3].cell.of[SETTING_WAIT].word, "spin");
	CU_ASSERT_EQUAL_FATAL(experiment->build_count, 4);
	CU_ASSERT_PTR_NULL(experiment->builds[0].variant);
	CU_ASSERT_STRING_EQUAL(experiment->builds[1].variant, "old");
	CU_ASSERT_STRING_EQUAL(experiment->builds[1].commit, "v1");
	CU_ASSERT_STRING_EQUAL(experiment->builds[1].options, "");
	CU_ASSERT_PTR_NULL(experiment->builds[2].commit);
	CU_ASSERT_STRING_EQUAL(experiment->builds[2].c_args, "-march=native");
	CU_ASSERT_STRING_EQUAL(experiment->builds[3].options, "-During=disabled");
	experiment_free(experiment);
}

static const struct {
	const char *text;
	const char *expected;
} bad[] = {
	/* One setting in two parts: both places are named. */
	{HEAD "\"fixed\": {\"stack\": \"epoll\",\n \"depth\": 1},\n\"scenarios\": {\"a\": "
	      "{\"depth\": 8}}}",
	 "4:21: 'depth' is set here and in \"fixed\" in line 3; it may stand in one\n"},
	{HEAD FIXED ", \"scenarios\": {\"a\": {\"wait\": \"spin\"}},\n\"variants\": {\"b\": "
		    "{\"set\": {\"wait\": \"block\"}}}}",
	 "3:28: 'wait' is set here and in \"scenarios\" in line 2; it may stand in one\n"},
	{HEAD FIXED ",\n\"factors\": {\"connections\": [1]},\n\"profiles\": [\"min-rtt\"]}",
	 "4:14: the profile sets 'connections', and so does \"factors\" in line 3; a profile's "
	 "numbers are its own: take it out, or plan experiments/profiles\n"},
	{HEAD FIXED ", \"order\": \"random(7)\",\n\"seed\": 8}",
	 "3:9: 'seed' is 8, but 'order' says 7; give one of them\n"},
	/* Plain and TLS are not compared. */
	{HEAD FIXED ", \"variants\": {\"b\": {\"set\": {\"tls\": false}}}}",
	 "2:66: 'tls' cannot be what variants differ in: plain and TLS are different paths; give "
	 "it in \"fixed\", \"factors\" or \"scenarios\"\n"},
	/* Names and types. */
	{HEAD FIXED ", \"scenarios\": {\"a.b\": {\"depth\": 1}}}",
	 "2:53: the name 'a.b' is not accepted; wanted: 1 to 32 letters, digits, '-' and '_'\n"},
	{HEAD FIXED ", \"scenarios\": {}}", "2:52: 'scenarios' has 0 levels; accepted: 1 to 64\n"},
	{HEAD FIXED ", \"scenarios\": []}", "2:52: 'scenarios' is []; accepted: an object\n"},
	{HEAD FIXED ", \"scenarios\": {\"a\": {}}}",
	 "2:58: the scenario 'a' must be an object with at least one setting\n"},
	{HEAD FIXED ", \"scenarios\": {\"a\": {\"dept\": 1}}}",
	 "2:59: unknown key 'dept'; did you mean 'depth'?\n"},
	{HEAD FIXED ", \"variants\": {\"a\": {\"comit\": \"v1\"}}}",
	 "2:58: unknown key 'comit'; did you mean 'commit'?\n"},
	{HEAD FIXED ", \"variants\": {\"a\": 1}}",
	 "2:57: 'a' is 1; accepted: an object {...}, perhaps empty\n"},
	{HEAD FIXED ", \"variants\": {\"a\": {\"commit\": \"\"}}}",
	 "2:68: 'commit' is \"\"; accepted: a commit, a branch or a tag, in one line\n"},
	{HEAD FIXED ", \"variants\": {\"a\": {\"commit\": \"--all\"}}}",
	 "2:68: 'commit' is \"--all\"; accepted: a commit, a branch or a tag, in one line\n"},
	{HEAD FIXED ", \"variants\": {\"a\": {\"c_args\": \"-O3\\n-g\"}}}",
	 "2:68: 'c_args' is \"-O3\\n-g\"; accepted: arguments of the compiler in one line, like "
	 "\"-march=native\"\n"},
	{HEAD FIXED ", \"variants\": {\"a\": {\"set\": []}}}",
	 "2:65: 'set' is []; accepted: an object of settings\n"},
	{HEAD "\"scenarios\": {\"a\": {\"stack\": \"epoll\"}, \"b\": {\"depth\": 2}}}",
	 "2:14: 'stack' is missing in 'b'\n"},
	/* Excludes. */
	{HEAD FIXED ", \"excludes\": [{\"scenario\": \"a\"}]}",
	 "2:53: there is no scenario, so nothing can be excluded by one\n"},
	{HEAD FIXED ", \"variants\": {\"base\": {}}, \"excludes\": [{\"variant\": \"bas\"}]}",
	 "2:90: unknown variant 'bas'; did you mean 'base'?\n"},
	{HEAD FIXED ", \"scenarios\": {\"a\": {\"depth\": 2}}, \"excludes\": [{\"depth\": 3}]}",
	 "2:96: 'depth' never has this level, so this excludes nothing\n"},
	/* Profiles. */
	{HEAD FIXED ", \"profiles\": [\"min-rt\"]}",
	 "2:52: unknown profile 'min-rt'; did you mean 'min-rtt'? accepted: " PROFILES "\n"},
	{HEAD FIXED ", \"profiles\": [7]}", "2:52: 'profiles' is 7; accepted: a profile's name\n"},
	{HEAD FIXED ", \"profiles\": []}",
	 "2:51: 'profiles' is []; accepted: a list of profiles, like [\"min-rtt\"]\n"},
	{HEAD FIXED ", \"profiles\": [\"pooled\", \"pooled\"]}",
	 "2:62: there are two scenarios 'pooled'\n"},
	{HEAD FIXED ", \"profiles\": [\"capacity\"], \"worker_counts\": [1, 1]}",
	 "2:86: 'worker_counts' is 1; accepted: a list of 1 to 16 different whole numbers from 1 "
	 "to 64\n"},
	{HEAD FIXED ", \"worker_counts\": [1]}",
	 "2:39: 'worker_counts' is for the profile \"capacity\", which is not asked for\n"},
	{HEAD FIXED ", \"form\": \"long\"}",
	 "2:47: 'form' is \"long\"; accepted: \"full\", \"short\" or \"auto\"\n"},
	{HEAD "\"fixed\": {\"stack\": \"epoll\", \"workers\": 0}}",
	 "2:40: 'workers' is 0, but a whole number from 1 to 64 is accepted, or \"all\"\n"},
	{HEAD "\"fixed\": {\"stack\": \"epoll\", \"client_workers\": \"al\"}}",
	 "2:47: 'client_workers' is \"al\", but a whole number from 0 to 64 is accepted, or "
	 "\"same\" or \"all\"\n"},
	{HEAD "\"fixed\": {\"stack\": \"epoll\", \"placement\": \"far\"}}",
	 "2:42: 'placement' is \"far\"; accepted: same-node or across-nodes\n"},
};

static void names_every_fault(void)
{
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		rig_expect_problems(bad[i].text, NULL, bad[i].expected);
}

static void variants_of_the_command_line_replace(void)
{
	static const char text[] =
		HEAD FIXED ", \"variants\": {\"base\": {\"options\": \"-Da=b\"}}}";
	static const struct experiment_changes changes = {
		.variants = {"new=v3", "base=v1", "new=v2"}, .variant_count = 3};
	static const struct experiment_changes wrong = {.variants = {"a.b=v1"}, .variant_count = 1};
	struct problems problems;
	struct experiment *experiment = rig_read_changed(text, &changes, &problems);
	const struct axis *axis;

	CU_ASSERT_FATAL(experiment != NULL);
	axis = experiment_axis(experiment, AXIS_VARIANTS);
	CU_ASSERT_EQUAL_FATAL(axis->count, 2);
	CU_ASSERT_STRING_EQUAL(axis->levels[0].name, "base");
	CU_ASSERT_STRING_EQUAL(experiment->builds[axis->levels[0].build].commit, "v1");
	CU_ASSERT_STRING_EQUAL(experiment->builds[axis->levels[0].build].options, "");
	CU_ASSERT_STRING_EQUAL(axis->levels[1].name, "new");
	CU_ASSERT_STRING_EQUAL(experiment->builds[axis->levels[1].build].commit, "v2");
	experiment_free(experiment);
	rig_expect_problems(
		text, &wrong,
		"--variant (or VARIANTS) a.b=v1: the name 'a.b' is not accepted; wanted: 1 "
		"to 32 letters, digits, '-' and '_'\n");
}

static void profiles_of_the_command_line_replace(void)
{
	static const char text[] =
		HEAD FIXED ", \"profiles\": [\"capacity\"], \"excludes\": [{\"scenario\": "
			   "\"capacity-1cpu-0kb\"}]}";
	static const struct experiment_changes changes = {.profiles = "throughput,min-rtt"};
	static const struct experiment_changes wrong = {.profiles = "min-rtt,x,"};
	static const struct experiment_changes both = {
		.profiles = "pooled", .overrides = {"depth=4"}, .override_count = 1};
	struct problems problems;
	struct experiment *experiment = rig_read_changed(text, &changes, &problems);
	const struct axis *axis;

	CU_ASSERT_FATAL(experiment != NULL);
	axis = experiment_axis(experiment, AXIS_SCENARIOS);
	CU_ASSERT_EQUAL_FATAL(axis->count, 2);
	CU_ASSERT_STRING_EQUAL(axis->levels[0].name, "pipelined-throughput");
	CU_ASSERT_STRING_EQUAL(axis->levels[1].name, "min-rtt");
	CU_ASSERT_EQUAL(experiment->form, EXPERIMENT_FORM_AUTO);
	experiment_free(experiment);
	rig_expect_problems(text, &wrong,
			    "--profile min-rtt,x,: unknown profile 'x'; accepted: " PROFILES "\n"
			    "--profile min-rtt,x,: unknown profile ''; accepted: " PROFILES "\n");
	rig_expect_problems(
		text, &both,
		"--profile pooled: the profile sets 'depth', and so does \"fixed\" by --set "
		"depth=4; a profile's numbers are its own: take it out, or plan "
		"experiments/profiles\n");
}

static void an_override_does_not_take_from_a_scenario(void)
{
	static const struct experiment_changes changes = {.overrides = {"depth=4"},
							  .override_count = 1};

	rig_expect_problems(
		HEAD FIXED ", \"scenarios\": {\"a\": {\"depth\": 8}}}", &changes,
		"2:59: 'depth' is set here and in \"fixed\" by --set depth=4; it may stand "
		"in one\n");
}

static void more_builds_than_there_may_be_are_refused(void)
{
	char text[4096];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s%s, \"variants\": {", HEAD, FIXED);

	for (unsigned i = 0; i < EXPERIMENT_BUILDS_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s\"b%u\": {\"commit\": \"c%u\"}", i ? "," : "", i, i);
	snprintf(text + used, sizeof(text) - used, "}}");
	rig_expect_problems(text, NULL, "2:407: the variants want more than 15 builds\n");
}

static const struct suite_test tests[] = {
	{"scenarios are an axis of sets of settings", scenarios_are_sets_of_settings},
	{"variants that ask for the same build share it", equal_builds_are_one},
	{"every fault of an axis is named with its place, a conflict with both", names_every_fault},
	{"a variant of the command line is new or takes the place of the file's",
	 variants_of_the_command_line_replace},
	{"profiles of the command line take the place of the file's",
	 profiles_of_the_command_line_replace},
	{"an override does not take a setting from a scenario",
	 an_override_does_not_take_from_a_scenario},
	{"more builds than there may be are refused", more_builds_than_there_may_be_are_refused},
};

SUITE_MAIN("run axis", tests)
