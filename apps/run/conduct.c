#include "apps/run/conduct.h"

#include "apps/common/exit.h"
#include "apps/common/root.h"
#include "apps/report/analysis.h"
#include "apps/run/analyse.h"
#include "apps/run/store/attempts.h"
#include "apps/run/builds/builds.h"
#include "apps/run/store/differ.h"
#include "apps/run/store/ground.h"
#include "apps/run/store/lock.h"
#include "apps/run/others.h"
#include "apps/run/plan/plan_show.h"
#include "apps/run/store/stamp.h"
#include "dataplane/core/hugepages.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

const char *const conduct_when_busy_names[] = {
	[CONDUCT_STAMP] = "stamp",
	[CONDUCT_REFUSE] = "refuse",
	NULL,
};

enum {
	SAID_MAX = 8,	   /* of what killed runs left, one line each */
	FILES_NEEDED = 64, /* pipes, logs, locks and what is read of /proc */
};

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

/* In the repository if it can be found, else here. */
const char *conduct_default_output(char path[PATH_MAX + 16])
{
	if (root_find(path) == 0)
		strcat(path, "/results");
	else
		strcpy(path, "results");
	return path;
}

/*
 * Has the analysis make the report. Its exit status; or -1 if there is no report, which is said,
 * and changes no sample.
 */
static int make_report(const struct conduct *conduct, const char *result,
		       struct interrupt *interrupt)
{
	const char *const arguments[] = {result, NULL};
	char missing[256], report[PATH_MAX + 16], why[ANALYSE_WHY_BYTES];
	int status;

	fflush(stdout);
	if (analysis_missing(missing, sizeof(missing)) > 0) {
		fprintf(stderr,
			"%s: NO REPORT: packages are missing: apt-get install %s; then `weir "
			"report %s`\n",
			conduct->program, missing, result);
		return -1;
	}
	status = analyse(conduct->program, "report", arguments, interrupt, why);
	snprintf(report, sizeof(report), "%s/report.html", result);
	/* one that refuses to judge, or fails what it judges, was written too */
	if (status >= 0 && access(report, F_OK) == 0)
		return status;
	if (status >= 0)
		snprintf(why, sizeof(why), "the analysis failed (status %d)", status);
	fprintf(stderr,
		"%s: NO REPORT: %s; the result is whole all the same: try `weir report %s`\n",
		conduct->program, why, result);
	return -1;
}

/* What the exit status says of a campaign that was carried out. */
static int conclude(const struct conduct *conduct, const struct campaign *campaign)
{
	unsigned samples = campaign->plan->sample_count;
	int verdict = conduct->judge ? conduct->judge(campaign, conduct->user) : EXIT_PASS;
	int report = conduct->no_report
			     ? EXIT_PASS
			     : make_report(conduct, campaign->directory.path, campaign->interrupt);

	if (campaign->valid < samples)
		printf("%u of %u samples are invalid; their result.json says why\n",
		       samples - campaign->valid, samples);
	printf("results: %s\n", campaign->directory.path);
	if ((verdict < 0 || report < 0) && campaign->interrupt->signal_number)
		return 128 + campaign->interrupt->signal_number;
	if (campaign->valid < samples || campaign->differ)
		return EXIT_INVALID;
	if (verdict < 0 || (verdict == EXIT_PASS && report < 0))
		return EXIT_USAGE;
	return conduct->judge ? verdict : report;
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

/* All that a run has while it lasts. */
struct course {
	const struct conduct *conduct;
	const struct experiment *experiment;
	struct interrupt interrupt;
	struct ground ground;
	struct program programs[EXPERIMENT_BUILDS_MAX];
	struct hosts *hosts; /* NULL: all is here */
	struct plan *plan;
	bool sketches; /* plans to be looked at; what this host lacks does not keep from it */
	struct others others;
};

static bool resumes(const struct conduct *conduct)
{
	return conduct->origin && conduct->origin->resumes;
}

/* plan.json; a new reference. */
static json_t *make_plan_json(const struct course *course, const char *from_sample)
{
	const struct origin *origin = course->conduct->origin;
	json_t *json;

	if (resumes(course->conduct)) {
		json = json_deep_copy(origin->plan);
		stamp_resumed(json, from_sample, &course->others, origin->environment);
		stamp_hosts(json, course->hosts);
		return json;
	}
	json = stamp_make(course->plan, &course->ground, course->programs, &course->others);
	stamp_hosts(json, course->hosts);
	if (origin)
		json_object_set_new(json, "repeats", origin_to_json(origin));
	return json;
}

static int carry_out(struct course *course, const char *from_sample)
{
	const struct conduct *conduct = course->conduct;
	char output[PATH_MAX + 16];
	json_t *plan_json = make_plan_json(course, from_sample);
	struct campaign campaign = {
		.program = conduct->program,
		.plan = course->plan,
		.programs = course->programs,
		.hosts = course->hosts,
		.plan_json = plan_json,
		.origin = conduct->origin,
		.output = conduct->output ? conduct->output : conduct_default_output(output),
		.ground = course->ground.folder,
		.interrupt = &course->interrupt,
		.add_files = conduct->add_files,
		.user = conduct->user,
	};
	int code = campaign_run(&campaign);
	int status = code == 0 ? conclude(conduct, &campaign) : give_up(conduct, &campaign, code);

	json_decref(campaign.results);
	json_decref(plan_json);
	return status;
}

/* The programs that the cells are served by, built if need be. 0, or negative errno. */
static int make_programs(struct course *course, struct tp_error *error)
{
	const struct origin *origin = course->conduct->origin;
	const char *cache = course->conduct->builds;
	char path[PATH_MAX] = "";

	if (!cache) {
		builds_default_cache(path);
		cache = path;
	}
	if (course->experiment->build_count > 1) {
		printf("programs of variants: %u, from %s or built there, which takes minutes\n",
		       course->experiment->build_count - 1, cache);
		fflush(stdout);
	}
	return builds_make(course->experiment, origin ? origin_commits(origin) : NULL, cache,
			   &course->interrupt, course->programs, error);
}

/* Says why there is nothing to measure. */
static int refuse(const struct course *course, int code, const struct tp_error *error)
{
	exit_with(EXIT_USAGE, course->conduct->program, error);
	return code == -EINTR ? 128 + course->interrupt.signal_number : EXIT_USAGE;
}

/* Plans on this host; `ground` is taken, or pretended for a dry run or a comparison. */
static int make_plan(const struct course *course, const struct ground *ground,
		     struct plan **plan_out, struct problems *problems)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	struct plan_ground on = {.topology = topology,
				 .socket_folder = ground->folder,
				 .port = ground->port,
				 .upstream_port = ground->upstream_port,
				 .hugepages_free_mib = hugepages_count().free_mib,
				 .run_id = ground->run_id,
				 .programs = course->programs,
				 .hosts = course->hosts};
	int code = -ENOMEM;

	if (topology)
		code = topology_read(topology);
	if (code < 0)
		problems_add(problems, "cannot read which CPUs there are: %s", strerror(-code));
	else
		code = (course->sketches ? plan_sketch : plan_make)(course->experiment, &on,
								    plan_out, problems);
	if (code == 0 && course->conduct->origin)
		origin_lend_environment(course->conduct->origin, *plan_out);
	free(topology);
	return code;
}

/* What of the host an earlier run had. */
static struct ground_wish wish_of(const struct origin *origin)
{
	return (struct ground_wish){origin->run_id, origin->port, origin->upstream_port};
}

/* What of the host this one is to have. */
static struct ground_wish wish(const struct conduct *conduct)
{
	if (resumes(conduct))
		return wish_of(conduct->origin);
	return (struct ground_wish){.port = (uint16_t)conduct->port};
}

/*
 * Plans what the earlier run planned, for its run id and port, and compares. 0, or -EINVAL with
 * `problems` saying what differs that must not; what may differ is said here.
 */
static int judge_origin(const struct course *course, struct problems *problems)
{
	struct origin *origin = course->conduct->origin;
	struct problems noted = {0};
	struct ground_wish of_before = wish_of(origin);
	struct ground before;
	struct plan *plan;
	bool may;

	ground_pretend(&before, &of_before);
	if (make_plan(course, &before, &plan, problems) < 0)
		return -EINVAL;
	may = origin_judge(origin, plan, course->programs, course->hosts, problems);
	plan_free(plan);
	if (!may)
		return -EINVAL;
	differ_say(origin->differences, &noted);
	if (noted.count)
		fprintf(stderr, "%s: not all is as it was for %s:\n%s", course->conduct->program,
			origin->path, noted.text);
	return 0;
}

/* What of an earlier run is kept: nothing unless it is gone on with. A new reference or NULL. */
static json_t *find_kept(const struct conduct *conduct)
{
	return resumes(conduct) ? origin_kept(conduct->origin, conduct->origin->path) : NULL;
}

/* With a plan: shows it, and what of it is there already. */
static int show_plan(const struct course *course, const struct problems *lacks)
{
	json_t *kept = find_kept(course->conduct);

	plan_print(course->plan, kept, false, stdout);
	json_decref(kept);
	return lacks->count ? conduct_refuse(course->conduct->program, lacks) : EXIT_PASS;
}

static int dry_run(const struct conduct *conduct, const struct experiment *experiment)
{
	struct course course = {.conduct = conduct, .experiment = experiment};
	struct ground_wish wanted = wish(conduct);
	struct problems problems = {0};
	int status, code = conduct->origin ? program_own(&course.programs[0]) : 0;

	course.hosts = hosts_create(json_object_get(experiment->json, "hosts"));
	ground_pretend(&course.ground, &wanted);
	if (code < 0)
		problems_add(&problems, "cannot read the running program: %s", strerror(-code));
	else if (conduct->origin)
		code = judge_origin(&course, &problems);
	course.sketches = true;
	if (code == 0)
		code = make_plan(&course, &course.ground, &course.plan, &problems);
	status = code < 0 ? conduct_refuse(conduct->program, &problems)
			  : show_plan(&course, &problems);
	plan_free(course.plan);
	hosts_destroy(course.hosts);
	program_fini(&course.programs[0]);
	return status;
}

/* Says what an earlier run left when it was killed, and is gone now. */
static void say_removed(const struct conduct *conduct, const struct leftover *removed)
{
	if (removed->run_id[0])
		fprintf(stderr, "%s: removed what run %s left when it was killed: %s\n",
			conduct->program, removed->run_id, removed->what);
	else
		fprintf(stderr, "%s: removed what a killed server left: %s\n", conduct->program,
			removed->what);
}

/* Removes what earlier runs left, and says the first of it and how much else there was. */
static void clean_up(const struct conduct *conduct)
{
	struct leftover removed[LEFTOVER_MAX];
	unsigned count, total = 0;

	do {
		count = leftover_remove(removed);
		for (unsigned i = 0; i < count && total + i < SAID_MAX; i++)
			say_removed(conduct, &removed[i]);
		total += count;
	} while (count > 0);
	if (total > SAID_MAX)
		fprintf(stderr, "%s: and %u more\n", conduct->program, total - SAID_MAX);
}

/* Looks who else works on the other hosts. EXIT_PASS to go on. */
static int look_around_hosts(struct course *course)
{
	const char *program = course->conduct->program;
	bool refuses = course->conduct->when_busy == CONDUCT_REFUSE;
	struct tp_error error;
	int code = course->hosts ? hosts_look(course->hosts, &course->interrupt, &error) : 0;

	if (code < 0)
		return refuse(course, course->interrupt.signal_number ? -EINTR : code, &error);
	if (!course->hosts || !hosts_disturbed(course->hosts))
		return EXIT_PASS;
	hosts_print_busy(course->hosts, program, stderr);
	fprintf(stderr, "%s: %s\n", program,
		refuses ? "nothing was run: wait for them, or let --when-busy stamp say so in the "
			  "result"
			: "the result says so");
	return refuses ? EXIT_USAGE : EXIT_PASS;
}

/* Looks who else works here. EXIT_PASS to go on. */
static int look_around(struct course *course)
{
	const struct conduct *conduct = course->conduct;
	bool refuses = conduct->when_busy == CONDUCT_REFUSE;
	char text[512];
	int status;

	others_look(&course->others, &course->interrupt);
	status = look_around_hosts(course);
	if (status != EXIT_PASS)
		return status;
	if (!others_disturb(&course->others))
		return EXIT_PASS;
	others_print(&course->others, text, sizeof(text));
	fprintf(stderr, "%s: %sothers work on this host: %s%s\n", conduct->program,
		refuses ? "nothing was run: " : "", text,
		refuses ? ". Wait for them, or let --when-busy stamp say so in the result"
			: "; the result says so");
	return refuses ? EXIT_USAGE : EXIT_PASS;
}

/* A whole result all of whose samples are valid: it stays what it was. */
static int tell_whole(const struct origin *origin)
{
	json_t *mismatch = attempts_mismatch(origin->path);
	bool differ = json_is_string(mismatch);

	printf("every sample is valid: there is nothing to go on with\n");
	if (differ)
		printf("but its servers answered the same request differently: %s\n",
		       json_string_value(mismatch));
	printf("results: %s\n", origin->path);
	json_decref(mismatch);
	return differ ? EXIT_INVALID : EXIT_PASS;
}

/* With a plan: what lacks is carried out. */
static int run_plan(struct course *course)
{
	const struct conduct *conduct = course->conduct;
	json_t *kept = find_kept(conduct);
	const char *from = kept ? origin_first_lacking(conduct->origin, kept) : NULL;
	int status;

	if (kept && !from && conduct->origin->whole) {
		status = tell_whole(conduct->origin);
	} else {
		status = look_around(course);
		if (status == EXIT_PASS)
			status = carry_out(course, from);
	}
	json_decref(kept);
	return status;
}

/* Connects to the experiment's hosts, if it has any. 0, or negative errno with `error` filled. */
static int open_hosts(struct course *course, struct tp_error *error)
{
	const struct experiment *experiment = course->experiment;
	int code = 0;

	if (course->hosts)
		code = hosts_open(course->hosts, course->ground.run_id, course->programs,
				  experiment->build_count, course->ground.port, &course->interrupt,
				  error);
	if (course->hosts && code == 0)
		hosts_print(course->hosts, stdout);
	return course->interrupt.signal_number ? -EINTR : code;
}

/* With hosts open, if there are any. */
static int plan_and_run(struct course *course)
{
	struct problems problems = {0};
	int code = 0, status;

	if (course->conduct->origin)
		code = judge_origin(course, &problems);
	if (code == 0)
		code = make_plan(course, &course->ground, &course->plan, &problems);
	if (code < 0)
		return conduct_refuse(course->conduct->program, &problems);
	status = run_plan(course);
	plan_free(course->plan);
	return status;
}

/* With ground taken. */
static int run_on_ground(struct course *course)
{
	struct tp_error error = {.text = ""};
	int code, status;

	course->hosts = hosts_create(json_object_get(course->experiment->json, "hosts"));
	code = open_hosts(course, &error);
	status = code < 0 ? refuse(course, code, &error) : plan_and_run(course);
	hosts_destroy(course->hosts);
	return status;
}

/* With the lock held: takes signals, programs and ground, and gives all back. */
static int run_locked(struct course *course)
{
	const struct conduct *conduct = course->conduct;
	struct ground_wish wanted = wish(conduct);
	struct tp_error error;
	int status, code;

	if (interrupt_open(&course->interrupt) < 0) {
		tp_fail(&error, 0, "cannot block signals");
		return exit_with(EXIT_USAGE, conduct->program, &error);
	}
	clean_up(conduct);
	code = make_programs(course, &error);
	if (code < 0)
		return refuse(course, code, &error);
	if (ground_take(&course->ground, &wanted, &error) < 0) {
		status = exit_with(EXIT_USAGE, conduct->program, &error);
	} else {
		status = run_on_ground(course);
		ground_give_back(&course->ground);
	}
	builds_fini(course->experiment, course->programs);
	close(course->interrupt.fd);
	return status;
}

/*
 * Whether the runner may have the files it opens beside what is measured; raises its limit where
 * that is allowed. 0, or -EMFILE with `error` filled.
 */
static int check_files(struct tp_error *error)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= FILES_NEEDED)
		return 0;
	files.rlim_cur = files.rlim_max < FILES_NEEDED ? files.rlim_max : FILES_NEEDED;
	if (files.rlim_cur == FILES_NEEDED && setrlimit(RLIMIT_NOFILE, &files) == 0)
		return 0;
	return tp_fail(
		error, -EMFILE,
		"a run needs %d open files, and the limit is %llu: allow them with `ulimit -n %d`",
		FILES_NEEDED, (unsigned long long)files.rlim_max, FILES_NEEDED);
}

/* One measurement at a time on a host. */
static int run(const struct conduct *conduct, const struct experiment *experiment)
{
	struct course course = {.conduct = conduct, .experiment = experiment};
	struct tp_error error;
	int status, lock = check_files(&error);

	if (lock == 0)
		lock = lock_take(conduct->lock, experiment->path, &error);
	if (lock < 0)
		return exit_with(EXIT_USAGE, conduct->program, &error);
	status = run_locked(&course);
	close(lock);
	return status;
}

int conduct(const struct conduct *conduct, const struct experiment *experiment)
{
	return conduct->dry_run ? dry_run(conduct, experiment) : run(conduct, experiment);
}
