#include "tests/unit/run/experiment/rig.h"

#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

struct experiment *rig_read_changed(const char *text, const struct experiment_changes *changes,
				    struct problems *problems)
{
	struct experiment *experiment = NULL;
	int fd;

	*problems = (struct problems){0};
	strcpy(path, "/tmp/weir-experiment-XXXXXX");
	fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	if (experiment_read(path, changes, &experiment, problems) < 0)
		experiment = NULL;
	unlink(path);
	return experiment;
}

struct experiment *rig_read(const char *text)
{
	struct problems problems;
	struct experiment *experiment = rig_read_changed(text, NULL, &problems);

	if (!experiment)
		printf("# %s", problems.text);
	CU_ASSERT_FATAL(experiment != NULL);
	return experiment;
}

/* Expects exactly these lines, each without the file's name before its place. */
void rig_expect_problems(const char *text, const struct experiment_changes *changes,
			 const char *expected)
{
	struct problems problems;
	struct experiment *experiment = rig_read_changed(text, changes, &problems);
	char shown[sizeof(problems.text)] = "";

	CU_ASSERT_PTR_NULL(experiment);
	experiment_free(experiment);
	for (char *rest = problems.text, *line; (line = strsep(&rest, "\n")) && *line;) {
		size_t skip = strncmp(line, path, strlen(path)) == 0 ? strlen(path) + 1 : 0;

		strcat(shown, line + skip);
		strcat(shown, "\n");
	}
	CU_ASSERT_STRING_EQUAL(shown, expected);
	if (strcmp(shown, expected) != 0)
		printf("# expected: %s# got:      %s", expected, shown);
}
