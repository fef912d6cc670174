#include "apps/ceiling/compose.h"
#include "apps/run/experiment/experiment.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void numbers_are_joined_by_commas(void)
{
	static const char *const wrong[] = {"",	    ",",
					    "1,",   ",1",
					    "1,,2", "0",
					    "1,0",  "8,8",
					    "1 ,2", "x",
					    "1025", "1;2",
					    "-1",   "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};
	struct compose_numbers numbers = {.count = 99};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT_EQUAL(compose_parse_numbers(wrong[i], 1024, &numbers), -EINVAL);
		CU_ASSERT_EQUAL(numbers.count, 99);
	}
	CU_ASSERT_EQUAL(compose_parse_numbers("1,8,1024", 1024, &numbers), 0);
	CU_ASSERT_EQUAL(numbers.count, 3);
	CU_ASSERT_EQUAL(numbers.number[0], 1);
	CU_ASSERT_EQUAL(numbers.number[1], 8);
	CU_ASSERT_EQUAL(numbers.number[2], 1024);
}

static void what_is_composed_is_an_experiment(void)
{
	const struct compose compose = {
		.stack_count = 2,
		.stacks = {"epoll@loopback", "epoll@loopback,nodelay=off"},
		.connections = {2, {64, 256}},
		.depths = {1, {8}},
		.request_bytes = 256,
		.response_bytes = 64,
		.runs = 5,
		.wait = "spin",
		.warmup = "0.3s",
		.duration = "1s",
	};
	char *text = compose_text(&compose);
	struct problems problems = {.text = ""};
	struct experiment *experiment;
	const struct axis *last;

	CU_ASSERT_EQUAL_FATAL(experiment_compose("x", text, &experiment, &problems), 0);
	CU_ASSERT_EQUAL(experiment->order.kind, ORDER_ABBA);
	CU_ASSERT_EQUAL(experiment->runs, 5);
	CU_ASSERT_EQUAL(experiment->warmup_ns, 300000000);
	CU_ASSERT_STRING_EQUAL(experiment->fixed.of[SETTING_DELIVERY].word, "coalesce");
	CU_ASSERT_STRING_EQUAL(experiment->fixed.of[SETTING_WAIT].word, "spin");
	CU_ASSERT_EQUAL(experiment->fixed.of[SETTING_REQUEST_BYTES].number, 256);
	CU_ASSERT_EQUAL(experiment->axis_count, 4);
	CU_ASSERT_EQUAL(experiment->axes[0].setting, SETTING_STACK);
	CU_ASSERT_STRING_EQUAL(experiment->axes[0].levels[1].cell.of[SETTING_STACK].word,
			       compose.stacks[1]);
	last = &experiment->axes[3];
	CU_ASSERT_EQUAL(last->setting, SETTING_BARE);
	CU_ASSERT_EQUAL(last->count, 2);
	CU_ASSERT_EQUAL(last->levels[0].cell.of[SETTING_BARE].number, 0);
	CU_ASSERT_EQUAL(last->levels[1].cell.of[SETTING_BARE].number, 1);
	experiment_free(experiment);
	free(text);
}

static void stacks_without_a_bare_echo_are_refused(void)
{
	struct tp_error error;

	CU_ASSERT_EQUAL(compose_check_stack("epoll@loopback", &error), 0);
	CU_ASSERT_EQUAL(compose_check_stack("epoll@loopback,nodelay=off", &error), 0);
	CU_ASSERT_EQUAL(compose_check_stack("memory", &error), -EINVAL);
	CU_ASSERT(strstr(error.text, "'memory' has no bare echo; these have one: epoll") != NULL);
	CU_ASSERT_EQUAL(compose_check_stack("epoll", &error), 0);
	CU_ASSERT_EQUAL(compose_check_stack("epoll@lo", &error), -EINVAL);
	CU_ASSERT(strstr(error.text,
			 "'epoll@lo' is no stack of an experiment; accepted: epoll@loopback,") !=
		  NULL);
	CU_ASSERT_EQUAL(compose_check_stack("epol@loopback", &error), -ENOENT);
	CU_ASSERT_EQUAL(compose_check_stack("epoll@loopback,no=1", &error), -EINVAL);
}

static const struct suite_test tests[] = {
	{"numbers are joined by commas, none of them twice", numbers_are_joined_by_commas},
	{"what is composed is an experiment in pairs", what_is_composed_is_an_experiment},
	{"stacks that have no bare echo, or no device, are refused",
	 stacks_without_a_bare_echo_are_refused},
};

SUITE_MAIN("ceiling compose", tests)
