#include "apps/run/sample/watch.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

/* A sample on the first of this process's CPUs alone; false if it has no other. */
static bool pin_first(struct pins *pins_out)
{
	struct cpus allowed;

	CU_ASSERT_EQUAL_FATAL(cpus_allowed(&allowed), 0);
	*pins_out = (struct pins){.server = {.count = 1, .cpu = {allowed.cpu[0]}}};
	return allowed.count > 1;
}

static void the_runner_keeps_off_the_samples_cpus(void)
{
	struct watch watch;
	struct pins pins;
	cpu_set_t before, during, after;

	if (!pin_first(&pins)) {
		suite_skip("this process has one CPU");
		return;
	}
	sched_getaffinity(0, sizeof(before), &before);
	watch_start(&watch);
	watch_aside(&watch, &pins);
	sched_getaffinity(0, sizeof(during), &during);
	watch_end(&watch);
	sched_getaffinity(0, sizeof(after), &after);
	CU_ASSERT(watch.apart);
	CU_ASSERT_FALSE(CPU_ISSET(pins.server.cpu[0], &during));
	CU_ASSERT_EQUAL(CPU_COUNT(&during), CPU_COUNT(&before) - 1);
	CU_ASSERT(CPU_EQUAL(&after, &before));
}

/* What the watch set in a result, with its notes under "notes". */
static json_t *told(const struct watch *watch)
{
	json_t *result = json_object(), *notes = json_array();

	watch_add(watch, result, notes);
	json_object_set_new(result, "notes", notes);
	return result;
}

static void a_runner_that_has_no_other_cpu_shares_and_says_so(void)
{
	struct watch watch;
	struct pins pins = {.degraded = NULL};
	cpu_set_t before, during;
	json_t *result;

	CU_ASSERT_EQUAL_FATAL(cpus_allowed(&pins.client), 0);
	sched_getaffinity(0, sizeof(before), &before);
	watch_start(&watch);
	watch_aside(&watch, &pins);
	sched_getaffinity(0, sizeof(during), &during);
	watch_end(&watch);
	CU_ASSERT(CPU_EQUAL(&during, &before));
	watch.count = 2;
	watch.activities[0] = (struct activity){.at_ns = 1000000000};
	watch.activities[1] = (struct activity){.at_ns = 2000000000, .runner_ns = 50000000};
	result = told(&watch);
	CU_ASSERT(json_is_false(json_object_get(result, "runner_apart")));
	CU_ASSERT_EQUAL(json_array_size(json_object_get(result, "runner_cpus")), pins.client.count);
	CU_ASSERT(fabs(json_number_value(json_object_get(result, "runner_cpu_share")) - 0.05) <
		  1e-9);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_array_get(json_object_get(result, "notes"), 0)),
		"the runner itself used 5.0 % of a core in the window, on a CPU that it shares "
		"with "
		"the sample");
	json_decref(result);
}

static void a_step_of_the_wall_clock_is_noted(void)
{
	struct watch watch;
	json_t *result;

	watch_start(&watch);
	watch_end(&watch);
	result = told(&watch);
	CU_ASSERT(fabs(json_number_value(json_object_get(result, "wall_clock_step_s"))) < 1e-3);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(result, "notes")), 0);
	json_decref(result);
	watch.step_ns = -3600000000000;
	result = told(&watch);
	CU_ASSERT_EQUAL(json_number_value(json_object_get(result, "wall_clock_step_s")), -3600);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_array_get(json_object_get(result, "notes"), 0)),
		"the wall clock was set by -3600.000 s while the sample ran: times in the logs "
		"jump, "
		"durations do not");
	json_decref(result);
}

static void what_was_not_watched_is_null(void)
{
	json_t *result = told(NULL);

	CU_ASSERT(json_is_null(json_object_get(result, "other_busy_cpus")));
	CU_ASSERT(json_is_string(json_object_get(result, "runner_cpu_share_reason")));
	CU_ASSERT(json_is_string(json_object_get(result, "wall_clock_step_s_reason")));
	CU_ASSERT_EQUAL(json_array_size(json_object_get(result, "notes")), 0);
	json_decref(result);
}

static const struct suite_test tests[] = {
	{"the runner keeps off the sample's CPUs, and comes back",
	 the_runner_keeps_off_the_samples_cpus},
	{"a runner that has no other CPU shares one and says so",
	 a_runner_that_has_no_other_cpu_shares_and_says_so},
	{"a step of the wall clock is noted", a_step_of_the_wall_clock_is_noted},
	{"what was not watched is null with the reason", what_was_not_watched_is_null},
};

SUITE_MAIN("run watch", tests)
