#include "apps/common/process.h"

#include "apps/common/json.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
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

json_t *process_to_json(void)
{
	json_t *object = json_object();
	struct rusage usage = {0};

	getrusage(RUSAGE_SELF, &usage);
	json_object_set_new(object, "user_us", json_count(to_us(&usage.ru_utime)));
	json_object_set_new(object, "system_us", json_count(to_us(&usage.ru_stime)));
	json_object_set_new(object, "voluntary_switches", json_integer(usage.ru_nvcsw));
	json_object_set_new(object, "involuntary_switches", json_integer(usage.ru_nivcsw));
	set_migrations(object);
	set_kib(object, "rss_kib", "VmRSS");
	set_kib(object, "rss_peak_kib", "VmHWM");
	return object;
}

/* Adds one "cpuN user nice system idle iowait irq softirq steal" line if it is one of ours. */
static bool add_line(const char *line, const struct cpus *cpus, unsigned long long *softirq,
		     unsigned long long *steal)
{
	unsigned long long ticks[8];
	unsigned cpu;

	if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &ticks[0],
		   &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6],
		   &ticks[7]) != 9)
		return false;
	for (unsigned i = 0; i < cpus->count; i++) {
		if (cpus->cpu[i] != cpu)
			continue;
		*softirq += ticks[6];
		*steal += ticks[7];
		return true;
	}
	return false;
}

json_t *process_cpus_to_json(const struct cpus *cpus)
{
	unsigned long long softirq = 0, steal = 0,
			   tick_us = 1000000 / (unsigned)sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "re");
	json_t *object = json_object();
	unsigned found = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		found += add_line(line, cpus, &softirq, &steal);
	if (file)
		fclose(file);
	if (found == cpus->count) {
		json_object_set_new(object, "softirq_us", json_count(softirq * tick_us));
		json_object_set_new(object, "steal_us", json_count(steal * tick_us));
	} else {
		json_set_unknown(object, "softirq_us", "/proc/stat does not list these CPUs");
		json_set_unknown(object, "steal_us", "/proc/stat does not list these CPUs");
	}
	return object;
}
