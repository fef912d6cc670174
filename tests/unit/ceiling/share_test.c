#include "apps/ceiling/share.h"
#include "tests/support/suite.h"

#include <math.h>

enum { CELLS = 4 };

/* A result as a campaign leaves it, of what matters here. */
struct sample {
	int run;
	int depth;
	bool bare;
	double rps;
	double busy_us;
	bool invalid;
	bool saturated;
};

static json_t *result_of(const struct sample *sample)
{
	return json_pack("{si sb sf s{ss si si sb} s{sf} s{sb}}", "run", sample->run, "valid",
			 !sample->invalid, "effective_rps", sample->rps, "cell", "stack",
			 "epoll@loopback", "connections", 64, "depth", sample->depth, "bare",
			 sample->bare, "server", "busy_us_per_request", sample->busy_us, "client",
			 "saturated", sample->saturated);
}

static json_t *results_of(const struct sample *samples, unsigned count)
{
	json_t *results = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(results, result_of(&samples[i]));
	return results;
}

static void expect_range(struct share_range range, unsigned count, double median, double least,
			 double most)
{
	CU_ASSERT_EQUAL(range.count, count);
	CU_ASSERT(fabs(range.median - median) < 1e-9 * median);
	CU_ASSERT(fabs(range.least - least) < 1e-9 * least);
	CU_ASSERT(fabs(range.most - most) < 1e-9 * most);
}

/* The ratio of the medians is 160 / 300, which is no pair's share. */
static void shares_are_of_pairs(void)
{
	static const struct sample samples[] = {
		{1, 8, false, 90, 2},  {1, 8, true, 100, 1},	{2, 8, true, 300, 3},
		{2, 8, false, 160, 4}, {3, 8, false, 300, 1.5}, {3, 8, true, 400, 1},
		{1, 1, false, 10, 20}, {1, 1, true, 20, 10},
	};
	json_t *results = results_of(samples, 8);
	struct share_cell cells[CELLS];

	CU_ASSERT_EQUAL_FATAL(share_cells(results, cells, CELLS), 2);
	CU_ASSERT_STRING_EQUAL(cells[0].stack, "epoll@loopback");
	CU_ASSERT_EQUAL(cells[0].connections, 64);
	CU_ASSERT_EQUAL(cells[0].depth, 8);
	CU_ASSERT_EQUAL(cells[1].depth, 1);
	expect_range(cells[0].bare_rps, 3, 300, 100, 400);
	expect_range(cells[0].pipeline_rps, 3, 160, 90, 300);
	expect_range(cells[0].rps, 3, 0.75, 160.0 / 300, 0.9);
	expect_range(cells[0].bare_busy_ns, 3, 1000, 1000, 3000);
	expect_range(cells[0].pipeline_busy_ns, 3, 2000, 1500, 4000);
	expect_range(cells[0].cpu, 3, 2.0 / 3, 0.5, 0.75);
	expect_range(cells[1].rps, 1, 0.5, 0.5, 0.5);
	json_decref(results);
}

static void even_pairs_have_the_mean_of_the_middle(void)
{
	static const struct sample samples[] = {
		{1, 8, false, 60, 1},
		{1, 8, true, 100, 1},
		{2, 8, true, 100, 1},
		{2, 8, false, 80, 1},
	};
	json_t *results = results_of(samples, 4);
	struct share_cell cells[CELLS];

	CU_ASSERT_EQUAL_FATAL(share_cells(results, cells, CELLS), 1);
	expect_range(cells[0].rps, 2, 0.7, 0.6, 0.8);
	json_decref(results);
}

static void invalid_samples_make_no_pair(void)
{
	static const struct sample samples[] = {
		{1, 8, false, 60, 1, .invalid = true},
		{1, 8, true, 100, 1},
		{2, 8, false, 80, 1},
		{2, 8, true, 100, 1, .invalid = true, .saturated = true},
		{3, 8, false, 90, 1},
		{3, 8, true, 100, 1},
	};
	json_t *results = results_of(samples, 6);
	struct share_cell cells[CELLS];

	CU_ASSERT_EQUAL_FATAL(share_cells(results, cells, CELLS), 1);
	expect_range(cells[0].rps, 1, 0.9, 0.9, 0.9);
	CU_ASSERT_FALSE(cells[0].saturated);
	json_decref(results);
	results = results_of(samples, 2);
	CU_ASSERT_EQUAL_FATAL(share_cells(results, cells, CELLS), 1);
	CU_ASSERT_EQUAL(cells[0].rps.count, 0);
	CU_ASSERT_EQUAL(share_judge(&cells[0], 0.9), SHARE_UNDECIDED);
	json_decref(results);
}

static void no_more_cells_than_there_is_room(void)
{
	static const struct sample samples[] = {{1, 8, false, 1, 1}, {1, 1, false, 1, 1}};
	json_t *results = results_of(samples, 2);
	struct share_cell cells[1];

	CU_ASSERT_EQUAL(share_cells(results, cells, 1), 1);
	CU_ASSERT_EQUAL(share_cells(results, cells, 0), 0);
	json_decref(results);
}

static enum share_verdict judge_rps(double least_seen, double most_seen, unsigned pairs)
{
	struct share_cell cell = {.rps = {pairs, least_seen, least_seen, most_seen},
				  .cpu = {pairs, 0.01, 0.01, 0.02}};

	return share_judge(&cell, 0.9);
}

static void verdict_is_of_the_whole_range(void)
{
	CU_ASSERT_EQUAL(judge_rps(0.90, 0.95, 5), SHARE_REACHED);
	CU_ASSERT_EQUAL(judge_rps(0.89, 0.95, 5), SHARE_UNDECIDED);
	CU_ASSERT_EQUAL(judge_rps(0.89, 0.90, 5), SHARE_UNDECIDED);
	CU_ASSERT_EQUAL(judge_rps(0.80, 0.89, 5), SHARE_MISSED);
}

static void few_pairs_decide_nothing(void)
{
	CU_ASSERT_EQUAL(judge_rps(0.99, 0.99, 4), SHARE_UNDECIDED);
	CU_ASSERT_EQUAL(judge_rps(0.10, 0.10, 4), SHARE_UNDECIDED);
}

static void one_verdict_is_of_all_cells(void)
{
	const struct share_cell reached = {.rps = {5, 0.95, 0.95, 0.99}},
				undecided = {.rps = {5, 0.9, 0.85, 0.99}},
				missed = {.rps = {5, 0.5, 0.5, 0.6}};
	struct share_cell cells[] = {reached, reached, reached};

	CU_ASSERT_EQUAL(share_judge_all(cells, 3, 0.9), SHARE_REACHED);
	cells[0] = undecided;
	CU_ASSERT_EQUAL(share_judge_all(cells, 3, 0.9), SHARE_UNDECIDED);
	cells[2] = missed;
	CU_ASSERT_EQUAL(share_judge_all(cells, 3, 0.9), SHARE_MISSED);
	CU_ASSERT_EQUAL(share_judge_all(cells, 0, 0.9), SHARE_UNDECIDED);
	CU_ASSERT_EQUAL(share_judge_all(NULL, 0, 0.9), SHARE_UNDECIDED);
}

static void cpu_counts_where_the_client_was_at_its_limit(void)
{
	struct share_cell cell = {.rps = {5, 0.99, 0.98, 1.00}, .cpu = {5, 0.7, 0.6, 0.8}};

	CU_ASSERT_EQUAL(share_judge(&cell, 0.9), SHARE_REACHED);
	CU_ASSERT_PTR_EQUAL(share_counted(&cell), &cell.rps);
	cell.saturated = true;
	CU_ASSERT_EQUAL(share_judge(&cell, 0.9), SHARE_MISSED);
	CU_ASSERT_PTR_EQUAL(share_counted(&cell), &cell.cpu);
}

static void one_sample_at_its_limit_marks_the_cell(void)
{
	static const struct sample samples[] = {
		{1, 8, false, 60, 1},
		{1, 8, true, 100, 1},
		{2, 8, false, 60, 1},
		{2, 8, true, 100, 1, .saturated = true},
	};
	json_t *results = results_of(samples, 4);
	struct share_cell cells[CELLS];

	CU_ASSERT_EQUAL_FATAL(share_cells(results, cells, CELLS), 1);
	CU_ASSERT_TRUE(cells[0].saturated);
	json_decref(results);
}

/* The accounts of a server and a client with a thread of the kernel's beside their workers. */
static void without_busy_time_there_is_a_share_of_rates_only(void)
{
	static const struct sample samples[] = {{1, 8, false, 60, 1}, {1, 8, true, 100, 1}};
	json_t *results = results_of(samples, 2), *result;
	struct share_cell cells[CELLS];
	size_t index;

	json_array_foreach(results, index, result)
	{
		json_object_set_new(json_object_get(result, "server"), "busy_us_per_request",
				    json_null());
		json_object_set_new(json_object_get(result, "client"), "saturated", json_null());
	}
	CU_ASSERT_EQUAL_FATAL(share_cells(results, cells, CELLS), 1);
	expect_range(cells[0].rps, 1, 0.6, 0.6, 0.6);
	CU_ASSERT_EQUAL(cells[0].cpu.count, 0);
	CU_ASSERT_EQUAL(cells[0].pipeline_busy_ns.count, 0);
	CU_ASSERT_FALSE(cells[0].saturated);
	CU_ASSERT_TRUE(cells[0].saturation_unknown);
	json_decref(results);
}

static void shares_are_kept_for_programs(void)
{
	const struct share_cell cell = {.stack = "epoll@loopback",
					.connections = 64,
					.depth = 8,
					.rps = {5, 0.95, 0.92, 0.97},
					.saturation_unknown = true};
	json_t *json = share_to_json(&cell, 1, 0), *kept, *share;

	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "schema")),
			       "weir.ceiling/1");
	CU_ASSERT(json_is_null(json_object_get(json, "least")));
	kept = json_array_get(json_object_get(json, "cells"), 0);
	share = json_object_get(kept, "share_of_rps");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(kept, "depth")), 8);
	CU_ASSERT_EQUAL(json_real_value(json_object_get(share, "min")), 0.92);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(share, "n")), 5);
	CU_ASSERT(json_is_null(json_object_get(kept, "share_of_cpu")));
	CU_ASSERT(json_is_string(json_object_get(kept, "share_of_cpu_reason")));
	CU_ASSERT(json_is_null(json_object_get(kept, "client_saturated")));
	CU_ASSERT_PTR_NULL(json_object_get(kept, "verdict"));
	json_decref(json);
	json = share_to_json(&cell, 1, 0.99);
	kept = json_array_get(json_object_get(json, "cells"), 0);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(kept, "verdict")), "missed");
	json_decref(json);
}

static void a_client_that_may_be_the_limit_reaches_nothing(void)
{
	struct share_cell cell = {.rps = {5, 0.99, 0.98, 1.00}, .saturation_unknown = true};

	CU_ASSERT_EQUAL(share_judge(&cell, 0.9), SHARE_UNDECIDED);
	cell.rps = (struct share_range){5, 0.7, 0.6, 0.8};
	CU_ASSERT_EQUAL(share_judge(&cell, 0.9), SHARE_MISSED);
}

static const struct suite_test tests[] = {
	{"shares are of pairs, not of medians", shares_are_of_pairs},
	{"an even number of pairs has the mean of the middle two",
	 even_pairs_have_the_mean_of_the_middle},
	{"a sample that is invalid makes no pair", invalid_samples_make_no_pair},
	{"no more cells are given than there is room for", no_more_cells_than_there_is_room},
	{"a verdict is of the whole range, else nothing is decided", verdict_is_of_the_whole_range},
	{"too few pairs decide nothing", few_pairs_decide_nothing},
	{"a gate is missed by one cell, and undecided without any", one_verdict_is_of_all_cells},
	{"CPU counts where the client was at its limit",
	 cpu_counts_where_the_client_was_at_its_limit},
	{"one sample with the client at its limit marks the cell",
	 one_sample_at_its_limit_marks_the_cell},
	{"without busy time there is a share of rates and none of CPU",
	 without_busy_time_there_is_a_share_of_rates_only},
	{"shares are kept for programs", shares_are_kept_for_programs},
	{"where the client may have been the limit a cell can only miss",
	 a_client_that_may_be_the_limit_reaches_nothing},
};

SUITE_MAIN("ceiling share", tests)
