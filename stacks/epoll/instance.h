/*
 * instance: what one epoll stack is made of; private to stacks/epoll.
 *
 * epoll.c makes and ends instances, poll.c is the turn, conn.c is what happens to one connection,
 * file.c what it sends from files.
 * A connection's two rings lease their memory while they hold bytes.
 *
 * Every list a connection can stand on, and why:
 *	ready    the kernel may hold bytes (or an end) for it, and its receive ring has room
 *	marked   it has committed bytes that were not flushed
 *	pending  it has events that poll has not returned; after the last, it waits for release
 *	live     it is in use at all
 */
#ifndef WEIR_STACKS_EPOLL_INSTANCE_H
#define WEIR_STACKS_EPOLL_INSTANCE_H

#include "dataplane/core/lease.h"
#include "dataplane/core/limits.h"
#include "dataplane/core/list.h"
#include "dataplane/core/ring.h"
#include "dataplane/core/slab.h"
#include "dataplane/transport/transport.h"
#include "stacks/socket/socket.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

/*
 * Connections that one turn receives for: few enough that what they brought is still in the cache
 * when it is read and answered. Asking the kernel for events once for so many costs little.
 */
enum { EP_TURN_RECEIVES = 16 };

enum ep_state {
	EP_FREE,
	EP_CONNECTING,
	EP_OPEN,
	EP_CLOSED, /* no descriptor any more; its last event is pending or was just returned */
	EP_STATE_COUNT,
};

/* The rows of the option table behind those of all sockets. */
enum ep_option {
	EP_TRIGGER = SOCKET_OPTION_COUNT,
	EP_ACCEPT_BATCH,
	EP_SENDFILE,
	EP_OPTION_COUNT,
};

struct ep_conn {
	struct tp_conn base;
	int fd;
	uint32_t generation; /* of this use of the memory, to know an event for an earlier one */
	struct ring recv;
	struct ring send;      /* first what was flushed, behind it what is only marked */
	uint32_t marked_bytes; /* committed, not flushed */
	uint32_t lent_bytes;   /* reserved, not committed */
	uint32_t wanted_bytes; /* a reserve of that size was refused; 0: none was */
	uint32_t watched;      /* the events that the kernel was last asked for */
	uint16_t bits;	       /* events not yet returned */
	uint16_t reason;       /* enum tp_reason, with TP_CLOSED in bits */
	uint8_t state;	       /* enum ep_state, written by ep_set_state alone */
	bool unread;	       /* the kernel may hold more for us */
	bool doubtful;	       /* an end or urgent data is near: a short read proves nothing */
	bool broken;	       /* the kernel reported an error that no call has shown yet */
	bool watches_writable; /* EPOLLOUT is to be asked for */
	bool blocked;	       /* the kernel took less than offered; EPOLLOUT will follow */
	bool finishing;	       /* finish was called */
	bool ended;	       /* our side was shut down */
	bool peer_ended;
	struct list ready;
	struct list marked;
	struct list pending;
	struct list live;
};

struct ep_listener {
	int fd;
	struct tp_addr addr;
	bool waiting;	    /* connections may wait to be accepted */
	uint64_t resume_ns; /* not before this time */
};

/* X(name, meaning): this stack's details. */
#define EP_DETAILS(X)                                                                 \
	X(reads, "receive calls that returned bytes")                                 \
	X(short_writes, "send calls that the kernel took only a part of, or nothing") \
	X(file_writes, "writes that the kernel took from a file")                     \
	X(accept_pauses, "times accepting rested for want of descriptors or memory")  \
	X(stale_events, "events for a connection that is gone")

struct ep_details {
#define X(name, meaning) uint64_t name;
	EP_DETAILS(X)
#undef X
};

struct ep {
	struct tp base;
	struct tp_ops ops; /* epoll_ops, less what an option has switched off */
	int epoll_fd;
	bool no_pwait2; /* the host lacks epoll_pwait2 */
	bool by_level;	/* connections are watched level-triggered */
	bool moved;	/* bytes or connections moved in this poll */
	struct list ready;
	struct list marked;
	struct list pending;
	struct list released; /* their last event was returned by the last poll */
	struct list live;
	struct tp_limits limits;
	struct socket_settings settings;
	unsigned accept_batch; /* connections that one listener may accept in one turn */
	struct slab conns;
	struct slab recv_blocks; /* one for each connection's ring, leased while it holds bytes */
	struct slab send_blocks;
	unsigned listener_count;
	struct ep_listener listeners[SOCKET_LISTENERS];
	unsigned listeners_in_turn; /* those that are dealt connections in turn */
	struct tp_counters counters;
	struct ep_details details;
	struct epoll_event kernel_events[LIMIT_TURN_EVENTS];
};

static inline struct ep *ep_of(struct tp *tp)
{
	return (struct ep *)tp;
}

static inline struct ep_conn *ep_conn_of(struct tp_conn *conn)
{
	return (struct ep_conn *)conn;
}

/* --- conn.c --- */

/*
 * Takes a descriptor (moved) into a connection in EP_OPEN or EP_CONNECTING; NULL if the table is
 * full.
 */
struct ep_conn *ep_conn_begin(struct ep *ep, int fd, enum ep_state state);

/* Asks the kernel to report on a new one, also when it becomes writable if so said. 0 or -errno. */
int ep_conn_watch(struct ep *ep, struct ep_conn *conn, bool writable);

/* Tells the kernel what has changed of what is to be reported, if anything has; else retires it. */
void ep_conn_rewatch(struct ep *ep, struct ep_conn *conn, bool writable);

/* Gives the memory of a closed connection back. */
void ep_conn_release(struct ep *ep, struct ep_conn *conn);

/* Adds events to return. */
void ep_conn_note(struct ep *ep, struct ep_conn *conn, uint16_t bits);

/* Closes the descriptor; CLOSED becomes pending. */
void ep_conn_retire(struct ep *ep, struct ep_conn *conn, enum tp_reason reason);

/* Ends it if the kernel holds the error that it reported; whether it lives on. */
bool ep_conn_check(struct ep *ep, struct ep_conn *conn);

/* Receives once. */
void ep_conn_receive(struct ep *ep, struct ep_conn *conn);

/*
 * Sends all that the ring holds, as far as the kernel takes it; then ends our side if that is due.
 */
void ep_conn_send(struct ep *ep, struct ep_conn *conn);

unsigned ep_peek(struct tp *tp, struct tp_conn *conn, struct span *spans, unsigned room);
void ep_consume(struct tp *tp, struct tp_conn *conn, size_t bytes);
unsigned ep_reserve(struct tp *tp, struct tp_conn *conn, size_t bytes, struct room rooms[2]);
void ep_commit(struct tp *tp, struct tp_conn *conn, size_t bytes);
void ep_flush(struct tp *tp, struct tp_conn *conn);
void ep_finish(struct tp *tp, struct tp_conn *conn);
void ep_abort(struct tp *tp, struct tp_conn *conn);

/* The kernel took less than was offered: it is to tell when it has room. */
void ep_conn_block(struct ep *ep, struct ep_conn *conn);

/* One write of so many bytes is handed over. */
void ep_count_write(struct ep *ep, size_t bytes);

/* Writes the state; only the ways that a connection may go are allowed (ASSERT). */
void ep_set_state(struct ep_conn *conn, enum ep_state state);

/* --- file.c --- */

int64_t ep_send_file(struct tp *tp, struct tp_conn *conn, int fd, uint64_t offset, size_t bytes);

/* --- poll.c --- */

/* What a kernel event carries back for a listener; a connection's is its generation and index. */
#define EP_LISTENER_TAG (1ull << 63)

unsigned ep_poll(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
		 struct tp_turn *turn_out);

#endif
