/*
 * instance: one utcp, and what its parts ask of each other.
 *
 * A frame's way in: utcp_input (ip.c) -> arp.c; ip4.c -> icmp.c; ip6.c -> icmp6.c -> nd.c; or from
 * both families tcp_in.c, which finds the connection (tuples.h) and takes the steps of RFC 9293
 * 3.10.7, those of the peer's stream in receive.c. A frame's way out: utcp_output (tcp_out.c) asks
 * the queue of ready answers, then each connection on `out`. Time comes in through utcp_advance
 * (tcp_timer.c). close.c ends connections, in one place.
 *
 * Plane: turn, except create, destroy and listen in utcp.c.
 */
#ifndef WEIR_UTCP_INSTANCE_H
#define WEIR_UTCP_INSTANCE_H

#include "dataplane/core/siphash.h"
#include "dataplane/core/slab.h"
#include "dataplane/core/timer.h"
#include "stacks/utcp/answers.h"
#include "stacks/utcp/calls.h"
#include "stacks/utcp/conn.h"
#include "stacks/utcp/ecn.h"
#include "stacks/utcp/gaps.h"
#include "stacks/utcp/ip6.h"
#include "stacks/utcp/neighbours.h"
#include "stacks/utcp/segment.h"
#include "stacks/utcp/time_wait.h"
#include "stacks/utcp/tuples.h"
#include "stacks/utcp/utcp.h"

#include <string.h>

enum { UTCP_LISTEN_MAX = 16 };

struct utcp {
	struct utcp_config config; /* defaults filled in */
	struct utcp_counters counters;
	struct siphash_key key;
	struct slab conns;
	struct slab rings; /* receive and send memory, one object a connection */
	struct flight_pool flights;
	struct slab recoveries; /* as many as connections: each is sure of one */
	struct gaps gaps;
	struct tuples tuples;
	struct timer_wheel wheel;
	struct list events; /* connections with events to return */
	struct list told;   /* connections whose end was returned */
	struct list out;    /* connections that may have something to send; they take turns */
	unsigned out_taken; /* frames of the first of them, or of who was it, in its turn */
	struct answers answers;
	struct calls calls;
	struct time_waits time_waits;
	struct challenges challenges;
	struct neighbours neighbours;
	struct ip6 ip6;
	uint64_t stalled_at_ns; /* timers were last found late: older round trips do not count */
	uint16_t listen_ports[UTCP_LISTEN_MAX];
	unsigned listen_count;
	uint32_t port_next; /* moves on with each connect (RFC 6056 3.3.3) */
};

/* --- what all parts use ---------------------------------------------------------------------- */

/* Asks that utcp_output looks at this connection. */
static inline void utcp_mark(struct utcp *utcp, struct utcp_conn *conn)
{
	if (!list_linked(&conn->out_link))
		list_push(&utcp->out, &conn->out_link);
}

/* Adds event bits to what the application will be told. */
static inline void utcp_post(struct utcp *utcp, struct utcp_conn *conn, uint16_t bits)
{
	conn->events |= bits;
	if (!list_linked(&conn->event_link))
		list_push(&utcp->events, &conn->event_link);
}

/* Whether one more connection can be had. */
static inline bool utcp_has_room(const struct utcp *utcp)
{
	return utcp->conns.in_use < utcp->conns.count;
}

/* Releases the connections whose end the application was told of in the last turn. */
void utcp_settle_told(struct utcp *utcp);

static inline void utcp_settle(struct utcp *utcp)
{
	if (__builtin_expect(!list_empty(&utcp->told), 0))
		utcp_settle_told(utcp);
}

bool utcp_listens(const struct utcp *utcp, uint16_t port);

/* Whether `addr` is another host of our subnet. */
bool utcp_reachable(const struct utcp *utcp, const struct utcp_addr *addr);

/* Whether there is an address of its family to reach it from, and which. */
bool utcp_own_addr(const struct utcp *utcp, const struct utcp_addr *peer,
		   struct utcp_addr *own_out);

/* --- open.c ---------------------------------------------------------------------------------- */

/* The smallest shift with which the whole receive memory fits a window field. */
uint8_t open_own_scale(const struct utcp *utcp);

/*
 * Where a connection's numbers begin: one half of a keyed hash of the ends is for the sequence
 * numbers, which a clock moves (RFC 6528), the other for the timestamps (RFC 7323 7.1).
 */
struct open_numbers {
	uint32_t iss;
	uint32_t times_offset;
};

struct open_numbers open_numbers(const struct utcp *utcp, const struct segment_ends *ends,
				 uint64_t now_ns);

/* What is known of a handshake when its last ACK comes. */
struct open_handshake {
	struct segment syn; /* the peer's, without frame */
	uint32_t iss;
	bool lost;  /* our SYN-ACK timed out */
	bool timed; /* it was sent but once, at sent_at_ns */
	uint64_t sent_at_ns;
};

/* That ACK came, and was found good: an established connection, which is to take it as its first
 * segment; NULL if there is no room. */
struct utcp_conn *open_accepted(struct utcp *utcp, const struct open_handshake *shake,
				const struct segment *segment, uint64_t now_ns);

/* Takes the options of the peer's SYN, and where its numbers begin. */
void open_take_syn(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		   uint64_t now_ns);

/* The handshake is complete: the connection is ESTABLISHED, and further if the application has
 * finished. */
void open_established(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		      uint64_t now_ns);

/* The hardware address for which these calls wait was found or not. */
void open_resolved(struct utcp *utcp, struct list *waiting, const uint8_t mac[MAC_BYTES]);
void open_unresolved(struct utcp *utcp, struct list *waiting);

/* A call's SYN is to be sent again: asks for the peer's hardware address where nobody may have it
 * any more. */
void open_find_again(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns);

/* --- close.c --------------------------------------------------------------------------------- */

/* Ends the protocol's life without a word, and tells the application why. May free the connection.
 */
void close_conn(struct utcp *utcp, struct utcp_conn *conn, enum utcp_reason reason);

/* Tells the application that its connection is over, once all that arrived is read if `reason` is
 * UTCP_DONE. */
void close_report(struct utcp *utcp, struct utcp_conn *conn, enum utcp_reason reason);

/* Both sides have closed: the connection is over, and what TIME-WAIT needs of it is kept apart. */
void close_enter_time_wait(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns);

/* The application took bytes: its end may now be reported. */
void close_after_consume(struct utcp *utcp, struct utcp_conn *conn);

/* Frees the memory if neither protocol nor application needs it. */
void close_release(struct utcp *utcp, struct utcp_conn *conn);

/* --- tcp_in.c -------------------------------------------------------------------------------- */

/* A segment to us that was parsed. False if it was a SYN that found no room. */
bool tcp_input(struct utcp *utcp, struct segment *segment, uint64_t now_ns);

/* --- tcp_out.c ------------------------------------------------------------------------------- */

/* Queues the RST that answers a segment to nobody (RFC 9293 3.10.7.1). */
void tcp_refuse(struct utcp *utcp, const struct segment *segment);

/* Acknowledges what has come so far, whatever comes next: a frame of its own, ahead of all others,
 * or out_lost. */
void tcp_ack_now(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns);

/* An ACK is to leave with this turn's output. */
static inline void tcp_ack_soon(struct utcp *utcp, struct utcp_conn *conn)
{
	conn->ack_now = true;
	utcp_mark(utcp, conn);
}

/* --- tcp_timer.c ----------------------------------------------------------------------------- */

/* (Re)starts the connection's timeout. */
void tcp_start_timeout(struct utcp *utcp, struct utcp_conn *conn, uint64_t at_ns);

/* An ACK brought this; false if it timed no round trip, or a stall has spoiled that. */
bool tcp_end_round_trip(struct utcp *utcp, struct utcp_conn *conn, const struct flight_news *news);

/* If timers or calls are found late, the program stood still and measures its own absence: no round
 * trip begun before counts. */
void tcp_note_stall(struct utcp *utcp, uint64_t now_ns);

/* (Re)starts the watch over a peer that owes us its FIN. */
void tcp_start_keep_alive(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns);

#endif
