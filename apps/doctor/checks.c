#include "apps/doctor/checks.h"

#include "apps/common/command.h"
#include "apps/common/file.h"
#include "apps/common/veth.h"
#include "apps/provenance/fact.h"
#include "apps/provenance/host.h"
#include "apps/report/analysis.h"
#include "apps/run/store/leftover.h"
#include "apps/run/experiment/link.h"
#include "apps/run/plan/pins.h"
#include "dataplane/core/check.h"
#include "dataplane/core/hugepages.h"
#include "stacks/registry.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* first-look: 64 connections, and what a process has open anyway. */
enum { FILES_NEEDED = 256 };

enum {
	CORES_TO_ISOLATE = 4, /* fewer leave nothing for the rest of the system */
	IDLE_LATENCY_US = 10, /* waking takes as long as a request does */
};

const char *check_state_name(enum check_state state)
{
	static const char *const names[] = {"ok", "note", "missing"};

	return names[state];
}

/* Adds a finding; its text in the way of printf. What to do is set by `mend`. */
__attribute__((format(printf, 4, 5))) static struct check *
add(struct checks *checks, const char *name, enum check_state state, const char *format, ...)
{
	struct check *check = &checks->list[checks->count];
	va_list arguments;

	CHECK(checks->count < CHECKS_MAX);
	checks->count++;
	check->name = name;
	check->state = state;
	va_start(arguments, format);
	vsnprintf(check->found, sizeof(check->found), format, arguments);
	va_end(arguments);
	return check;
}

/* Says what to do, unless all is well. */
__attribute__((format(printf, 2, 3))) static void mend(struct check *check, const char *format, ...)
{
	va_list arguments;

	if (check->state == CHECK_OK)
		return;
	va_start(arguments, format);
	vsnprintf(check->mend, sizeof(check->mend), format, arguments);
	va_end(arguments);
}

static enum check_state ok_or(bool ok, enum check_state otherwise)
{
	return ok ? CHECK_OK : otherwise;
}

static void check_cores(struct checks *checks, const struct topology *topology)
{
	unsigned cores = topology->cores, cpus = topology->cpus.count;
	unsigned together = pins_server_most(topology, false);
	enum check_state state = cpus < 2 ? CHECK_MISSING : ok_or(together > 0, CHECK_NOTE);
	char text[64] = "";

	if (together > 0)
		snprintf(text, sizeof(text), "; a server may have %u workers beside its client",
			 together);
	mend(add(checks, "cores", state, "%u physical cores, %u CPUs allowed%s", cores, cpus, text),
	     cpus < 2 ? "a server and a client need one CPU each: give this process two"
		      : "server and client take all cores of a node, none is left for the "
			"operating system: results are stamped degraded; three cores on a "
			"node are enough");
}

static void check_smt(struct checks *checks, const struct topology *topology)
{
	bool shared = topology->cpus.count > topology->cores;

	mend(add(checks, "smt", ok_or(!shared, CHECK_NOTE), "%s",
		 shared ? "CPUs share cores" : "no two CPUs share a core"),
	     "pins use one CPU of each core as long as there are enough; "
	     "echo off > /sys/devices/system/cpu/smt/control ends the sharing");
}

static void check_nodes(struct checks *checks, const struct topology *topology)
{
	unsigned across = pins_server_most(topology, true);
	bool can = topology->nodes == 1 || across > 0;

	if (topology->nodes == 1)
		add(checks, "numa", CHECK_OK, "1 node");
	else
		mend(add(checks, "numa", ok_or(can, CHECK_NOTE),
			 "%u nodes; a server may have %u workers on one, its client on "
			 "another",
			 topology->nodes, across),
		     "sides on different nodes are stamped degraded: allow two cores on two "
		     "nodes");
}

static void check_kinds(struct checks *checks, const struct topology *topology)
{
	const struct topology_kind *kinds = topology->kinds;

	if (topology->kind_count < 2)
		add(checks, "kinds of cores", CHECK_OK, "all cores are alike");
	else
		mend(add(checks, "kinds of cores", CHECK_NOTE, "%u%s%s", topology->kind_count,
			 kinds[0].name[0] ? ", the fastest is " : "", kinds[0].name),
		     "pins keep to one kind, the fastest that has room; more workers than "
		     "one kind has are stamped degraded");
}

static void check_isolated(struct checks *checks, const struct topology *topology)
{
	unsigned isolated = 0;
	bool few = topology->cores < CORES_TO_ISOLATE;

	for (unsigned i = 0; i < topology->cpus.count; i++)
		isolated += topology->isolated[i];
	if (isolated > 0)
		add(checks, "isolated CPUs", CHECK_OK, "%u, which pins take first", isolated);
	else
		mend(add(checks, "isolated CPUs", ok_or(few, CHECK_NOTE), "none%s",
			 few ? ", and too few cores to isolate any" : ""),
		     "other work may run on measured cores: isolcpus=, nohz_full= and "
		     "rcu_nocbs= on the kernel's command line keep it off");
}

/* Names the keys of a fact that is an object. */
static const char *name_keys(const json_t *object, char *text, size_t text_bytes)
{
	const char *key;
	json_t *value;
	size_t bytes = 0;

	text[0] = '\0';
	json_object_foreach((json_t *)object, key, value)
	{
		if (bytes < text_bytes)
			bytes += (size_t)snprintf(text + bytes, text_bytes - bytes, "%s%s",
						  bytes ? ", " : "", key);
	}
	return text;
}

static void check_governor(struct checks *checks, const json_t *facts)
{
	const json_t *governors = json_object_get(facts, "governors");
	bool steady = json_object_size(governors) == 1 && json_object_get(governors, "performance");
	char text[160];

	if (!json_is_object(governors))
		mend(add(checks, "governor", CHECK_NOTE,
			 "unknown: this kernel has no cpufreq here"),
		     "the clock may change without a trace: compare interleaved runs only");
	else
		mend(add(checks, "governor", ok_or(steady, CHECK_NOTE), "%s",
			 name_keys(governors, text, sizeof(text))),
		     "cpupower frequency-set -g performance");
}

static void check_turbo(struct checks *checks)
{
	enum host_turbo turbo = host_turbo();

	if (turbo == HOST_TURBO_UNKNOWN)
		mend(add(checks, "turbo", CHECK_NOTE, "unknown: this kernel cannot switch it here"),
		     "the clock may rise while neighbours idle: compare interleaved runs "
		     "only");
	else
		mend(add(checks, "turbo", ok_or(turbo == HOST_TURBO_OFF, CHECK_NOTE), "%s",
			 turbo == HOST_TURBO_ON ? "on" : "off"),
		     "the clock rises and falls with heat and neighbours: echo 1 > "
		     "/sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > "
		     "/sys/devices/system/cpu/cpufreq/boost");
}

/* The longest time that leaving an idle state takes which some CPU may enter; 0 without one. */
static long long longest_wake_us(const json_t *idle)
{
	json_t *state;
	long long longest = 0;
	size_t i;

	json_array_foreach(json_object_get(idle, "states"), i, state)
	{
		long long latency = json_integer_value(json_object_get(state, "latency_us"));

		if (json_object_get(json_object_get(state, "disabled"), "0") && latency > longest)
			longest = latency;
	}
	return longest;
}

static void check_idle(struct checks *checks, const json_t *facts)
{
	const json_t *idle = json_object_get(facts, "idle");
	long long longest = longest_wake_us(idle);

	if (!json_is_array(json_object_get(idle, "states")))
		add(checks, "idle states", CHECK_OK, "the kernel has no choice of them here");
	else
		mend(add(checks, "idle states", ok_or(longest <= IDLE_LATENCY_US, CHECK_NOTE),
			 "waking takes up to %lld us", longest),
		     "an idle server's first request pays for it: cpupower idle-set -D %d",
		     IDLE_LATENCY_US);
}

static void check_machine(struct checks *checks)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	json_t *facts = host_facts();

	if (topology && topology_read(topology) == 0) {
		check_cores(checks, topology);
		check_smt(checks, topology);
		check_nodes(checks, topology);
		check_kinds(checks, topology);
		check_isolated(checks, topology);
	} else {
		mend(add(checks, "cores", CHECK_MISSING, "hwloc cannot read them"),
		     "unset HWLOC_XMLFILE and HWLOC_SYNTHETIC; see what `lstopo` says");
	}
	free(topology);
	check_governor(checks, facts);
	check_turbo(checks);
	check_idle(checks, facts);
	json_decref(facts);
}

static void check_virtualization(struct checks *checks)
{
	bool is_virtual = host_is_virtual();

	mend(add(checks, "virtualization", ok_or(!is_virtual, CHECK_NOTE), "%s",
		 is_virtual ? "a hypervisor is beneath" : "none seen"),
	     "neighbours come and go: compare interleaved runs only, and mind the steal in "
	     "host.json");
}

static void check_hugepages(struct checks *checks)
{
	struct hugepages pages = hugepages_count();
	bool enough = pages.free_mib >= 2 * HUGEPAGES_PROCESS_MIB;

	mend(add(checks, "hugepages", ok_or(enough, CHECK_NOTE), "%lu MiB free", pages.free_mib),
	     "dpdk works without, a little slower; sysctl vm.nr_hugepages=%lu gives enough of 2 "
	     "MiB",
	     pages.used_mib / 2 + HUGEPAGES_PROCESS_MIB);
}

/* Whether the experiment that a newcomer runs first measures the stack. */
static bool is_in_first_look(const char *stack)
{
	return strcmp(stack, "epoll") == 0 || strcmp(stack, "dpdk") == 0;
}

/* Why the stack cannot be measured, in words; NULL if it can. */
static const char *what_lacks(const struct stack *stack, struct tp_error *error)
{
	if (!stack->ops)
		return stack->absent;
	return stack_check_host(stack, error) < 0 ? error->text : NULL;
}

static void check_stacks(struct checks *checks)
{
	unsigned count;
	const struct stack *stacks = stack_list(&count);

	for (unsigned i = 0; i < count; i++) {
		bool needed = is_in_first_look(stacks[i].name);
		struct tp_error error;
		const char *lacks = what_lacks(&stacks[i], &error);

		mend(add(checks, "stack", ok_or(!lacks, needed ? CHECK_MISSING : CHECK_NOTE),
			 "%s: %s", stacks[i].name, lacks ? lacks : stacks[i].about),
		     needed ? "first-look measures this stack"
			    : "experiments that name it are refused");
	}
}

static bool has_driver(const char *driver)
{
	char pattern[160];

	snprintf(pattern, sizeof(pattern),
		 "/usr/{lib,lib/*,local/lib,local/lib/*}/dpdk/pmds-*/librte_%s.so*", driver);
	return file_matches(pattern);
}

static void check_drivers(struct checks *checks)
{
	static const struct {
		const char *driver, *package;
		bool needed;
	} drivers[] = {
		{"net_memif", "librte-net-memif23", true},
		{"net_tap", "librte-net-tap23", false},
		{"net_af_packet", "librte-net-af-packet23", false},
		{"net_af_xdp", "librte-net-af-xdp23", false},
	};

	for (unsigned i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		bool found = has_driver(drivers[i].driver);

		mend(add(checks, "dpdk driver",
			 ok_or(found, drivers[i].needed ? CHECK_MISSING : CHECK_NOTE), "%s%s",
			 drivers[i].driver, found ? "" : " is not installed"),
		     "apt-get install %s", drivers[i].package);
	}
}

static void check_devices(struct checks *checks)
{
	bool tun = access("/dev/net/tun", R_OK | W_OK) == 0;
	bool root = geteuid() == 0;
	char level[32] = "unknown";

	mend(add(checks, "/dev/net/tun", ok_or(tun, CHECK_NOTE), "%s",
		 tun ? "usable" : "not usable"),
	     "modprobe tun; dpdk over a tap device needs it");
	mend(add(checks, "privileges", ok_or(root, CHECK_NOTE), "%s", root ? "root" : "not root"),
	     "dpdk with hugepages, and its tap, af_packet and af_xdp devices, need root");
	fact_read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
	mend(add(checks, "perf_event_paranoid", ok_or(root || atoi(level) < 2, CHECK_NOTE), "%s%s",
		 level, root ? ", which root may ignore" : ""),
	     "sysctl kernel.perf_event_paranoid=1 lets profiles see the kernel");
}

/* Names what runs and servers left when they were killed. */
static void check_leftovers(struct checks *checks)
{
	struct leftover left[LEFTOVER_MAX];
	unsigned count = leftover_list(left);
	char text[256];
	size_t bytes = 0;

	if (count == 0)
		return;
	for (unsigned i = 0; i < count && bytes < sizeof(text); i++)
		bytes += (size_t)snprintf(text + bytes, sizeof(text) - bytes, "%s%s", i ? ", " : "",
					  left[i].what);
	mend(add(checks, "left behind", CHECK_NOTE, "%s", text),
	     "the next `weir run` removes it, and a pair also the next server over @veth");
}

static void check_veth(struct checks *checks)
{
	struct tp_error error;
	bool possible = veth_probe(&error) == 0;

	mend(add(checks, "veth pairs", ok_or(possible, CHECK_NOTE), "%s",
		 possible ? "can be made" : "cannot be made"),
	     "for kernel sockets over @veth: %.180s", error.text);
}

static void check_limits(struct checks *checks)
{
	struct rlimit files = {0}, locked = {0};
	bool enough;

	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_MEMLOCK, &locked);
	enough = files.rlim_max >= FILES_NEEDED; /* weir raises its limit as far as it may */
	mend(add(checks, "open files", ok_or(enough, CHECK_MISSING), "at most %llu",
		 (unsigned long long)files.rlim_max),
	     "ulimit -n %d: a connection takes one", FILES_NEEDED);
	enough = locked.rlim_cur == RLIM_INFINITY || geteuid() == 0;
	if (locked.rlim_cur == RLIM_INFINITY)
		add(checks, "locked memory", CHECK_OK, "no limit");
	else
		mend(add(checks, "locked memory", ok_or(enough, CHECK_NOTE), "at most %llu KiB%s",
			 (unsigned long long)locked.rlim_cur / 1024,
			 enough ? ", which root may exceed" : ""),
		     "ulimit -l unlimited, for dpdk");
}

static void check_python(struct checks *checks)
{
	bool python = access(analysis_python, X_OK) == 0;
	char missing[160];
	int count = analysis_missing(missing, sizeof(missing));

	mend(add(checks, "python", ok_or(python, CHECK_NOTE), "%s%s", analysis_python,
		 python ? "" : " is not there"),
	     "apt-get install python3; without it there is no report");
	mend(add(checks, "python packages", ok_or(count == 0, CHECK_NOTE), "%s%s",
		 count ? "missing: " : "all that the report needs", missing),
	     "apt-get install %s; without them there is no report", missing);
}

/* Only an experiment with "hosts" needs it. */
static void check_ssh(struct checks *checks)
{
	static const char ssh[] = "/usr/bin/ssh";
	bool is_there = access(ssh, X_OK) == 0;

	mend(add(checks, "ssh", ok_or(is_there, CHECK_NOTE), "%s%s", ssh,
		 is_there ? "" : " is not there"),
	     "apt-get install openssh-client; without it nothing is measured on other hosts");
}

/* Whether variants that name a commit, options or compiler arguments can be built. */
static void check_git(struct checks *checks)
{
	const char *const argv[] = {"git", "--version", NULL};
	char said[COMMAND_SAID_BYTES];
	bool found = command_run(argv, "", said) == 0;

	mend(add(checks, "git", ok_or(found, CHECK_NOTE), "%s", found ? "installed" : said),
	     "apt-get install git; without it no variant can name a commit or a build");
}

void checks_make(struct checks *checks)
{
	checks->count = 0;
	check_machine(checks);
	check_virtualization(checks);
	check_hugepages(checks);
	check_stacks(checks);
	check_drivers(checks);
	check_devices(checks);
	check_veth(checks);
	check_leftovers(checks);
	check_limits(checks);
	check_python(checks);
	check_ssh(checks);
	check_git(checks);
}
