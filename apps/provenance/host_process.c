#include "apps/provenance/host_parts.h"

#include "apps/common/json.h"
#include "apps/provenance/build_config.h"
#include "apps/provenance/fact.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* What the stack of a new program begins with, which moves everything behind it. */
static size_t environment_bytes(void)
{
	size_t bytes = 0;

	for (char **at = environ; at && *at; at++)
		bytes += strlen(*at) + 1;
	return bytes;
}

static void add_limit(json_t *limits, const char *name, rlim_t limit)
{
	if (limit == RLIM_INFINITY)
		fact_unknown(limits, name, "no limit");
	else
		fact_set(limits, name, json_integer((json_int_t)limit));
}

static void add_limits(json_t *facts)
{
	static const struct {
		const char *name;
		int resource;
	} rows[] = {
		{"open_files", RLIMIT_NOFILE},
		{"locked_bytes", RLIMIT_MEMLOCK},
		{"processes", RLIMIT_NPROC},
		{"stack_bytes", RLIMIT_STACK},
		{"address_bytes", RLIMIT_AS},
		{"file_bytes", RLIMIT_FSIZE},
		{"core_bytes", RLIMIT_CORE},
		{"cpu_s", RLIMIT_CPU},
		{"nice_ceiling", RLIMIT_NICE},
		{"realtime_priority", RLIMIT_RTPRIO},
		{"pending_signals", RLIMIT_SIGPENDING},
	};
	json_t *limits = json_object();

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *pair = json_object();
		struct rlimit limit;

		if (getrlimit(rows[i].resource, &limit) < 0) {
			json_decref(pair);
			fact_unknown(limits, rows[i].name, "getrlimit: %s", strerror(errno));
			continue;
		}
		add_limit(pair, "soft", limit.rlim_cur);
		add_limit(pair, "hard", limit.rlim_max);
		fact_set(limits, rows[i].name, pair);
	}
	fact_set(facts, "limits", limits);
}

/* The group of this session, to which all that it starts belongs, and its share of the CPUs. */
static void add_autogroup(json_t *facts)
{
	static const char path[] = "/proc/self/autogroup";
	json_t *autogroup = json_object();
	char line[128] = "", name[64] = "";
	int nice = 0;

	fact_number_from_file(autogroup, "enabled", "/proc/sys/kernel/sched_autogroup_enabled");
	fact_read_line(path, line, sizeof(line));
	if (sscanf(line, "%63s nice %d", name, &nice) == 2) {
		fact_set(autogroup, "group", json_text(name));
		fact_set(autogroup, "nice", json_integer(nice));
	} else {
		fact_unknown(autogroup, "group", "%s names none", path);
		fact_unknown(autogroup, "nice", "%s names no group", path);
	}
	fact_set(facts, "autogroup", autogroup);
}

static void add_built(json_t *libraries, const char *name, const char *version)
{
	if (version[0])
		fact_set(libraries, name, json_text(version));
	else
		fact_unknown(libraries, name, "built without");
}

/* The version that is loaded, where a library says it; of the others the one that the build saw. */
static void add_libraries(json_t *facts)
{
	json_t *libraries = json_object();

	fact_set(libraries, "glibc", json_text(gnu_get_libc_version()));
	fact_set(libraries, "jansson", json_text(jansson_version_str()));
	add_built(libraries, "hwloc", BUILD_HWLOC);
	add_built(libraries, "dpdk", BUILD_DPDK);
	add_built(libraries, "liburing", BUILD_LIBURING);
	fact_unknown(libraries, "openssl", "nothing in this build uses it");
	fact_set(facts, "libraries", libraries);
}

void host_add_process(json_t *facts)
{
	fact_set(facts, "environment_bytes", json_count(environment_bytes()));
	fact_set(facts, "process_nice", json_integer(getpriority(PRIO_PROCESS, 0)));
	add_limits(facts);
	add_autogroup(facts);
	add_libraries(facts);
}
