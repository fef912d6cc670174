#include "apps/common/exit.h"
#include "apps/common/flags.h"
#include "apps/run/conduct.h"
#include "apps/weir/verbs.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <string.h>

static const char program[] = "weir run";

struct run_options {
	struct conduct conduct;
	const char *experiment;
	const char *overrides[EXPERIMENT_OVERRIDES_MAX];
	unsigned override_count;
};

static int run_experiment(const struct run_options *options)
{
	struct problems problems = {0};
	struct experiment *experiment;
	int status;

	if (experiment_read(options->experiment, options->overrides, options->override_count,
			    &experiment, &problems) < 0)
		return conduct_refuse(program, &problems);
	status = conduct(&options->conduct, experiment);
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
	struct run_options options = {.conduct.program = program};
	struct flag table[] = {
		{.name = "set",
		 .kind = &flag_override,
		 .value = &options,
		 .about = "override a value of the experiment; a factor gets this one level, or "
			  "those of a list [...]"},
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
	int status;

	conduct_default_lock(&flags);
	if (!flags_accept(&flags, argc, argv, &status))
		return status;
	clock_start();
	return run_experiment(&options);
}
