/*
 * impair: what a simulated wire does to frames, by name or as a list.
 *
 * A name is a kind of fault that the tests run with ("loss", "all"); a list says what there is of
 * each: loss, duplicate, corrupt, reorder, mark and stall in per cent, with at most one digit
 * behind the point, and delay, jitter and hold as times. `hold` is how long at most a frame that
 * `reorder` strikes is held back.
 *
 * Plane: setup.
 */
#ifndef WEIR_APPS_SIM_IMPAIR_H
#define WEIR_APPS_SIM_IMPAIR_H

#include "apps/sim/world.h"

#include <stddef.h>

struct impair {
	struct wire_faults faults;
	unsigned stall_permille; /* how often the whole host stands still for up to 5 s */
};

/* A kind of fault, and the total of a run under it that is 0 if the fault was not real. */
struct impair_kind {
	const char *name;
	size_t witness; /* its place in struct world_totals */
	struct impair impair;
};

extern const struct impair_kind impair_kinds[];
extern const unsigned impair_kinds_count;

#define IMPAIR_LIST                                                                              \
	"loss, duplicate, corrupt, reorder, mark and stall in per cent, delay, jitter and hold " \
	"as "                                                                                    \
	"times"

/* What names and lists are, in words. */
#define IMPAIR_ACCEPTS                                                                  \
	"clean, loss, reorder, duplicate, corrupt, mark, delay, stall, all, or a list " \
	"such as loss=1%,reorder=5%,hold=5ms,delay=1ms"

enum { IMPAIR_WRONG_BYTES = 256 };

/* 0; or -EINVAL with `impair_out` untouched and what is wrong, in words. */
int impair_parse(const char *text, struct impair *impair_out, char wrong[IMPAIR_WRONG_BYTES]);

#endif
