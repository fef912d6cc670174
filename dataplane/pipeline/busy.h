/*
 * busy: how much of a worker's time went into turns that moved something.
 *
 * A polling worker holds its core always, so neither the process's CPU time nor the wall says what
 * the work cost. The time between the ends of two turns counts as busy, less what poll slept, if
 * the turn moved packets, bytes or events; else it counts as empty. Reads the clock once, beside
 * the read that poll makes.
 *
 * Plane: turn.
 */
#ifndef WEIR_PIPELINE_BUSY_H
#define WEIR_PIPELINE_BUSY_H

#include "dataplane/core/clock.h"
#include "dataplane/transport/transport.h"

#include <stdint.h>

struct busy {
	uint64_t end_ns;   /* end of the last turn; 0 before the first */
	uint64_t moved_ns; /* end of the last turn that moved something */
	uint64_t turns;
	uint64_t busy_turns;
	uint64_t busy_ns;
	uint64_t empty_ns;
	uint64_t waited_ns;
};

/* Closes a turn's account. */
static inline void busy_account(struct busy *busy, const struct tp_turn *turn)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t spent_ns = busy->end_ns ? now_ns - busy->end_ns : 0;

	spent_ns = spent_ns > turn->waited_ns ? spent_ns - turn->waited_ns : 0;
	busy->turns++;
	busy->waited_ns += turn->waited_ns;
	if (turn->moved) {
		busy->busy_turns++;
		busy->busy_ns += spent_ns;
		busy->moved_ns = now_ns;
	} else {
		busy->empty_ns += spent_ns;
	}
	busy->end_ns = now_ns;
}

#endif
