#include "apps/common/process.h"

#include "apps/common/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

static void set_kib(json_t *object, const char *key, long kib)
{
	if (kib < 0)
		json_set_unknown(object, key, "/proc/self/status does not say");
	else
		json_object_set_new(object, key, json_integer(kib));
}

/* What was seen of the peak before it was last begun anew; a process has one. */
static struct {
	long highest_kib;
	int failed; /* why it could not be begun anew: a negative errno, or 0 */
	bool begun; /* anew, at least once */
} peak;

/* proc(5), clear_refs: 5 sets the peak to what is resident now. */
static int reset_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	int code = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, "5", 1) != 1)
		code = -errno;
	close(fd);
	return code;
}

void process_begin_peak(void)
{
	long kib = process_read_number("/proc/self/status", "VmHWM");

	if (kib > peak.highest_kib)
		peak.highest_kib = kib;
	peak.failed = reset_peak();
	peak.begun |= peak.failed == 0;
}

static void set_peaks(json_t *object)
{
	long kib = process_read_number("/proc/self/status", "VmHWM");
	char text[128];

	if (peak.failed && !peak.begun) {
		snprintf(text, sizeof(text), "the peak cannot be begun anew by clear_refs: %s",
			 strerror(-peak.failed));
		json_set_unknown(object, "rss_peak_kib", text);
	} else {
		set_kib(object, "rss_peak_kib", kib);
	}
	set_kib(object, "rss_peak_since_start_kib",
		kib < 0 || kib > peak.highest_kib ? kib : peak.highest_kib);
}

/* "1234": the folder of a thread. */
static bool is_thread(const char *name)
{
	return name[0] >= '0' && name[0] <= '9';
}

/* The sum over a process's threads, but `skipped`, of what `read` finds in "FOLDER/TID/NAME". */
static int64_t sum_threads(const char *task_folder, const char *name, pid_t skipped,
			   int64_t (*read)(const char *path))
{
	DIR *tasks = opendir(task_folder);
	struct dirent *entry;
	char path[300];
	int64_t sum = 0;

	while (tasks && sum >= 0 && (entry = readdir(tasks))) {
		int64_t one;

		if (!is_thread(entry->d_name) || atoi(entry->d_name) == skipped)
			continue;
		snprintf(path, sizeof(path), "%.200s/%.32s/%s", task_folder, entry->d_name, name);
		one = read(path);
		sum = one < 0 ? -1 : sum + one;
	}
	if (!tasks)
		return -1;
	closedir(tasks);
	return sum;
}

static int64_t read_migrations(const char *path)
{
	return process_read_number(path, "se.nr_migrations");
}

long process_migrations(const char *task_folder)
{
	return (long)sum_threads(task_folder, "sched", 0, read_migrations);
}

/* The second number of a schedstat file: ns on a run queue without running. */
static int64_t read_runqueue_wait(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned long long waited_ns;
	int found = file ? fscanf(file, "%*u %llu", &waited_ns) : 0;

	if (file)
		fclose(file);
	return found == 1 ? (int64_t)waited_ns : -1;
}

int64_t process_runqueue_wait_ns(void)
{
	return sum_threads("/proc/self/task", "schedstat", getpid(), read_runqueue_wait);
}

static void set_scheduling(json_t *object)
{
	long migrations = process_migrations("/proc/self/task");
	int64_t waited_ns = process_runqueue_wait_ns();

	if (migrations < 0)
		json_set_unknown(object, "migrations",
				 "this kernel does not say in /proc/PID/task/TID/sched");
	else
		json_object_set_new(object, "migrations", json_integer(migrations));
	if (waited_ns < 0)
		json_set_unknown(object, "runqueue_wait_us",
				 "this kernel does not say in /proc/PID/task/TID/schedstat");
	else
		json_object_set_new(object, "runqueue_wait_us", json_integer(waited_ns / 1000));
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
	set_scheduling(object);
	set_kib(object, "rss_kib", process_read_number("/proc/self/status", "VmRSS"));
	set_peaks(object);
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
	unsigned long long tasks; /* user, nice and system: what tasks used */
	unsigned long long busy;  /* and interrupts and softirqs, each tick once */
	unsigned long long softirq;
	unsigned long long steal;
	unsigned cpus;
};

/* Adds one "cpuN user nice system idle iowait irq softirq steal" line to all, and to ours. */
static void add_line(const char *line, const struct cpus *cpus, struct ticks *own,
		     struct ticks *host)
{
	unsigned long long user, nice, system, irq, softirq, steal;
	unsigned cpu;

	if (line[3] == ' ' || /* the sum over all CPUs */
	    sscanf(line, "cpu%u %llu %llu %llu %*u %*u %llu %llu %llu", &cpu, &user, &nice, &system,
		   &irq, &softirq, &steal) != 7)
		return;
	for (struct ticks *ticks = host; ticks; ticks = ticks == host ? own : NULL) {
		if (ticks == own && !is_one_of(cpus, cpu))
			return;
		ticks->tasks += user + nice + system;
		ticks->busy += user + nice + system + irq + softirq;
		ticks->softirq += softirq;
		ticks->steal += steal;
		ticks->cpus++;
	}
}

static void set_ticks(json_t *object, const struct ticks *ticks, bool known)
{
	static const char *const names[] = {"tasks_us", "busy_us", "softirq_us", "steal_us"};
	unsigned long long tick_us = 1000000 / (unsigned long long)sysconf(_SC_CLK_TCK);
	const unsigned long long values[] = {ticks->tasks, ticks->busy, ticks->softirq,
					     ticks->steal};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (known)
			json_object_set_new(object, names[i], json_count(values[i] * tick_us));
		else
			json_set_unknown(object, names[i], "/proc/stat does not list these CPUs");
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

void process_add_cpus(json_t *object, const struct cpus *cpus)
{
	json_t *own = json_object(), *host = json_object();
	struct ticks own_ticks = {0}, host_ticks = {0};
	FILE *file = fopen("/proc/stat", "re");
	char line[512];

	while (file && fgets(line, sizeof(line), file) && strncmp(line, "cpu", 3) == 0)
		add_line(line, cpus, &own_ticks, &host_ticks);
	if (file)
		fclose(file);
	set_ticks(own, &own_ticks, own_ticks.cpus == cpus->count);
	set_softirqs(own, "net_rx_softirqs", "NET_RX", cpus);
	set_softirqs(own, "net_tx_softirqs", "NET_TX", cpus);
	json_object_set_new(host, "cpus", json_integer(host_ticks.cpus));
	set_ticks(host, &host_ticks, host_ticks.cpus > 0);
	json_object_set_new(object, "cpu", own);
	json_object_set_new(object, "host", host);
}

bool process_read_ticks(pid_t pid, uint64_t *ticks_out)
{
	unsigned long long user, system;
	char path[32], line[1024];
	const char *behind_name;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	/* proc(5): the name is in parentheses and may hold anything, line ends too. */
	line[fread(line, 1, sizeof(line) - 1, file)] = '\0';
	fclose(file);
	behind_name = strrchr(line, ')');
	if (!behind_name ||
	    sscanf(behind_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
		   &system) != 2)
		return false;
	*ticks_out = user + system;
	return true;
}
