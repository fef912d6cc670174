/*
 * flight: what one connection has sent and its peer has not acknowledged, and what became of it.
 *
 * A list of runs, ascending and without gaps from snd_una to snd_max. A run is neighbouring bytes
 * that share one fate: sent at the same time and as often, or selectively acknowledged (RFC 2018),
 * or taken for lost. While one turn sends on, one run grows; neighbours that have become alike are
 * joined. So round trips are timed from here (RFC 6298 3), losses are found here (rack.h), and what
 * is in the network is known without a walk (the pipe of RFC 6675 4).
 *
 * Runs come from a pool of the instance. Every connection is sure of one; of the others it gets at
 * most FLIGHT_RUNS_MAX. Where none is to be had, neighbours share one and the knowledge gets
 * coarser, never wrong: what is sent joins the run before it, which then times nothing; of a
 * selective acknowledgement only whole runs are noted; of a run sent again in part the rest counts
 * as sent again, too, until an acknowledgement from within shows that it was not.
 *
 * Bounds: an acknowledgement costs one visit for each run that it ends, a SACK block or a search
 * one walk, of at most FLIGHT_RUNS_MAX runs, and some steps for each run that it cuts, joins or
 * marks.
 * Making room is a walk more, once for all blocks of an acknowledgement; what of them finds none
 * after that is noted by whole runs. What is sent again may cost two.
 *
 * Plane: turn; flight_pool_create and flight_pool_destroy are setup.
 */
#ifndef WEIR_UTCP_FLIGHT_H
#define WEIR_UTCP_FLIGHT_H

#include "dataplane/core/slab.h"

#include <stdbool.h>
#include <stdint.h>

enum { FLIGHT_RUNS_MAX = 128 };

struct flight_run {
	uint64_t sent_at_ns; /* the last time */
	uint32_t begin;
	uint32_t end;  /* sequence number behind it */
	uint32_t next; /* in the pool, or SLAB_NONE, both */
	uint32_t prev;
	bool timed;  /* sent once, and at sent_at_ns: its acknowledgement ends a round trip */
	bool resent; /* an acknowledgement may be of an earlier sending */
	bool partly; /* for want of room: only its beginning was sent at sent_at_ns */
	bool sacked;
	bool lost; /* and not sent again since */
};

struct flight_pool {
	struct slab runs;
	uint32_t spare;	     /* runs beyond the one that each connection is sure of */
	uint32_t spare_used; /* second and further runs of connections */
};

struct flight {
	uint32_t first; /* SLAB_NONE: nothing is in flight */
	uint32_t last;
	uint32_t count;
	uint32_t sacked_bytes; /* sequence numbers, as all here */
	uint32_t lost_bytes;
};

/* What acknowledgements delivered. The caller sets what they are judged by. */
struct flight_news {
	uint64_t now_ns;
	uint64_t min_rtt_ns;   /* sooner than that, what was sent again was not what arrived */
	uint32_t forward;      /* highest number delivered so far (RFC 8985 RACK.fack) */
	bool made_room;	       /* for blocks; the caller begins with false */
	bool any;	       /* the rest says something of a sending */
	bool timed;	       /* of a sending that can be timed: */
	bool reordered;	       /* something arrived behind what was sent later */
	uint32_t bytes;	       /* newly delivered */
	uint64_t timed_at_ns;  /* the first of those that can be timed */
	uint64_t newest_at_ns; /* the last sending that arrived, */
	uint32_t newest_end;   /* where it ended, */
	bool newest_resent;    /* and whether it was sent again */
};

/* Room for `conn_max` connections. 0 or -ENOMEM. */
int flight_pool_create(struct flight_pool *pool, uint32_t conn_max);
void flight_pool_destroy(struct flight_pool *pool);

void flight_init(struct flight *flight);

/* Gives all runs back. */
void flight_clear(struct flight_pool *pool, struct flight *flight);

static inline struct flight_run *flight_at(const struct flight_pool *pool, uint32_t index)
{
	return index == SLAB_NONE ? NULL : slab_at(&pool->runs, index);
}

/* Bytes that are neither acknowledged in any way nor lost, of `total` (RFC 6675 4, pipe). */
static inline uint32_t flight_pipe(const struct flight *flight, uint32_t total)
{
	return total - flight->sacked_bytes - flight->lost_bytes;
}

/* [begin, end) was sent for the first time, behind all before. It joins a run that is no older than
 * `grain_ns`. */
void flight_push(struct flight_pool *pool, struct flight *flight, uint32_t begin, uint32_t end,
		 uint64_t now_ns, uint64_t grain_ns);

/* [begin, end), in flight, was sent again. `begin` is where a run begins, or in the last run. */
void flight_resent(struct flight_pool *pool, struct flight *flight, uint32_t begin, uint32_t end,
		   uint64_t now_ns);

/* All before `ack` arrived; `ack` lies within the flight or at its end. */
void flight_ack(struct flight_pool *pool, struct flight *flight, uint32_t ack,
		struct flight_news *news);

/* [begin, end) arrived, says a SACK block that lies within the flight. */
void flight_sack(struct flight_pool *pool, struct flight *flight, uint32_t begin, uint32_t end,
		 struct flight_news *news);

/* A run, neither sacked nor lost, is lost. flight_join is to follow once all are told. */
void flight_lose(struct flight *flight, struct flight_run *run);

/* Joins neighbours that have become alike. */
void flight_join(struct flight_pool *pool, struct flight *flight);

/* The first `bytes` are lost. */
void flight_lose_first(struct flight_pool *pool, struct flight *flight, uint32_t bytes);

/* Everything is lost, and what was sacked is no longer believed (RFC 2018 8). */
void flight_lose_all(struct flight_pool *pool, struct flight *flight);

/* Nothing is lost, after all. */
void flight_forgive(struct flight_pool *pool, struct flight *flight);

/* The first run that is lost; NULL if none is. */
const struct flight_run *flight_first_lost(const struct flight_pool *pool,
					   const struct flight *flight);

#endif
