#include "apps/load/neighbour.h"

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a command line, words ended by NUL, is that of a `weir serve`. */
static bool is_server(const char *words, size_t bytes)
{
	const char *end = memchr(words, '\0', bytes);
	const char *slash, *verb;

	if (!end)
		return false;
	slash = strrchr(words, '/');
	verb = end + 1;
	return strcmp(slash ? slash + 1 : words, "weir") == 0 && verb + 6 <= words + bytes &&
	       memcmp(verb, "serve", 6) == 0;
}

static bool is_process_of_server(pid_t pid)
{
	char path[64], words[4096];
	size_t bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	file = fopen(path, "re");
	if (file) {
		bytes = fread(words, 1, sizeof(words), file);
		fclose(file);
	}
	return is_server(words, bytes);
}

/* The CPUs that a process is bound to and these have in common; a server binds its first thread. */
static struct cpus shared_with(pid_t pid, const struct cpus *cpus)
{
	struct cpus shared = {.count = 0};
	cpu_set_t set;

	if (sched_getaffinity(pid, sizeof(set), &set) < 0)
		return shared;
	for (unsigned i = 0; i < cpus->count; i++)
		if (CPU_ISSET(cpus->cpu[i], &set))
			shared.cpu[shared.count++] = cpus->cpu[i];
	return shared;
}

pid_t neighbour_find(const struct cpus *cpus, struct cpus *shared_out)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (processes && !found && (entry = readdir(processes))) {
		pid_t pid = (pid_t)atoi(entry->d_name); /* 0 for what is no process */
		struct cpus shared;

		if (pid <= 0 || !is_process_of_server(pid))
			continue;
		shared = shared_with(pid, cpus);
		if (shared.count == 0)
			continue;
		*shared_out = shared;
		found = pid;
	}
	if (processes)
		closedir(processes);
	return found;
}
