#include "apps/provenance/host_parts.h"

#include "apps/provenance/fact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Load and CPU time, which differ before and after. */
static void add_load(json_t *facts)
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

/*
 * A line of pressure: the share of the last minute in which some task, or every task, waited, and
 * for how long since boot.
 */
static void add_pressure_line(json_t *facts, const char *path, const char *who)
{
	char name[64], line[256] = "";
	unsigned long long total_us;
	double share_percent;

	if (fact_read_text(path, who, ' ', line, sizeof(line)) == 0 &&
	    sscanf(line, "avg10=%*f avg60=%lf avg300=%*f total=%llu", &share_percent, &total_us) ==
		    2) {
		snprintf(name, sizeof(name), "%s_avg60_percent", who);
		fact_set(facts, name, json_real(share_percent));
		snprintf(name, sizeof(name), "%s_total_us", who);
		fact_set(facts, name, json_integer((json_int_t)total_us));
		return;
	}
	snprintf(name, sizeof(name), "%s_total_us", who);
	fact_unknown(facts, name, "%s has no line '%s'", path, who);
}

static void add_pressure(json_t *facts)
{
	static const char *const resources[] = {"cpu", "memory", "io"};
	json_t *pressure = json_object();
	char path[64];

	for (unsigned i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
		json_t *of = json_object();

		snprintf(path, sizeof(path), "/proc/pressure/%s", resources[i]);
		add_pressure_line(of, path, "some");
		add_pressure_line(of, path, "full");
		fact_set(pressure, resources[i], of);
	}
	fact_set(facts, "pressure", pressure);
}

void host_add_activity(json_t *facts)
{
	add_load(facts);
	add_pressure(facts);
}
