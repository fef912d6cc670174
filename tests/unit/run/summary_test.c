#include "apps/run/summary.h"
#include "tests/support/suite.h"

#include <string.h>

static struct experiment experiment = {.name = "x", .question = ""};
static struct plan_cell cells[] = {{.variant = "a"}, {.variant = "b"}};

static json_t *result_of(const char *variant, bool valid, double rps)
{
	return json_pack("{ss sb sf s{sb}}", "variant", variant, "valid", valid, "effective_rps",
			 rps, "client", "saturated", valid && rps > 50);
}

static json_t *make(json_t *results)
{
	const struct plan plan = {.experiment = &experiment, .cells = cells, .cell_count = 2};
	struct setting_value value;

	for (unsigned id = 0; id < SETTING_COUNT; id++)
		cells[0].cell.of[id] = cells[1].cell.of[id] =
			setting_default(id, &value) ? value : (struct setting_value){.word = "x"};
	return summary_make(&plan, results);
}

static double number(const json_t *cell, const char *which)
{
	const json_t *measure = json_object_get(cell, "effective_rps");

	return json_number_value(json_object_get(measure, which));
}

static void medians_of_what_is_valid(void)
{
	json_t *results =
		json_pack("[o o o o o o]", result_of("a", true, 30), result_of("b", true, 7),
			  result_of("a", false, 1000), result_of("a", true, 10),
			  result_of("a", true, 60), result_of("a", true, 20));
	json_t *summary = make(results);
	const json_t *list = json_object_get(summary, "cells");
	const json_t *a = json_array_get(list, 0), *b = json_array_get(list, 1);

	CU_ASSERT_EQUAL(json_integer_value(json_object_get(summary, "valid")), 5);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(summary, "invalid")), 1);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(a, "samples")), 5);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(a, "valid")), 4);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(a, "client_saturated")), 1);
	CU_ASSERT_EQUAL(number(a, "median"), 25);
	CU_ASSERT_EQUAL(number(a, "min"), 10);
	CU_ASSERT_EQUAL(number(a, "max"), 60);
	CU_ASSERT_EQUAL(number(b, "median"), 7);
	json_decref(summary);
	json_decref(results);
}

static void no_median_without_a_valid_sample(void)
{
	json_t *results = json_pack("[o]", result_of("a", false, 5));
	json_t *summary = make(results);
	const json_t *a = json_array_get(json_object_get(summary, "cells"), 0);

	CU_ASSERT(json_is_null(json_object_get(a, "effective_rps")));
	CU_ASSERT_PTR_NOT_NULL(json_object_get(a, "effective_rps_reason"));
	json_decref(summary);
	json_decref(results);
}

static void groups_digits(void)
{
	char text[32];

	CU_ASSERT_STRING_EQUAL(summary_group(0, text), "0");
	CU_ASSERT_STRING_EQUAL(summary_group(999, text), "999");
	CU_ASSERT_STRING_EQUAL(summary_group(1000, text), "1,000");
	CU_ASSERT_STRING_EQUAL(summary_group(1234567.8, text), "1,234,568");
}

static const struct suite_test tests[] = {
	{"medians, least and greatest are of the valid samples", medians_of_what_is_valid},
	{"a cell without a valid sample has no median but a reason",
	 no_median_without_a_valid_sample},
	{"thousands are set apart", groups_digits},
};

SUITE_MAIN("run summary", tests)
