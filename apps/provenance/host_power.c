#include "apps/provenance/host.h"
#include "apps/provenance/host_parts.h"

#include "apps/common/json.h"
#include "apps/provenance/fact.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CPU_COUNT_MAX = 1024, STATES_MAX = 16 };

static const char cpu_folder[] = "/sys/devices/system/cpu/cpu";

/* The numbers of all CPUs that are configured. */
static unsigned list_cpus(unsigned numbers[CPU_COUNT_MAX])
{
	long count = sysconf(_SC_NPROCESSORS_CONF);
	unsigned listed = 0;

	while (listed < CPU_COUNT_MAX && (long)listed < count) {
		numbers[listed] = listed;
		listed++;
	}
	return listed;
}

static void add_frequencies(json_t *facts, const unsigned *cpus, unsigned count)
{
	static const struct {
		const char *name, *file;
	} rows[] = {
		{"governors", "/cpufreq/scaling_governor"},
		{"frequency_drivers", "/cpufreq/scaling_driver"},
		{"frequency_min_khz", "/cpufreq/scaling_min_freq"},
		{"frequency_max_khz", "/cpufreq/scaling_max_freq"},
		{"energy_preferences", "/cpufreq/energy_performance_preference"},
	};

	fact_from_file(facts, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		fact_spread(facts, rows[i].name, cpu_folder, rows[i].file, cpus, count);
}

enum host_turbo host_turbo(void)
{
	char line[32];

	if (fact_read_line("/sys/devices/system/cpu/intel_pstate/no_turbo", line, sizeof(line)) ==
	    0)
		return line[0] == '1' ? HOST_TURBO_OFF : HOST_TURBO_ON;
	if (fact_read_line("/sys/devices/system/cpu/cpufreq/boost", line, sizeof(line)) == 0)
		return line[0] == '0' ? HOST_TURBO_OFF : HOST_TURBO_ON;
	return HOST_TURBO_UNKNOWN;
}

static void add_turbo(json_t *facts)
{
	enum host_turbo turbo = host_turbo();

	if (turbo == HOST_TURBO_UNKNOWN)
		fact_unknown(facts, "turbo",
			     "neither intel_pstate/no_turbo nor cpufreq/boost is there");
	else
		fact_set(facts, "turbo", json_boolean(turbo == HOST_TURBO_ON));
}

/* One state of all CPUs: {"name": "C1", "latency_us": 2, "disabled": {"0": "0-7"}}. */
static json_t *idle_state(unsigned number, const unsigned *cpus, unsigned count)
{
	json_t *state = json_object();
	char path[128];

	snprintf(path, sizeof(path), "%s0/cpuidle/state%u/name", cpu_folder, number);
	fact_from_file(state, "name", path);
	snprintf(path, sizeof(path), "%s0/cpuidle/state%u/latency", cpu_folder, number);
	fact_number_from_file(state, "latency_us", path);
	snprintf(path, sizeof(path), "/cpuidle/state%u/disable", number);
	fact_spread(state, "disabled", cpu_folder, path, cpus, count);
	return state;
}

static bool has_idle_state(unsigned number)
{
	char path[128];

	snprintf(path, sizeof(path), "%s0/cpuidle/state%u", cpu_folder, number);
	return access(path, F_OK) == 0;
}

static void add_idle_states(json_t *facts, const unsigned *cpus, unsigned count)
{
	json_t *idle = json_object(), *states = json_array();

	fact_from_file(idle, "driver", "/sys/devices/system/cpu/cpuidle/current_driver");
	fact_from_file(idle, "governor", "/sys/devices/system/cpu/cpuidle/current_governor");
	for (unsigned i = 0; i < STATES_MAX && has_idle_state(i); i++)
		json_array_append_new(states, idle_state(i, cpus, count));
	if (json_array_size(states) > 0) {
		fact_set(idle, "states", states);
	} else {
		json_decref(states);
		fact_unknown(idle, "states", "%s0/cpuidle has no states", cpu_folder);
	}
	fact_set(facts, "idle", idle);
}

void host_add_power(json_t *facts)
{
	unsigned cpus[CPU_COUNT_MAX], count = list_cpus(cpus);

	add_frequencies(facts, cpus, count);
	add_turbo(facts);
	add_idle_states(facts, cpus, count);
}
