#include "apps/common/exit.h"
#include "apps/report/analysis.h"
#include "apps/run/analyse.h"
#include "apps/run/request.h"
#include "apps/weir/verbs.h"

static const char program[] = "weir reproduce";
static const char module[] = "reproduce";

/* `user` is the path of the earlier result. */
static int judge(const struct campaign *campaign, void *user)
{
	const char *const arguments[] = {user, campaign->directory.path, NULL};

	return analyse_to_judge(program, module, arguments, campaign->interrupt);
}

/* Repeats the result, and has the analysis set the new one beside it. */
static int repeat(struct request *request)
{
	struct problems problems = {0};

	if (!analysis_ready(program))
		return EXIT_USAGE;
	if (!origin_is_result(request->operand)) {
		problems_add(
			&problems,
			"%s: no result directory; give one that `weir run` made, to repeat it, "
			"or two, to set them beside each other",
			request->operand);
		return conduct_refuse(program, &problems);
	}
	request->conduct.judge = judge;
	request->conduct.user = (void *)request->operand;
	return request_carry_out(request);
}

int verb_reproduce(int argc, char **argv)
{
	struct request request = {.conduct.program = program};
	struct flag table[] = {CONDUCT_FLAGS(&request.conduct)};
	struct flags flags = {
		.program = program,
		.about = "Repeats a result, as `weir run RESULT` does, and says whether "
			 "what it showed is shown again.\n"
			 "`weir reproduce OLD NEW` runs nothing: it sets two results "
			 "beside each other.\n"
			 "Exit status: 0; 1 if a claim is not reproduced; 2 if none is "
			 "not, but one is undecided; 3 if a\n"
			 "sample is invalid; 4 if it could not be run or judged.",
		.operand = "RESULT",
		.operand_value = &request.operand,
		.table = table,
		.count = sizeof(table) / sizeof(table[0])};
	int status;

	if (argc > 2 && argv[1][0] != '-' && argv[2][0] != '-')
		return analysis_verb(program, module, argv);
	conduct_default_lock(&flags);
	if (!flags_accept(&flags, argc, argv, &status))
		return status;
	return repeat(&request);
}
