/*
 * watch: what the runner itself sees of a sample, and what it costs.
 *
 * While a sample runs the runner keeps off its CPUs if it has others, reads what the host does as
 * the measured window begins and as it ends, and compares the wall clock with the monotonic one. No
 * duration comes from the wall clock; a step of it is worth a note, for logs carry its times.
 *
 * Owned by the caller; legal order: start, aside, { window }*, end, then add. Plane: setup and
 * report.
 */
#ifndef WEIR_RUN_WATCH_H
#define WEIR_RUN_WATCH_H

#include "apps/run/sample/activity.h"

#include <jansson.h>
#include <sched.h>

enum { WATCH_WINDOWS = 2 }; /* readings: as the window begins, and as it ends */

struct watch {
	struct activity activities[WATCH_WINDOWS];
	unsigned count;	 /* of them */
	int64_t wall_ns; /* wall clock less monotonic clock, as the sample began */
	int64_t step_ns; /* how much that grew until its end */
	bool ended;
	cpu_set_t before; /* the runner's CPUs before it stood aside */
	cpu_set_t during; /* and while it did */
	bool apart;	  /* none of these is the sample's */
	bool moved;
};

/* The sample begins. */
void watch_start(struct watch *watch);

/*
 * Moves the runner off these CPUs, as far as it may use others. Children that it starts from here
 * on would be there too, so all processes of the sample run already.
 */
void watch_aside(struct watch *watch, const struct pins *pins);

/* The window begins, or ends. */
void watch_window(struct watch *watch, const struct activity_pids *pids, const struct pins *pins);

/* The sample is over: the runner may use all of its CPUs again. */
void watch_end(struct watch *watch);

/*
 * Sets in result.json "other_busy_cpus", "other_busy_cpus_unmeasured", "runner_cpu_share",
 * "runner_cpus", "runner_apart" and "wall_clock_step_s", and adds to `notes` what of it speaks
 * against the sample. NULL if nothing was watched.
 */
void watch_add(const struct watch *watch, json_t *result, json_t *notes);

#endif
