#include "apps/common/exit.h"
#include "apps/report/analysis.h"
#include "apps/weir/verbs.h"

#include <stdio.h>
#include <string.h>

static const char program[] = "weir report";

static void print_help(FILE *to)
{
	fprintf(to,
		"usage: %s RESULT\n\n"
		"Makes tables, figures and report.html from a result directory, in it.\n"
		"Exit status: that of the analysis; %d if it cannot be started.\n",
		program, EXIT_USAGE);
}

int verb_report(int argc, char **argv)
{
	struct tp_error error;
	char missing[256];

	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		print_help(stdout);
		return EXIT_PASS;
	}
	if (argc != 2) {
		fprintf(stderr, "%s: exactly one result directory is wanted\n", program);
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (analysis_missing(missing, sizeof(missing)) > 0) {
		tp_fail(&error, 0, "packages are missing: apt-get install %s", missing);
		return exit_with(EXIT_USAGE, program, &error);
	}
	analysis_exec_report(argv[1], &error);
	return exit_with(EXIT_USAGE, program, &error);
}
