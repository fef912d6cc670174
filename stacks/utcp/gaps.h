/*
 * gaps: the reassembly tables that connections lease while something is missing.
 *
 * Most connections never miss anything and hold an index of none. There is a table for every
 * GAPS_SHARE-th connection, and no fewer than GAPS_MIN unless each has one: a full queue drops
 * segments of all that pass it at the same time. When all are leased, who comes anew keeps nothing
 * out of order, which its peer takes for lost and sends again; until that has happened
 * GAPS_PATIENCE times since the table that was not added to for the longest time was: then it is
 * taken away, and what its connection kept counts as never received. A receiver may do that (RFC
 * 2018 8), but it costs the peer a timeout, so it befalls only who opens gaps and leaves them open.
 *
 * Also kept here: the last run of numbers that arrived twice, until an acknowledgement has reported
 * it (D-SACK, RFC 2883).
 *
 * Bounds, whatever a peer sends: 256 bytes a table; three passes over a
 * table's REASSEMBLY_RANGES to note a segment out of order, four to report in an ACK.
 *
 * Plane: turn; create and destroy are setup.
 */
#ifndef WEIR_UTCP_GAPS_H
#define WEIR_UTCP_GAPS_H

#include "dataplane/core/list.h"
#include "dataplane/core/slab.h"
#include "stacks/utcp/reassembly.h"

enum {
	GAPS_SHARE = 8,
	GAPS_MIN = 256,
	GAPS_PATIENCE = 64,
};

struct gaps_table {
	struct list link; /* on gaps.used */
	uint32_t *lease;  /* the holder's index of this table */
	uint32_t wanted;  /* segments of others that found none since this was added to */
	struct reassembly reassembly;
	struct seq_range twice; /* empty: nothing to report */
};

struct gaps {
	struct slab tables;
	struct list used;    /* what was added to last at the end */
	uint64_t *withdrawn; /* counts tables taken away; lent */
};

/* 0 or -ENOMEM. A lease is an index that is SLAB_NONE before anything is missing; its place must
 * not move. */
int gaps_create(struct gaps *gaps, uint32_t conn_max, uint64_t *withdrawn);
void gaps_destroy(struct gaps *gaps);

static inline struct gaps_table *gaps_at(const struct gaps *gaps, uint32_t lease)
{
	return lease == SLAB_NONE ? NULL : slab_at(&gaps->tables, lease);
}

/* reassembly_add in the table that `lease` names, or in one leased for it. */
bool gaps_add(struct gaps *gaps, uint32_t *lease, uint32_t begin, uint32_t end);

/* reassembly_take, for a table that is leased. */
uint32_t gaps_take(struct gaps *gaps, uint32_t *lease, uint32_t next);

/* [begin, end) arrived again. It follows on what waits to be reported, or replaces it. Goes unnoted
 * where that would take another's table away. */
void gaps_note_twice(struct gaps *gaps, uint32_t *lease, uint32_t begin, uint32_t end);

/* What an acknowledgement reports in at most `room` blocks: what arrived twice, which is then
 * reported, and the ranges last added to. Their number. */
unsigned gaps_report(struct gaps *gaps, uint32_t *lease, struct seq_range *blocks, unsigned room);

/* Whether what arrived twice waits for an acknowledgement. */
static inline bool gaps_owe_report(const struct gaps *gaps, uint32_t lease)
{
	return __builtin_expect(lease != SLAB_NONE, 0) &&
	       gaps_at(gaps, lease)->twice.begin != gaps_at(gaps, lease)->twice.end;
}

/* Gives the table back, if there is one. */
void gaps_drop(struct gaps *gaps, uint32_t *lease);

/* Proves (CHECK) that there are `holders` leases, and that each is of a table with news. */
void gaps_check(const struct gaps *gaps, uint32_t holders);

#endif
