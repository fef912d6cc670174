#include "dataplane/core/program.h"

#include <stdio.h>
#include <string.h>

const char *program_name(pid_t pid, char name[PROGRAM_NAME])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (!file || !fgets(name, PROGRAM_NAME, file))
		snprintf(name, PROGRAM_NAME, "?");
	name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	return name;
}
