#include "apps/provenance/host_parts.h"

#include "apps/common/json.h"
#include "apps/common/netif.h"
#include "apps/provenance/ethtool.h"
#include "apps/provenance/fact.h"

#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IRQS_MAX = 1024 };

/* The kernel's file of an interface, which begins with a number. */
static void add_number(json_t *facts, const char *fact, const char *interface, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", interface, file);
	fact_number_from_file(facts, fact, path);
}

static void add_speed(json_t *facts, const char *interface)
{
	add_number(facts, "speed_mbps", interface, "speed");
	if (json_integer_value(json_object_get(facts, "speed_mbps")) < 0)
		fact_unknown(facts, "speed_mbps", "the driver knows no speed");
}

static void add_node(json_t *facts, const char *interface)
{
	add_number(facts, "numa_node", interface, "device/numa_node");
	if (json_integer_value(json_object_get(facts, "numa_node")) < 0)
		fact_unknown(facts, "numa_node", "no node is nearer than others");
}

static int compare(const void *one, const void *other)
{
	unsigned a = *(const unsigned *)one, b = *(const unsigned *)other;

	return (a > b) - (a < b);
}

/* The interrupts of the device: its own, or under virtio those of the device above. */
static unsigned list_irqs(const char *interface, unsigned irqs[IRQS_MAX])
{
	static const char *const folders[] = {"device/msi_irqs", "device/../msi_irqs"};
	unsigned count = 0;
	char path[128];

	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]) && count == 0; i++) {
		struct dirent *entry;
		DIR *folder;

		snprintf(path, sizeof(path), "/sys/class/net/%s/%s", interface, folders[i]);
		folder = opendir(path);
		while (folder && count < IRQS_MAX && (entry = readdir(folder)))
			if (sscanf(entry->d_name, "%u", &irqs[count]) == 1)
				count++;
		if (folder)
			closedir(folder);
	}
	qsort(irqs, count, sizeof(irqs[0]), compare);
	return count;
}

static void add_irqs(json_t *facts, const char *interface)
{
	unsigned irqs[IRQS_MAX], count = list_irqs(interface, irqs);

	if (count > 0)
		fact_spread(facts, "irqs_served_by", "/proc/irq/", "/effective_affinity_list", irqs,
			    count);
	else
		fact_unknown(facts, "irqs_served_by", "the device has no interrupts of its own");
}

static bool is_up(const char *interface)
{
	char path[128], line[32];

	snprintf(path, sizeof(path), "/sys/class/net/%s/flags", interface);
	return fact_read_line(path, line, sizeof(line)) == 0 &&
	       (strtoul(line, NULL, 16) & IFF_UP) != 0;
}

static json_t *nic_facts(const char *interface)
{
	json_t *facts = json_pack("{so}", "name", json_text(interface));

	netif_add_facts(facts, interface);
	add_speed(facts, interface);
	add_node(facts, interface);
	add_irqs(facts, interface);
	ethtool_add_facts(facts, interface);
	return facts;
}

void host_add_nics(json_t *facts)
{
	struct if_nameindex *names = if_nameindex();
	json_t *nics = json_array();

	if (!names) {
		json_decref(nics);
		fact_unknown(facts, "nics", "if_nameindex: %s", strerror(errno));
		return;
	}
	for (const struct if_nameindex *at = names; at->if_name; at++)
		if (is_up(at->if_name))
			json_array_append_new(nics, nic_facts(at->if_name));
	if_freenameindex(names);
	fact_set(facts, "nics", nics);
}
