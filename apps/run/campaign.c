#include "apps/run/campaign.h"

#include "apps/run/store/attempts.h"
#include "apps/run/bracket.h"
#include "apps/run/builds/builds.h"
#include "apps/run/experiment/served.h"
#include "apps/run/plan/plan_show.h"
#include "apps/run/sample/sample.h"
#include "apps/run/result/result.h"
#include "apps/run/result/summary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void print_intent(const struct plan *plan, const struct program *programs)
{
	const struct experiment *experiment = plan->experiment;
	const char *variant, *unfit = builds_unfit(experiment, programs, &variant);

	plan_print_total(plan, stdout);
	plan_print_omitted(plan, stdout);
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
	char grouped[32] = "-", latency[32] = "-", hits[RESULT_HITS_BYTES];

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
	if (result_lacks_hits(result, hits, sizeof(hits)))
		printf("        note: %s\n", hits);
	fflush(stdout);
}

/* A value that the directory takes over in writing. */
static void write_json(struct directory *directory, const char *name, json_t *value)
{
	directory_write_json(directory, name, value);
	json_decref(value);
}

static void write_hosts(struct campaign *campaign, const char *name)
{
	if (campaign->hosts)
		write_json(&campaign->directory, name, hosts_to_json(campaign->hosts));
}

/* What a run begins with; a repeat takes the experiment's file over, byte for byte. */
static void write_provenance(struct campaign *campaign)
{
	const struct experiment *experiment = campaign->plan->experiment;
	const struct origin *origin = campaign->origin;
	struct directory *directory = &campaign->directory;

	if (origin)
		directory_write(directory, "experiment.json", origin->text, origin->text_bytes);
	else
		directory_write(directory, "experiment.json", experiment->text,
				experiment->text_bytes);
	served_copy(experiment, directory);
	directory_write_json(directory, "plan.json", campaign->plan_json);
	write_json(directory, "build.json", builds_to_json(experiment, campaign->programs));
	write_hosts(campaign, "hosts.json");
}

/* Carries out one sample; what an earlier attempt at it left is kept elsewhere. */
static int run_sample(struct campaign *campaign, const struct plan_sample *sample)
{
	const struct plan *plan = campaign->plan;
	json_t *result = NULL;
	int code = attempts_keep_sample(&campaign->directory, sample->folder);

	if (code == 0)
		code = sample_run(sample, plan->experiment, &campaign->directory,
				  campaign->interrupt, campaign->hosts, &result);
	if (result) {
		print_sample(plan, sample, result);
		json_array_append_new(campaign->results, result);
		campaign->done++;
	}
	return code;
}

/* Carries out every sample that is not among those kept. */
static int run_samples(struct campaign *campaign, const json_t *kept)
{
	const struct plan *plan = campaign->plan;
	int code = 0;

	for (unsigned i = 0; i < plan->sample_count && code == 0; i++) {
		json_t *result = json_object_get(kept, plan->samples[i].id);

		if (result) {
			json_array_append(campaign->results, result);
			campaign->done++;
		} else {
			code = run_sample(campaign, &plan->samples[i]);
		}
	}
	return code;
}

static int finish(struct campaign *campaign)
{
	struct directory *directory = &campaign->directory;
	json_t *mismatch = attempts_mismatch(directory->partial);
	json_t *summary = summary_make(campaign->plan_json, campaign->results,
				       attempts_failed(directory->partial), mismatch);
	int code;

	campaign->differ = !json_is_null(mismatch);
	json_decref(mismatch);
	campaign->valid = summary_valid(campaign->results);
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

/* A directory of its own. 0, or its failure. */
static int begin(struct campaign *campaign)
{
	struct directory *directory = &campaign->directory;

	if (directory_create(directory, campaign->output, campaign->plan->experiment->name,
			     time(NULL)) == 0)
		write_provenance(campaign);
	return directory->failed;
}

/* The directory of before, with what is in it to be kept in `kept_out`. 0, or its failure. */
static int begin_again(struct campaign *campaign, json_t **kept_out)
{
	struct directory *directory = &campaign->directory;

	if (directory_reopen(directory, campaign->origin->path) < 0)
		return directory->failed;
	*kept_out = origin_kept(campaign->origin, directory->partial);
	printf("%zu of %u samples are valid and kept\n", json_object_size(*kept_out),
	       campaign->plan->sample_count);
	fflush(stdout);
	attempts_keep_files(directory, campaign->plan->experiment->files);
	directory_write_json(directory, "plan.json", campaign->plan_json);
	write_hosts(campaign, "hosts-resumed.json");
	return directory->failed;
}

int campaign_run(struct campaign *campaign)
{
	struct directory *directory = &campaign->directory;
	bool resumes = campaign->origin && campaign->origin->resumes;
	struct bracket bracket = {.plan = campaign->plan,
				  .directory = directory,
				  .interrupt = campaign->interrupt,
				  .ground = campaign->ground,
				  .resumes = resumes};
	json_t *kept = NULL;
	int code;

	campaign->results = json_array();
	print_intent(campaign->plan, campaign->programs);
	code = resumes ? begin_again(campaign, &kept) : begin(campaign);
	if (code == 0)
		code = bracket_begin(&bracket);
	if (code == 0)
		code = run_samples(campaign, kept);
	if (code == 0)
		code = bracket_end(&bracket, campaign->program);
	bracket_close(&bracket);
	if (code == 0)
		code = finish(campaign);
	json_decref(kept);
	if (code < 0 && directory->partial[0])
		directory_abandon(directory,
				  code == -EINTR ? "it was interrupted" : directory->error.text);
	return code;
}
