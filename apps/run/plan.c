#include "apps/run/plan.h"

#include "apps/run/environment.h"
#include "apps/run/fit.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "stacks/registry.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Starting, connecting, draining and stopping, beyond the two windows: what a sample usually takes,
 * seconds.
 */
static const double sample_overhead_s = 1.2;

/* Cells of the grid, excluded ones too, that are looked at. */
enum { GRID_MAX = 1000 * 1000 };

static bool is_excluded(const struct experiment *experiment, const struct cell *cell)
{
	for (unsigned i = 0; i < experiment->exclude_count; i++) {
		const struct exclude *exclude = &experiment->excludes[i];
		bool matches = true;

		for (unsigned id = 0; id < SETTING_COUNT; id++)
			if (exclude->mask & 1u << id)
				matches &= setting_equal(id, cell->of[id], exclude->cell.of[id]);
		if (matches)
			return true;
	}
	return false;
}

/* The cell at `index` of the full grid, the last factor running fastest. */
static struct cell grid_cell(const struct experiment *experiment, unsigned index)
{
	struct cell cell = experiment->fixed;

	for (unsigned i = experiment->factor_count; i-- > 0;) {
		const struct factor *factor = &experiment->factors[i];

		cell.of[factor->setting] = factor->levels[index % factor->count];
		index /= factor->count;
	}
	return cell;
}

/* Cells of the full grid; more than GRID_MAX is reported as one beyond it. */
static unsigned grid_size(const struct experiment *experiment)
{
	unsigned size = 1;

	for (unsigned i = 0; i < experiment->factor_count; i++)
		if ((size *= experiment->factors[i].count) > GRID_MAX)
			return GRID_MAX + 1;
	return size;
}

/* How many cells of the grid are not excluded. */
static unsigned count_cells(const struct experiment *experiment, unsigned grid)
{
	unsigned count = 0;

	for (unsigned i = 0; i < grid; i++) {
		struct cell cell = grid_cell(experiment, i);

		count += !is_excluded(experiment, &cell);
	}
	return count;
}

/*
 * Joins the values of the varied settings: "dpdk@memif.coalesce.d8". 0, or -EINVAL with `error`
 * filled if that is too long for a folder's name.
 */
static int name_variant(const struct experiment *experiment, const struct cell *cell,
			char variant[SETTING_TEXT_BYTES], struct tp_error *error)
{
	char label[SETTING_TEXT_BYTES];
	bool fits = setting_label(SETTING_STACK, cell->of[SETTING_STACK], variant);
	size_t used = 0;

	for (unsigned i = 0; i < experiment->factor_count && used < SETTING_TEXT_BYTES; i++) {
		enum setting_id id = experiment->factors[i].setting;

		fits &= setting_label(id, cell->of[id], label);
		used += (size_t)snprintf(variant + used, SETTING_TEXT_BYTES - used, "%s%s",
					 i ? "." : "", label);
	}
	if (fits && used < SETTING_TEXT_BYTES)
		return 0;
	return tp_fail(error, -EINVAL,
		       "a cell's name is longer than %d characters; vary less at once, or have "
		       "fewer options in a stack",
		       SETTING_TEXT_BYTES - 1);
}

static int by_variant(const void *a, const void *b)
{
	const struct plan_cell *const *first = a, *const *second = b;

	return strcmp((*first)->variant, (*second)->variant);
}

const char *plan_find_twin(const struct plan *plan)
{
	const struct plan_cell **cells = calloc(plan->cell_count, sizeof(const struct plan_cell *));
	const char *twin = NULL;

	for (unsigned i = 0; cells && i < plan->cell_count; i++)
		cells[i] = &plan->cells[i];
	if (cells)
		qsort(cells, plan->cell_count, sizeof(*cells), by_variant);
	for (unsigned i = 1; cells && !twin && i < plan->cell_count; i++)
		if (strcmp(cells[i - 1]->variant, cells[i]->variant) == 0)
			twin = cells[i]->variant;
	free(cells);
	return twin;
}

unsigned plan_variant_width(const struct plan *plan)
{
	size_t width = 0;

	for (unsigned i = 0; i < plan->cell_count; i++) {
		size_t length = strlen(plan->cells[i].variant);

		width = length > width ? length : width;
	}
	return (unsigned)width;
}

/* Whether a setting means nothing to two cells that are alike in all others. */
static bool is_void(const struct cell *cell, enum setting_id id)
{
	struct tp_error ignored;
	struct stack_choice choice;

	if (id == SETTING_DELIVERY)
		return cell->of[SETTING_BARE].number != 0;
	return id == SETTING_HUGEPAGES &&
	       stack_find(cell->of[SETTING_STACK].word, &choice, &ignored) == 0 &&
	       !(choice.stack->ops->capabilities & TP_NEEDS_HUGEPAGES);
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	for (unsigned id = 0; id < SETTING_COUNT; id++)
		if (!setting_equal(id, a->of[id], b->of[id]) && !(is_void(a, id) && is_void(b, id)))
			return false;
	return true;
}

/*
 * Names the first two cells that come to the same: measured as two, they would be compared with
 * neither each other nor any third.
 */
static void find_same(const struct plan *plan, struct problems *problems)
{
	for (unsigned i = 1; i < plan->cell_count; i++) {
		const struct plan_cell *later = &plan->cells[i];

		for (unsigned k = 0; k < i; k++) {
			const struct plan_cell *earlier = &plan->cells[k];

			if (!is_same(&earlier->cell, &later->cell))
				continue;
			problems_add(problems,
				     "%s and %s are one cell: all their settings come to the same; "
				     "exclude one, or write what differs",
				     earlier->variant, later->variant);
			return;
		}
	}
}

/*
 * Makes every cell that is not excluded. What stands in the way of several in a row is said once.
 */
static void make_cells(struct plan *plan, unsigned grid, const struct plan_ground *ground,
		       struct problems *problems)
{
	struct tp_error error, said = {.text = ""};

	for (unsigned i = 0; i < grid; i++) {
		struct cell settings = grid_cell(plan->experiment, i);
		struct plan_cell *cell = &plan->cells[plan->cell_count];

		if (is_excluded(plan->experiment, &settings))
			continue;
		cell->cell = settings;
		cell->program = &ground->programs[0];
		fit_words(cell);
		if ((name_variant(plan->experiment, &cell->cell, cell->variant, &error) < 0 ||
		     fit_cell(cell, ground, &error) < 0) &&
		    strcmp(error.text, said.text) != 0) {
			said = error;
			problems_add(problems, "%s: %s", cell->variant, error.text);
		}
		if (cell->pins.degraded)
			plan->degraded = cell->pins.degraded;
		plan->cell_count++;
	}
}

/* Asks this host once for each stack that a cell has on one of its sides. */
static void check_hosts(const struct plan *plan, struct problems *problems)
{
	static const enum setting_id sides[] = {SETTING_STACK, SETTING_CLIENT_STACK};
	unsigned stack_count;
	const struct stack *stacks = stack_list(&stack_count);
	uint64_t asked = 0; /* a bit for each stack */

	for (unsigned i = 0; i < 2 * plan->cell_count; i++) {
		const struct cell *cell = &plan->cells[i / 2].cell;
		struct stack_choice choice;
		struct tp_error error;
		uint64_t bit;

		if (stack_find(cell->of[sides[i % 2]].word, &choice, &error) < 0)
			continue;
		bit = 1ull << (choice.stack - stacks);
		if (!(asked & bit) && stack_check_host(choice.stack, &error) < 0)
			problems_add(problems, "%s", error.text);
		asked |= bit;
	}
}

/* xorshift64* (Marsaglia 2003, Vigna 2016): any good, repeatable shuffle will do. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1Dull;
}

void plan_order(enum experiment_order order, uint64_t seed, unsigned runs, unsigned run,
		unsigned cells, unsigned *order_out)
{
	/* Never zero, and different in each run. */
	uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15ull + run * 0xD1B54A32D192ED03ull + 1;
	unsigned step = cells / runs ? cells / runs : 1;

	for (unsigned i = 0; i < cells; i++)
		order_out[i] = order == EXPERIMENT_ROTATE ? (i + run * step) % cells : i;
	if (order == EXPERIMENT_ABBA && run % 2 == 1)
		for (unsigned i = 0; i < cells; i++)
			order_out[i] = cells - 1 - i;
	if (order != EXPERIMENT_SHUFFLE)
		return;
	state = state ? state : 1;
	for (unsigned i = cells; i > 1; i--) {
		unsigned other = (unsigned)(next_random(&state) >> 33) % i;
		unsigned kept = order_out[i - 1];

		order_out[i - 1] = order_out[other];
		order_out[other] = kept;
	}
}

__attribute__((format(printf, 2, 3))) static void add_text(json_t *argv, const char *format, ...)
{
	char text[PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_array_append_new(argv, json_string(text));
}

static void add_flag(json_t *argv, const char *flag, const char *value)
{
	add_text(argv, "--%s", flag);
	add_text(argv, "%s", value);
}

static void add_setting(json_t *argv, const char *flag, const struct cell *cell, enum setting_id id)
{
	add_text(argv, "--%s", flag);
	if (setting_kind(id) == SETTING_IS_WORD)
		add_text(argv, "%s", cell->of[id].word);
	else
		add_text(argv, "%u", cell->of[id].number);
}

/* One side of a sample: which program, how it runs and waits, and where it is. */
struct side {
	const char *verb;
	enum setting_id stack;
	enum setting_id wait;
	const char *address; /* NULL if it needs none */
	const struct cpus *cpus;
};

static struct link_place place_of(const struct plan_sample *sample,
				  const struct plan_ground *ground)
{
	return (struct link_place){.socket_folder = ground->socket_folder,
				   .run_id = ground->run_id,
				   .sample_id = sample->id,
				   .port = ground->port,
				   .network_ip =
					   ground->hosts ? hosts_address(ground->hosts) : NULL};
}

/* What both sides are told in the same words: where and how they run, and what is answered. */
static json_t *begin_argv(const struct side *side, const struct plan_sample *sample,
			  const struct plan_ground *ground)
{
	const struct cell *cell = &sample->cell->cell;
	struct link_place place = place_of(sample, ground);
	char spec[LINK_SPEC_BYTES], text[CPUS_TEXT_BYTES];
	json_t *argv = json_pack("[ss]", "weir", side->verb);

	add_flag(argv, "stack", link_print_spec(cell->of[side->stack].word, &place, spec));
	if (side->address)
		add_flag(argv, "address", side->address);
	add_setting(argv, "workers", cell, SETTING_WORKERS);
	add_flag(argv, "cpus", cpus_print(side->cpus, text));
	add_setting(argv, "wait", cell, side->wait);
	add_setting(argv, "hugepages", cell, SETTING_HUGEPAGES);
	add_setting(argv, "handler", cell, SETTING_HANDLER);
	add_setting(argv, "response-bytes", cell, SETTING_RESPONSE_BYTES);
	return argv;
}

static json_t *make_server_argv(const struct plan_sample *sample, const struct plan_ground *ground)
{
	const struct plan_cell *cell = sample->cell;
	const struct setting_value *of = cell->cell.of;
	unsigned connections = of[SETTING_CONNECTIONS].number;
	const struct side side = {"serve", SETTING_STACK, SETTING_WAIT, cell->link->server_address,
				  &cell->pins.server};
	struct link_place place = place_of(sample, ground);
	char endpoint[LINK_ENDPOINT_BYTES];
	json_t *argv = begin_argv(&side, sample, ground);

	add_flag(argv, "listen", link_print_endpoint(cell->link, &place, endpoint));
	if (of[SETTING_BARE].number) {
		add_text(argv, "--bare");
		add_setting(argv, "request-bytes", &cell->cell, SETTING_REQUEST_BYTES);
	} else {
		add_setting(argv, "delivery", &cell->cell, SETTING_DELIVERY);
	}
	add_text(argv, "--conn-max");
	add_text(argv, "%u", connections > LIMIT_CONN_DEFAULT ? connections : LIMIT_CONN_DEFAULT);
	return argv;
}

static json_t *make_client_argv(const struct experiment *experiment,
				const struct plan_sample *sample, const struct plan_ground *ground)
{
	const struct plan_cell *cell = sample->cell;
	const struct side side = {"load", SETTING_CLIENT_STACK, SETTING_CLIENT_WAIT,
				  cell->link->client_address, &cell->pins.client};
	struct link_place place = place_of(sample, ground);
	char endpoint[LINK_ENDPOINT_BYTES];
	json_t *argv = begin_argv(&side, sample, ground);

	add_flag(argv, "connect", link_print_endpoint(cell->link, &place, endpoint));
	add_setting(argv, "connections", &cell->cell, SETTING_CONNECTIONS);
	add_setting(argv, "depth", &cell->cell, SETTING_DEPTH);
	add_setting(argv, "request-bytes", &cell->cell, SETTING_REQUEST_BYTES);
	add_setting(argv, "refill", &cell->cell, SETTING_REFILL);
	add_flag(argv, "warmup", experiment->warmup);
	add_flag(argv, "duration", experiment->duration);
	add_text(argv, "--json");
	add_text(argv, "%s/client.json", sample->folder);
	add_text(argv, "--metrics");
	add_text(argv, "%s/metrics.jsonl", sample->folder);
	add_text(argv, "--hgrm");
	add_text(argv, "%s/latency.hgrm", sample->folder);
	return argv;
}

static void make_sample(struct plan *plan, unsigned run, const struct plan_cell *cell,
			const struct plan_ground *ground)
{
	struct plan_sample *sample = &plan->samples[plan->sample_count];

	sample->order_index = plan->sample_count++;
	sample->run = run + 1;
	sample->cell = cell;
	snprintf(sample->id, sizeof(sample->id), "s%04u", sample->order_index + 1);
	snprintf(sample->folder, sizeof(sample->folder), "samples/%s-%s", sample->id,
		 cell->variant);
	sample->env = plan->env;
	sample->server_argv = make_server_argv(sample, ground);
	sample->client_argv = make_client_argv(plan->experiment, sample, ground);
}

static int make_samples(struct plan *plan, const struct plan_ground *ground)
{
	const struct experiment *experiment = plan->experiment;
	unsigned *order = calloc(plan->cell_count, sizeof(*order));

	plan->samples = calloc((size_t)plan->cell_count * experiment->runs, sizeof(*plan->samples));
	if (!order || !plan->samples) {
		free(order);
		return -ENOMEM;
	}
	for (unsigned run = 0; run < experiment->runs; run++) {
		plan_order(experiment->order, experiment->seed, experiment->runs, run,
			   plan->cell_count, order);
		for (unsigned i = 0; i < plan->cell_count; i++)
			make_sample(plan, run, &plan->cells[order[i]], ground);
	}
	free(order);
	return 0;
}

/* Fills a plan; whatever stands in the way becomes a problem. */
static void fill(struct plan *plan, const struct plan_ground *ground, struct problems *problems)
{
	const struct experiment *experiment = plan->experiment;
	unsigned grid = grid_size(experiment);
	unsigned cells = grid > GRID_MAX ? 0 : count_cells(experiment, grid);
	const char *twin;

	if (grid > GRID_MAX)
		problems_add(problems, "%s: the factors span more than %d cells", experiment->path,
			     GRID_MAX);
	else if (cells == 0)
		problems_add(problems, "%s: every cell is excluded", experiment->path);
	else if ((uint64_t)cells * experiment->runs > EXPERIMENT_SAMPLES_MAX)
		problems_add(problems, "%s: %u cells in %u runs are more than %d samples",
			     experiment->path, cells, experiment->runs, EXPERIMENT_SAMPLES_MAX);
	if (problems->count)
		return;
	plan->cells = calloc(cells, sizeof(*plan->cells));
	if (!plan->cells) {
		problems_add(problems, "no memory for %u cells", cells);
		return;
	}
	make_cells(plan, grid, ground, problems);
	if (problems->count == 0)
		check_hosts(plan, problems);
	twin = problems->count ? NULL : plan_find_twin(plan);
	if (twin)
		problems_add(problems,
			     "%s: two cells would have this name; measure them in experiments of "
			     "their own",
			     twin);
	if (problems->count == 0)
		find_same(plan, problems);
	if (problems->count == 0 && make_samples(plan, ground) < 0)
		problems_add(problems, "no memory for the samples");
}

int plan_make(const struct experiment *experiment, const struct plan_ground *ground,
	      struct plan **plan_out, struct problems *problems)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return -ENOMEM;
	plan->experiment = experiment;
	plan->env = environment_choose();
	fill(plan, ground, problems);
	if (problems->count) {
		plan_free(plan);
		return -EINVAL;
	}
	*plan_out = plan;
	return 0;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (unsigned i = 0; i < plan->sample_count; i++) {
		json_decref(plan->samples[i].server_argv);
		json_decref(plan->samples[i].client_argv);
	}
	json_decref(plan->env);
	free(plan->samples);
	free(plan->cells);
	free(plan);
}

double plan_estimate_s(const struct plan *plan)
{
	const struct experiment *experiment = plan->experiment;
	double windows_s =
		(double)(experiment->warmup_ns + experiment->duration_ns) / (double)CLOCK_SECOND_NS;

	return plan->sample_count * (windows_s + sample_overhead_s);
}

static json_t *sample_to_json(const struct plan_sample *sample)
{
	const struct plan_cell *cell = sample->cell;

	return json_pack("{ss si si ss ss so sO sO sO so so}", "sample_id", sample->id,
			 "order_index", (int)sample->order_index, "run", (int)sample->run,
			 "variant", cell->variant, "folder", sample->folder, "cell",
			 cell_to_json(&cell->cell), "server_argv", sample->server_argv,
			 "client_argv", sample->client_argv, "env", (json_t *)sample->env,
			 "server_cpus", pins_cpus_to_json(&cell->pins.server), "client_cpus",
			 pins_cpus_to_json(&cell->pins.client));
}

json_t *plan_to_json(const struct plan *plan)
{
	const struct experiment *experiment = plan->experiment;
	json_t *samples = json_array();

	for (unsigned i = 0; i < plan->sample_count; i++)
		json_array_append_new(samples, sample_to_json(&plan->samples[i]));
	return json_pack("{ss ss sO si si ss sI sf sb ss? so}", "schema", "weir.plan/1",
			 "experiment", experiment->name, "effective", experiment->json, "runs",
			 (int)experiment->runs, "cells", (int)plan->cell_count, "order",
			 experiment_order_name(experiment->order), "seed",
			 (json_int_t)experiment->seed, "estimate_s", plan_estimate_s(plan),
			 "degraded", plan->degraded != NULL, "degraded_reason", plan->degraded,
			 "samples", samples);
}
