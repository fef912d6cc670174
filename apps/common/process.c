#include "apps/common/process.h"

#include "apps/common/json.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t to_us(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

long process_read_number(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	size_t name_bytes = strlen(name);
	char line[256];
	long number = -1;

	if (!file)
		return -1;
	while (number < 0 && fgets(line, sizeof(line), file))
		if (strncmp(line, name, name_bytes) == 0)
			sscanf(line + name_bytes, " : %ld", &number);
	fclose(file);
	return number;
}

static void set_kib(json_t *object, const char *key, const char *name)
{
	long kib = process_read_number("/proc/self/status", name);

	if (kib < 0)
		json_set_unknown(object, key, "/proc/self/status does not say");
	else
		json_object_set_new(object, key, json_integer(kib));
}

/* "1234": the folder of a thread. */
static bool is_thread(const char *name)
{
	return name[0] >= '0' && name[0] <= '9';
}

long process_migrations(const char *task_folder)
{
	DIR *tasks = opendir(task_folder);
	struct dirent *entry;
	char path[300];
	long sum = 0;

	while (tasks && sum >= 0 && (entry = readdir(tasks))) {
		long moved;

		if (!is_thread(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%.200s/%.32s/sched", task_folder, entry->d_name);
		moved = process_read_number(path, "se.nr_migrations");
		sum = moved < 0 ? -1 : sum + moved;
	}
	if (!tasks)
		return -1;
	closedir(tasks);
	return sum;
}

static void set_migrations(json_t *object)
{
	long migrations = process_migrations("/proc/self/task");

	if (migrations < 0)
		json_set_unknown(object, "migrations",
				 "this kernel does not say in /proc/PID/task/TID/sched");
	else
		json_object_set_new(object, "migrations", json_integer(migrations));
}

long process_switches(bool voluntary)
{
	struct rusage all = {0}, own = {0};

	getrusage(RUSAGE_SELF, &all);
	getrusage(RUSAGE_THREAD, &own);
	return voluntary ? all.ru_nvcsw - own.ru_nvcsw : all.ru_nivcsw - own.ru_nivcsw;
}

json_t *process_to_json(void)
{
	json_t *object = json_object();
	struct rusage usage = {0};

	getrusage(RUSAGE_SELF, &usage);
	json_object_set_new(object, "user_us", json_count(to_us(&usage.ru_utime)));
	json_object_set_new(object, "system_us", json_count(to_us(&usage.ru_stime)));
	json_object_set_new(object, "voluntary_switches", json_integer(process_switches(true)));
	json_object_set_new(object, "involuntary_switches", json_integer(process_switches(false)));
	set_migrations(object);
	set_kib(object, "rss_kib", "VmRSS");
	set_kib(object, "rss_peak_kib", "VmHWM");
	return object;
}

static bool is_one_of(const struct cpus *cpus, unsigned long cpu)
{
	for (unsigned i = 0; i < cpus->count; i++)
		if (cpus->cpu[i] == cpu)
			return true;
	return false;
}

/* Ticks of some CPUs since boot. */
struct ticks {
	unsigned long long busy; /* user, nice, system, interrupts and softirqs, each tick once */
	unsigned long long softirq;
	unsigned long long steal;
	unsigned cpus;
};

/* Adds one "cpuN user nice system idle iowait irq softirq steal" line if it is one of ours. */
static void add_line(const char *line, const struct cpus *cpus, struct ticks *ticks)
{
	unsigned long long user, nice, system, irq, softirq, steal;
	unsigned cpu;

	if (sscanf(line, "cpu%u %llu %llu %llu %*u %*u %llu %llu %llu", &cpu, &user, &nice, &system,
		   &irq, &softirq, &steal) != 7 ||
	    !is_one_of(cpus, cpu))
		return;
	ticks->busy += user + nice + system + irq + softirq;
	ticks->softirq += softirq;
	ticks->steal += steal;
	ticks->cpus++;
}

static void set_ticks(json_t *object, const struct cpus *cpus)
{
	unsigned long long tick_us = 1000000 / (unsigned long long)sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "re");
	struct ticks ticks = {0};
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		add_line(line, cpus, &ticks);
	if (file)
		fclose(file);
	if (ticks.cpus == cpus->count) {
		json_object_set_new(object, "busy_us", json_count(ticks.busy * tick_us));
		json_object_set_new(object, "softirq_us", json_count(ticks.softirq * tick_us));
		json_object_set_new(object, "steal_us", json_count(ticks.steal * tick_us));
	} else {
		json_set_unknown(object, "busy_us", "/proc/stat does not list these CPUs");
		json_set_unknown(object, "softirq_us", "/proc/stat does not list these CPUs");
		json_set_unknown(object, "steal_us", "/proc/stat does not list these CPUs");
	}
}

/* Sums the columns of a table's row that its head names as ours; -1 if not all are there. */
static long long sum_columns(const char *head, const char *row, const struct cpus *cpus)
{
	long long sum = 0;
	unsigned found = 0;
	char *next;

	while ((head = strstr(head, "CPU"))) {
		unsigned long cpu = strtoul(head + 3, &next, 10);
		unsigned long long value;

		head = next;
		value = strtoull(row, &next, 10);
		if (next == row)
			return -1;
		row = next;
		if (!is_one_of(cpus, cpu))
			continue;
		sum += (long long)value;
		found++;
	}
	return found == cpus->count ? sum : -1;
}

long long process_softirqs(const char *path, const char *kind, const struct cpus *cpus)
{
	FILE *file = fopen(path, "re");
	size_t head_room = 0, row_room = 0, kind_bytes = strlen(kind);
	char *head = NULL, *row = NULL;
	long long sum = -1;

	if (file && getline(&head, &head_room, file) > 0)
		while (sum < 0 && getline(&row, &row_room, file) > 0) {
			const char *name = row + strspn(row, " ");

			if (strncmp(name, kind, kind_bytes) == 0 && name[kind_bytes] == ':')
				sum = sum_columns(head, name + kind_bytes + 1, cpus);
		}
	free(head);
	free(row);
	if (file)
		fclose(file);
	return sum;
}

static void set_softirqs(json_t *object, const char *key, const char *kind, const struct cpus *cpus)
{
	long long count = process_softirqs("/proc/softirqs", kind, cpus);

	if (count < 0)
		json_set_unknown(object, key, "/proc/softirqs does not list these CPUs");
	else
		json_object_set_new(object, key, json_integer(count));
}

json_t *process_cpus_to_json(const struct cpus *cpus)
{
	json_t *object = json_object();

	set_ticks(object, cpus);
	set_softirqs(object, "net_rx_softirqs", "NET_RX", cpus);
	set_softirqs(object, "net_tx_softirqs", "NET_TX", cpus);
	return object;
}
