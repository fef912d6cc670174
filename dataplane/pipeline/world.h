/*
 * world: what the connections and handlers of one server share.
 *
 * Owned by the server. A transport's connection points by its `user` to a party: whoever in this
 * world listens to its events. That is a served connection, or a handler's connection to an
 * upstream.
 *
 * Plane: turn.
 */
#ifndef WEIR_PIPELINE_WORLD_H
#define WEIR_PIPELINE_WORLD_H

#include "dataplane/core/list.h"
#include "dataplane/core/slab.h"
#include "dataplane/core/timer.h"
#include "dataplane/pipeline/codec.h"
#include "dataplane/pipeline/date.h"
#include "dataplane/pipeline/http1_run.h"
#include "dataplane/pipeline/server.h"

enum {
	WORLD_GATHER_BYTES = LIMIT_RECV_BYTES / 2, /* the longest head that any limit allows */
};

struct conn_world;

/* Embedded first in what conn->user points to. */
struct party {
	void (*on_event)(struct conn_world *world, struct party *party,
			 const struct tp_event *event);
};

struct conn_world {
	struct tp *tp;
	struct server_counters *counters;
	const struct codec *codec;
	struct delivery delivery;
	uint32_t frame_max;
	uint32_t turn_requests;
	uint64_t body_max;
	struct timeouts timeouts;
	struct http1_limits http1_limits;
	const struct http1_parser *parser;

	struct route_table *routes;
	struct handler *only;	/* route_only */
	struct handler *framed; /* answers every framed request; NULL: none does */
	struct handler *handlers[ROUTES_MAX];
	unsigned handler_count;
	bool runs;			    /* the codec may answer in some handler's place */
	struct handler *upkeep[ROUTES_MAX]; /* those that have deadlines of their own */
	unsigned upkeep_count;
	uint64_t upkeep_ns; /* when they want to be asked at the latest */

	uint64_t now_ns; /* of this turn */
	bool draining;
	struct list ready; /* connections that used up their share: first thing next turn */
	struct list woken; /* connections that another's event woke: last thing this turn */
	struct slab conns;
	struct slab heads; /* responses' heads that wait for room, CODEC_HEAD_BYTES each */
	struct timer_wheel wheel;
	uint64_t wake_ns; /* no timer fires before */
	struct date date;

	/* Of one visit. */
	struct room rooms[2];  /* lent by the last reserve, */
	struct room pieces[2]; /* and of it a stream's piece without what ends it */
	unsigned room_count;
	struct http1_request request;
	uint8_t head[CODEC_HEAD_BYTES];
	struct http1_ahead ahead;
	struct http1_run_head run_head;
	struct http1_known known;
	uint8_t gather[WORLD_GATHER_BYTES];
};

/* Arms a timer of this world. */
static inline void world_arm(struct conn_world *world, struct timer *timer, uint64_t at_ns)
{
	timer_arm(&world->wheel, timer, at_ns);
	if (at_ns < world->wake_ns)
		world->wake_ns = at_ns;
}

#endif
