#include "apps/report/analysis.h"

#include "apps/common/file.h"
#include "apps/provenance/root.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int analysis_exec_report(const char *result, struct tp_error *error)
{
	int code = prepare(error);

	if (code < 0)
		return code;
	/* -P: whatever is called analysis/ where we stand is not meant. */
	execl(analysis_python, analysis_python, "-P", "-m", "analysis.report", result,
	      (char *)NULL);
	return tp_fail(error, -errno, "cannot execute %s: %s", analysis_python, strerror(errno));
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
