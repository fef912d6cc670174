#include "apps/run/activity.h"

#include "apps/provenance/fact.h"
#include "dataplane/core/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* User and system time of a process, all threads, in ticks. */
static bool read_process(pid_t pid, uint64_t *ticks_out)
{
	char path[32], line[1024];
	unsigned long long user, system;
	const char *behind_name;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (fact_read_line(path, line, sizeof(line)) < 0)
		return false;
	/*
	 * proc(5): the name is in parentheses and may hold anything; utime and stime are fields 14
	 * and 15.
	 */
	behind_name = strrchr(line, ')');
	if (!behind_name ||
	    sscanf(behind_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
		   &system) != 2)
		return false;
	*ticks_out = user + system;
	return true;
}

static bool read_host(uint64_t *ticks_out)
{
	unsigned long long user, nice, system;
	char line[512];

	if (fact_read_line("/proc/stat", line, sizeof(line)) < 0 ||
	    sscanf(line, "cpu %llu %llu %llu", &user, &nice, &system) != 3)
		return false;
	*ticks_out = user + nice + system;
	return true;
}

void activity_take(struct activity *activity, pid_t server, pid_t client)
{
	uint64_t server_ticks = 0, client_ticks = 0;

	activity->at_ns = clock_monotonic_ns();
	activity->known = read_host(&activity->all_ticks) && read_process(server, &server_ticks) &&
			  read_process(client, &client_ticks);
	activity->own_ticks = server_ticks + client_ticks;
}

double activity_other_cpus(const struct activity *before, const struct activity *after)
{
	double seconds, others;

	if (!before->known || !after->known || after->at_ns <= before->at_ns)
		return -1;
	seconds = (double)(after->at_ns - before->at_ns) / (double)CLOCK_SECOND_NS;
	others = (double)(after->all_ticks - before->all_ticks) -
		 (double)(after->own_ticks - before->own_ticks);
	/* Ticks are coarse: a little less than nothing is nothing. */
	return others > 0 ? others / (double)sysconf(_SC_CLK_TCK) / seconds : 0;
}
