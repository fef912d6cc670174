#include "apps/run/plan/plan_show.h"

#include "apps/common/json.h"

#include <string.h>

json_t *plan_cell_to_json(const struct plan_cell *cell)
{
	json_t *json = cell_to_json(&cell->cell);

	if (cell->scenario)
		json_object_set_new(json, "scenario", json_string(cell->scenario));
	if (cell->variant_level)
		json_object_set_new(json, "variant", json_string(cell->variant_level));
	return json;
}

static const char chosen_there[] =
	"CPUs of another host are chosen once it is asked, as the run begins";

/* Of a side without CPUs neither they nor their nodes are known. */
static void set_side_unknown(json_t *json, const struct cpus *cpus, const char *cpus_name,
			     const char *nodes_name)
{
	if (cpus->count)
		return;
	json_set_unknown(json, cpus_name, chosen_there);
	json_set_unknown(json, nodes_name, chosen_there);
	json_set_unknown(json, "reserved_cpus", chosen_there);
}

static json_t *sample_to_json(const struct plan_sample *sample)
{
	const struct plan_cell *cell = sample->cell;
	json_t *json = json_pack("{ss si si ss ss so sO sO sO}", "sample_id", sample->id,
				 "order_index", (int)sample->order_index, "run", (int)sample->run,
				 "variant", cell->variant, "folder", sample->folder, "cell",
				 plan_cell_to_json(cell), "server_argv", sample->server_argv,
				 "client_argv", sample->client_argv, "env", (json_t *)sample->env);

	if (sample->upstream_argv)
		json_object_set(json, "upstream_argv", sample->upstream_argv);
	json_object_update_new(json, pins_to_json(&cell->pins));
	json_object_set_new(json, "reserved_cpus", cpus_to_numbers(&cell->pins.reserved));
	set_side_unknown(json, &cell->pins.server, "server_cpus", "server_nodes");
	set_side_unknown(json, &cell->pins.client, "client_cpus", "client_nodes");
	return json;
}

/* What servers are built from; the first is the runner's own. */
static json_t *builds_of(const struct experiment *experiment)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < experiment->build_count; i++) {
		const struct build *build = &experiment->builds[i];

		json_array_append_new(list, json_pack("{ss? ss? ss ss}", "variant", build->variant,
						      "commit", build->commit, "options",
						      build->options, "c_args", build->c_args));
	}
	return list;
}

json_t *plan_to_json(const struct plan *plan)
{
	const struct experiment *experiment = plan->experiment;
	json_t *samples = json_array();
	json_t *json = json_pack(
		"{ss ss sO si si ss sI sf sb ss? so sO}", "schema", PLAN_SCHEMA, "experiment",
		experiment->name, "effective", experiment->json, "runs", (int)experiment->runs,
		"cells", (int)plan->cell_count, "order", order_name(experiment->order.kind), "seed",
		(json_int_t)experiment->order.seed, "estimate_s", plan_estimate_s(plan), "degraded",
		plan->degraded != NULL, "degraded_reason", plan->degraded, "builds",
		builds_of(experiment), "omitted", plan->omitted);

	if (plan_waits_for_hosts(plan))
		json_set_unknown(json, "degraded", chosen_there);
	if (experiment->server_config)
		json_object_set(json, "files", experiment->files);
	if (plan->form_reason)
		json_object_set_new(json, "form_reason", json_string(plan->form_reason));
	for (unsigned i = 0; i < plan->sample_count; i++)
		json_array_append_new(samples, sample_to_json(&plan->samples[i]));
	json_object_set_new(json, "samples", samples);
	return json;
}

/* Of the plural. */
static const char *ending(unsigned count)
{
	return count == 1 ? "" : "s";
}

static void join_argv(const json_t *argv, FILE *to)
{
	size_t index;
	json_t *argument;

	json_array_foreach((json_t *)argv, index, argument)
	{
		fprintf(to, " %s", json_string_value(argument));
	}
	fputc('\n', to);
}

/* "  base: commit v0.1, options -During=disabled" */
static void print_builds(const struct experiment *experiment, FILE *to)
{
	if (experiment->build_count == 1)
		return;
	fprintf(to, "builds, beside the runner's own:\n");
	for (unsigned i = 1; i < experiment->build_count; i++) {
		const struct build *build = &experiment->builds[i];

		fprintf(to, "  %s: %s%s", build->variant, build->commit ? "commit " : "this tree",
			build->commit ? build->commit : "");
		if (build->options[0])
			fprintf(to, ", options %s", build->options);
		if (build->c_args[0])
			fprintf(to, ", c_args %s", build->c_args);
		fputc('\n', to);
	}
}

static void print_side(const char *side, const struct cpus *cpus, const struct cpus *nodes,
		       FILE *to)
{
	char text[CPUS_TEXT_BYTES];

	if (cpus->count == 0) {
		fprintf(to, "  %s on CPUs chosen there", side);
		return;
	}
	fprintf(to, "  %s on CPU%s %s", side, ending(cpus->count), cpus_print(cpus, text));
	if (nodes->count)
		fprintf(to, " of node%s %s", ending(nodes->count), cpus_print(nodes, text));
}

static void print_cells(const struct plan *plan, FILE *to)
{
	char text[CPUS_TEXT_BYTES];

	fprintf(to, "%u cell%s:\n", plan->cell_count, ending(plan->cell_count));
	for (unsigned i = 0; i < plan->cell_count; i++) {
		const struct plan_cell *cell = &plan->cells[i];
		const struct pins *pins = &cell->pins;

		fprintf(to, "  %-*s", (int)plan_variant_width(plan), cell->variant);
		print_side("server", &pins->server, &pins->server_nodes, to);
		print_side("client", &pins->client, &pins->client_nodes, to);
		if (pins->upstream.count)
			fprintf(to, "  upstream on CPU%s %s", ending(pins->upstream.count),
				cpus_print(&pins->upstream, text));
		if (pins->reserved.count)
			fprintf(to, "  kept for the system: %s", cpus_print(&pins->reserved, text));
		fputc('\n', to);
	}
}

/* Fewer runs than these leave the interval of a comparison so wide that it hardly ever decides. */
enum { TELLING_RUNS = 3 };

json_t *plan_cautions(const struct plan *plan)
{
	const struct experiment *experiment = plan->experiment;
	enum order_kind order = experiment->order.kind;
	unsigned period = order_period(order, plan->cell_count), runs = experiment->runs;
	json_t *cautions = json_array();

	if (plan->cell_count < 2)
		return cautions;
	if (runs < TELLING_RUNS)
		json_array_append_new(
			cautions,
			json_sprintf("with %u run%s %s: take %d or more to tell cells apart", runs,
				     ending(runs),
				     runs == 1 ? "there is no interval"
					       : "an interval tells large differences only",
				     TELLING_RUNS));
	if (runs % period && (order == ORDER_ABBA || order == ORDER_BALANCED))
		json_array_append_new(cautions,
				      json_sprintf("the order is not balanced: %s is whole after "
						   "%u runs or a multiple of it",
						   order_name(order), period));
	return cautions;
}

static void print_cautions(const struct plan *plan, FILE *to)
{
	json_t *cautions = plan_cautions(plan), *caution;
	size_t index;

	json_array_foreach(cautions, index, caution)
	{
		fprintf(to, "note: %s\n", json_string_value(caution));
	}
	json_decref(cautions);
}

/* What the report will judge by. */
static void print_judgement(const struct experiment *experiment, FILE *to)
{
	if (!experiment->gate && !experiment->claim_count && !experiment->claims_taken)
		return;
	fprintf(to, "gate: %s; claims: %u", experiment->gate ? experiment->gate : "none stated",
		experiment->claim_count);
	if (experiment->claims_taken)
		fprintf(to, " (%u left out, whose levels the command line took away)",
			experiment->claims_taken);
	fputc('\n', to);
}

static void print_order(const struct plan *plan, FILE *to)
{
	const struct experiment *experiment = plan->experiment;

	fprintf(to, "order: %s", order_name(experiment->order.kind));
	if (experiment->order.kind == ORDER_RANDOM)
		fprintf(to, "(%llu)", (unsigned long long)experiment->order.seed);
	fprintf(to, ", %u run%s, a warm-up of %s and a window of %s each", experiment->runs,
		ending(experiment->runs), experiment->warmup, experiment->duration);
	if (plan->form_reason)
		fprintf(to, " (the %s form: %s)",
			json_string_value(json_object_get(experiment->json, "form")),
			plan->form_reason);
	fputc('\n', to);
	print_cautions(plan, to);
}

/* The reason, and all that it holds for. */
static void print_reason(const json_t *omitted, const char *why, FILE *to)
{
	const char *before = "";
	size_t index;
	json_t *entry;

	fprintf(to, "  %s: ", why);
	json_array_foreach((json_t *)omitted, index, entry)
	{
		if (strcmp(json_string_value(json_object_get(entry, "why")), why) != 0)
			continue;
		fprintf(to, "%s%s", before, json_string_value(json_object_get(entry, "what")));
		before = ", ";
	}
	fputc('\n', to);
}

static bool is_told(const json_t *omitted, size_t index, const char *why)
{
	for (size_t i = 0; i < index; i++) {
		const json_t *entry = json_array_get(omitted, i);

		if (strcmp(json_string_value(json_object_get(entry, "why")), why) == 0)
			return true;
	}
	return false;
}

void plan_print_omitted(const struct plan *plan, FILE *to)
{
	size_t index;
	json_t *entry;

	if (json_array_size(plan->omitted))
		fprintf(to, "not as the profiles would have it:\n");
	json_array_foreach(plan->omitted, index, entry)
	{
		const char *why = json_string_value(json_object_get(entry, "why"));

		if (!is_told(plan->omitted, index, why))
			print_reason(plan->omitted, why, to);
	}
}

static void print_sample(const struct plan_sample *sample, bool commands, FILE *to)
{
	fprintf(to, "%s run %u %s\n", sample->id, sample->run, sample->cell->variant);
	if (!commands)
		return;
	fprintf(to, "  server:");
	join_argv(sample->server_argv, to);
	fprintf(to, "  client:");
	join_argv(sample->client_argv, to);
	if (!sample->upstream_argv)
		return;
	fprintf(to, "  upstream:");
	join_argv(sample->upstream_argv, to);
}

static unsigned count_samples(const struct plan *plan, const json_t *kept)
{
	unsigned count = 0;

	for (unsigned i = 0; i < plan->sample_count; i++)
		count += !json_object_get(kept, plan->samples[i].id);
	return count;
}

const char *plan_show_time(double seconds, char text[PLAN_TIME_BYTES])
{
	unsigned long whole = (unsigned long)(seconds + 0.5);

	if (whole < 60)
		snprintf(text, PLAN_TIME_BYTES, "%lu s", whole);
	else if (whole < 3600)
		snprintf(text, PLAN_TIME_BYTES, "%lu min %lu s", whole / 60, whole % 60);
	else
		snprintf(text, PLAN_TIME_BYTES, "%lu h %lu min", whole / 3600, whole / 60 % 60);
	return text;
}

void plan_print_total(const struct plan *plan, FILE *to)
{
	unsigned runs = plan->experiment->runs;
	char time[PLAN_TIME_BYTES];

	fprintf(to, "%s: %u sample%s (%u cell%s, %u run%s), about %s\n", plan->experiment->name,
		plan->sample_count, ending(plan->sample_count), plan->cell_count,
		ending(plan->cell_count), runs, ending(runs),
		plan_show_time(plan_estimate_s(plan), time));
	print_judgement(plan->experiment, to);
	print_cautions(plan, to);
}

void plan_print(const struct plan *plan, const json_t *kept, bool commands, FILE *to)
{
	const struct experiment *experiment = plan->experiment;
	unsigned count = count_samples(plan, kept);
	char time[PLAN_TIME_BYTES];

	fprintf(to, "%s%s%s\n", experiment->name, experiment->question[0] ? ": " : "",
		experiment->question);
	print_builds(experiment, to);
	print_cells(plan, to);
	print_order(plan, to);
	print_judgement(experiment, to);
	plan_print_omitted(plan, to);
	if (plan->degraded)
		fprintf(to, "degraded: %s\n", plan->degraded);
	if (plan_waits_for_hosts(plan))
		fprintf(to, "\"chosen there\": %s\n", chosen_there);
	fprintf(to, "%u sample%s, about %s; nothing was run\n", count, ending(count),
		plan_show_time(plan_estimate_s(plan) * count / plan->sample_count, time));
	for (unsigned i = 0; i < plan->sample_count; i++)
		if (!json_object_get(kept, plan->samples[i].id))
			print_sample(&plan->samples[i], commands, to);
}
