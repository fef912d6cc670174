/* The verbs that are the analysis's alone: flags, help and exit status are its own. */
#include "apps/report/analysis.h"
#include "apps/weir/verbs.h"

int verb_report(int argc, char **argv)
{
	(void)argc;
	return analysis_verb("weir report", "report", argv);
}

int verb_compare(int argc, char **argv)
{
	(void)argc;
	return analysis_verb("weir compare", "compare", argv);
}

int verb_trend(int argc, char **argv)
{
	(void)argc;
	return analysis_verb("weir trend", "trend", argv);
}
