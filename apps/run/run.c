#include "apps/common/exit.h"
#include "apps/common/flags.h"
#include "apps/run/conduct.h"
#include "apps/run/experiment/experiment_flags.h"
#include "apps/run/store/origin.h"
#include "apps/weir/verbs.h"
#include "dataplane/core/clock.h"

#include <errno.h>

static const char program[] = "weir run";

struct run_options {
	struct conduct conduct;
	const char *operand;
	struct experiment_changes changes;
	bool resume;
};

/* Carries out an experiment from its beginning. */
static int run_experiment(const struct run_options *options)
{
	struct problems problems = {0};
	struct experiment *experiment;
	int status;

	if (experiment_read(options->operand, &options->changes, &experiment, &problems) < 0)
		return conduct_refuse(program, &problems);
	status = conduct(&options->conduct, experiment);
	experiment_free(experiment);
	return status;
}

/* Goes on with a result directory or repeats it, as the experiment that it measured. */
static int run_origin(const struct run_options *options, struct origin *origin,
		      const struct experiment *experiment)
{
	struct conduct with_origin = options->conduct;

	with_origin.origin = origin;
	return conduct(&with_origin, experiment);
}

/* The operand is a result directory. */
static int run_result(const struct run_options *options)
{
	struct problems problems = {0};
	struct experiment *experiment = NULL;
	struct origin origin;
	int status;

	if (options->changes.override_count || options->changes.variant_count ||
	    options->changes.profiles)
		problems_add(&problems,
			     "%s is a result, and its plan is carried out as it is; --set, "
			     "--variant, $VARIANTS and --profile go with an experiment",
			     options->operand);
	if (options->resume && options->conduct.port)
		problems_add(&problems, "--port: a run is gone on with on the port of before");
	if (problems.count ||
	    origin_open(&origin, options->operand, options->resume, &problems) < 0)
		return conduct_refuse(program, &problems);
	if (origin_experiment(&origin, &experiment, &problems) < 0)
		status = conduct_refuse(program, &problems);
	else
		status = run_origin(options, &origin, experiment);
	experiment_free(experiment);
	origin_close(&origin);
	return status;
}

/* Finds and reads the newest partial result of the experiment. As origin_open. */
static int open_newest(const struct run_options *options, const struct experiment *experiment,
		       struct origin *origin, struct problems *problems)
{
	char output[PATH_MAX + 16], path[PATH_MAX];
	struct tp_error error;

	if (origin_find(options->conduct.output ? options->conduct.output
						: conduct_default_output(output),
			experiment->name, path, &error) < 0) {
		problems_add(problems, "%s", error.text);
		return -EINVAL;
	}
	printf("going on with %s\n", path);
	return origin_open(origin, path, true, problems);
}

/* The operand is an experiment, and the newest partial result of it is to be gone on with. */
static int resume_experiment(const struct run_options *options)
{
	struct problems problems = {0};
	struct experiment *experiment;
	struct origin origin;
	int status;

	if (experiment_read(options->operand, &options->changes, &experiment, &problems) < 0)
		return conduct_refuse(program, &problems);
	if (open_newest(options, experiment, &origin, &problems) < 0) {
		status = conduct_refuse(program, &problems);
	} else {
		status = origin_fits(&origin, experiment, &problems)
				 ? run_origin(options, &origin, experiment)
				 : conduct_refuse(program, &problems);
		origin_close(&origin);
	}
	experiment_free(experiment);
	return status;
}

static int run_operand(const struct run_options *options)
{
	if (origin_is_result(options->operand))
		return run_result(options);
	return options->resume ? resume_experiment(options) : run_experiment(options);
}

int verb_run(int argc, char **argv)
{
	struct run_options options = {.conduct.program = program};
	struct flag table[] = {
		EXPERIMENT_FLAGS(&options.changes),
		{.name = "resume",
		 .kind = &flag_switch,
		 .value = &options.resume,
		 .about = "go on with a result that is not whole or has invalid samples: DIR's "
			  "newest .partial, or the one named"},
		CONDUCT_FLAGS(&options.conduct),
	};
	struct flags flags = {.program = program,
			      .about = "Carries out an experiment: for each sample a fresh server "
				       "and a client against it.\n"
				       "DIR holds experiment.json (docs/experiments.md), or is a "
				       "result directory, whose plan is\n"
				       "repeated exactly (docs/results.md). The last line is "
				       "`results: PATH`.\n"
				       "Exit status: 0 if all samples are valid, 3 if not, 4 if "
				       "nothing or not all could be\n"
				       "run, 128 + N when interrupted by signal N (130 for "
				       "Ctrl-C); then a .partial stays,\n"
				       "which --resume goes on with.",
			      .operand = "DIR",
			      .operand_value = &options.operand,
			      .table = table,
			      .count = sizeof(table) / sizeof(table[0])};
	char variants[EXPERIMENT_FLAGS_WORDS];
	struct tp_error error;
	int status;

	if (experiment_flags_begin(&options.changes, variants, &error) < 0)
		return exit_with(EXIT_USAGE, program, &error);
	conduct_default_lock(&flags);
	if (!flags_accept(&flags, argc, argv, &status))
		return status;
	clock_start();
	return run_operand(&options);
}
