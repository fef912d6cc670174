#include "apps/provenance/topology.h"

#include "apps/provenance/fact.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* The number that a file of the CPU begins with, or `fallback`. */
static int read_number(unsigned cpu, const char *name, int fallback)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, name);
	return fact_read_line(path, text, sizeof(text)) == 0 ? atoi(text) : fallback;
}

static int read_node(unsigned cpu)
{
	char path[64];
	struct dirent *entry;
	int node = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	folder = opendir(path);
	if (!folder)
		return 0;
	while ((entry = readdir(folder)))
		if (sscanf(entry->d_name, "node%d", &node) == 1)
			break;
	closedir(folder);
	return node;
}

/* Whether values[index] occurs nowhere before it. */
static bool is_new(const int *values, unsigned index)
{
	for (unsigned i = 0; i < index; i++)
		if (values[i] == values[index])
			return false;
	return true;
}

bool topology_is_first_of_core(const struct topology *topology, unsigned index)
{
	return is_new(topology->core, index);
}

int topology_read(struct topology *topology_out)
{
	struct topology *topology = topology_out;
	int code;

	*topology = (struct topology){.cores = 0};
	code = cpus_allowed(&topology->cpus);
	for (unsigned i = 0; i < topology->cpus.count; i++) {
		unsigned cpu = topology->cpus.cpu[i];

		topology->core[i] = read_number(cpu, "thread_siblings_list", (int)cpu);
		topology->package[i] = read_number(cpu, "physical_package_id", 0);
		topology->node[i] = read_node(cpu);
		topology->cores += is_new(topology->core, i);
		topology->packages += is_new(topology->package, i);
		topology->nodes += is_new(topology->node, i);
	}
	return code;
}
