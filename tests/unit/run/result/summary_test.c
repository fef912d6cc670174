#include "apps/run/result/summary.h"
#include "tests/support/suite.h"

#include <stdbool.h>
#include <string.h>

static json_t *result_of(const char *variant, bool valid, double rps)
{
	return json_pack("{ss sb sf s{sb}}", "variant", variant, "valid", valid, "effective_rps",
			 rps, "client", "saturated", valid && rps > 50);
}

static json_t *make(json_t *results)
{
	json_t *plan = json_pack("{ss s{ss} sb sn s[ss] s[{ss s{si}}{ss s{si}}]}", "experiment",
				 "x", "effective", "question", "why?", "degraded", 0,
				 "degraded_reason", "variants", "a", "b", "samples", "variant", "b",
				 "cell", "depth", 2, "variant", "a", "cell", "depth", 1);
	json_t *mismatch = json_null();
	json_t *summary = summary_make(plan, results, 3, mismatch);

	json_decref(plan);
	return summary;
}

static double number(const json_t *cell, const char *which)
{
	const json_t *measure = json_object_get(cell, "effective_rps");

	return json_number_value(json_object_get(measure, which));
}

static json_int_t depth_of(const json_t *cell)
{
	return json_integer_value(json_object_get(json_object_get(cell, "cell"), "depth"));
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
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(summary, "attempts_failed")), 3);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(summary, "question")), "why?");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(a, "variant")), "a");
	CU_ASSERT_EQUAL(depth_of(a), 1);
	CU_ASSERT_EQUAL(depth_of(b), 2);
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

/* What speaks against a part of a run that was gone on with is not lost in the plan. */
static void what_speaks_against_any_part_is_in_it(void)
{
	json_t *plan = json_pack("{s{ss} s[] s[] s{sb} s[{ss ss s{sb}}]}", "effective", "question",
				 "why?", "samples", "variants", "busy_at_start", "disturbed", 0,
				 "resumed", "at", "2020-01-02T03:04:05Z", "from_sample", "s0002",
				 "busy_at_start", "disturbed", 1);
	json_t *results = json_array(), *mismatch = json_string("a and b differ");
	json_t *summary = summary_make(plan, results, 0, mismatch);
	const json_t *part = json_array_get(json_object_get(summary, "resumed"), 0);
	const json_t *busy = json_object_get(part, "busy_at_start");

	CU_ASSERT_PTR_NOT_NULL(plan);
	CU_ASSERT(json_equal(json_object_get(summary, "servers_differ"), mismatch));
	CU_ASSERT(json_is_true(json_object_get(busy, "disturbed")));
	CU_ASSERT_PTR_NOT_NULL(json_object_get(part, "at"));
	json_decref(summary);
	json_decref(mismatch);
	json_decref(results);
	json_decref(plan);
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
	{"unlike servers, and who was busy as a later part began, are in it",
	 what_speaks_against_any_part_is_in_it},
	{"thousands are set apart", groups_digits},
};

SUITE_MAIN("run summary", tests)
