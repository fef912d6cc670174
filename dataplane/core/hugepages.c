#include "dataplane/core/hugepages.h"

#include <dirent.h>
#include <stdio.h>

/* The number that a file of one line holds, or 0. */
static unsigned long read_number(const char *directory, const char *name)
{
	char path[320];
	unsigned long value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/%s/%s", directory, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%lu", &value) != 1)
		value = 0;
	fclose(file);
	return value;
}

struct hugepages hugepages_count(void)
{
	DIR *directory = opendir("/sys/kernel/mm/hugepages");
	struct hugepages sum = {0};
	struct dirent *entry;

	if (!directory)
		return sum;
	while ((entry = readdir(directory))) {
		unsigned long kib, all, unused;

		if (sscanf(entry->d_name, "hugepages-%lukB", &kib) != 1)
			continue;
		all = read_number(entry->d_name, "nr_hugepages");
		unused = read_number(entry->d_name, "free_hugepages");
		sum.free_mib += kib * unused / 1024;
		sum.used_mib += kib * (all - unused) / 1024;
	}
	closedir(directory);
	return sum;
}
