#include "apps/run/campaign.h"

#include "apps/provenance/host.h"
#include "apps/run/builds.h"
#include "apps/run/sample.h"
#include "apps/run/summary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void print_intent(const struct plan *plan, const struct program *programs)
{
	const struct experiment *experiment = plan->experiment;
	const char *variant, *unfit = builds_unfit(experiment, programs, &variant);
	unsigned seconds = (unsigned)plan_estimate_s(plan);

	printf("%s: %u samples (%u cells, %u runs), about %u min %02u s\n", experiment->name,
	       plan->sample_count, plan->cell_count, experiment->runs, seconds / 60, seconds % 60);
	if (plan->degraded)
		printf("degraded: %s\n", plan->degraded);
	if (unfit)
		printf("no figure of %s%s counts: %s\n", variant ? "variant " : "this build",
		       variant ? variant : "", unfit);
	fflush(stdout);
}

static void print_sample(const struct plan *plan, const struct plan_sample *sample,
			 const json_t *result)
{
	const json_t *service = json_object_get(json_object_get(result, "latency_us"), "service");
	const json_t *p99 = json_object_get(service, "p99");
	const json_t *rps = json_object_get(result, "effective_rps");
	const json_t *reasons = json_object_get(result, "invalid_reasons");
	char grouped[32] = "-", latency[32] = "-";

	if (json_is_number(rps))
		summary_group(json_number_value(rps), grouped);
	if (json_is_number(p99))
		snprintf(latency, sizeof(latency), "%.1f us", json_number_value(p99));
	printf("[%*u/%u] run %u  %-*s %12s req/s   p99 %12s   %s\n",
	       plan->sample_count > 99 ? 4 : 2, sample->order_index + 1, plan->sample_count,
	       sample->run, (int)plan_variant_width(plan), sample->cell->variant, grouped, latency,
	       json_array_size(reasons) ? "INVALID" : "valid");
	for (size_t i = 0; i < json_array_size(reasons); i++)
		printf("        %s\n", json_string_value(json_array_get(reasons, i)));
	fflush(stdout);
}

/* A value that the directory takes over in writing. */
static void write_json(struct directory *directory, const char *name, json_t *value)
{
	directory_write_json(directory, name, value);
	json_decref(value);
}

static void write_provenance(struct campaign *campaign)
{
	const struct experiment *experiment = campaign->plan->experiment;
	struct directory *directory = &campaign->directory;

	directory_write(directory, "experiment.json", experiment->text, experiment->text_bytes);
	write_json(directory, "plan.json", plan_to_json(campaign->plan));
	write_json(directory, "build.json", builds_to_json(experiment, campaign->programs));
	write_json(directory, "host.json", host_facts());
	if (campaign->hosts)
		write_json(directory, "hosts.json", hosts_to_json(campaign->hosts));
}

/* Carries out every sample. */
static int run_samples(struct campaign *campaign)
{
	const struct plan *plan = campaign->plan;

	for (unsigned i = 0; i < plan->sample_count; i++) {
		json_t *result = NULL;
		int code = sample_run(&plan->samples[i], plan->experiment, &campaign->directory,
				      campaign->interrupt, campaign->hosts, &result);

		if (result) {
			print_sample(plan, &plan->samples[i], result);
			json_array_append_new(campaign->results, result);
			campaign->done++;
		}
		if (code < 0)
			return code;
	}
	return 0;
}

static int finish(struct campaign *campaign)
{
	struct directory *directory = &campaign->directory;
	json_t *summary = summary_make(campaign->plan, campaign->results);
	int code;

	campaign->valid = summary_valid(campaign->results);
	write_json(directory, "host-after.json", host_facts());
	directory_write_lines(directory, "results.jsonl", campaign->results);
	directory_write_json(directory, "summary.json", summary);
	if (campaign->add_files)
		campaign->add_files(campaign, campaign->user);
	code = directory_finish(directory);
	if (code == 0)
		summary_print(summary, stdout);
	json_decref(summary);
	return code;
}

int campaign_run(struct campaign *campaign)
{
	struct directory *directory = &campaign->directory;
	int code;

	campaign->results = json_array();
	print_intent(campaign->plan, campaign->programs);
	code = directory_create(directory, campaign->output, campaign->plan->experiment->name,
				time(NULL));
	if (code == 0)
		write_provenance(campaign);
	if (code == 0)
		code = directory->failed;
	if (code == 0)
		code = run_samples(campaign);
	if (code == 0)
		code = finish(campaign);
	if (code < 0 && directory->partial[0])
		directory_abandon(directory,
				  code == -EINTR ? "it was interrupted" : directory->error.text);
	return code;
}
