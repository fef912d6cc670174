#include "apps/common/root.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_analysis(const char *folder)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/analysis", folder) < (int)sizeof(path) &&
	       access(path, R_OK | X_OK) == 0;
}

int root_find(char root[PATH_MAX])
{
	const char *given = getenv("WEIR_ROOT");
	ssize_t bytes;
	char *slash;

	if (given && given[0] == '/' && strlen(given) < PATH_MAX) {
		snprintf(root, PATH_MAX, "%s", given);
		return 0;
	}
	bytes = readlink("/proc/self/exe", root, PATH_MAX - 1);
	if (bytes < 0)
		return -ENOENT;
	root[bytes] = '\0';
	while ((slash = strrchr(root, '/')) && slash > root) {
		*slash = '\0';
		if (has_analysis(root))
			return 0;
	}
	return -ENOENT;
}
