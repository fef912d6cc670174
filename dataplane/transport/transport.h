/*
 * transport: the contract between the request pipeline and every stack beneath it.
 *
 * A stack is one constant table of operations (struct tp_ops). An instance (struct tp) belongs to
 * one worker thread from open to close and takes all its memory at open, from the limits given; no
 * two threads ever call into the same instance, so there are no locks. A connection (struct
 * tp_conn) is a handle inside an instance and never moves. Nothing here calls upward: whatever
 * happens to a connection is an event that poll returns.
 *
 * Setup plane (may allocate and fail with a negative errno and a text): open, listen, close. Report
 * plane: counters, details. Turn plane (never allocates, locks or logs; only poll reads the clock,
 * once, and once more around a sleep): all else, with connect, which may fail in words too; where
 * TLS departs from that, docs/decisions/tls-memory.md says. The legal order in a turn:
 *
 *	poll -> for each event's connection:
 *		{ peek, consume, reserve, commit, flush, send_file, finish, abort, fault,
 *		  connect }*
 *
 * Life of a connection:
 *
 *	connect() -> CONNECTED \
 *	                        > { READABLE | WRITABLE | FINISHED }* -> CLOSED(reason)
 *	listen()  -> ACCEPTED  /
 *	connect() -> CLOSED(REFUSED, UNREACHABLE, TIMEOUT, ...)
 *
 * where the reason is DONE when both sides finished, ABORTED when we called abort, and otherwise
 * what broke it; tp_fault_of may know more of a connection that broke, and of no other.
 *
 * Unix sockets know no reset: abort or close reach the peer as FINISHED, or as RESET when something
 * that it had sent was left unread or when it sends more. A path where nobody listens is REFUSED; a
 * listener whose queue is full makes connect fail with -EAGAIN.
 *
 * CLOSED comes exactly once for every connection that was accepted or that connect returned, and is
 * the last event it has; the handle is valid until the poll after the one that reported it. Bits of
 * one connection in one poll are merged into one event and hold in the order of their values:
 * accepted before readable, readable before finished, all before closed.
 *
 * Receiving: READABLE says that in-order bytes arrived since the last poll. It is not repeated for
 * bytes that were left unread: who stops early remembers it. peek lends what is there; only consume
 * gives memory back, and only that reopens the window to the peer. FINISHED says that the peer will
 * send no more; what it sent before is still there to read.
 *
 * Sending: reserve lends send memory of exactly the size asked, or nothing. commit marks its first
 * bytes as to be sent, flush emits all that is marked at once, and what was marked but not flushed
 * leaves at the next poll. One commit+flush is one write: one send call on sockets, one run of
 * segments on a user-space TCP. Refused means: exactly one WRITABLE follows, when the size asked
 * for has become available. Where a stack can, send_file sends from a file what does not pass
 * through that memory. finish ends our side after all that was committed has left; abort drops
 * everything and resets.
 *
 * Ownership: spans from peek are lent until consume, finish of the turn (next poll) at the latest;
 * rooms from reserve are lent until commit or the next reserve of the same connection, the next
 * poll at the latest; a flush between reserve and commit leaves them where they are.
 *
 * Every rule here has a test in tests/conformance; a rule without one is not a rule.
 */
#ifndef WEIR_TRANSPORT_H
#define WEIR_TRANSPORT_H

#include "dataplane/core/span.h"
#include "dataplane/transport/addr.h"
#include "dataplane/transport/counters.h"
#include "dataplane/transport/error.h"
#include "dataplane/transport/feature.h"
#include "dataplane/transport/option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an event may say; several at once. */
enum tp_event_bits {
	TP_ACCEPTED = 1 << 0,  /* a new connection on a listener; conn->user is NULL */
	TP_CONNECTED = 1 << 1, /* connect succeeded */
	TP_READABLE = 1 << 2,  /* bytes arrived since the last poll */
	TP_WRITABLE = 1 << 3,  /* what reserve refused is available now */
	TP_FINISHED = 1 << 4,  /* the peer ended its side */
	TP_CLOSED = 1 << 5,    /* the last event; reason says why */
};

/* Why a connection closed. */
enum tp_reason {
	TP_DONE,	/* both sides finished, all was delivered */
	TP_RESET,	/* the peer reset it */
	TP_REFUSED,	/* nobody listens there */
	TP_TIMEOUT,	/* no answer within the stack's bound */
	TP_UNREACHABLE, /* no way to the address */
	TP_ABORTED,	/* we called abort */
	TP_LINK_DOWN,	/* the device or the peer process went away */
	TP_FAILED,	/* anything else the host reported */
	TP_REASON_COUNT,
};

/*
 * What a stack can do; declared and printed by the programs. The conformance suite tests what poll
 * and connect make of it; hugepages are the opener's business.
 */
enum tp_capability {
	TP_CAN_BLOCK = 1 << 0,	      /* poll may sleep until something happens */
	TP_NEEDS_HUGEPAGES = 1 << 1,  /* wants hugepages unless told to do without */
	TP_REFUSAL_IS_KNOWN = 1 << 2, /* connect to a closed port ends as TP_REFUSED */
	TP_SENDS_FILES = 1 << 3,      /* has send_file */
};

/* poll: sleep without a bound. */
#define TP_WAIT_FOREVER UINT64_MAX

/* The bounds an instance is opened with. */
struct tp_limits {
	uint32_t conn_max;
	uint32_t recv_bytes; /* a connection's receive memory, a power of two */
	uint32_t send_bytes; /* a connection's send memory, a power of two */
};

/* All that open needs; lent for the call. Fields a stack has no use for are ignored by it. */
struct tp_config {
	struct tp_limits limits;
	const char *device;	  /* what follows '@' in the stack's name: "memif:/run/a.sock" */
	struct tp_addr address;	  /* own IPv4 address, for stacks that bring their own IP */
	uint8_t prefix_bits;	  /* length of its subnet's prefix */
	struct tp_addr address6;  /* the same of IPv6 */
	uint8_t prefix6_bits;	  /* 0: none */
	bool server;		  /* this side listens (memif: this side owns the socket) */
	bool hugepages;		  /* use them; false works without */
	int cpu;		  /* the CPU this worker is pinned to, or -1 */
	uint16_t worker, workers; /* this worker's index and their number */
	void *shared; /* what the instances of one process share (memory: its struct memory_net) */
	const uint8_t *secret;	 /* 16 random bytes: initial sequence numbers and table hashing */
	const uint64_t *options; /* one for each of tp_ops.options; NULL: the initial ones */
};

/* An instance; stacks embed it first. */
struct tp {
	const struct tp_ops *ops;
	bool device_gone; /* set by poll: the device was taken away, nothing can come any more */
	const char *gone_part; /* then: what of it was removed, static, e.g. "interface" */
};

/* A connection; stacks embed it first. */
struct tp_conn {
	void *user; /* the pipeline's, untouched by the stack after accept */
};

/* Why a connection broke, where more is known than its reason. */
struct tp_fault {
	const char *text; /* static; NULL: no more is known */
	bool is_trust;	  /* the peer did not prove who it is */
};

struct tp_event {
	struct tp_conn *conn;
	uint16_t bits;	 /* enum tp_event_bits */
	uint16_t reason; /* enum tp_reason, with TP_CLOSED */
};

/* What one poll did, for the worker's accounts. */
struct tp_turn {
	uint64_t now_ns;    /* the turn's time, read once, after any waiting */
	uint64_t waited_ns; /* of the time since the last poll, what was slept away */
	bool moved;	    /* packets, bytes or events moved */
};

struct tp_ops {
	const char *name;
	uint32_t capabilities; /* enum tp_capability */
	uint32_t families;     /* bit (1 << enum tp_family) for each it can listen and connect to */
	uint64_t counters_known; /* bit (1 << enum tp_counter) for each counter this stack keeps */
	const struct tp_option *options; /* what it can be told; NULL if nothing */
	unsigned option_count;

	/*
	 * Looks which features this host has, at most `room`, and returns their number; or a
	 * negative errno with `error` filled when the stack cannot work here at all. NULL: it needs
	 * nothing special.
	 */
	int (*probe)(struct tp_feature *features_out, unsigned room, struct tp_error *error);
	/* Makes an instance on the calling thread. 0, or negative errno with `error` filled. */
	int (*open)(const struct tp_config *config, struct tp **tp_out, struct tp_error *error);
	/* Accepts connections to `addr`. 0, or -EADDRINUSE and others with `error` filled. */
	int (*listen)(struct tp *tp, const struct tp_addr *addr, struct tp_error *error);
	/* Begins a connection; CONNECTED or CLOSED tells how. `user` becomes conn->user. */
	int (*connect)(struct tp *tp, const struct tp_addr *addr, void *user,
		       struct tp_conn **conn_out, struct tp_error *error);
	/* Ends everything, resetting what is still open; no events follow. */
	void (*close)(struct tp *tp);

	/*
	 * Sends what is marked, takes in what arrived, runs timers, and fills at most `room`
	 * events; what did not fit comes with the next poll. Sleeps at most `wait_ns` if nothing is
	 * at hand (0: not at all) and the stack can block. Returns the number of events.
	 */
	unsigned (*poll)(struct tp *tp, struct tp_event *events, unsigned room, uint64_t wait_ns,
			 struct tp_turn *turn_out);

	/*
	 * Lends received bytes in order, in at most `room` spans; returns their number. LIMIT_SPANS
	 * spans hold all there is, or at least two times LIMIT_CHUNK_BYTES: who waits for a whole
	 * head or chunk waits for the peer, never for a longer list.
	 */
	unsigned (*peek)(struct tp *tp, struct tp_conn *conn, struct span *spans, unsigned room);
	/* Gives the first `bytes` back; no more than what the last peek lent. */
	void (*consume)(struct tp *tp, struct tp_conn *conn, size_t bytes);

	/* Lends exactly `bytes` (1 to limits.send_bytes) in 1 or 2 rooms, or returns 0. */
	unsigned (*reserve)(struct tp *tp, struct tp_conn *conn, size_t bytes,
			    struct room rooms[2]);
	/* The first `bytes` of what was reserved are to be sent. Cannot fail. */
	void (*commit)(struct tp *tp, struct tp_conn *conn, size_t bytes);
	/*
	 * Emits what is committed as one write, as far as the peer's window allows; at the next
	 * poll at the latest, if the stack hands its writes over once a turn.
	 */
	void (*flush)(struct tp *tp, struct tp_conn *conn);
	/*
	 * Flushes, and where all that was committed has left sends as much of the `bytes` of an
	 * open file, from `offset` on, as is taken at once: one write. The descriptor is lent for
	 * the call. Returns how much that was; 0: nothing now, and if the connection lives exactly
	 * one WRITABLE follows when it may be tried again; negative errno: the file cannot be sent
	 * so (-ENODATA: there is none at `offset`), the connection is as before, and memory still
	 * can. The process must ignore SIGPIPE. NULL: the stack sends memory alone.
	 */
	int64_t (*send_file)(struct tp *tp, struct tp_conn *conn, int fd, uint64_t offset,
			     size_t bytes);
	/* No more will be committed: end our side once all has left. Later calls do nothing. */
	void (*finish)(struct tp *tp, struct tp_conn *conn);
	/*
	 * Drops all, resets; CLOSED(ABORTED) follows, alone, also if another end was to be told by
	 * then. After it only the next poll may name the connection.
	 */
	void (*abort)(struct tp *tp, struct tp_conn *conn);

	/* Why one broke whose CLOSED was reported. NULL: no more than the reason is ever known. */
	struct tp_fault (*fault)(const struct tp *tp, const struct tp_conn *conn);

	/* Copies the counters out; those not in counters_known are untouched. */
	void (*counters)(const struct tp *tp, struct tp_counters *counters_out);
	/* Up to `room` of its own counters and levels; how many there are. NULL: it has none. */
	unsigned (*details)(const struct tp *tp, struct tp_detail *details_out, unsigned room);
};

/* The word for a reason, e.g. "reset". */
const char *tp_reason_name(enum tp_reason reason);

/* 0 if the stack knows the address's family; else -EAFNOSUPPORT with `error` filled. */
int tp_family_check(const struct tp_ops *ops, const struct tp_addr *addr, struct tp_error *error);

/* Why a connection broke whose CLOSED was reported, as long as its handle is valid. */
struct tp_fault tp_fault_of(const struct tp *tp, const struct tp_conn *conn);

/* The value of the option at `index` of the stack's table. */
uint64_t tp_option_of(const struct tp_ops *ops, const struct tp_config *config, unsigned index);

/* Answers tp_ops.details from a stack's table of `count`. */
unsigned tp_details_copy(const struct tp_detail *table, unsigned count,
			 struct tp_detail *details_out, unsigned room);

static inline unsigned tp_poll(struct tp *tp, struct tp_event *events, unsigned room,
			       uint64_t wait_ns, struct tp_turn *turn_out)
{
	return tp->ops->poll(tp, events, room, wait_ns, turn_out);
}

static inline unsigned tp_peek(struct tp *tp, struct tp_conn *conn, struct span *spans,
			       unsigned room)
{
	return tp->ops->peek(tp, conn, spans, room);
}

static inline void tp_consume(struct tp *tp, struct tp_conn *conn, size_t bytes)
{
	tp->ops->consume(tp, conn, bytes);
}

static inline unsigned tp_reserve(struct tp *tp, struct tp_conn *conn, size_t bytes,
				  struct room rooms[2])
{
	return tp->ops->reserve(tp, conn, bytes, rooms);
}

static inline void tp_commit(struct tp *tp, struct tp_conn *conn, size_t bytes)
{
	tp->ops->commit(tp, conn, bytes);
}

static inline void tp_flush(struct tp *tp, struct tp_conn *conn)
{
	tp->ops->flush(tp, conn);
}

static inline void tp_finish(struct tp *tp, struct tp_conn *conn)
{
	tp->ops->finish(tp, conn);
}

static inline void tp_abort(struct tp *tp, struct tp_conn *conn)
{
	tp->ops->abort(tp, conn);
}

#endif
