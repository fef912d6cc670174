#include "tests/faults/ground.h"

#include "stacks/registry.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DETAILS_MAX = 32 };

int ground_open(const char *spec, const struct tp_limits *limits, struct tp **tp_out,
		struct tp_error *error)
{
	struct stack_choice choice;
	struct tp_config config = {.limits = *limits, .device = "", .cpu = -1, .workers = 1};
	int code = stack_find(spec, &choice, error);

	if (code == -ENOTSUP)
		return 1;
	if (code < 0)
		return code;
	config.options = choice.options;
	return choice.stack->ops->open(&config, tp_out, error);
}

unsigned ground_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

uint64_t ground_resident(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t ground_detail(const struct tp *tp, const char *name)
{
	struct tp_detail details[DETAILS_MAX];
	unsigned count = tp->ops->details ? tp->ops->details(tp, details, DETAILS_MAX) : 0;

	for (unsigned i = 0; i < count; i++)
		if (strcmp(details[i].name, name) == 0)
			return details[i].value;
	return 0;
}
