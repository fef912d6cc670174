#include "apps/run/plan/plan.h"

#include "apps/run/plan/argv.h"
#include "apps/run/plan/cells.h"
#include "apps/run/plan/environment.h"
#include "apps/run/result/parity.h"
#include "apps/run/experiment/profile.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Starting, connecting, draining and stopping, beyond the two windows: what a sample usually takes,
 * seconds.
 */
static const double sample_overhead_s = 1.2;

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
	sample->server_argv = argv_make_server(plan->experiment, sample, ground);
	sample->client_argv = argv_make_client(plan->experiment, sample, ground);
	if (plan->experiment->upstream.wanted)
		sample->upstream_argv = argv_make_upstream(plan->experiment, sample, ground);
}

/* How many cells in a row differ by their variant alone; 1 where they do not stand so. */
static unsigned compared_cells(const struct plan *plan)
{
	const struct experiment *experiment = plan->experiment;
	const struct axis *variants = experiment_axis(experiment, AXIS_VARIANTS);

	if (!variants || experiment->exclude_count || plan->cell_count % variants->count)
		return 1;
	return variants->count; /* for they are the axis that runs fastest */
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
		order_make(&experiment->order, experiment->runs, run, plan->cell_count,
			   compared_cells(plan), order);
		for (unsigned i = 0; i < plan->cell_count; i++)
			make_sample(plan, run, &plan->cells[order[i]], ground);
	}
	free(order);
	return 0;
}

/* The form that the experiment asks for, or that suits this host; `reason_out` says why. */
static const struct profile_form *choose_form(const struct plan *plan, const char **name_out,
					      const char **reason_out)
{
	enum experiment_form form = plan->experiment->form;

	*reason_out = "the experiment asks for it";
	if (form == EXPERIMENT_FORM_AUTO) {
		form = plan->degraded ? EXPERIMENT_FORM_SHORT : EXPERIMENT_FORM_FULL;
		*reason_out = plan->degraded ? "the plan is degraded" : "the plan is not degraded";
		if (plan_waits_for_hosts(plan))
			*reason_out = "as if the plan were not degraded, which is known once the "
				      "hosts are asked";
	}
	*name_out = experiment_form_name(form);
	return form == EXPERIMENT_FORM_FULL ? &profile_full : &profile_short;
}

/* The plan's own copy, while the plan is made. */
static struct experiment *own(struct plan *plan)
{
	return (struct experiment *)plan->experiment;
}

/* Puts the form's windows and runs where the experiment has none of its own. */
static void settle_form(struct plan *plan)
{
	struct experiment *experiment = own(plan);
	const struct profile_form *form;
	const char *name;

	if (experiment->form == EXPERIMENT_FORM_NONE)
		return;
	form = choose_form(plan, &name, &plan->form_reason);
	if (!json_object_get(experiment->json, "runs"))
		experiment->runs = form->runs;
	if (!json_object_get(experiment->json, "warmup")) {
		experiment->warmup = form->warmup;
		experiment->warmup_ns = form->warmup_ns;
	}
	if (!json_object_get(experiment->json, "duration")) {
		experiment->duration = form->duration;
		experiment->duration_ns = form->duration_ns;
	}
	json_object_update_new(experiment->json,
			       json_pack("{ss si ss ss}", "form", name, "runs",
					 (int)experiment->runs, "warmup", experiment->warmup,
					 "duration", experiment->duration));
}

/* Whether the array has the number. */
static bool has_number(const json_t *array, json_int_t number)
{
	size_t index;
	json_t *value;

	json_array_foreach((json_t *)array, index, value)
	{
		if (json_integer_value(value) == number)
			return true;
	}
	return false;
}

/* Leaves in the JSON the counts of workers that were kept, so that it makes the same plan anew. */
static void settle_counts(struct plan *plan)
{
	json_t *counts = json_array();

	for (unsigned i = 0; i < plan->cell_count; i++) {
		const struct plan_cell *cell = &plan->cells[i];
		json_int_t workers = cell->cell.of[SETTING_WORKERS].number;

		if (cell->of_matrix && !has_number(counts, workers))
			json_array_append_new(counts, json_integer(workers));
	}
	if (json_array_size(counts))
		json_object_set(plan->experiment->json, "worker_counts", counts);
	json_decref(counts);
}

static void judge_size(const struct plan *plan, struct problems *problems)
{
	const struct experiment *experiment = plan->experiment;

	if ((uint64_t)plan->cell_count * experiment->runs > EXPERIMENT_SAMPLES_MAX)
		problems_add(problems, "%s: %u cells in %u runs are more than %d samples",
			     experiment->path, plan->cell_count, experiment->runs,
			     EXPERIMENT_SAMPLES_MAX);
}

static void judge_twins(const struct plan *plan, struct problems *problems)
{
	const char *twin = plan_find_twin(plan);

	if (twin)
		problems_add(problems,
			     "%s: two cells would have this name; measure them in experiments of "
			     "their own",
			     twin);
	else
		cells_find_same(plan, problems);
}

/* Fills a plan. What makes it impossible becomes a problem; what the host lacks goes to `lacks`. */
static void fill(struct plan *plan, const struct plan_ground *ground, struct problems *problems,
		 struct problems *lacks)
{
	cells_make(plan, ground, problems, lacks);
	if (problems->count)
		return;
	judge_twins(plan, problems);
	cells_check_hosts(plan, ground, lacks);
	settle_form(plan);
	settle_counts(plan);
	judge_size(plan, problems);
	if (problems->count == 0 && make_samples(plan, ground) < 0)
		problems_add(problems, "no memory for the samples");
}

/* A copy that can be settled; NULL without memory. */
static struct experiment *copy(const struct experiment *experiment)
{
	struct experiment *own = malloc(sizeof(*own));

	if (own) {
		*own = *experiment;
		own->json = json_deep_copy(experiment->json);
	}
	return own;
}

int plan_sketch(const struct experiment *experiment, const struct plan_ground *ground,
		struct plan **plan_out, struct problems *problems)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	struct problems lacks = {0};

	if (plan)
		plan->experiment = copy(experiment);
	if (!plan || !plan->experiment) {
		free(plan);
		problems_add(problems, "%s: no memory", experiment->path);
		return -EINVAL;
	}
	plan->env = environment_choose();
	plan->omitted = json_array();
	fill(plan, ground, problems, &lacks);
	if (problems->count) {
		problems_join(problems, &lacks);
		plan_free(plan);
		return -EINVAL;
	}
	*problems = lacks;
	*plan_out = plan;
	return 0;
}

int plan_make(const struct experiment *experiment, const struct plan_ground *ground,
	      struct plan **plan_out, struct problems *problems)
{
	struct plan *plan;
	int code = plan_sketch(experiment, ground, &plan, problems);

	if (code == 0 && problems->count) {
		plan_free(plan);
		code = -EINVAL;
	}
	if (code == 0)
		*plan_out = plan;
	return code;
}

bool plan_waits_for_hosts(const struct plan *plan)
{
	for (unsigned i = 0; i < plan->cell_count; i++)
		if (plan->cells[i].pins.server.count == 0 || plan->cells[i].pins.client.count == 0)
			return true;
	return false;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (unsigned i = 0; i < plan->sample_count; i++) {
		json_decref(plan->samples[i].server_argv);
		json_decref(plan->samples[i].client_argv);
		json_decref(plan->samples[i].upstream_argv);
	}
	json_decref(plan->env);
	json_decref(plan->omitted);
	json_decref(plan->experiment->json);
	free(own(plan));
	free(plan->samples);
	free(plan->cells);
	free(plan);
}

double plan_estimate_s(const struct plan *plan)
{
	const struct experiment *experiment = plan->experiment;
	double windows_s =
		(double)(experiment->warmup_ns + experiment->duration_ns) / (double)CLOCK_SECOND_NS;

	return plan->sample_count * (windows_s + sample_overhead_s) +
	       2 * parity_count(plan) * sample_overhead_s;
}
