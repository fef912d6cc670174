/*
 * world: two utcp instances at the ends of a simulated wire, with applications that stream at each
 * other.
 *
 * One seed decides all: the instances' sizes, who calls whom, how much each side sends, when
 * applications read and write and in which pieces, and what the wire does. Safety is judged after
 * every step, liveness by the virtual time that passes after the faults have stopped.
 */
#ifndef WEIR_APPS_SIM_WORLD_H
#define WEIR_APPS_SIM_WORLD_H

#include "apps/sim/wire.h"

#include <stdbool.h>
#include <stdint.h>

struct world_config {
	uint64_t seed;
	struct wire_faults faults; /* until heal_ns; then none but the delay */
	uint64_t heal_ns;	   /* virtual time at which the faults stop */
	uint64_t bound_ns;	   /* after which, at the latest, all must have ended */
	unsigned stall_permille;   /* how often the whole host stands still for up to 5 s */
	bool trace;
};

struct world;

struct world *world_create(const struct world_config *config);
void world_destroy(struct world *world);

/* Runs until everything has ended. True if all held; else world_failure says what did not. */
bool world_run(struct world *world);

const char *world_failure(const struct world *world);
const struct wire *world_wire(const struct world *world);

/* What happened, for people and for the test that the faults were real. */
struct world_totals {
	uint64_t virtual_ns;
	uint64_t bytes; /* delivered to applications and verified */
	uint64_t retransmits;
	uint64_t fast_retransmits;
	uint64_t timeouts;
	uint64_t probes;
	uint64_t kept_out_of_order;
	uint64_t marked;  /* segments of data that the wire marked */
	uint64_t dropped; /* frames that an instance refused */
	uint64_t aborts;
	uint64_t connections;
};

void world_add_totals(const struct world *world, struct world_totals *totals);

#endif
