#include "apps/report/analysis.h"

#include "apps/common/exit.h"
#include "apps/common/file.h"
#include "apps/common/root.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a call, the interpreter's own and the NULL included: a history of results may be long. */
enum { ARGUMENTS_MAX = 4096 };

const char analysis_python[] = "/usr/bin/python3";

/* Makes the process ready to become the analysis: where the package is goes into PYTHONPATH. */
static int prepare(struct tp_error *error)
{
	char root[PATH_MAX];

	if (access(analysis_python, X_OK) < 0)
		return tp_fail(error, -ENOENT, "%s is not there; install python3", analysis_python);
	if (root_find(root) < 0)
		return tp_fail(error, -ENOENT,
			       "cannot find the repository with analysis/: run ./weir from "
			       "it, or set WEIR_ROOT");
	setenv("PYTHONPATH", root, 1);
	setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	return 0;
}

int analysis_exec(const char *module, const char *const *arguments, struct tp_error *error)
{
	/* -P: whatever is called analysis/ where we stand is not meant. */
	const char *argv[ARGUMENTS_MAX] = {analysis_python, "-P", "-m"};
	unsigned count = 3;
	char name[64];
	int code = prepare(error);

	if (code < 0)
		return code;
	snprintf(name, sizeof(name), "analysis.%s", module);
	argv[count++] = name;
	for (; *arguments; arguments++) {
		if (count == ARGUMENTS_MAX - 1)
			return tp_fail(error, -E2BIG, "more than %u arguments", ARGUMENTS_MAX - 5);
		argv[count++] = *arguments;
	}
	execv(analysis_python, (char *const *)argv);
	return tp_fail(error, -errno, "cannot execute %s: %s", analysis_python, strerror(errno));
}

int analysis_verb(const char *program, const char *module, char **argv)
{
	struct tp_error error;

	if (!analysis_ready(program))
		return EXIT_USAGE;
	fflush(stdout);
	analysis_exec(module, (const char *const *)argv + 1, &error);
	return exit_with(EXIT_USAGE, program, &error);
}

/*
 * Whether some interpreter of Debian's finds the module; asking Python itself would take a second.
 */
static bool is_installed(const char *module)
{
	char pattern[128];

	snprintf(pattern, sizeof(pattern),
		 "/usr/{lib,local/lib}/python3*/{dist-packages,site-packages}/%s", module);
	return file_matches(pattern);
}

int analysis_missing(char *packages, size_t packages_bytes)
{
	static const char *const modules[] = {"numpy", "scipy", "pandas", "matplotlib", "jinja2"};
	size_t used = 0;
	int missing = 0;

	packages[0] = '\0';
	for (unsigned i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		if (is_installed(modules[i]) || used >= packages_bytes)
			continue;
		used += (size_t)snprintf(packages + used, packages_bytes - used, "%spython3-%s",
					 missing++ ? " " : "", modules[i]);
	}
	return missing;
}

bool analysis_ready(const char *program)
{
	char missing[256];

	if (analysis_missing(missing, sizeof(missing)) == 0)
		return true;
	fprintf(stderr, "%s: packages are missing: apt-get install %s\n", program, missing);
	return false;
}
