#include "apps/run/others.h"

#include "apps/common/json.h"
#include "apps/common/process.h"
#include "dataplane/core/clock.h"

#include <dirent.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of one process between two readings; below it is not worth a name. */
#define WHO_CPUS_MIN 0.05

/* What a process has used since its start, in ticks. */
struct usage {
	pid_t pid;
	uint64_t ticks;
};

/* All processes at one moment. */
struct reading {
	struct usage *list;
	unsigned count;
	unsigned room;
	uint64_t all_ticks; /* user and system time of all CPUs since boot */
	uint64_t at_ns;
	bool known;
};

static bool read_all_cpus(uint64_t *ticks_out)
{
	unsigned long long user, nice, system;
	FILE *file = fopen("/proc/stat", "re");
	bool known = file && fscanf(file, "cpu %llu %llu %llu", &user, &nice, &system) == 3;

	if (file)
		fclose(file);
	if (known)
		*ticks_out = user + nice + system;
	return known;
}

/* Without memory it is left out. */
static void add_usage(struct reading *reading, pid_t pid, uint64_t ticks)
{
	if (reading->count == reading->room) {
		unsigned room = reading->room ? 2 * reading->room : 256;
		struct usage *larger = realloc(reading->list, room * sizeof(*larger));

		if (!larger)
			return;
		reading->list = larger;
		reading->room = room;
	}
	reading->list[reading->count++] = (struct usage){pid, ticks};
}

static void read_host(struct reading *reading)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	uint64_t ticks;

	*reading = (struct reading){.at_ns = clock_monotonic_ns()};
	reading->known = read_all_cpus(&reading->all_ticks);
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    process_read_ticks((pid_t)atoi(entry->d_name), &ticks))
			add_usage(reading, (pid_t)atoi(entry->d_name), ticks);
	if (folder)
		closedir(folder);
}

/* What a process had used by then; `otherwise` if it was not there. */
static uint64_t usage_in(const struct reading *reading, pid_t pid, uint64_t otherwise)
{
	for (unsigned i = 0; i < reading->count; i++)
		if (reading->list[i].pid == pid)
			return reading->list[i].ticks;
	return otherwise;
}

/* Puts a process where it belongs among the busiest; the last one falls out. */
static void rank(struct others *others, pid_t pid, double cpus)
{
	unsigned at = others->who_count;

	while (at > 0 && others->who[at - 1].cpus < cpus)
		at--;
	if (at == OTHERS_WHO_MAX)
		return;
	if (others->who_count < OTHERS_WHO_MAX)
		others->who_count++;
	memmove(&others->who[at + 1], &others->who[at],
		(others->who_count - 1 - at) * sizeof(others->who[0]));
	others->who[at] = (struct others_process){.pid = pid, .cpus = cpus};
	program_name(pid, others->who[at].name);
}

/* Of a process that was not there before nobody knows when it worked: it is not named. */
static void compare(const struct reading *before, const struct reading *after,
		    struct others *others)
{
	double tick_cpus =
		1e9 / (double)sysconf(_SC_CLK_TCK) / (double)(after->at_ns - before->at_ns + 1);
	uint64_t own = 0;

	*others = (struct others){.cpus = -1};
	for (unsigned i = 0; i < after->count; i++) {
		const struct usage *now = &after->list[i];
		uint64_t earlier = usage_in(before, now->pid, now->ticks);
		uint64_t ticks = now->ticks > earlier ? now->ticks - earlier : 0;

		if (now->pid == getpid())
			own = ticks;
		else if ((double)ticks * tick_cpus >= WHO_CPUS_MIN)
			rank(others, now->pid, (double)ticks * tick_cpus);
	}
	if (!before->known || !after->known)
		return;
	others->cpus = (double)(after->all_ticks - before->all_ticks) - (double)own;
	others->cpus = others->cpus > 0 ? others->cpus * tick_cpus : 0;
}

void others_look(struct others *others, struct interrupt *interrupt)
{
	struct reading before, after;

	read_host(&before);
	poll(&(struct pollfd){.fd = interrupt->fd, .events = POLLIN}, 1, OTHERS_LOOK_MS);
	read_host(&after);
	compare(&before, &after, others);
	free(before.list);
	free(after.list);
}

bool others_disturb(const struct others *others)
{
	return others->cpus > OTHERS_CPUS_MAX;
}

const char *others_print(const struct others *others, char *text, size_t text_bytes)
{
	size_t used = (size_t)snprintf(text, text_bytes, "%.2f CPUs", others->cpus);

	for (unsigned i = 0; i < others->who_count && used < text_bytes; i++)
		used += (size_t)snprintf(text + used, text_bytes - used, "%s%s, pid %d, %.2f",
					 i ? "; " : " (", others->who[i].name,
					 (int)others->who[i].pid, others->who[i].cpus);
	if (others->who_count && used < text_bytes)
		snprintf(text + used, text_bytes - used, ")");
	return text;
}

json_t *others_to_json(const struct others *others)
{
	json_t *who = json_array(), *json = json_object();

	for (unsigned i = 0; i < others->who_count; i++)
		json_array_append_new(who, json_pack("{si so sf}", "pid", (int)others->who[i].pid,
						     "name", json_text(others->who[i].name), "cpus",
						     others->who[i].cpus));
	if (others->cpus < 0)
		json_set_unknown(json, "cpus", "/proc/stat cannot be read");
	else
		json_object_set_new(json, "cpus", json_real(others->cpus));
	json_object_set_new(json, "disturbed", json_boolean(others_disturb(others)));
	json_object_set_new(json, "who", who);
	return json;
}
