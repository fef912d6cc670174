#include "apps/run/sample/watch.h"

#include "apps/common/json.h"
#include "dataplane/core/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* More of one core than this, and the runner disturbs what it measures. */
static const double runner_share_max = 0.01;

/* A larger difference is a step: slewing moves both clocks alike. */
#define STEP_NS (1 * (int64_t)CLOCK_MS_NS)

static int64_t read_clock(clockid_t id)
{
	struct timespec time = {0};

	clock_gettime(id, &time);
	return (int64_t)time.tv_sec * (int64_t)CLOCK_SECOND_NS + time.tv_nsec;
}

/* Wall clock less monotonic clock; of several readings the one that was least disturbed. */
static int64_t wall_offset_ns(void)
{
	int64_t least = INT64_MAX, offset_ns = 0;

	for (unsigned i = 0; i < 8; i++) {
		int64_t before = read_clock(CLOCK_MONOTONIC);
		int64_t wall = read_clock(CLOCK_REALTIME);
		int64_t after = read_clock(CLOCK_MONOTONIC);

		if (after - before >= least)
			continue;
		least = after - before;
		offset_ns = wall - before - least / 2;
	}
	return offset_ns;
}

void watch_start(struct watch *watch)
{
	memset(watch, 0, sizeof(*watch));
	watch->wall_ns = wall_offset_ns();
}

static void take_away(cpu_set_t *set, const struct cpus *cpus)
{
	for (unsigned i = 0; i < cpus->count; i++)
		CPU_CLR(cpus->cpu[i], set);
}

void watch_aside(struct watch *watch, const struct pins *pins)
{
	cpu_set_t others;

	if (sched_getaffinity(0, sizeof(watch->before), &watch->before) < 0)
		return;
	watch->during = others = watch->before;
	take_away(&others, &pins->server);
	take_away(&others, &pins->client);
	take_away(&others, &pins->upstream);
	if (CPU_COUNT(&others) == 0)
		return;
	watch->apart = CPU_EQUAL(&others, &watch->before);
	if (watch->apart || sched_setaffinity(0, sizeof(others), &others) < 0)
		return;
	watch->during = others;
	watch->apart = watch->moved = true;
}

void watch_window(struct watch *watch, const struct activity_pids *pids, const struct pins *pins)
{
	if (watch->count < WATCH_WINDOWS)
		activity_take(&watch->activities[watch->count++], pids, pins);
}

void watch_end(struct watch *watch)
{
	if (watch->moved)
		sched_setaffinity(0, sizeof(watch->before), &watch->before);
	watch->step_ns = wall_offset_ns() - watch->wall_ns;
	watch->ended = true;
}

static void set_share(json_t *result, const char *name, double value)
{
	if (value >= 0)
		json_object_set_new(result, name, json_real(value));
	else
		json_set_unknown(result, name, "/proc could not be read at both ends");
}

static void add_runner(const struct watch *watch, json_t *result, json_t *notes, double share)
{
	json_t *cpus = json_array();
	char text[160];

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &watch->during))
			json_array_append_new(cpus, json_integer(cpu));
	json_object_set_new(result, "runner_cpus", cpus);
	json_object_set_new(result, "runner_apart", json_boolean(watch->apart));
	if (share <= runner_share_max)
		return;
	snprintf(text, sizeof(text), "the runner itself used %.1f %% of a core in the window%s",
		 100 * share, watch->apart ? "" : ", on a CPU that it shares with the sample");
	json_array_append_new(notes, json_text(text));
}

static void add_step(const struct watch *watch, json_t *result, json_t *notes)
{
	double step_s = (double)watch->step_ns / 1e9;
	char text[160];

	if (!watch->ended) {
		json_set_unknown(result, "wall_clock_step_s", "the sample was not ended");
		return;
	}
	json_object_set_new(result, "wall_clock_step_s", json_real(step_s));
	if (watch->step_ns < STEP_NS && watch->step_ns > -STEP_NS)
		return;
	snprintf(text, sizeof(text),
		 "the wall clock was set by %+.3f s while the sample ran: times in the logs jump, "
		 "durations do not",
		 step_s);
	json_array_append_new(notes, json_text(text));
}

void watch_add(const struct watch *watch, json_t *result, json_t *notes)
{
	static const struct watch nothing;
	const struct watch *seen = watch ? watch : &nothing;
	const struct activity *before = &seen->activities[0], *after = &seen->activities[1];
	double share = activity_runner_share(before, after);

	set_share(result, "other_busy_cpus", activity_other_cpus(before, after));
	set_share(result, "other_busy_cpus_unmeasured", activity_rest_cpus(before, after));
	set_share(result, "runner_cpu_share", share);
	add_runner(seen, result, notes, share);
	add_step(seen, result, notes);
}
