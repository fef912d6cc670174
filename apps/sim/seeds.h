/*
 * seeds: worlds run one after the other, each from its seed, and what is said of one that fails.
 *
 * They run in a child process, for a broken invariant or a stray pointer ends it. A seed that
 * fails, in whatever way, is run once more in a child of its own with a trace, which shows the
 * same, frame for frame, up to its death; the line that does so again is printed behind it, and the
 * seeds after it follow. Every line begins with "# ", so that it may stand among a test's.
 *
 * Plane: setup and report.
 */
#ifndef WEIR_APPS_SIM_SEEDS_H
#define WEIR_APPS_SIM_SEEDS_H

#include "apps/sim/impair.h"
#include "apps/sim/world.h"

#include <stdint.h>

/* Covers a half-open connection that its caller forgot. */
#define SEEDS_BOUND "75s"
#define SEEDS_BOUND_NS (75ull * 1000 * 1000 * 1000)

struct seeds {
	uint64_t first;
	uint64_t count;
	const char *impair_text; /* lent; what --impair takes */
	struct impair impair;
	uint64_t bound_ns;	/* of virtual time, from when the faults stop to the end of all */
	const char *bound_text; /* lent; what --bound takes, NULL for SEEDS_BOUND */
	unsigned trace_lines;	/* of each world, failed or not; 0: of those that failed */
};

/* Runs them, and tells what happened, all in all; how many failed. */
uint64_t seeds_run(const struct seeds *seeds, struct world_totals *totals);

/* One line of totals. */
void seeds_print_totals(const struct world_totals *totals);

#endif
