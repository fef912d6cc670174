/*
 * instance: a struct tp over one port and one utcp. Seen by this stack's own files only.
 *
 * dpdk.c opens, listens, connects and closes; turn.c is all that a turn calls; report.c copies the
 * counters out.
 */
#ifndef WEIR_DPDK_INSTANCE_H
#define WEIR_DPDK_INSTANCE_H

#include "dataplane/core/list.h"
#include "dataplane/core/slab.h"
#include "dataplane/transport/transport.h"
#include "stacks/dpdk/port.h"
#include "stacks/utcp/utcp.h"

#include <stdbool.h>
#include <stdint.h>

struct dpdk_conn {
	struct tp_conn base;
	struct utcp_conn *handle;
	struct list dirty;  /* on dpdk.dirty while something is committed and not flushed */
	struct list ending; /* on dpdk.ending once both sides finished, until the next poll */
	uint8_t *rest;	    /* what was unread by then, from dpdk.rests; NULL if nothing */
	uint32_t rest_offset;
	uint32_t rest_bytes; /* still unread, behind rest_offset */
	uint32_t committed_bytes;
	bool open;	    /* from connect or ACCEPTED until CLOSED is reported */
	bool finished;	    /* finish was called */
	bool aborted;	    /* abort was called: only CLOSED(ABORTED) is still told */
	bool peer_finished; /* FINISHED was reported */
};

struct dpdk {
	struct tp base;
	struct utcp *utcp;
	struct port *port;
	struct dpdk_conn *conns; /* by utcp_conn_index */
	struct list dirty;
	struct list ending;
	struct slab rests;
	uint32_t conn_max;
	struct utcp_addr own[2]; /* own addresses, by enum tp_family; none: none */
	uint64_t now_ns;	 /* of the last poll */
	uint64_t downs_seen;	 /* link.downs that lose_link has dealt with */
	bool link_lost;		 /* CLOSED(ABORTED) is CLOSED(LINK_DOWN) now */
	struct tp_counters counters;
};

static inline struct dpdk *dpdk_of(struct tp *tp)
{
	return (struct dpdk *)tp;
}

static inline struct dpdk_conn *dpdk_conn_of(struct tp_conn *conn)
{
	return (struct dpdk_conn *)conn;
}

static inline struct dpdk_conn *dpdk_conn_at(const struct dpdk *dpdk,
					     const struct utcp_conn *handle)
{
	return &dpdk->conns[utcp_conn_index(dpdk->utcp, handle)];
}

/* Begins a connection's life in its place, after clearing away its predecessor's. */
void dpdk_conn_begin(struct dpdk *dpdk, struct utcp_conn *handle, void *user);

/* Gives back what a connection that is gone left unread. */
void dpdk_conn_clear(struct dpdk *dpdk, struct dpdk_conn *conn);

/* turn.c */
unsigned dpdk_poll(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
		   struct tp_turn *turn_out);
unsigned dpdk_peek(struct tp *tp, struct tp_conn *conn, struct span *spans, unsigned room);
void dpdk_consume(struct tp *tp, struct tp_conn *conn, size_t bytes);
unsigned dpdk_reserve(struct tp *tp, struct tp_conn *conn, size_t bytes, struct room rooms[2]);
void dpdk_commit(struct tp *tp, struct tp_conn *conn, size_t bytes);
void dpdk_flush(struct tp *tp, struct tp_conn *conn);
void dpdk_finish(struct tp *tp, struct tp_conn *conn);
void dpdk_abort(struct tp *tp, struct tp_conn *conn);

/*
 * Ends all connections if the link went down since this was last called, and says whether it did.
 */
bool dpdk_note_link(struct dpdk *dpdk, uint64_t now_ns);

/* Pulls at most `frames_max` frames out of utcp and sends them; returns their number. */
unsigned dpdk_output(struct dpdk *dpdk, uint64_t now_ns, unsigned frames_max);

/* report.c */
void dpdk_counters(const struct tp *tp, struct tp_counters *counters_out);
unsigned dpdk_details(const struct tp *tp, struct tp_detail *details_out, unsigned room);

#endif
