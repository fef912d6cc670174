#include "apps/provenance/host_parts.h"

#include "apps/common/json.h"
#include "apps/provenance/fact.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODE_NUMBER_MAX = 1023 };

static void add_sizes(json_t *facts)
{
	static const char path[] = "/proc/meminfo";
	json_t *hugepages = json_object();

	fact_from_keyed(facts, "memory_total_kib", path, "MemTotal");
	fact_from_keyed(facts, "memory_available_kib", path, "MemAvailable");
	fact_from_keyed(facts, "swap_total_kib", path, "SwapTotal");
	fact_from_keyed(hugepages, "total", path, "HugePages_Total");
	fact_from_keyed(hugepages, "free", path, "HugePages_Free");
	fact_from_keyed(hugepages, "size_kib", path, "Hugepagesize");
	fact_set(facts, "hugepages", hugepages);
}

static void add_policies(json_t *facts)
{
	static const struct {
		const char *name, *path;
	} numbers[] = {
		{"aslr", "/proc/sys/kernel/randomize_va_space"},
		{"numa_balancing", "/proc/sys/kernel/numa_balancing"},
		{"swappiness", "/proc/sys/vm/swappiness"},
		{"overcommit_memory", "/proc/sys/vm/overcommit_memory"},
		{"same_page_merging", "/sys/kernel/mm/ksm/run"},
	};

	fact_from_file(facts, "transparent_hugepages",
		       "/sys/kernel/mm/transparent_hugepage/enabled");
	fact_from_file(facts, "transparent_hugepages_defrag",
		       "/sys/kernel/mm/transparent_hugepage/defrag");
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		fact_number_from_file(facts, numbers[i].name, numbers[i].path);
}

/* A line "Node 0 MemTotal:  123 kB" of a node's meminfo. */
static void add_node_line(json_t *facts, const char *name, const char *path, unsigned node,
			  const char *key)
{
	char whole_key[64], text[64];

	snprintf(whole_key, sizeof(whole_key), "Node %u %s", node, key);
	if (fact_read_text(path, whole_key, ':', text, sizeof(text)) == 0)
		fact_set(facts, name, json_integer(strtoll(text, NULL, 10)));
	else
		fact_unknown(facts, name, "%s has no '%s'", path, whole_key);
}

/* {"2048": {"total": 0, "free": 0}}, by size in KiB. */
static json_t *node_hugepages(const char *node_path)
{
	char folder_path[160], path[512], size[32];
	json_t *sizes = json_object();
	struct dirent *entry;
	DIR *folder;

	snprintf(folder_path, sizeof(folder_path), "%s/hugepages", node_path);
	folder = opendir(folder_path);
	while (folder && (entry = readdir(folder))) {
		json_t *pages;

		if (sscanf(entry->d_name, "hugepages-%31[0-9]kB", size) != 1)
			continue;
		pages = json_object();
		snprintf(path, sizeof(path), "%s/%s/nr_hugepages", folder_path, entry->d_name);
		fact_number_from_file(pages, "total", path);
		snprintf(path, sizeof(path), "%s/%s/free_hugepages", folder_path, entry->d_name);
		fact_number_from_file(pages, "free", path);
		fact_set(sizes, size, pages);
	}
	if (folder)
		closedir(folder);
	return sizes;
}

static json_t *node_facts(unsigned node, const char *node_path)
{
	json_t *facts = json_pack("{si}", "node", (int)node);
	char path[160];

	snprintf(path, sizeof(path), "%s/meminfo", node_path);
	add_node_line(facts, "memory_total_kib", path, node, "MemTotal");
	add_node_line(facts, "memory_free_kib", path, node, "MemFree");
	snprintf(path, sizeof(path), "%s/distance", node_path);
	fact_from_file(facts, "distances", path);
	fact_set(facts, "hugepages", node_hugepages(node_path));
	return facts;
}

static void add_nodes(json_t *facts)
{
	static const char folder_path[] = "/sys/devices/system/node";
	json_t *nodes = json_array();
	char path[96];

	for (unsigned node = 0; node <= NODE_NUMBER_MAX; node++) {
		snprintf(path, sizeof(path), "%s/node%u", folder_path, node);
		if (access(path, F_OK) == 0)
			json_array_append_new(nodes, node_facts(node, path));
	}
	if (json_array_size(nodes) > 0) {
		fact_set(facts, "memory_nodes", nodes);
		return;
	}
	json_decref(nodes);
	fact_unknown(facts, "memory_nodes", "%s has no nodes", folder_path);
}

void host_add_memory(json_t *facts)
{
	add_sizes(facts);
	add_policies(facts);
	add_nodes(facts);
}
