/*
 * activity: how much of the host's CPU time went to others than the sample's two processes.
 *
 * Two readings, as the measured window begins and as it ends. What other processes used between
 * them is what speaks against the sample. Interrupt time is left out: much of it is the sample's
 * own traffic.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_RUN_ACTIVITY_H
#define WEIR_RUN_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct activity {
	bool known;	    /* everything could be read */
	uint64_t all_ticks; /* user and system time of all CPUs since boot, in USER_HZ */
	uint64_t own_ticks; /* of the two processes */
	uint64_t at_ns;	    /* CLOCK_MONOTONIC */
};

/* Reads /proc for these two processes. */
void activity_take(struct activity *activity, pid_t server, pid_t client);

/* CPUs' worth of work that others did between two readings; negative if that is not known. */
double activity_other_cpus(const struct activity *before, const struct activity *after);

#endif
