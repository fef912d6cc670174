#include "apps/ceiling/share.h"

#include "apps/common/json.h"
#include "apps/common/stack.h"

#include <stdlib.h>
#include <string.h>

/* What a pair gives, one value a pair. */
enum column {
	BARE_RPS,
	PIPELINE_RPS,
	RPS,
	BARE_BUSY_NS,
	PIPELINE_BUSY_NS,
	CPU,
	COLUMN_COUNT,
};

static const json_t *setting_of(const json_t *result, const char *name)
{
	return json_object_get(json_object_get(result, "cell"), name);
}

static bool is_of(const json_t *result, const struct share_cell *cell)
{
	const char *stack = json_string_value(setting_of(result, "stack"));

	return stack && strcmp(stack, cell->stack) == 0 &&
	       json_integer_value(setting_of(result, "connections")) == cell->connections &&
	       json_integer_value(setting_of(result, "depth")) == cell->depth;
}

static bool is_bare(const json_t *result)
{
	return json_is_true(setting_of(result, "bare"));
}

static json_int_t run_of(const json_t *result)
{
	return json_integer_value(json_object_get(result, "run"));
}

/* The valid sample of the bare echo beside a sample of the pipeline, or NULL. */
static const json_t *partner_of(const json_t *results, const json_t *pipeline,
				const struct share_cell *cell)
{
	size_t index;
	json_t *result;

	json_array_foreach((json_t *)results, index, result)
	{
		if (is_bare(result) && is_of(result, cell) && run_of(result) == run_of(pipeline) &&
		    json_is_true(json_object_get(result, "valid")))
			return result;
	}
	return NULL;
}

static double rps_of(const json_t *result)
{
	return json_number_value(json_object_get(result, "effective_rps"));
}

static double busy_ns_of(const json_t *result)
{
	const json_t *server = json_object_get(result, "server");

	return 1000 * json_number_value(json_object_get(server, "busy_us_per_request"));
}

static bool is_saturated(const json_t *result)
{
	return json_is_true(json_object_get(json_object_get(result, "client"), "saturated"));
}

static bool is_saturation_known(const json_t *result)
{
	return json_is_boolean(json_object_get(json_object_get(result, "client"), "saturated"));
}

static int by_size(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

static struct share_range range_of(double *values, unsigned count)
{
	if (count == 0)
		return (struct share_range){0};
	qsort(values, count, sizeof(*values), by_size);
	return (struct share_range){.count = count,
				    .median = (values[(count - 1) / 2] + values[count / 2]) / 2,
				    .least = values[0],
				    .most = values[count - 1]};
}

/* The values of one kind, a value a pair. */
struct column_values {
	unsigned count;
	double *value;
};

static void add(struct column_values *column, double value)
{
	column->value[column->count++] = value;
}

/* What a pair says, as far as it is known. */
static void add_pair(struct column_values columns[COLUMN_COUNT], const json_t *bare,
		     const json_t *pipeline)
{
	add(&columns[BARE_RPS], rps_of(bare));
	add(&columns[PIPELINE_RPS], rps_of(pipeline));
	add(&columns[RPS], rps_of(pipeline) / rps_of(bare));
	if (busy_ns_of(bare) <= 0 || busy_ns_of(pipeline) <= 0)
		return;
	add(&columns[BARE_BUSY_NS], busy_ns_of(bare));
	add(&columns[PIPELINE_BUSY_NS], busy_ns_of(pipeline));
	add(&columns[CPU], busy_ns_of(bare) / busy_ns_of(pipeline));
}

/* Fills the columns with the pairs of a cell. */
static void collect(const json_t *results, struct share_cell *cell,
		    struct column_values columns[COLUMN_COUNT])
{
	size_t index;
	json_t *result;

	json_array_foreach((json_t *)results, index, result)
	{
		const json_t *bare;

		if (is_bare(result) || !is_of(result, cell) ||
		    !json_is_true(json_object_get(result, "valid")))
			continue;
		bare = partner_of(results, result, cell);
		if (!bare || rps_of(bare) <= 0)
			continue;
		add_pair(columns, bare, result);
		cell->saturated |= is_saturated(bare) || is_saturated(result);
		cell->saturation_unknown |=
			!is_saturation_known(bare) || !is_saturation_known(result);
	}
}

/* Computes a cell whose settings are filled; without memory it has no pairs. */
static void compute(const json_t *results, struct share_cell *cell)
{
	struct share_range *ranges[COLUMN_COUNT] = {
		&cell->bare_rps,     &cell->pipeline_rps,     &cell->rps,
		&cell->bare_busy_ns, &cell->pipeline_busy_ns, &cell->cpu};
	size_t room = json_array_size(results);
	double *values = calloc(COLUMN_COUNT * room, sizeof(*values));
	struct column_values columns[COLUMN_COUNT];

	if (!values)
		return;
	for (unsigned i = 0; i < COLUMN_COUNT; i++)
		columns[i] = (struct column_values){0, values + i * room};
	collect(results, cell, columns);
	for (unsigned i = 0; i < COLUMN_COUNT; i++)
		*ranges[i] = range_of(columns[i].value, columns[i].count);
	free(values);
}

static bool is_known(const json_t *result, const struct share_cell *cells, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (is_of(result, &cells[i]))
			return true;
	return false;
}

unsigned share_cells(const json_t *results, struct share_cell *cells, unsigned room)
{
	unsigned count = 0;
	size_t index;
	json_t *result;

	json_array_foreach((json_t *)results, index, result)
	{
		if (count == room || is_known(result, cells, count))
			continue;
		cells[count] = (struct share_cell){
			.stack = json_string_value(setting_of(result, "stack")),
			.connections =
				(unsigned)json_integer_value(setting_of(result, "connections")),
			.depth = (unsigned)json_integer_value(setting_of(result, "depth")),
		};
		compute(results, &cells[count++]);
	}
	return count;
}

const struct share_range *share_counted(const struct share_cell *cell)
{
	return cell->saturated ? &cell->cpu : &cell->rps;
}

enum share_verdict share_judge_all(const struct share_cell *cells, unsigned count, double least)
{
	enum share_verdict all = count > 0 ? SHARE_REACHED : SHARE_UNDECIDED;

	for (unsigned i = 0; i < count; i++) {
		enum share_verdict verdict = share_judge(&cells[i], least);

		if (verdict == SHARE_MISSED)
			return SHARE_MISSED;
		if (verdict == SHARE_UNDECIDED)
			all = SHARE_UNDECIDED;
	}
	return all;
}

enum share_verdict share_judge(const struct share_cell *cell, double least)
{
	const struct share_range *share = share_counted(cell);

	if (share->count < SHARE_PAIRS_MIN)
		return SHARE_UNDECIDED;
	if (share->most < least)
		return SHARE_MISSED;
	if (cell->saturation_unknown && !cell->saturated)
		return SHARE_UNDECIDED;
	return share->least >= least ? SHARE_REACHED : SHARE_UNDECIDED;
}

const char *share_verdict_name(enum share_verdict verdict)
{
	static const char *const names[] = {[SHARE_REACHED] = "reached",
					    [SHARE_MISSED] = "missed",
					    [SHARE_UNDECIDED] = "undecided"};

	return names[verdict];
}

static void set_range(json_t *to, const char *name, const struct share_range *range,
		      const char *lacking)
{
	if (range->count == 0)
		json_set_unknown(to, name, lacking);
	else
		json_object_set_new(to, name,
				    json_pack("{sf sf sf si}", "median", range->median, "min",
					      range->least, "max", range->most, "n",
					      (int)range->count));
}

static json_t *share_cell_to_json(const struct share_cell *cell, double least)
{
	static const char no_pair[] = "no pair is valid";
	const char *no_busy = cell->rps.count ? stack_busy_unknown : no_pair;
	json_t *json = json_pack("{ss si si}", "stack", cell->stack, "connections",
				 (int)cell->connections, "depth", (int)cell->depth);

	set_range(json, "bare_rps", &cell->bare_rps, no_pair);
	set_range(json, "pipeline_rps", &cell->pipeline_rps, no_pair);
	set_range(json, "share_of_rps", &cell->rps, no_pair);
	set_range(json, "bare_busy_ns_per_request", &cell->bare_busy_ns, no_busy);
	set_range(json, "pipeline_busy_ns_per_request", &cell->pipeline_busy_ns, no_busy);
	set_range(json, "share_of_cpu", &cell->cpu, no_busy);
	if (cell->saturation_unknown && !cell->saturated)
		json_set_unknown(json, "client_saturated", stack_busy_unknown);
	else
		json_object_set_new(json, "client_saturated", json_boolean(cell->saturated));
	if (least > 0)
		json_object_set_new(json, "verdict",
				    json_string(share_verdict_name(share_judge(cell, least))));
	return json;
}

json_t *share_to_json(const struct share_cell *cells, unsigned count, double least)
{
	json_t *array = json_array(), *json;

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(array, share_cell_to_json(&cells[i], least));
	json = json_pack("{ss so}", "schema", "weir.ceiling/1", "cells", array);
	if (least > 0)
		json_object_set_new(json, "least", json_real(least));
	else
		json_set_unknown(json, "least", "no gate was asked for");
	return json;
}
