/*
 * order: in which order a run goes through the cells.
 *
 * A host has slow phases. If every run went through the cells in one order, a phase would always
 * meet the same ones, and what runs before a cell would always be the same cell.
 *
 * Plane: setup.
 */
#ifndef WEIR_RUN_ORDER_H
#define WEIR_RUN_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum order_kind {
	ORDER_ROTATE,	/* each run begins further on in the list, and with another variant */
	ORDER_ABBA,	/* blocks of four runs: forward, backward, backward, forward */
	ORDER_BALANCED, /* each cell in each place, and behind each other one, equally often */
	ORDER_RANDOM,	/* each run has its own order, drawn from the seed */
};

enum { ORDER_KINDS = ORDER_RANDOM + 1 };

struct order {
	enum order_kind kind;
	uint64_t seed; /* of ORDER_RANDOM */
};

const char *order_name(enum order_kind kind);

/* All names, for messages. */
extern const char order_usage[];

/*
 * Reads a name, or "random(SEED)"; `seeded_out` says whether the seed was in it, and only then
 * order_out->seed is written. 0, or -EINVAL with nothing written.
 */
int order_parse(const char *text, struct order *order_out, bool *seeded_out);

/*
 * The order of the run numbered `run` (from 0) of `runs` with `cells` cells: the cell at each
 * place. `places_out` has room for all. The cells are a list of groups of `group` cells that are
 * compared with each other, 1 if none are; `cells` is a multiple of it.
 */
void order_make(const struct order *order, unsigned runs, unsigned run, unsigned cells,
		unsigned group, unsigned *places_out);

/* After how many runs every balance that the kind promises is reached; 1 for random orders. */
unsigned order_period(enum order_kind kind, unsigned cells);

#endif
