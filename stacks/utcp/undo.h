/*
 * undo: whether a window was cut in vain, told by timestamps (Eifel detection, RFC 3522).
 *
 * Who cuts its window and sends something again keeps the timestamp of that. If all that was sent
 * again is then acknowledged, and no acknowledgement echoes that timestamp or a later one, what
 * arrived were the first sendings: they were late and not lost, and the window is as it was before
 * (congestion_undo, RFC 4015). RFC 3522 asks the first acknowledgement alone; all are asked here,
 * so that a loss among what was late is not forgiven.
 *
 * Timestamps tick once in a millisecond, so what is sent again within one of its first sending is
 * taken for needed. A peer that lies about what it echoes keeps our window as it was, which it can
 * have by acknowledging what it did not get, too, and gains nothing beyond.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_UNDO_H
#define WEIR_UTCP_UNDO_H

#include "stacks/utcp/congestion.h"

#include <stdbool.h>
#include <stdint.h>

enum undo_state {
	UNDO_OFF,    /* no cut, or it is known to be right */
	UNDO_CUT,    /* nothing was sent again yet */
	UNDO_RESENT, /* something was */
};

struct undo {
	uint8_t state;		  /* enum undo_state */
	uint32_t resent_at;	  /* the timestamp of the first sending again, */
	uint32_t resent_end;	  /* and where the furthest ended */
	struct congestion before; /* the cut */
};

/* The window is about to be cut. */
static inline void undo_note_cut(struct undo *undo, const struct congestion *before)
{
	undo->state = UNDO_CUT;
	undo->before = *before;
}

/* What ends at `end` is sent again with the timestamp `time`. */
void undo_note_resent(struct undo *undo, uint32_t end, uint32_t time);

/* What an acknowledgement says. */
enum undo_verdict {
	UNDO_NOTHING,
	UNDO_LATE, /* something was late, and nothing known to be lost: */
	UNDO_ALL,  /* nor will it be, so the cut was in vain */
};

/* New bytes up to `ack` are acknowledged with the echo `time`; `lost`: some of what follows is
 * taken for lost. */
enum undo_verdict undo_take(struct undo *undo, uint32_t ack, uint32_t time, bool lost);

#endif
