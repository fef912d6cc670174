/*
 * cpus: lists of CPUs, and which of them this process may use.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_CPUS_H
#define WEIR_APPS_CPUS_H

#include "dataplane/transport/transport.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	CPUS_NUMBER_MAX = 1023, /* what the kernel's affinity mask of fixed size can name */
	CPUS_MAX = CPUS_NUMBER_MAX + 1,
	CPUS_TEXT_BYTES = 5 * CPUS_MAX,
};

struct cpus {
	unsigned count;
	uint16_t cpu[CPUS_MAX]; /* in the order given */
};

/*
 * Reads "0,2-3". 0, or -EINVAL also for a CPU named twice, an inverted range or more than
 * CPUS_MAX.
 */
int cpus_parse(const char *text, struct cpus *cpus_out);

/* Writes "0,2,3" to `text`, which it returns. */
const char *cpus_print(const struct cpus *cpus, char text[CPUS_TEXT_BYTES]);

/* [0, 2, 3]; a new reference. */
json_t *cpus_to_numbers(const struct cpus *cpus);

bool cpus_have(const struct cpus *cpus, unsigned cpu);

/*
 * The CPUs that this thread may use: those in its affinity mask. Where the kernel keeps CPUs apart
 * (isolcpus, isolated cpusets) the mask that everybody starts with lacks just these, by no wish of
 * the user's: then they count as allowed too. A mask that the user has narrowed is taken as it is.
 * To find out, the mask is widened and put back. 0 or negative errno.
 */
int cpus_allowed(struct cpus *cpus_out);

/* The CPUs that the scheduler keeps apart; none where the kernel does not say. */
void cpus_isolated(struct cpus *cpus_out);

/*
 * The rule of cpus_allowed: `mask` becomes `possible`, by number, if the isolated are all that it
 * lacks of it.
 */
void cpus_add_isolated(struct cpus *mask, const struct cpus *possible, const struct cpus *isolated);

/*
 * Chooses one CPU for each of `workers`: the first of `wanted`, or if that is empty, of those
 * allowed (from the high end if `from_the_end`, so that a server and a client started by hand
 * on one host stay apart). 0; -EINVAL with `error` filled when there are fewer CPUs than
 * workers or one is not allowed.
 */
int cpus_choose(const struct cpus *wanted, unsigned workers, bool from_the_end,
		struct cpus *cpus_out, struct tp_error *error);

/*
 * Binds the calling thread to these and verifies that the kernel did. 0 or negative errno with
 * `error` filled.
 */
int cpus_bind(const struct cpus *cpus, struct tp_error *error);

#endif
