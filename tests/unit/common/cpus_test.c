#include "apps/common/cpus.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

static void test_lists(void)
{
	static const char *const wrong[] = {"",	   ",",	  "0,",	   ",0", "0,,1", "1-",	 "-1",
					    "3-1", "0,0", "0-2,1", "a",	 "0 1",	 "1024", "0-1024"};
	struct cpus cpus = {.count = 1, .cpu = {77}};
	char text[CPUS_TEXT_BYTES];
	json_t *numbers, *expected;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(cpus_parse(wrong[i], &cpus), -EINVAL);
	CU_ASSERT_TRUE(cpus.count == 1 && cpus.cpu[0] == 77);
	CU_ASSERT_EQUAL(cpus_parse("0,2-3", &cpus), 0);
	CU_ASSERT_STRING_EQUAL(cpus_print(&cpus, text), "0,2,3");
	numbers = cpus_to_numbers(&cpus);
	expected = json_pack("[i i i]", 0, 2, 3);
	CU_ASSERT_TRUE(json_equal(numbers, expected));
	json_decref(numbers);
	json_decref(expected);
	CU_ASSERT_EQUAL(cpus_parse("5,1", &cpus), 0);
	CU_ASSERT_STRING_EQUAL(cpus_print(&cpus, text), "5,1");
	CU_ASSERT_EQUAL(cpus_parse("0-1023", &cpus), 0);
	CU_ASSERT_EQUAL(cpus.count, CPUS_MAX);
	CU_ASSERT_TRUE(strlen(cpus_print(&cpus, text)) < CPUS_TEXT_BYTES);
}

static void test_choice(void)
{
	struct cpus allowed, none = {0}, chosen, last;
	struct tp_error error;

	CU_ASSERT_EQUAL_FATAL(cpus_allowed(&allowed), 0);
	CU_ASSERT_EQUAL(cpus_choose(&none, 1, false, &chosen, &error), 0);
	CU_ASSERT_EQUAL(cpus_choose(&none, 1, true, &last, &error), 0);
	CU_ASSERT_EQUAL(chosen.cpu[0], allowed.cpu[0]);
	CU_ASSERT_EQUAL(last.cpu[0], allowed.cpu[allowed.count - 1]);
	CU_ASSERT_EQUAL(cpus_choose(&allowed, allowed.count, false, &chosen, &error), 0);
	CU_ASSERT_EQUAL(memcmp(chosen.cpu, allowed.cpu, allowed.count * sizeof(allowed.cpu[0])), 0);
}

static void test_refusals(void)
{
	struct cpus allowed, none = {0}, absent = {.count = 1, .cpu = {CPUS_NUMBER_MAX}}, chosen;
	struct tp_error error;

	CU_ASSERT_EQUAL_FATAL(cpus_allowed(&allowed), 0);
	CU_ASSERT_EQUAL(cpus_choose(&none, allowed.count + 1, false, &chosen, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "workers need"));
	CU_ASSERT_EQUAL(cpus_choose(&absent, 1, false, &chosen, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "CPU 1023 is not available"));
	CU_ASSERT_EQUAL(cpus_choose(&absent, 2, false, &chosen, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "--cpus names 1"));
}

static void test_binding(void)
{
	struct cpus before, one = {.count = 1}, absent = {.count = 1, .cpu = {CPUS_NUMBER_MAX}};
	struct tp_error error;

	CU_ASSERT_EQUAL_FATAL(cpus_allowed(&before), 0);
	one.cpu[0] = before.cpu[before.count - 1];
	CU_ASSERT_EQUAL(cpus_bind(&one, &error), 0);
	CU_ASSERT_EQUAL(sched_getcpu(), one.cpu[0]);
	CU_ASSERT_TRUE(cpus_bind(&absent, &error) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "1023"));
	CU_ASSERT_EQUAL(cpus_bind(&before, &error), 0);
}

static void expect_added(const char *mask, const char *isolated, const char *result)
{
	struct cpus cpus, apart, possible;
	char text[CPUS_TEXT_BYTES];

	CU_ASSERT_EQUAL_FATAL(cpus_parse(mask, &cpus), 0);
	CU_ASSERT_EQUAL_FATAL(cpus_parse(isolated, &apart), 0);
	CU_ASSERT_EQUAL_FATAL(cpus_parse("0-5", &possible), 0);
	cpus_add_isolated(&cpus, &possible, &apart);
	CU_ASSERT_STRING_EQUAL(cpus_print(&cpus, text), result);
}

static void test_isolated(void)
{
	expect_added("0-1", "2-5", "0,1,2,3,4,5");
	expect_added("0-1,4-5", "2-3", "0,1,2,3,4,5");
	expect_added("0-1,4-5", "2-3,9", "0,1,2,3,4,5"); /* 9 is in another's cpuset */
}

static void test_narrowed(void)
{
	expect_added("0", "2-5", "0");
	expect_added("2-3", "2-5", "2,3");
	expect_added("0-2", "2-5", "0,1,2");
}

static const struct suite_test tests[] = {
	{"a list names each CPU once, in the order given", test_lists},
	{"CPUs are chosen from either end of those allowed", test_choice},
	{"too few CPUs and unavailable ones are refused by name", test_refusals},
	{"a thread runs where it was bound", test_binding},
	{"isolated CPUs are allowed where they are all that the mask lacks", test_isolated},
	{"a mask that was narrowed gains no isolated CPU", test_narrowed},
};

SUITE_MAIN("cpus", tests)
