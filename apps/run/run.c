#include "apps/run/request.h"
#include "apps/weir/verbs.h"

int verb_run(int argc, char **argv)
{
	struct request request = {.conduct.program = "weir run"};
	struct flag table[] = {REQUEST_FLAGS(&request)};
	struct flags flags = {
		.program = request.conduct.program,
		.about = "Carries out an experiment: for each sample a fresh server "
			 "and a client against it.\n"
			 "DIR holds experiment.json (docs/experiments.md), or is a "
			 "result directory, whose plan is\n"
			 "repeated exactly (docs/results.md). The last line is "
			 "`results: PATH`.\n"
			 "Exit status: 3 if a sample is invalid; else 0, or where the "
			 "experiment states a gate 1 if it\n"
			 "fails and 2 if the samples do not decide it (claims are judged "
			 "by `weir report RESULT --claims`);\n"
			 "4 if nothing or not all could be run or judged; 128 + N when "
			 "interrupted by signal N (130 for\n"
			 "Ctrl-C): then a .partial stays, which --resume goes on with.",
		.operand = "DIR",
		.operand_value = &request.operand,
		.table = table,
		.count = sizeof(table) / sizeof(table[0])};
	char variants[EXPERIMENT_FLAGS_WORDS];
	int status;

	conduct_default_lock(&flags);
	if (!experiment_flags_accept(&flags, &request.changes, variants, argc, argv, &status))
		return status;
	return request_carry_out(&request);
}
