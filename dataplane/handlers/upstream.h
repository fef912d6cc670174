/*
 * upstream: the connections to a proxy's upstreams, and which of them is next.
 *
 * Connections are made over the server's own transport instance and kept for the next request; the
 * one used last is taken first, so that what is not needed stays idle and the peer may end it. An
 * upstream that failed is left out for a time, twice as long with each failure in a row
 * (LIMIT_UPSTREAM_DOWN_NS up to its 64-fold); the others take turns. What was under way when it
 * failed may fail with it, and counts as one failure. A connection serves one exchange at a time
 * and is taken and given back by it; who finds all of them in use waits in line. One that has
 * anything to say before it is asked is not used.
 *
 * Planes: create and destroy are setup, the rest is turn.
 */
#ifndef WEIR_HANDLERS_UPSTREAM_H
#define WEIR_HANDLERS_UPSTREAM_H

#include "dataplane/core/list.h"
#include "dataplane/core/slab.h"
#include "dataplane/handlers/proxy_config.h"
#include "dataplane/pipeline/world.h"

#include <stdbool.h>
#include <stdint.h>

struct upstream {
	struct tp_addr addr;
	struct list idle;   /* the one used last at the end */
	uint32_t open;	    /* connections, whatever their state */
	unsigned failures;  /* in a row */
	uint64_t failed_ns; /* the last of them */
	uint64_t down_until_ns;
};

struct upstreams {
	struct conn_world *world;
	struct upstream all[UPSTREAMS_MAX];
	unsigned count;
	unsigned next;
	uint32_t connections; /* at most, to each */
	struct slab conns;
	struct list waiting; /* of struct upstream_user */
	struct list ending;  /* connections, by deadline */
};

/* An exchange that wants a connection; embedded in whatever the handler keeps for it. */
struct upstream_user {
	struct exchange *exchange; /* woken by what happens to its connection */
	struct list waiting;
	uint32_t tried; /* bit (1 << index) for each upstream that failed it */
};

struct upstream_conn {
	struct party party; /* first */
	struct upstreams *upstreams;
	struct upstream *upstream;
	struct tp_conn *handle;
	struct upstream_user *user; /* NULL: idle, or given up */
	struct list idle;
	struct list ending;
	uint64_t due_ns;   /* ending: it is reset then */
	uint64_t taken_ns; /* by its user */
	bool connected;
	bool reused;   /* it has served before */
	bool finished; /* the peer will send no more */
	bool closed;   /* it can be read in this turn, to which its user is woken, and no longer */
};

enum upstream_answer {
	UPSTREAM_TAKEN,
	UPSTREAM_WAIT, /* in line; the user's exchange is woken */
	UPSTREAM_NONE, /* all that it has not tried are down */
	UPSTREAM_LACK, /* the transport has no connection left */
};

/* 0, or -ENOMEM with nothing made. */
int upstreams_create(struct upstreams *upstreams, const struct proxy_config *config,
		     struct conn_world *world);

/* Before the transport is closed, and after its last poll. */
void upstreams_destroy(struct upstreams *upstreams);

/* Of no line, having tried none. */
void upstream_user_init(struct upstream_user *user, struct exchange *exchange);

/* A connection, perhaps still being made, that is the user's until kept or dropped. */
enum upstream_answer upstream_take(struct upstreams *upstreams, struct upstream_user *user,
				   struct upstream_conn **conn_out);

/* Leaves the line. */
void upstream_leave(struct upstreams *upstreams, struct upstream_user *user);

/* Gives back a connection on which nothing is outstanding. */
void upstream_keep(struct upstream_conn *conn);

/* Gives up a connection, whatever its state. */
void upstream_drop(struct upstream_conn *conn);

/*
 * Ends a connection whose peer has ended it, on which nothing is outstanding, behind what is
 * committed; a peer that does not take that within LIMIT_LINGER_NS is reset.
 */
void upstream_end(struct upstream_conn *conn);

/* Whether there is something to be read. */
bool upstream_speaks(const struct upstream_conn *conn);

/* Resets those that have not ended in time; when the next one is to be. */
uint64_t upstreams_upkeep(struct upstreams *upstreams, uint64_t now_ns);

/* CHECKs the invariants, for tests; between turns. */
void upstreams_check(const struct upstreams *upstreams);

/* Its upstream failed: leaves it out for a time, and has the user not try it again. */
void upstream_failed(struct upstream_conn *conn);

/* Its upstream answered. */
void upstream_worked(struct upstream_conn *conn);

#endif
