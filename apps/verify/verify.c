#include "apps/common/exit.h"
#include "apps/common/flags.h"
#include "apps/verify/judge.h"
#include "apps/weir/verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char program[] = "weir verify";

/* Any of these makes a folder a result directory, of which the others lack. */
static const char *const marks[] = {"manifest.json", "manifest.sha256", "plan.json",
				    "results.jsonl"};

static bool has_mark(const char *path)
{
	char file[PATH_MAX + 32];

	for (unsigned i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		snprintf(file, sizeof(file), "%s/%s", path, marks[i]);
		if (access(file, F_OK) == 0)
			return true;
	}
	return false;
}

/* 0; or negative errno with `error` filled if there is no whole result directory to judge. */
static int find(const char *given, char path[PATH_MAX], struct tp_error *error)
{
	static const char partial[] = ".partial";
	struct stat about;
	size_t bytes;

	if (!realpath(given, path) || stat(path, &about) < 0)
		return tp_fail(error, -errno, "%.300s: %s", given, strerror(errno));
	if (!S_ISDIR(about.st_mode) || !has_mark(path))
		return tp_fail(error, -EINVAL,
			       "%.300s is no result directory: it has none of manifest.json, "
			       "plan.json and results.jsonl",
			       given);
	bytes = strlen(path);
	if (bytes > strlen(partial) && strcmp(path + bytes - strlen(partial), partial) == 0)
		return tp_fail(
			error, -EINVAL,
			"%.200s is not whole and has no manifest: `weir run %.200s --resume` "
			"goes on with it",
			given, given);
	return 0;
}

/* Prints what is wrong; the exit status. */
static int report(const char *path, const json_t *faults)
{
	size_t index;
	json_t *fault;

	json_array_foreach((json_t *)faults, index, fault)
	{
		printf("%s\n", json_string_value(fault));
	}
	if (json_array_size(faults) == 0) {
		printf("%s: every file is what the run wrote, and the results add up\n", path);
		return EXIT_PASS;
	}
	fflush(stdout);
	fprintf(stderr, "%s: %s: %zu fault%s\n", program, path, json_array_size(faults),
		json_array_size(faults) == 1 ? "" : "s");
	return EXIT_INVALID;
}

int verb_verify(int argc, char **argv)
{
	const char *given = NULL;
	struct flags flags = {
		.program = program,
		.about = "Checks a result directory: every file against the manifest and the "
			 "manifest against its\ndigest, each sample against the plan, "
			 "results.jsonl against the samples, and summary.json\nagainst what the "
			 "results come to (docs/results.md). Changes nothing.\n"
			 "Exit status: 0; 3 if anything differs, with each file and what is wrong "
			 "with it on a line;\n4 if it is no result directory, or not a whole one.",
		.operand = "RESULT",
		.operand_value = &given};
	struct tp_error error;
	char path[PATH_MAX];
	json_t *faults;
	int status;

	if (!flags_accept(&flags, argc, argv, &status))
		return status;
	if (find(given, path, &error) < 0)
		return exit_with(EXIT_USAGE, program, &error);
	faults = json_array();
	judge_result(path, faults);
	status = report(path, faults);
	json_decref(faults);
	return status;
}
