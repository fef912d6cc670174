#include "apps/common/exit.h"
#include "apps/common/root.h"
#include "apps/report/analysis.h"
#include "apps/run/analyse.h"
#include "apps/run/request.h"
#include "apps/weir/verbs.h"

#include <limits.h>
#include <string.h>

static const char program[] = "weir calibrate";
static const char module[] = "calibrate";

static int judge(const struct campaign *campaign, void *user)
{
	const char *const arguments[] = {campaign->directory.path, NULL};

	(void)user;
	return analyse_to_judge(program, module, arguments, campaign->interrupt);
}

/* Measures one program against itself, and has the analysis say what that shows. */
static int measure(struct request *request)
{
	char folder[PATH_MAX + 32];
	struct tp_error error;

	if (!analysis_ready(program))
		return EXIT_USAGE;
	if (root_find(folder) < 0) {
		tp_fail(&error, 0,
			"cannot find the repository with experiments/calibrate: run "
			"./weir from it, or set WEIR_ROOT");
		return exit_with(EXIT_USAGE, program, &error);
	}
	request->operand = strcat(folder, "/experiments/calibrate");
	request->conduct.judge = judge;
	return request_carry_out(request);
}

int verb_calibrate(int argc, char **argv)
{
	struct request request = {.conduct.program = program};
	struct flag table[] = {REQUEST_FLAGS(&request)};
	struct flags flags = {
		.program = program,
		.about = "Measures this host's noise floor: runs experiments/calibrate, "
			 "whose two variants are one\n"
			 "program, and says what difference it shows all the same. "
			 "Flags are those of `weir run`.\n"
			 "`weir calibrate RESULT` runs nothing: it is the analysis of "
			 "such a result alone.\n"
			 "Exit status: 0; 1 if the two variants are told apart, so that "
			 "something is wrong; 2 if the runs\n"
			 "are too few to know the noise; 3 if a sample is invalid; 4 if "
			 "it could not be run or judged.",
		.table = table,
		.count = sizeof(table) / sizeof(table[0])};
	char variants[EXPERIMENT_FLAGS_WORDS];
	int status;

	if (argc > 1 && argv[1][0] != '-')
		return analysis_verb(program, module, argv);
	conduct_default_lock(&flags);
	if (!experiment_flags_accept(&flags, &request.changes, variants, argc, argv, &status))
		return status;
	return measure(&request);
}
