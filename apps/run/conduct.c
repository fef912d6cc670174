#include "apps/run/conduct.h"

#include "apps/common/exit.h"
#include "apps/provenance/root.h"
#include "apps/report/analysis.h"
#include "apps/run/ground.h"
#include "apps/run/lock.h"
#include "dataplane/core/hugepages.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void conduct_default_lock(const struct flags *flags)
{
	flags_find(flags, "lock")->initial = lock_default_path();
}

int conduct_refuse(const char *program, const struct problems *problems)
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
static int start_report(const struct conduct *conduct, const char *result,
			struct interrupt *interrupt)
{
	struct tp_error error;
	sigset_t none;
	pid_t pid = fork();

	if (pid == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		analysis_exec_report(result, &error);
		_exit(exit_with(EXIT_USAGE, conduct->program, &error));
	}
	return pid < 0 ? -1 : await_report(pid, interrupt);
}

/* Has the analysis make the report. Whether it did; failure is said, and changes no sample. */
static bool make_report(const struct conduct *conduct, const char *result,
			struct interrupt *interrupt)
{
	char missing[256];
	int status;

	fflush(stdout);
	if (analysis_missing(missing, sizeof(missing)) > 0) {
		fprintf(stderr,
			"%s: NO REPORT: packages are missing: apt-get install %s; then `weir "
			"report %s`\n",
			conduct->program, missing, result);
		return false;
	}
	status = start_report(conduct, result, interrupt);
	/* a report of samples that are all invalid was written too */
	if (status == EXIT_PASS || status == EXIT_INVALID)
		return true;
	fprintf(stderr,
		"%s: NO REPORT: the analysis failed (status %d); the samples are whole all the "
		"same; try `weir report %s`\n",
		conduct->program, status, result);
	return false;
}

/* What the exit status says of a campaign that was carried out. */
static int conclude(const struct conduct *conduct, const struct campaign *campaign)
{
	unsigned samples = campaign->plan->sample_count;
	int verdict = conduct->judge ? conduct->judge(campaign, conduct->user) : EXIT_PASS;
	bool reported = conduct->no_report ||
			make_report(conduct, campaign->directory.path, campaign->interrupt);

	if (campaign->valid < samples)
		printf("%u of %u samples are invalid; their result.json says why\n",
		       samples - campaign->valid, samples);
	printf("results: %s\n", campaign->directory.path);
	if (campaign->valid < samples)
		return EXIT_INVALID;
	return verdict == EXIT_PASS && !reported ? EXIT_USAGE : verdict;
}

/* A campaign that is not whole: says why and what there is. */
static int give_up(const struct conduct *conduct, const struct campaign *campaign, int code)
{
	int signal_number = campaign->interrupt->signal_number;
	unsigned samples = campaign->plan->sample_count;

	fflush(stdout);
	if (code == -EINTR) {
		fprintf(stderr,
			"%s: interrupted by SIG%s after %u of %u samples; what there is: %s\n",
			conduct->program, sigabbrev_np(signal_number), campaign->done, samples,
			campaign->directory.partial);
		return 128 + signal_number;
	}
	fprintf(stderr, "%s: %s; given up after %u of %u samples\n", conduct->program,
		campaign->directory.error.text, campaign->done, samples);
	if (campaign->directory.partial[0])
		fprintf(stderr, "%s: what there is, not whole: %s\n", conduct->program,
			campaign->directory.partial);
	return EXIT_USAGE;
}

static int carry_out(const struct conduct *conduct, const struct plan *plan, struct hosts *hosts,
		     struct interrupt *interrupt)
{
	char output[PATH_MAX + 16];
	struct campaign campaign = {
		.plan = plan,
		.output = conduct->output ? conduct->output : default_output(output),
		.interrupt = interrupt,
		.hosts = hosts,
		.add_files = conduct->add_files,
		.user = conduct->user,
	};
	int code = campaign_run(&campaign);
	int status = code == 0 ? conclude(conduct, &campaign) : give_up(conduct, &campaign, code);

	json_decref(campaign.results);
	return status;
}

/* Plans on this host; `ground` is taken, or pretended for a dry run. */
static int make_plan(const struct experiment *experiment, const struct ground *ground,
		     const struct program *programs, const struct hosts *hosts,
		     struct plan **plan_out, struct problems *problems)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	struct plan_ground on = {
		topology,	ground->folder, ground->port, hugepages_count().free_mib,
		ground->run_id, programs,	hosts};
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

/*
 * The hosts that an experiment names, nobody asked; NULL if it names none, or for want of memory.
 */
static struct hosts *name_hosts(const struct experiment *experiment)
{
	const json_t *json = json_object_get(experiment->json, "hosts");

	return json ? hosts_create(json) : NULL;
}

/* Prepares the hosts. 0, or negative errno with `error` filled. */
static int open_hosts(struct hosts *hosts, const struct ground *ground,
		      const struct program *programs, unsigned program_count,
		      struct interrupt *interrupt, struct tp_error *error)
{
	int code = hosts_open(hosts, ground->run_id, programs, program_count, ground->port,
			      interrupt, error);

	if (code == 0)
		hosts_print(hosts, stdout);
	return code;
}

static int dry_run(const struct conduct *conduct, const struct experiment *experiment)
{
	struct problems problems = {0};
	struct program programs[EXPERIMENT_BUILDS_MAX] = {0};
	struct hosts *hosts = name_hosts(experiment);
	struct ground ground;
	struct plan *plan;
	int status;

	ground_pretend(&ground);
	if (make_plan(experiment, &ground, programs, hosts, &plan, &problems) < 0) {
		status = conduct_refuse(conduct->program, &problems);
	} else {
		status = print_plan(plan);
		plan_free(plan);
	}
	hosts_destroy(hosts);
	return status;
}

/* Takes lock, signals and ground, carries the plan out, and gives all back. */
static int run(const struct conduct *conduct, const struct experiment *experiment)
{
	struct problems problems = {0};
	struct interrupt interrupt;
	struct tp_error error;
	struct program own;
	struct hosts *hosts;
	struct ground ground;
	struct plan *plan;
	int code, status, lock = lock_take(conduct->lock, experiment->path, &error);

	if (lock < 0)
		return exit_with(EXIT_USAGE, conduct->program, &error);
	if (interrupt_open(&interrupt) < 0) {
		tp_fail(&error, 0, "cannot block signals");
		return exit_with(EXIT_USAGE, conduct->program, &error);
	}
	code = program_own(&own);
	if (code < 0) {
		tp_fail(&error, code, "cannot read the running program: %s", strerror(-code));
		return exit_with(EXIT_USAGE, conduct->program, &error);
	}
	if (ground_take(&ground, &error) < 0)
		return exit_with(EXIT_USAGE, conduct->program, &error);
	hosts = name_hosts(experiment);
	if (hosts && open_hosts(hosts, &ground, &own, 1, &interrupt, &error) < 0) {
		status = exit_with(EXIT_USAGE, conduct->program, &error);
		if (interrupt.signal_number)
			status = 128 + interrupt.signal_number;
	} else if (make_plan(experiment, &ground, &own, hosts, &plan, &problems) < 0) {
		status = conduct_refuse(conduct->program, &problems);
	} else {
		status = carry_out(conduct, plan, hosts, &interrupt);
		plan_free(plan);
	}
	hosts_destroy(hosts);
	ground_give_back(&ground);
	program_fini(&own);
	close(interrupt.fd);
	close(lock);
	return status;
}

int conduct(const struct conduct *conduct, const struct experiment *experiment)
{
	return conduct->dry_run ? dry_run(conduct, experiment) : run(conduct, experiment);
}
