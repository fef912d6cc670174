#include "apps/common/exit.h"
#include "apps/common/flags.h"
#include "apps/run/conduct.h"
#include "apps/run/experiment_flags.h"
#include "apps/weir/verbs.h"
#include "dataplane/core/clock.h"

static const char program[] = "weir run";

struct run_options {
	struct conduct conduct;
	const char *experiment;
	struct experiment_changes changes;
};

static int run_experiment(const struct run_options *options)
{
	struct problems problems = {0};
	struct experiment *experiment;
	int status;

	if (experiment_read(options->experiment, &options->changes, &experiment, &problems) < 0)
		return conduct_refuse(program, &problems);
	status = conduct(&options->conduct, experiment);
	experiment_free(experiment);
	return status;
}

int verb_run(int argc, char **argv)
{
	struct run_options options = {.conduct.program = program};
	struct flag table[] = {
		EXPERIMENT_FLAGS(&options.changes),
		CONDUCT_FLAGS(&options.conduct),
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
	char variants[EXPERIMENT_FLAGS_WORDS];
	struct tp_error error;
	int status;

	if (experiment_flags_begin(&options.changes, variants, &error) < 0)
		return exit_with(EXIT_USAGE, program, &error);
	conduct_default_lock(&flags);
	if (!flags_accept(&flags, argc, argv, &status))
		return status;
	clock_start();
	return run_experiment(&options);
}
