/*
 * others: whether others work on this host as a run begins, and who.
 *
 * Two readings of /proc a short time apart. What all CPUs did in between, less this process, is
 * others' work; the processes that did most of it are named. Interrupt time is left out, as in
 * activity.h.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_OTHERS_H
#define WEIR_RUN_OTHERS_H

#include "apps/run/sample/interrupt.h"
#include "dataplane/core/program.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

enum {
	OTHERS_LOOK_MS = 300, /* a tick is 10 ms: this tells 0.1 CPUs from none */
	OTHERS_WHO_MAX = 8,
};

/* Others' work, in CPUs, above which a run is said to be disturbed. */
#define OTHERS_CPUS_MAX 0.1

struct others_process {
	pid_t pid;
	char name[PROGRAM_NAME];
	double cpus;
};

struct others {
	double cpus;				   /* negative if not known */
	struct others_process who[OTHERS_WHO_MAX]; /* the busiest first */
	unsigned who_count;
};

/* Looks for OTHERS_LOOK_MS, or until it is interrupted; then what there is counts. */
void others_look(struct others *others, struct interrupt *interrupt);

/* Whether others' work is above the bound. */
bool others_disturb(const struct others *others);

/* "1.02 CPUs (python3, pid 71, 1.00; ...)"; returns `text`. */
const char *others_print(const struct others *others, char *text, size_t text_bytes);

/* {cpus, disturbed, who: [{pid, name, cpus}, ...]}; a new reference. */
json_t *others_to_json(const struct others *others);

#endif
