#include "apps/provenance/host_parts.h"

#include "apps/provenance/fact.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { IRQS_MAX = 4096 };

static const char folder_path[] = "/proc/irq";

static int compare(const void *one, const void *other)
{
	unsigned a = *(const unsigned *)one, b = *(const unsigned *)other;

	return (a > b) - (a < b);
}

/* The numbers of all interrupts, ascending. */
static unsigned list_irqs(unsigned irqs[IRQS_MAX])
{
	DIR *folder = opendir(folder_path);
	struct dirent *entry;
	unsigned count = 0;

	while (folder && count < IRQS_MAX && (entry = readdir(folder)))
		if (sscanf(entry->d_name, "%u", &irqs[count]) == 1)
			count++;
	if (folder)
		closedir(folder);
	qsort(irqs, count, sizeof(irqs[0]), compare);
	return count;
}

/* {CPUS: IRQS}: where they may be served, and where the kernel has them served now. */
void host_add_interrupts(json_t *facts)
{
	static unsigned irqs[IRQS_MAX];
	unsigned count = list_irqs(irqs);

	fact_from_file(facts, "irq_default_affinity", "/proc/irq/default_smp_affinity");
	fact_spread(facts, "irqs_allowed_on", "/proc/irq/", "/smp_affinity_list", irqs, count);
	fact_spread(facts, "irqs_served_by", "/proc/irq/", "/effective_affinity_list", irqs, count);
}
