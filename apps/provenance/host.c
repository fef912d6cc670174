#include "apps/provenance/host.h"

#include "apps/provenance/fact.h"
#include "apps/common/json.h"
#include "apps/provenance/topology.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/*
 * The text behind `key` and its separator in a file of "key: text" or key="text" lines. False if
 * there is none.
 */
static bool read_text(const char *path, const char *key, char separator, char *text,
		      size_t text_bytes)
{
	FILE *file = fopen(path, "re");
	bool found = false;
	char line[4096];

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *value = strchr(line, separator);

		if (!value || strncmp(line, key, strlen(key)) != 0)
			continue;
		value += 1 + strspn(value + 1, " \t\"");
		value[strcspn(value, "\"\n")] = '\0';
		snprintf(text, text_bytes, "%s", value);
		found = true;
	}
	if (file)
		fclose(file);
	return found;
}

bool host_is_virtual(void)
{
	char flags[4096];

	return read_text("/proc/cpuinfo", "flags", ':', flags, sizeof(flags)) &&
	       strstr(flags, " hypervisor");
}

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

static void add_system(json_t *facts)
{
	struct utsname name;
	char text[256], taken_at[32];
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
	if (read_text("/etc/os-release", "PRETTY_NAME", '=', text, sizeof(text)))
		fact_set(facts, "os", json_text(text));
	else
		fact_unknown(facts, "os", "/etc/os-release does not say");
	add_kernel_parameters(facts);
}

static void add_cpus(json_t *facts)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	char text[256];

	if (read_text("/proc/cpuinfo", "model name", ':', text, sizeof(text)))
		fact_set(facts, "cpu_model", json_text(text));
	else
		fact_unknown(facts, "cpu_model", "/proc/cpuinfo does not say");
	fact_set(facts, "cpus_logical", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	if (topology && topology_read(topology) == 0) {
		fact_set(facts, "cpus_allowed", json_integer(topology->cpus.count));
		fact_set(facts, "cores_allowed", json_integer(topology->cores));
		fact_set(facts, "packages", json_integer(topology->packages));
		fact_set(facts, "numa_nodes", json_integer(topology->nodes));
	}
	free(topology);
	fact_number_from_file(facts, "smt_active", "/sys/devices/system/cpu/smt/active");
	fact_from_file(facts, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	fact_from_file(facts, "cpus_isolated", "/sys/devices/system/cpu/isolated");
	fact_from_file(facts, "clocksource",
		       "/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

static void add_virtualization(json_t *facts)
{
	json_t *virtualization = json_object();

	fact_set(virtualization, "hypervisor", json_boolean(host_is_virtual()));
	fact_from_file(virtualization, "vendor", "/sys/class/dmi/id/sys_vendor");
	fact_from_file(virtualization, "product", "/sys/class/dmi/id/product_name");
	fact_set(facts, "virtualization", virtualization);
}

static void add_memory(json_t *facts)
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
	fact_from_file(facts, "transparent_hugepages",
		       "/sys/kernel/mm/transparent_hugepage/enabled");
}

/* Load and CPU time, which differ before and after. */
static void add_activity(json_t *facts)
{
	static const char *const names[] = {"user",   "nice", "system",	 "idle",
					    "iowait", "irq",  "softirq", "steal"};
	unsigned long long ticks[8];
	json_t *cpu_ticks = json_object();
	double load[3];
	char line[512];

	if (getloadavg(load, 3) == 3)
		fact_set(facts, "loadavg", json_pack("[fff]", load[0], load[1], load[2]));
	else
		fact_unknown(facts, "loadavg", "getloadavg failed");
	if (fact_read_line("/proc/stat", line, sizeof(line)) == 0 &&
	    sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1],
		   &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) == 8)
		for (unsigned i = 0; i < 8; i++)
			fact_set(cpu_ticks, names[i], json_integer((json_int_t)ticks[i]));
	fact_set(cpu_ticks, "per_second", json_integer(sysconf(_SC_CLK_TCK)));
	fact_set(facts, "cpu_ticks", cpu_ticks);
}

static void add_network(json_t *facts)
{
	fact_from_file(facts, "tcp_congestion_control",
		       "/proc/sys/net/ipv4/tcp_congestion_control");
	fact_from_file(facts, "tcp_rmem", "/proc/sys/net/ipv4/tcp_rmem");
	fact_from_file(facts, "tcp_wmem", "/proc/sys/net/ipv4/tcp_wmem");
	fact_number_from_file(facts, "somaxconn", "/proc/sys/net/core/somaxconn");
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

json_t *host_facts(void)
{
	json_t *facts = json_pack("{ss}", "schema", "weir.host/1");

	add_system(facts);
	add_cpus(facts);
	add_virtualization(facts);
	add_memory(facts);
	add_activity(facts);
	add_network(facts);
	add_mitigations(facts);
	return facts;
}
