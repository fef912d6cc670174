#include "apps/run/plan/cells.h"

#include "apps/common/veth.h"
#include "apps/run/plan/answers.h"
#include "apps/run/plan/argv.h"
#include "apps/run/plan/fit.h"
#include "apps/run/plan/grid.h"
#include "apps/run/plan/kinds.h"
#include "apps/run/experiment/profile.h"
#include "stacks/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Variants are by their names: one build under two names shows what chance makes of it. */
static bool is_one(const struct plan_cell *a, const struct plan_cell *b)
{
	return (!a->variant_level || strcmp(a->variant_level, b->variant_level) == 0) &&
	       is_same(&a->cell, &b->cell);
}

void cells_find_same(const struct plan *plan, struct problems *problems)
{
	for (unsigned i = 1; i < plan->cell_count; i++) {
		const struct plan_cell *later = &plan->cells[i];

		for (unsigned k = 0; k < i; k++) {
			const struct plan_cell *earlier = &plan->cells[k];

			if (!is_one(earlier, later))
				continue;
			problems_add(problems,
				     "%s and %s are one cell: all their settings come to the same; "
				     "exclude one, or write what differs",
				     earlier->variant, later->variant);
			return;
		}
	}
}

/* How many cells of the grid are not excluded. */
static unsigned count_cells(const struct experiment *experiment, unsigned grid)
{
	struct grid_cell cell;
	unsigned count = 0;

	for (unsigned i = 0; i < grid; i++) {
		grid_at(experiment, i, &cell);
		count += !grid_is_excluded(experiment, &cell);
	}
	return count;
}

/* Notes once what is left out or less than it should be. */
static void omit(struct plan *plan, const char *what, const char *why)
{
	json_t *entry = json_pack("{ss ss}", "what", what, "why", why), *earlier;
	size_t index;

	json_array_foreach(plan->omitted, index, earlier)
	{
		if (!json_equal(earlier, entry))
			continue;
		json_decref(entry);
		return;
	}
	json_array_append_new(plan->omitted, entry);
}

/* Whether the cell is to be measured here, as far as a profile leaves that open. */
static bool settle(struct plan *plan, const struct grid_cell *from, struct plan_cell *cell,
		   const struct plan_ground *ground)
{
	const struct link *link = link_find(cell->cell.of[SETTING_STACK].word);
	struct tp_error lack;
	bool kept;

	if (!from->of_profile)
		return true;
	kept = profile_settle(&cell->cell, ground->topology, link, &lack);
	if (lack.text[0])
		omit(plan, from->scenario, lack.text);
	return kept;
}

/* What stands in the way of several cells in a row is said once. */
struct making {
	struct plan *plan;
	const struct plan_ground *ground;
	struct problems *problems;
	struct tp_error said;
};

static void complain(struct making *making, const struct plan_cell *cell,
		     const struct tp_error *error)
{
	if (strcmp(error->text, making->said.text) == 0)
		return;
	making->said = *error;
	problems_add(making->problems, "%s: %s", cell->variant, error->text);
}

/* Makes one cell, unless the host has not what its profile wants. */
static void make_cell(struct making *making, struct grid_cell *from)
{
	struct plan *plan = making->plan;
	struct plan_cell *cell = &plan->cells[plan->cell_count];
	const struct program *programs = making->ground->programs;
	const struct upstream *upstream = &plan->experiment->upstream;
	struct tp_error error;

	*cell = (struct plan_cell){.cell = from->cell,
				   .scenario = from->scenario,
				   .variant_level = from->variant,
				   .of_matrix = from->of_matrix,
				   .build = from->build,
				   .upstream_workers = upstream->wanted ? upstream->workers : 0,
				   .kept = argv_kept(plan->experiment, &from->cell),
				   .program = programs ? &programs[from->build] : NULL};
	if (!settle(plan, from, cell, making->ground))
		return;
	plan->cell_count++;
	fit_words(cell);
	from->cell = cell->cell;
	if (grid_name(plan->experiment, from, cell->variant, &error) < 0 ||
	    fit_cell(cell, making->ground, &error) < 0 ||
	    answers_judge(cell, plan->experiment, &error) < 0)
		complain(making, cell, &error);
}

/* What of this host those cells take that have their CPUs. */
static void judge_host(struct making *making)
{
	struct tp_error error;

	for (unsigned i = 0; i < making->plan->cell_count; i++)
		if (making->plan->cells[i].pins.server.count &&
		    fit_host(&making->plan->cells[i], making->ground, &error) < 0)
			complain(making, &making->plan->cells[i], &error);
}

static void make_all(struct plan *plan, unsigned grid, const struct plan_ground *ground,
		     struct problems *problems, struct problems *lacks)
{
	struct making making = {plan, ground, problems, {.text = ""}};
	struct grid_cell cell;

	for (unsigned i = 0; i < grid; i++) {
		grid_at(plan->experiment, i, &cell);
		if (!grid_is_excluded(plan->experiment, &cell))
			make_cell(&making, &cell);
	}
	if (plan->cell_count == 0)
		problems_add(problems, "%s: this host has too little for every cell: %s",
			     plan->experiment->path,
			     json_string_value(
				     json_object_get(json_array_get(plan->omitted, 0), "why")));
	if (problems->count == 0)
		kinds_settle(plan, ground);
	making.problems = lacks;
	judge_host(&making);
}

void cells_make(struct plan *plan, const struct plan_ground *ground, struct problems *problems,
		struct problems *lacks)
{
	const struct experiment *experiment = plan->experiment;
	unsigned grid = grid_size(experiment);
	unsigned cells = grid > GRID_MAX ? 0 : count_cells(experiment, grid);

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
	if (plan->cells)
		make_all(plan, grid, ground, problems, lacks);
	else
		problems_add(problems, "no memory for %u cells", cells);
}

/* Tries once whether servers here may make pairs of interfaces, if one is to. */
static void check_veth(const struct plan *plan, struct problems *problems)
{
	struct tp_error error;

	for (unsigned i = 0; i < plan->cell_count; i++) {
		if (plan->cells[i].link->kind != LINK_VETH)
			continue;
		if (veth_probe(&error) < 0)
			problems_add(problems, "%s: %s", plan->cells[i].variant, error.text);
		return;
	}
}

void cells_check_hosts(const struct plan *plan, const struct plan_ground *ground,
		       struct problems *problems)
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
	if (!ground->elsewhere)
		check_veth(plan, problems);
}
