#include "apps/run/sample/activity.h"

#include "apps/common/process.h"
#include "dataplane/core/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* "cpu3 user nice system ...": adds what tasks used there, also to the rest if it is nobody's. */
static void add_line(const char *line, const struct pins *pins, struct activity *activity)
{
	unsigned long long user, nice, system;
	unsigned cpu;

	if (line[3] == ' ' || /* the sum over all CPUs */
	    sscanf(line, "cpu%u %llu %llu %llu", &cpu, &user, &nice, &system) != 4)
		return;
	activity->all_ticks += user + nice + system;
	if (!cpus_have(&pins->server, cpu) && !cpus_have(&pins->client, cpu) &&
	    !cpus_have(&pins->upstream, cpu))
		activity->rest_ticks += user + nice + system;
}

static bool read_host(struct activity *activity, const struct pins *pins)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[512];

	while (file && fgets(line, sizeof(line), file) && strncmp(line, "cpu", 3) == 0)
		add_line(line, pins, activity);
	if (file)
		fclose(file);
	return activity->all_ticks > 0;
}

static uint64_t own_time_ns(void)
{
	struct timespec time = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * CLOCK_SECOND_NS + (uint64_t)time.tv_nsec;
}

void activity_take(struct activity *activity, const struct activity_pids *pids,
		   const struct pins *pins)
{
	uint64_t server_ticks = 0, client_ticks = 0, upstream_ticks = 0;

	*activity = (struct activity){.at_ns = clock_monotonic_ns(), .runner_ns = own_time_ns()};
	activity->known = read_host(activity, pins) &&
			  process_read_ticks(pids->server, &server_ticks) &&
			  process_read_ticks(pids->client, &client_ticks) &&
			  (!pids->upstream || process_read_ticks(pids->upstream, &upstream_ticks));
	activity->own_ticks = server_ticks + client_ticks + upstream_ticks;
}

/* Seconds between two readings; 0 if there is nothing to compare. */
static double seconds_between(const struct activity *before, const struct activity *after)
{
	if (before->at_ns == 0 || after->at_ns <= before->at_ns)
		return 0;
	return (double)(after->at_ns - before->at_ns) / (double)CLOCK_SECOND_NS;
}

double activity_runner_share(const struct activity *before, const struct activity *after)
{
	double seconds = seconds_between(before, after);

	if (seconds <= 0)
		return -1;
	return (double)(after->runner_ns - before->runner_ns) / (double)CLOCK_SECOND_NS / seconds;
}

static double cpus_of(double ticks, double seconds)
{
	return ticks / (double)sysconf(_SC_CLK_TCK) / seconds;
}

double activity_other_cpus(const struct activity *before, const struct activity *after)
{
	double seconds = seconds_between(before, after), others;

	if (!before->known || !after->known || seconds <= 0)
		return -1;
	others = cpus_of((double)(after->all_ticks - before->all_ticks) -
				 (double)(after->own_ticks - before->own_ticks),
			 seconds) -
		 activity_runner_share(before, after);
	/* Ticks are coarse: a little less than nothing is nothing. */
	return others > 0 ? others : 0;
}

double activity_rest_cpus(const struct activity *before, const struct activity *after)
{
	double seconds = seconds_between(before, after);

	if (!before->known || !after->known || seconds <= 0)
		return -1;
	return cpus_of((double)(after->rest_ticks - before->rest_ticks), seconds);
}
