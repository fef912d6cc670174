#include "apps/run/conduct.h"

#include "apps/common/exit.h"
#include "apps/provenance/root.h"
#include "apps/report/analysis.h"
#include "apps/run/builds.h"
#include "apps/run/ground.h"
#include "apps/run/lock.h"
#include "apps/run/plan_show.h"
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

static int carry_out(const struct conduct *conduct, const struct plan *plan,
		     const struct program *programs, struct hosts *hosts,
		     struct interrupt *interrupt)
{
	char output[PATH_MAX + 16];
	struct campaign campaign = {
		.plan = plan,
		.programs = programs,
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

/* The programs that the cells are served by, built if need be. 0, or negative errno. */
static int make_programs(const struct conduct *conduct, const struct experiment *experiment,
			 struct interrupt *interrupt, struct program *programs,
			 struct tp_error *error)
{
	const char *cache = conduct->builds;
	char path[PATH_MAX] = "";

	if (!cache) {
		builds_default_cache(path);
		cache = path;
	}
	if (experiment->build_count > 1) {
		printf("programs of variants: %u, from %s or built there, which takes minutes\n",
		       experiment->build_count - 1, cache);
		fflush(stdout);
	}
	return builds_make(experiment, cache, interrupt, programs, error);
}

/* Says that there are no programs to measure, and why. */
static int refuse_programs(const struct conduct *conduct, const struct interrupt *interrupt,
			   int code, const struct tp_error *error)
{
	exit_with(EXIT_USAGE, conduct->program, error);
	return code == -EINTR ? 128 + interrupt->signal_number : EXIT_USAGE;
}

/* Plans on this host; `ground` is taken, or pretended for a dry run, which has no programs. */
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
		code = (programs ? plan_make : plan_sketch)(experiment, &on, plan_out, problems);
	free(topology);
	return code;
}

/* Connects to the experiment's hosts, if it has any. 0, or negative errno with `error` filled. */
static int open_hosts(const struct experiment *experiment, const struct ground *ground,
		      const struct program *programs, struct interrupt *interrupt,
		      struct hosts **hosts_out, struct tp_error *error)
{
	struct hosts *hosts = hosts_create(json_object_get(experiment->json, "hosts"));
	int code = 0;

	*hosts_out = hosts;
	if (hosts)
		code = hosts_open(hosts, ground->run_id, programs, experiment->build_count,
				  ground->port, interrupt, error);
	if (hosts && code == 0)
		hosts_print(hosts, stdout);
	return interrupt->signal_number ? -EINTR : code;
}

static int dry_run(const struct conduct *conduct, const struct experiment *experiment)
{
	struct problems problems = {0};
	struct ground ground;
	struct hosts *hosts = hosts_create(json_object_get(experiment->json, "hosts"));
	struct plan *plan;
	int code;

	ground_pretend(&ground);
	code = make_plan(experiment, &ground, NULL, hosts, &plan, &problems);
	hosts_destroy(hosts);
	if (code < 0)
		return conduct_refuse(conduct->program, &problems);
	plan_print(plan, stdout);
	plan_free(plan);
	return problems.count ? conduct_refuse(conduct->program, &problems) : EXIT_PASS;
}

/* Takes lock, signals and ground, carries the plan out, and gives all back. */
static int run(const struct conduct *conduct, const struct experiment *experiment)
{
	struct problems problems = {0};
	struct interrupt interrupt;
	struct tp_error error;
	struct program programs[EXPERIMENT_BUILDS_MAX];
	struct ground ground;
	struct hosts *hosts;
	struct plan *plan;
	int code, status, lock = lock_take(conduct->lock, experiment->path, &error);

	if (lock < 0)
		return exit_with(EXIT_USAGE, conduct->program, &error);
	if (interrupt_open(&interrupt) < 0) {
		tp_fail(&error, 0, "cannot block signals");
		return exit_with(EXIT_USAGE, conduct->program, &error);
	}
	code = make_programs(conduct, experiment, &interrupt, programs, &error);
	if (code < 0)
		return refuse_programs(conduct, &interrupt, code, &error);
	if (ground_take(&ground, &error) < 0)
		return exit_with(EXIT_USAGE, conduct->program, &error);
	code = open_hosts(experiment, &ground, programs, &interrupt, &hosts, &error);
	if (code < 0) {
		status = refuse_programs(conduct, &interrupt, code, &error);
	} else if (make_plan(experiment, &ground, programs, hosts, &plan, &problems) < 0) {
		status = conduct_refuse(conduct->program, &problems);
	} else {
		status = carry_out(conduct, plan, programs, hosts, &interrupt);
		plan_free(plan);
	}
	hosts_destroy(hosts);
	ground_give_back(&ground);
	builds_fini(experiment, programs);
	close(interrupt.fd);
	close(lock);
	return status;
}

int conduct(const struct conduct *conduct, const struct experiment *experiment)
{
	return conduct->dry_run ? dry_run(conduct, experiment) : run(conduct, experiment);
}
