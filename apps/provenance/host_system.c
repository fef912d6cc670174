#include "apps/provenance/host_parts.h"

#include "apps/common/json.h"
#include "apps/provenance/fact.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

/*
 * Whether a word of the kernel's command line changes how fast things run; the others are nobody's
 * business.
 */
static bool is_about_speed(const char *word)
{
	static const char *const known[] = {
		"amd_pstate",
		"clocksource",
		"default_hugepagesz",
		"hugepages",
		"hugepagesz",
		"idle",
		"intel_idle",
		"intel_iommu",
		"intel_pstate",
		"iommu",
		"irqaffinity",
		"isolcpus",
		"mitigations",
		"nohz",
		"nohz_full",
		"nosmt",
		"pcie_aspm",
		"preempt",
		"processor",
		"pti",
		"rcu_nocbs",
		"skew_tick",
		"spectre_v2",
		"threadirqs",
		"transparent_hugepage",
		"tsc",
	};
	size_t bytes = strcspn(word, "=.");

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i]) == bytes && strncmp(known[i], word, bytes) == 0)
			return true;
	return false;
}

static void add_kernel_parameters(json_t *facts)
{
	static const char path[] = "/proc/cmdline";
	json_t *parameters = json_array();
	char line[4096], *rest = line, *word;

	if (fact_read_line(path, line, sizeof(line)) < 0) {
		json_decref(parameters);
		fact_unknown(facts, "kernel_parameters", "%s cannot be read", path);
		return;
	}
	while ((word = strsep(&rest, " ")))
		if (is_about_speed(word))
			json_array_append_new(parameters, json_text(word));
	fact_set(facts, "kernel_parameters", parameters);
}

static void add_os(json_t *facts)
{
	char text[256];

	if (fact_read_text("/etc/os-release", "PRETTY_NAME", '=', text, sizeof(text)) == 0)
		fact_set(facts, "os", json_text(text));
	else
		fact_unknown(facts, "os", "/etc/os-release does not say");
}

static void add_names(json_t *facts)
{
	struct utsname name;
	char taken_at[32];
	time_t now = time(NULL);
	struct tm utc;

	strftime(taken_at, sizeof(taken_at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	fact_set(facts, "taken_at", json_string(taken_at));
	if (uname(&name) == 0) {
		fact_set(facts, "hostname", json_text(name.nodename));
		fact_set(facts, "kernel", json_text(name.release));
		fact_set(facts, "kernel_build", json_text(name.version));
		fact_set(facts, "architecture", json_text(name.machine));
	}
	fact_from_file(facts, "boot_id", "/proc/sys/kernel/random/boot_id");
}

static void add_mitigations(json_t *facts)
{
	static const char folder_path[] = "/sys/devices/system/cpu/vulnerabilities";
	json_t *mitigations = json_object();
	DIR *folder = opendir(folder_path);
	struct dirent *entry;
	char path[512];

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder_path, entry->d_name);
		fact_from_file(mitigations, entry->d_name, path);
	}
	if (folder) {
		closedir(folder);
		fact_set(facts, "mitigations", mitigations);
	} else {
		json_decref(mitigations);
		fact_unknown(facts, "mitigations", "%s is not there", folder_path);
	}
}

void host_add_system(json_t *facts)
{
	add_names(facts);
	add_os(facts);
	add_kernel_parameters(facts);
	add_mitigations(facts);
}
