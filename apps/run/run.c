#include "apps/common/exit.h"
#include "apps/common/flags.h"
#include "apps/provenance/root.h"
#include "apps/report/analysis.h"
#include "apps/run/campaign.h"
#include "apps/run/ground.h"
#include "apps/run/lock.h"
#include "apps/weir/verbs.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/hugepages.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program[] = "weir run";

struct run_options {
	const char *experiment;
	const char *output; /* NULL: default_output */
	const char *lock;
	const char *overrides[EXPERIMENT_OVERRIDES_MAX];
	unsigned override_count;
	bool dry_run;
	bool no_report;
};

static int refuse(const char *text)
{
	struct tp_error error;

	tp_fail(&error, 0, "%s", text);
	return exit_with(EXIT_USAGE, program, &error);
}

/* Every problem on a line of its own. */
static int refuse_problems(const struct problems *problems)
{
	fflush(stdout);
	fprintf(stderr, "%s: nothing was run: %u problem%s\n%s", program, problems->count,
		problems->count == 1 ? "" : "s", problems->text);
	return EXIT_USAGE;
}

/* Where results go by default: in the repository if it can be found, else here. */
static const char *default_output(char path[PATH_MAX + 16])
{
	if (root_find(path) == 0)
		strcat(path, "/results");
	else
		strcpy(path, "results");
	return path;
}

static void join_argv(const json_t *argv, FILE *to)
{
	size_t index;
	json_t *argument;

	json_array_foreach((json_t *)argv, index, argument)
		fprintf(to, " %s", json_string_value(argument));
	fputc('\n', to);
}

static int print_plan(const struct plan *plan)
{
	for (unsigned i = 0; i < plan->sample_count; i++) {
		const struct plan_sample *sample = &plan->samples[i];

		printf("%s run %u %s\n  server:", sample->id, sample->run, sample->cell->variant);
		join_argv(sample->server_argv, stdout);
		printf("  client:");
		join_argv(sample->client_argv, stdout);
	}
	printf("%u samples, about %.0f s; nothing was run\n", plan->sample_count,
	       plan_estimate_s(plan));
	return EXIT_PASS;
}

/* Waits for the analysis; an interrupt ends it. Its exit status, or -1. */
static int await_report(pid_t pid, struct interrupt *interrupt)
{
	struct pollfd signals = {.fd = interrupt->fd, .events = POLLIN};
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		poll(&signals, 1, 100);
		if (interrupt_check(interrupt))
			kill(pid, SIGTERM);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Becomes the analysis in a process of its own. Its exit status, or -1. */
static int start_report(const char *result, struct interrupt *interrupt)
{
	struct tp_error error;
	sigset_t none;
	pid_t pid = fork();

	if (pid == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		analysis_exec_report(result, &error);
		_exit(exit_with(EXIT_USAGE, program, &error));
	}
	return pid < 0 ? -1 : await_report(pid, interrupt);
}

/* Has the analysis make the report. Whether it did; failure is said, and changes no sample. */
static bool make_report(const char *result, struct interrupt *interrupt)
{
	char missing[256];
	int status;

	fflush(stdout);
	if (analysis_missing(missing, sizeof(missing)) > 0) {
		fprintf(stderr,
			"%s: NO REPORT: packages are missing: apt-get install %s; then `weir "
			"report %s`\n",
			program, missing, result);
		return false;
	}
	status = start_report(result, interrupt);
	/* a report of samples that are all invalid was written too */
	if (status == EXIT_PASS || status == EXIT_INVALID)
		return true;
	fprintf(stderr,
		"%s: NO REPORT: the analysis failed (status %d); the samples are whole all the "
		"same; try `weir report %s`\n",
		program, status, result);
	return false;
}

/* What the exit status says of a campaign that was carried out. */
static int conclude(const struct campaign *campaign, const struct run_options *options)
{
	unsigned samples = campaign->plan->sample_count;
	bool reported =
		options->no_report || make_report(campaign->directory.path, campaign->interrupt);

	if (campaign->valid < samples)
		printf("%u of %u samples are invalid; their result.json says why\n",
		       samples - campaign->valid, samples);
	printf("results: %s\n", campaign->directory.path);
	if (campaign->valid < samples)
		return EXIT_INVALID;
	return reported ? EXIT_PASS : EXIT_USAGE;
}

static int carry_out(const struct plan *plan, const struct run_options *options,
		     struct interrupt *interrupt)
{
	char output[PATH_MAX + 16];
	struct campaign campaign = {
		.plan = plan,
		.output = options->output ? options->output : default_output(output),
		.interrupt = interrupt,
	};
	int code = campaign_run(&campaign);

	if (code == 0)
		return conclude(&campaign, options);
	fflush(stdout);
	if (code == -EINTR) {
		fprintf(stderr, "%s: interrupted by %s after %u of %u samples; what there is: %s\n",
			program, strsignal(interrupt->signal_number), campaign.done,
			plan->sample_count, campaign.directory.partial);
		return 128 + interrupt->signal_number;
	}
	fprintf(stderr, "%s: %s; given up after %u of %u samples\n", program,
		campaign.directory.error.text, campaign.done, plan->sample_count);
	if (campaign.directory.partial[0])
		fprintf(stderr, "%s: what there is, not whole: %s\n", program,
			campaign.directory.partial);
	return EXIT_USAGE;
}

/* Plans on this host; `ground` is taken, or pretended for a dry run. */
static int make_plan(const struct experiment *experiment, const struct ground *ground,
		     struct plan **plan_out, struct problems *problems)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	struct plan_ground on = {topology, ground->folder, ground->port, hugepages_count().free_mib,
				 ground->run_id};
	int code = -ENOMEM;

	if (topology)
		code = topology_read(topology);
	if (code < 0)
		problems_add(problems, "cannot read which CPUs there are: %s", strerror(-code));
	else
		code = plan_make(experiment, &on, plan_out, problems);
	free(topology);
	return code;
}

static int dry_run(const struct experiment *experiment)
{
	struct problems problems = {0};
	struct ground ground;
	struct plan *plan;
	int status;

	ground_pretend(&ground);
	if (make_plan(experiment, &ground, &plan, &problems) < 0)
		return refuse_problems(&problems);
	status = print_plan(plan);
	plan_free(plan);
	return status;
}

/* Takes lock, signals and ground, carries the plan out, and gives all back. */
static int run(const struct experiment *experiment, const struct run_options *options)
{
	struct problems problems = {0};
	struct interrupt interrupt;
	struct tp_error error;
	struct ground ground;
	struct plan *plan;
	int status, lock = lock_take(options->lock, experiment->path, &error);

	if (lock < 0)
		return exit_with(EXIT_USAGE, program, &error);
	if (interrupt_open(&interrupt) < 0)
		return refuse("cannot block signals");
	if (ground_take(&ground, &error) < 0)
		return exit_with(EXIT_USAGE, program, &error);
	if (make_plan(experiment, &ground, &plan, &problems) < 0) {
		status = refuse_problems(&problems);
	} else {
		status = carry_out(plan, options, &interrupt);
		plan_free(plan);
	}
	ground_give_back(&ground);
	close(interrupt.fd);
	close(lock);
	return status;
}

static int run_experiment(const struct run_options *options)
{
	struct problems problems = {0};
	struct experiment *experiment;
	int status;

	if (experiment_read(options->experiment, options->overrides, options->override_count,
			    &experiment, &problems) < 0)
		return refuse_problems(&problems);
	status = options->dry_run ? dry_run(experiment) : run(experiment, options);
	experiment_free(experiment);
	return status;
}

/* --set may be given more than once. */
static int parse_override(const struct flag *flag, const char *text)
{
	struct run_options *options = flag->value;

	if (!strchr(text, '=') || options->override_count == EXPERIMENT_OVERRIDES_MAX)
		return -EINVAL;
	options->overrides[options->override_count++] = text;
	return 0;
}

static const struct flag_kind flag_override = {
	.metavar = "KEY=VALUE",
	.accepts = "a key of the experiment and its value, like duration=1s or depth=8; at most 32 "
		   "times",
	.repeats = true,
	.parse = parse_override,
};

int verb_run(int argc, char **argv)
{
	struct run_options options = {.lock = NULL};
	struct flag table[] = {
		{.name = "output",
		 .kind = &flag_text,
		 .value = &options.output,
		 .about = "where the result directory is made (default: results/ in the "
			  "repository)"},
		{.name = "set",
		 .kind = &flag_override,
		 .value = &options,
		 .about = "override a value of the experiment; a factor gets this one level, or "
			  "those of a list [...]"},
		{.name = "dry-run",
		 .kind = &flag_switch,
		 .value = &options.dry_run,
		 .about = "print the plan, run nothing"},
		{.name = "no-report",
		 .kind = &flag_switch,
		 .value = &options.no_report,
		 .about = "do not have the analysis make a report"},
		{.name = "lock",
		 .kind = &flag_text,
		 .value = &options.lock,
		 .initial = lock_default_path(),
		 .about = "the file that keeps two runs apart"},
	};
	struct flags flags = {.program = program,
			      .about = "Carries out an experiment: for each sample a fresh server "
				       "and a client against it.\n"
				       "DIR holds experiment.json (docs/experiments.md). The last "
				       "line is `results: PATH`.\n"
				       "Exit status: 0 if all samples are valid, 3 if not, 4 if "
				       "nothing or not all could be\n"
				       "run, 128 + N when interrupted by signal N (130 for "
				       "Ctrl-C); then a .partial stays.",
			      .operand = "DIR",
			      .operand_value = &options.experiment,
			      .table = table,
			      .count = sizeof(table) / sizeof(table[0])};
	int status;

	if (!flags_accept(&flags, argc, argv, &status))
		return status;
	clock_start();
	return run_experiment(&options);
}
