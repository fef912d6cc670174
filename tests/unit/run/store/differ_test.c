#include "apps/run/store/differ.h"

#include "tests/support/suite.h"

#include <string.h>

static json_t *parse(const char *text)
{
	json_t *value = json_loads(text, 0, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(value);
	return value;
}

/* What `differ` says of two texts. */
static const char *say(void (*differ)(const json_t *, const json_t *, json_t *), const char *was,
		       const char *now)
{
	static struct problems problems;
	json_t *a = parse(was), *b = parse(now), *differences = json_array();

	problems = (struct problems){0};
	differ(a, b, differences);
	differ_say(differences, &problems);
	CU_ASSERT_EQUAL(problems.count, json_array_size(differences));
	json_decref(differences);
	json_decref(a);
	json_decref(b);
	return problems.text;
}

static void alike_is_no_difference(void)
{
	static const char plan[] = "{\"runs\": 2, \"effective\": {\"a\": [1]}, \"samples\": "
				   "[{\"sample_id\": \"s0001\", \"server_argv\": [\"weir\"]}]}";

	CU_ASSERT_STRING_EQUAL(say(differ_plans, plan, plan), "");
	CU_ASSERT_STRING_EQUAL(say(differ_hosts, "{\"kernel\": \"6\", \"loadavg\": [1]}",
				   "{\"kernel\": \"6\", \"loadavg\": [2]}"),
			       "");
	CU_ASSERT_STRING_EQUAL(say(differ_programs, "[{\"variant\": null, \"sha256\": \"a\"}]",
				   "[{\"variant\": null, \"sha256\": \"a\"}]"),
			       "");
}

static void settings_are_named_by_their_way(void)
{
	CU_ASSERT_STRING_EQUAL(say(differ_plans, "{\"effective\": {\"runs\": 2, \"old\": 1}}",
				   "{\"effective\": {\"runs\": 3, \"new\": \"x\"}}"),
			       "effective.runs: was 2, is now 3\n"
			       "effective.old: was 1, is now null\n"
			       "effective.new: was null, is now \"x\"\n");
}

/* CPUs of hosts that were not asked are null with the reason, and a word in command lines. */
static void what_is_known_later_is_not_compared(void)
{
	static const char was[] = "{\"degraded\": true, \"samples\": [{\"sample_id\": \"s0001\", "
				  "\"server_cpus\": [4], \"server_argv\": [\"weir\", \"4\"], "
				  "\"run\": 1}]}";
	static const char later[] =
		"{\"degraded\": null, \"degraded_reason\": \"x\", \"samples\": [{\"sample_id\": "
		"\"s0001\", \"server_cpus\": null, \"server_cpus_reason\": \"x\", "
		"\"server_argv\": [\"weir\", \"chosen-there\"], \"run\": 1}]}";
	static const char other[] =
		"{\"degraded\": null, \"samples\": [{\"sample_id\": \"s0001\", \"server_cpus\": "
		"null, \"server_argv\": [\"other\", \"chosen-there\"], \"run\": 1}]}";

	CU_ASSERT_STRING_EQUAL(say(differ_plans, was, later), "");
	CU_ASSERT_STRING_EQUAL(say(differ_plans, was, other),
			       "degraded: was true, is now null\n"
			       "server_cpus of s0001: was [4], is now null\n"
			       "server_argv of s0001: was [\"weir\",\"4\"], is now "
			       "[\"other\",\"chosen-there\"]\n");
}

static void samples_are_counted_and_the_first_is_shown(void)
{
	static const char was[] =
		"{\"samples\": [{\"sample_id\": \"s0001\", \"cpus\": [0], \"run\": 1},"
		"{\"sample_id\": \"s0002\", \"cpus\": [0], \"run\": 1},"
		"{\"sample_id\": \"s0003\", \"cpus\": [0], \"run\": 2}]}";
	static const char now[] =
		"{\"samples\": [{\"sample_id\": \"s0001\", \"cpus\": [0], \"run\": 1},"
		"{\"sample_id\": \"s0002\", \"cpus\": [1], \"run\": 1},"
		"{\"sample_id\": \"s0003\", \"cpus\": [1], \"run\": 2, \"more\": true}]}";

	CU_ASSERT_STRING_EQUAL(say(differ_plans, was, now),
			       "cpus of s0002 and 1 more: was [0], is now [1]\n"
			       "more of s0003: was null, is now true\n");
	CU_ASSERT_STRING_EQUAL(say(differ_plans, was, "{\"samples\": []}"),
			       "samples: was 3, is now 0\n");
}

static void of_long_argument_lists_only_what_differs_is_said(void)
{
	CU_ASSERT_STRING_EQUAL(
		say(differ_plans,
		    "{\"samples\": [{\"sample_id\": \"s0001\", \"argv\": [1,2,3,4,5,6,7,8]}]}",
		    "{\"samples\": [{\"sample_id\": \"s0001\", \"argv\": [1,2,3,4,9,6,7,8]}]}"),
		"argv of s0001: was 5, is now 9\n");
}

static void hosts_and_programs(void)
{
	CU_ASSERT_STRING_EQUAL(say(differ_hosts, "{\"kernel\": \"6\", \"cpus_allowed\": 4}",
				   "{\"kernel\": \"7\", \"cpus_allowed\": 4}"),
			       "kernel: was \"6\", is now \"7\"\n");
	CU_ASSERT_STRING_EQUAL(say(differ_programs,
				   "[{\"variant\": null, \"sha256\": \"a\"}, "
				   "{\"variant\": \"base\", \"sha256\": \"b\"}]",
				   "[{\"variant\": null, \"sha256\": \"c\"}]"),
			       "program: was \"a\", is now \"c\"\n"
			       "program of base: was \"b\", is now null\n");
}

static const struct suite_test tests[] = {
	{"what is known once hosts are asked is not compared before",
	 what_is_known_later_is_not_compared},
	{"what is alike is no difference, nor what changes all the time", alike_is_no_difference},
	{"a setting that differs is named by its way", settings_are_named_by_their_way},
	{"samples that differ are counted, and the first is shown",
	 samples_are_counted_and_the_first_is_shown},
	{"of long argument lists only what differs is said",
	 of_long_argument_lists_only_what_differs_is_said},
	{"another kernel, CPU number or program is a difference", hosts_and_programs},
};

SUITE_MAIN("run differ", tests)
