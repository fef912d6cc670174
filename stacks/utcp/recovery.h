/*
 * recovery: what acknowledgements say of losses, and what is to be sent again.
 *
 * With a peer that permits SACK (RFC 2018) the scoreboard is the flight (flight.h), losses are told
 * by time (rack.h), and a tail that brings no news is probed (RFC 8985 7, TLP). Without, three
 * duplicates tell one loss and each partial acknowledgement another (RFC 5681 3.2, RFC 6582). How
 * much may be sent meanwhile is prr.h's to say.
 *
 * Bounds: an acknowledgement has at most 4 blocks, and each costs a walk over the connection's
 * runs, as do making room for them, the search for losses, and joining what has become alike: at
 * most 7 * FLIGHT_RUNS_MAX visits, and 8 for each run that is cut, marked or joined, whatever the
 * peer sends. What it acknowledges is visited once and gone.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_RECOVERY_H
#define WEIR_UTCP_RECOVERY_H

#include "stacks/utcp/prr.h"
#include "stacks/utcp/rack.h"
#include "stacks/utcp/segment.h"
#include "stacks/utcp/undo.h"

#include <stdbool.h>
#include <stdint.h>

struct utcp;
struct utcp_conn;

/* What the connection's timeout is for, beside what its state says. */
enum recovery_wait {
	RECOVERY_NONE,	/* an acknowledgement at all (RFC 6298) */
	RECOVERY_ORDER, /* what may only be late (RFC 8985 6.2 step 5) */
	RECOVERY_TAIL,	/* the acknowledgement of what was sent last (RFC 8985 7.2) */
};

/* Leased from the instance while something is to be recovered: a tail probe is out, something came
 * out of order, duplicates came, a recovery goes on, or a cut may have been in vain. */
struct recovery {
	struct rack rack;
	struct prr prr;
	struct undo undo;
	uint32_t tail_end;    /* the probe that is out ended here, */
	uint32_t tail_flight; /* with so much in flight, if what it repeats was lost */
	bool tail_probing;    /* one is out, */
	bool tail_repeated;   /* and it was the last segment again */
};

/* An ACK up to `segment->ack`, from una to max, that acknowledges something or brings blocks. */
void recovery_take_ack(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		       uint64_t now_ns);

/* A duplicate ACK without blocks (RFC 5681 2). */
void recovery_take_duplicate(struct utcp *utcp, struct utcp_conn *conn);

/* So many bytes are sent in a recovery. */
void recovery_note_sent(struct utcp *utcp, struct utcp_conn *conn, uint32_t bytes);

/* What ends at `end` is sent again, in a recovery or after a timeout. */
void recovery_note_resent(struct utcp *utcp, struct utcp_conn *conn, uint32_t end, uint64_t now_ns);

/* A tail loss probe up to `end` is sent; `repeats`: it is the last segment again. */
void recovery_note_probe(struct utcp *utcp, struct utcp_conn *conn, uint32_t end, bool repeats);

/* Gives the lease back, if there is one. */
void recovery_end(struct utcp *utcp, struct utcp_conn *conn);

/* (Re)starts the timeout for what is in flight. */
void recovery_wait(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns);

/* The timeout ran out, and it was not the retransmission timeout. */
void recovery_wait_over(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns);

/* The window is about to be cut. */
void recovery_note_cut(struct utcp *utcp, struct utcp_conn *conn);

/* It was: takes for lost what must be. */
void recovery_time_out(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns);

#endif
