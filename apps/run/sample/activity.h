/*
 * activity: where the host's CPU time went in a window, but for the sample's own processes.
 *
 * Two readings, as the measured window begins and as it ends. What other processes used between
 * them is what speaks against the sample. Interrupt time is left out: much of it is the sample's
 * own traffic. Only of processes on this host.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_RUN_ACTIVITY_H
#define WEIR_RUN_ACTIVITY_H

#include "apps/run/plan/pins.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct activity {
	bool known;	     /* everything could be read */
	uint64_t all_ticks;  /* user and system time of all CPUs since boot, in USER_HZ */
	uint64_t rest_ticks; /* of those, on CPUs that none of the sample's processes has */
	uint64_t own_ticks;  /* of these processes */
	uint64_t runner_ns;  /* CPU time of this process */
	uint64_t at_ns;	     /* CLOCK_MONOTONIC */
};

/* The sample's processes. */
struct activity_pids {
	pid_t server;
	pid_t client;
	pid_t upstream; /* 0: there is none */
};

/* Reads /proc for these processes, which hold these CPUs. */
void activity_take(struct activity *activity, const struct activity_pids *pids,
		   const struct pins *pins);

/*
 * CPUs' worth of work that others, this process left out, did between two readings; negative if
 * that is not known.
 */
double activity_other_cpus(const struct activity *before, const struct activity *after);

/*
 * CPUs' worth of work that was done outside the CPUs of the sample's processes, this process's too
 * if it was there; negative if that is not known.
 */
double activity_rest_cpus(const struct activity *before, const struct activity *after);

/* This process's own share of one core between two readings; negative if that is not known. */
double activity_runner_share(const struct activity *before, const struct activity *after);

#endif
