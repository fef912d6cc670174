/*
 * instance: what one uring stack is made of; private to stacks/uring.
 *
 * uring.c makes and ends instances, poll.c is the turn, conn.c is a connection's life, recv.c and
 * send.c are its two directions; queue and pool are the memory shared with the kernel.
 */
#ifndef WEIR_STACKS_URING_INSTANCE_H
#define WEIR_STACKS_URING_INSTANCE_H

#include "dataplane/core/list.h"
#include "dataplane/core/ring.h"
#include "dataplane/core/slab.h"
#include "dataplane/transport/transport.h"
#include "stacks/socket/socket.h"
#include "stacks/uring/conn.h"
#include "stacks/uring/options.h"
#include "stacks/uring/pool.h"
#include "stacks/uring/queue.h"

#include <stdbool.h>
#include <stdint.h>

struct ur_listener {
	int fd;
	bool accepting;	    /* a request is with the kernel */
	uint64_t resume_ns; /* not before this time */
	struct tp_addr addr;
};

/* X(name, meaning): this stack's details. */
#define UR_DETAILS(X)                                                                           \
	X(receives, "completions that brought bytes")                                           \
	X(ring_receives, "of those, received into a connection's own ring, not lent")           \
	X(copied_unread_bytes, "bytes left unread in shared buffers and copied out of them")    \
	X(buffers_lacked, "receives that found no shared buffer free")                          \
	X(multishot_ended, "multishot requests that ended and were made again if still wanted") \
	X(sends, "send requests")                                                               \
	X(chained_sends, "of those, linked behind another")                                     \
	X(zc_sends, "of those, without a copy")                                                 \
	X(zc_copied, "zero-copy sends that the kernel copied after all")                        \
	X(short_sends, "chains or sends of which the kernel took only a part")                  \
	X(files_refused, "connections that the ring's table of files did not take in")          \
	X(accept_pauses, "times accepting rested for want of descriptors or memory")            \
	X(stale_events, "completions for a connection that had ended")

/* Of the queue, under one roof with the others. */
#define UR_QUEUE_DETAILS(X)                                                        \
	X(extra_submits, "system calls in the middle of a turn, for want of room") \
	X(cq_overflows, "polls that found completions waiting for room in their ring")

struct ur_details {
#define X(name, meaning) uint64_t name;
	UR_DETAILS(X)
#undef X
};

struct ur {
	struct tp base;
	bool moved;		     /* bytes or connections moved in this poll */
	bool closing;		     /* the instance is: nothing new is begun */
	bool multishot;		     /* accepts */
	bool pooled;		     /* multishot receives into the pool */
	bool reports_copies;	     /* of zero-copy sends */
	bool tables_files;	     /* connections enter the ring's table of files */
	uint32_t zero_copy_bytes;    /* from this size on; UINT32_MAX: never */
	uint32_t chain_room;	     /* requests there must be room for when a chain begins */
	struct ur_conn *last_sender; /* whose send is the last request queued */
	struct io_uring_sqe *last_send;
	uint64_t now_ns;   /* of the last turn; 0 before the first */
	uint64_t requests; /* with the kernel or queued, of all connections and listeners */
	struct list attend;
	struct list lending;
	struct list marked;
	struct list pending;
	struct list released; /* their last event was returned by the last poll */
	struct list live;
	struct tp_limits limits;
	struct socket_settings settings;
	struct ur_queue queue;
	struct ur_pool pool;
	struct slab conns;
	struct slab recv_blocks; /* one for each connection's ring, leased while it holds bytes */
	struct slab send_blocks;
	unsigned listener_count;
	struct ur_listener listeners[SOCKET_LISTENERS];
	unsigned listeners_in_turn;  /* those that are dealt connections in turn */
	struct tp_counters counters; /* without the queue's system calls */
	struct ur_details details;
};

static inline struct ur *ur_of(struct tp *tp)
{
	return (struct ur *)tp;
}

static inline struct ur_conn *ur_conn_of(struct tp_conn *conn)
{
	return (struct ur_conn *)conn;
}

/* --- conn.c --- */

/*
 * A request in the name of a connection; NULL if there is no room, and then the connection stands
 * on `attend`.
 */
struct io_uring_sqe *ur_conn_sqe(struct ur *ur, struct ur_conn *conn);

/* Says whose completion the prepared request will have. */
void ur_conn_queue(struct ur *ur, struct ur_conn *conn, struct io_uring_sqe *sqe,
		   enum ur_kind kind);

/* Ends all of its requests of one kind. False without room. */
bool ur_conn_cancel(struct ur *ur, struct ur_conn *conn, enum ur_kind kind);

/* Takes a descriptor (moved) into a connection; NULL if the table is full. */
struct ur_conn *ur_conn_begin(struct ur *ur, int fd, enum ur_state state, bool is_tcp);

/* The next poll is to look at what it has for the kernel. */
void ur_conn_attend(struct ur *ur, struct ur_conn *conn);

/* Queues what it has for the kernel; false if there was no room for all. */
bool ur_conn_serve(struct ur *ur, struct ur_conn *conn);

/* Adds events to return. */
void ur_conn_note(struct ur *ur, struct ur_conn *conn, uint16_t bits);

/* Ends it; CLOSED becomes pending. */
void ur_conn_retire(struct ur *ur, struct ur_conn *conn, enum tp_reason reason);

/* Nobody names it any more: gives its memory back, at once or when the kernel has answered. */
void ur_conn_forget(struct ur *ur, struct ur_conn *conn);

/* Gives its memory and its place back; the kernel no longer has anything of it. */
void ur_conn_release(struct ur *ur, struct ur_conn *conn);

/* A request has had its last completion. */
void ur_conn_answered(struct ur *ur, struct ur_conn *conn);

/* How connecting ended, as the kernel's poll bits or a negative errno. */
void ur_conn_connected(struct ur *ur, struct ur_conn *conn, int result);

/* The kernel tells of an error, or of a hang-up, while nothing is received. */
void ur_conn_watched(struct ur *ur, struct ur_conn *conn, const struct io_uring_cqe *cqe);

/* What became of ending requests: their number, or a negative errno. */
void ur_conn_cancelled(struct ur *ur, struct ur_conn *conn, int result);

void ur_finish(struct tp *tp, struct tp_conn *conn);
void ur_abort(struct tp *tp, struct tp_conn *conn);

/* Writes the state; only the ways that a connection may go are allowed (ASSERT). */
void ur_set_state(struct ur_conn *conn, enum ur_state state);

/* --- recv.c --- */

/* Asks for bytes, or for their end, as the connection's memory allows. False without room. */
bool ur_recv_serve(struct ur *ur, struct ur_conn *conn);

/* A completion of a receive. */
void ur_recv_done(struct ur *ur, struct ur_conn *conn, const struct io_uring_cqe *cqe);

/* Copies what was lent and left unread into the ring, as far as that has room. */
void ur_recv_fold(struct ur *ur, struct ur_conn *conn);

/* Gives all lent buffers back, read or not. */
void ur_recv_drop(struct ur *ur, struct ur_conn *conn);

unsigned ur_peek(struct tp *tp, struct tp_conn *conn, struct span *spans, unsigned room);
void ur_consume(struct tp *tp, struct tp_conn *conn, size_t bytes);

/* --- send.c --- */

/* Bytes that were flushed and are not in flight. */
static inline uint32_t ur_send_waiting(const struct ur_conn *conn)
{
	return ring_used(&conn->send) - conn->held_bytes - conn->flight_bytes - conn->marked_bytes;
}

/* Sends what waits, unless a send is outstanding. False without room. */
bool ur_send_serve(struct ur *ur, struct ur_conn *conn);

/* A completion of a send. */
void ur_send_done(struct ur *ur, struct ur_conn *conn, const struct io_uring_cqe *cqe);

/* Ends our side if finish was called and all has left. */
void ur_send_end_if_due(struct ur *ur, struct ur_conn *conn);

unsigned ur_reserve(struct tp *tp, struct tp_conn *conn, size_t bytes, struct room rooms[2]);
void ur_commit(struct tp *tp, struct tp_conn *conn, size_t bytes);
void ur_flush(struct tp *tp, struct tp_conn *conn);

/* --- poll.c --- */

/* Queues what the connections have for the kernel. */
void ur_serve_all(struct ur *ur);

unsigned ur_poll(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
		 struct tp_turn *turn_out);

/* Asks each listener that may accept for connections. */
void ur_accept_serve(struct ur *ur, uint64_t now_ns);

/* What a listener's completions carry back. */
uint64_t ur_listener_tag(const struct ur *ur, const struct ur_listener *listener);

/* Handles all completions that are there; their number. */
unsigned ur_reap(struct ur *ur, uint64_t now_ns);

#endif
