#include "apps/provenance/host_parts.h"

#include "apps/common/json.h"
#include "apps/provenance/fact.h"
#include "apps/provenance/topology_facts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_cpuinfo(json_t *facts, const char *name, const char *key)
{
	static const char path[] = "/proc/cpuinfo";
	char text[256];

	if (fact_read_text(path, key, ':', text, sizeof(text)) == 0)
		fact_set(facts, name, json_text(text));
	else
		fact_unknown(facts, name, "%s does not say", path);
}

static void add_topology(json_t *facts)
{
	static const char *const names[] = {"cpus_allowed", "cores_allowed", "packages",
					    "numa_nodes", "topology"};
	struct topology *topology = calloc(1, sizeof(*topology));
	int code = topology ? topology_read(topology) : -ENOMEM;

	for (unsigned i = 0; code < 0 && i < sizeof(names) / sizeof(names[0]); i++)
		fact_unknown(facts, names[i], "hwloc cannot read the topology: %s",
			     code == -EXDEV ? "its environment variables name another machine"
					    : strerror(-code));
	if (code == 0) {
		fact_set(facts, "cpus_allowed", json_integer(topology->cpus.count));
		fact_set(facts, "cores_allowed", json_integer(topology->cores));
		fact_set(facts, "packages", json_integer(topology->packages));
		fact_set(facts, "numa_nodes", json_integer(topology->nodes));
		fact_set(facts, "topology", topology_to_json(topology));
	}
	free(topology);
}

/* What the kernel was told on its command line, which no file in /sys repeats. */
static void add_rcu_nocbs(json_t *facts)
{
	char line[4096], *rest = line, *word;

	if (fact_read_line("/proc/cmdline", line, sizeof(line)) == 0)
		while ((word = strsep(&rest, " ")))
			if (strncmp(word, "rcu_nocbs=", 10) == 0) {
				fact_set(facts, "cpus_rcu_nocbs", json_text(word + 10));
				return;
			}
	fact_unknown(facts, "cpus_rcu_nocbs", "the kernel's command line has no rcu_nocbs=");
}

static bool has_word(const char *text, const char *word)
{
	size_t bytes = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || at[-1] == ' ') && (at[bytes] == ' ' || at[bytes] == '\0'))
			return true;
	return false;
}

/* Whether the time stamp counter runs at one rate, always. */
static void add_tsc(json_t *facts)
{
	static const char *const names[] = {"constant_tsc", "nonstop_tsc", "tsc_reliable",
					    "tsc_known_freq"};
	char flags[4096];
	json_t *tsc = json_object();

	if (fact_read_text("/proc/cpuinfo", "flags", ':', flags, sizeof(flags)) < 0) {
		json_decref(tsc);
		fact_unknown(facts, "tsc", "/proc/cpuinfo lists no flags");
		return;
	}
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fact_set(tsc, names[i], json_boolean(has_word(flags, names[i])));
	fact_set(facts, "tsc", tsc);
}

void host_add_cpus(json_t *facts)
{
	static const char clock[] = "/sys/devices/system/clocksource/clocksource0/";
	char path[128];

	add_cpuinfo(facts, "cpu_model", "model name");
	add_cpuinfo(facts, "microcode", "microcode");
	fact_set(facts, "cpus_logical", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	add_topology(facts);
	fact_number_from_file(facts, "smt_active", "/sys/devices/system/cpu/smt/active");
	fact_from_file(facts, "smt_control", "/sys/devices/system/cpu/smt/control");
	fact_from_file(facts, "cpus_isolated", "/sys/devices/system/cpu/isolated");
	fact_from_file(facts, "cpus_nohz_full", "/sys/devices/system/cpu/nohz_full");
	add_rcu_nocbs(facts);
	snprintf(path, sizeof(path), "%scurrent_clocksource", clock);
	fact_from_file(facts, "clocksource", path);
	snprintf(path, sizeof(path), "%savailable_clocksource", clock);
	fact_from_file(facts, "clocksources_available", path);
	add_tsc(facts);
}
