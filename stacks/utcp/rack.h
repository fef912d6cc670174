/*
 * rack: what is lost, told by time (RFC 8985 6, RACK).
 *
 * What was sent before something that has arrived, and has not arrived itself within a round trip
 * and a window for reordering, is lost. The window is small at first, none where enough has arrived
 * behind a gap, and grows where the peer reports that it received twice (D-SACK, RFC 2883).
 *
 * Knows the flight (flight.h), and nothing of connections.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_RACK_H
#define WEIR_UTCP_RACK_H

#include "stacks/utcp/flight.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of the path as long as the connection lives. */
struct rack_path {
	uint32_t min_rtt_us; /* the shortest round trip; 0: none yet */
	bool reordering;     /* it has reordered */
	uint8_t windows;     /* for reordering: so many quarters of min_rtt */
	uint8_t persist;     /* recoveries until that is one again */
};

/* What is known of a flight that had losses or lost its order. */
struct rack {
	uint64_t newest_at_ns; /* when what arrived was sent, the latest of all, */
	uint32_t newest_end;   /* where that ended, */
	uint32_t rtt_us;       /* and its round trip */
	uint32_t forward;      /* the highest number that arrived */
};

static inline struct rack_path rack_path_of_new(void)
{
	return (struct rack_path){.windows = 1};
}

/* All up to `una` has arrived, and nothing else. */
static inline struct rack rack_of_new(uint32_t una)
{
	return (struct rack){.newest_end = una, .forward = una};
}

/* An acknowledgement brought this (RFC 8985 6.2, step 1). */
void rack_time_path(struct rack_path *path, const struct flight_news *news);

/* The same for a flight that needs it (steps 2 and 3). */
void rack_take(struct rack *rack, struct rack_path *path, const struct flight_news *news);

/* The peer reported a duplicate, so the window was too small (step 4): it grows, once between two
 * recoveries, where the RFC has once a round trip. */
void rack_take_duplicate(struct rack_path *path);

/* A recovery has ended, or begun anew after a timeout (step 4). */
void rack_recovered(struct rack_path *path);

/* How long what is out of order may take (step 4); `sure`: enough has arrived, or we recover
 * already. */
uint64_t rack_window_ns(const struct rack_path *path, uint64_t smoothed_ns, bool sure);

/*
 * Marks what is lost by now (step 5). Returns when something else may be, ns, or 0. Time: one walk,
 * at most FLIGHT_RUNS_MAX runs.
 */
uint64_t rack_detect(const struct rack *rack, struct flight_pool *pool, struct flight *flight,
		     uint64_t window_ns, uint64_t now_ns);

/* The retransmission timer ran out: the first segment is lost, and what was sent `patience_ns` ago
 * (RFC 8985 6.3). */
void rack_time_out(struct flight_pool *pool, struct flight *flight, uint16_t mss,
		   uint64_t patience_ns, uint64_t now_ns);

#endif
