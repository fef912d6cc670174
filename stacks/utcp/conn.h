/*
 * conn: what utcp knows of one connection, the TCB of RFC 9293 3.3.1.
 *
 * Two lives run side by side. The protocol's goes through `state`, which conn_set_state alone
 * writes. The application's is `handle`: it begins when the application learns of the connection
 * and ends after it was told that it closed. The memory is free when both are over, so an
 * application may still read what came before the end. Only a RST that has not left yet outlives
 * both. TIME-WAIT is no state here: what it needs is kept apart (time_wait.h).
 *
 * Plane: turn. Owner: the instance's slab.
 */
#ifndef WEIR_UTCP_CONN_H
#define WEIR_UTCP_CONN_H

#include "dataplane/core/list.h"
#include "dataplane/core/ring.h"
#include "dataplane/core/timer.h"
#include "stacks/utcp/challenge.h"
#include "stacks/utcp/congestion.h"
#include "stacks/utcp/flight.h"
#include "stacks/utcp/liveness.h"
#include "stacks/utcp/recovery.h"
#include "stacks/utcp/rtt.h"
#include "stacks/utcp/segment_head.h"
#include "stacks/utcp/times.h"

#include <stdbool.h>
#include <stdint.h>

enum conn_state {
	CONN_CLOSED,
	CONN_SYN_SENT,
	CONN_SYN_RECEIVED,
	CONN_ESTABLISHED,
	CONN_FIN_WAIT_1,
	CONN_FIN_WAIT_2,
	CONN_CLOSE_WAIT,
	CONN_CLOSING,
	CONN_LAST_ACK,
	CONN_STATE_COUNT,
};

enum conn_handle {
	HANDLE_NONE,	/* the application does not know of it */
	HANDLE_HELD,	/* it may use it */
	HANDLE_CLOSING, /* the reason of its end is known, the event not yet returned */
	HANDLE_TOLD,	/* UTCP_CLOSED was returned: valid until the next input or advance */
	HANDLE_GONE,
};

struct utcp_conn {
	/* Looked at for each segment. */
	uint64_t key;	      /* the other end and our port, see tuples.h */
	uint32_t chain;	      /* next without a place in its bucket of the table */
	uint8_t state;	      /* enum conn_state */
	uint8_t handle;	      /* enum conn_handle */
	bool ack_now;	      /* an ACK must leave with this turn's output */
	bool reset_due;	      /* aborted: a RST must leave, and the memory waits for that */
	uint8_t dup_acks_due; /* ACKs that must leave each by itself, so that the peer can count
				 them */
	uint8_t ecn;	      /* enum ecn_bit */
	uint16_t usual_flags; /* of the common segment: ACK, and CE while marks are the rule */
	uint32_t gaps;	      /* SLAB_NONE: nothing is missing (gaps.h) */
	uint32_t rcv_nxt;
	uint32_t rcv_edge;  /* right edge of the window, as far as it was ever advertised */
	uint32_t rcv_acked; /* the last ACK sent */
	uint32_t snd_una;
	uint32_t snd_max; /* behind the last number ever sent */
	uint32_t snd_wnd; /* as the peer last said, scaled */
	struct ring recv; /* in-order bytes; the free room behind them keeps what is out of order */
	struct ring send; /* bytes from the first unacknowledged on */
	/* retransmission, probe or keep-alive; TIMER_NEVER: off */
	uint64_t timeout_at_ns;
	uint64_t ack_at_ns;	/* the delayed ACK, ns; TIMER_NEVER: none waits */
	struct timer timer;	/* fires no later than the soonest of them and of liveness */
	uint16_t events;	/* enum utcp_event_bits not yet returned */
	uint16_t reason;	/* enum utcp_reason, from HANDLE_CLOSING on */
	struct list event_link; /* on utcp.events, or told: utcp.told */
	struct list out_link;	/* on utcp.out while something may have to be sent; unresolved: with
				   those that wait for the same neighbour */
	struct times times;

	uint16_t mss;	   /* most payload of a segment to the peer */
	uint16_t rcv_mss;  /* payload of the peer's full segments, as far as was seen */
	uint8_t snd_scale; /* the peer's windows are shifted left by this */
	uint8_t rcv_scale; /* ours right by this; both 0 unless both sides offered (RFC 7323 2.2) */
	bool sack_ok;	   /* both sides offered SACK (RFC 2018 2) */
	bool syn_due;	   /* our SYN is to be sent, perhaps again */
	bool unresolved;   /* waits for the peer's hardware address (neighbours_await): nothing can
			      be sent */
	bool fin_queued;   /* the application finished: FIN follows the committed bytes */
	bool fin_sent;
	bool fin_known;	      /* the peer's FIN was seen, perhaps ahead of data, at fin_seq */
	bool probe_due;	      /* a segment that makes the peer answer is to be sent */
	bool push_small;      /* the override of sender SWS avoidance (RFC 9293 3.8.6.2.1) fired */
	uint8_t backoff;      /* doublings of the timeout */
	uint8_t retries;      /* timeouts without a word from the peer */
	uint32_t snd_wl1;     /* seq of the last window update (RFC 9293 3.3.1) */
	uint32_t snd_wnd_max; /* the largest window ever offered */
	uint32_t send_wanted; /* bytes that reserve refused; 0: none */
	uint64_t sent_at_ns;  /* when data was last sent, ns (RFC 5681 4.1) */
	struct congestion congestion;
	struct rtt rtt;
	struct flight flight; /* from snd_una to snd_max */
	uint32_t recovery;    /* leased while there is something to recover; SLAB_NONE: no */
	uint32_t dup_acks;    /* without SACK: in a row, or since the last partial ACK */
	uint8_t waits;	      /* enum recovery_wait: what the timeout is for */
	bool tail_due;	      /* a tail loss probe is to be sent */
	struct rack_path path;
	struct segment_head head;

	/* Looked at when it begins, ends or goes astray. */
	bool active;   /* we called */
	bool scale_ok; /* the peer offered window scale */
	bool advised;  /* a router said that our segments do not get through, perhaps */
	struct challenge_share challenges;
	struct liveness liveness;
	uint32_t iss;
	uint32_t irs;
	uint32_t fin_seq;
};

/* What an idle connection costs beside its rings. What only a busy or an odd one needs is leased
 * from pools: flight.h, gaps.h. */
_Static_assert(sizeof(struct utcp_conn) <= 512, "an idle connection takes at most 512 bytes");

/*
 * Rings of neighbours start this far from a power of two, so that the hot first lines of many
 * connections do not fall into the same cache sets.
 */
enum {
	CONN_SEND_STAGGER_BYTES = 5 * 64,
	CONN_STAGGER_BYTES = 11 * 64, /* of both rings together */
};

/* Makes a connection without ends or state; `memory` holds both rings and the stagger. */
void conn_prepare(struct utcp_conn *conn, uint8_t *memory, uint32_t recv_bytes,
		  uint32_t send_bytes);

/* Moves to a state; asserts that RFC 9293 3.3.2 has this transition. */
void conn_set_state(struct utcp_conn *conn, enum conn_state state);

const char *conn_state_name(enum conn_state state);

/* Whether its place in the table is in use. */
static inline bool conn_alive(const struct utcp_conn *conn)
{
	return conn->state != CONN_CLOSED || conn->reset_due ||
	       (conn->handle != HANDLE_NONE && conn->handle != HANDLE_GONE);
}

static inline struct utcp_addr conn_peer(const struct utcp_conn *conn)
{
	return segment_head_ends(&conn->head).peer;
}

/* What the peer may send, as we last said: RCV.WND. More may be free, which receiver SWS avoidance
 * keeps back. */
static inline uint32_t conn_window(const struct utcp_conn *conn)
{
	return conn->rcv_edge - conn->rcv_nxt;
}

/* Bytes committed that have not been sent. */
static inline uint32_t conn_unsent(const struct utcp_conn *conn)
{
	uint32_t sent = conn->snd_max - conn->snd_una, used = ring_used(&conn->send);

	return sent < used ? used - sent : 0;
}

/* The same, or a FIN, or something to be sent again. */
static inline bool conn_has_unsent(const struct utcp_conn *conn)
{
	return conn->snd_max - conn->snd_una < ring_used(&conn->send) + conn->fin_queued ||
	       conn->flight.lost_bytes > 0 || conn->tail_due;
}

/* What is under way, as far as we know (RFC 6675 4). */
static inline uint32_t conn_pipe(const struct utcp_conn *conn)
{
	return flight_pipe(&conn->flight, conn->snd_max - conn->snd_una);
}

/* The same, less what duplicate ACKs without SACK say has arrived (RFC 3042, RFC 5681 3.2). */
static inline uint32_t conn_pipe_guessed(const struct utcp_conn *conn)
{
	uint32_t pipe = conn_pipe(conn), arrived = conn->dup_acks * conn->mss;

	return pipe > arrived ? pipe - arrived : 0;
}

/* Both handshakes are behind it: data may flow. */
static inline bool conn_synchronized(const struct utcp_conn *conn)
{
	return conn->state >= CONN_ESTABLISHED;
}

/* The peer has not finished: its data is still awaited. */
static inline bool conn_receiving(const struct utcp_conn *conn)
{
	return conn->state >= CONN_ESTABLISHED && conn->state <= CONN_FIN_WAIT_2;
}

/* Our side has data or a FIN to bring over. */
static inline bool conn_sending(const struct utcp_conn *conn)
{
	return conn->state == CONN_ESTABLISHED || conn->state == CONN_FIN_WAIT_1 ||
	       conn->state == CONN_CLOSE_WAIT || conn->state == CONN_CLOSING ||
	       conn->state == CONN_LAST_ACK;
}

/* Our FIN was sent and acknowledged. */
static inline bool conn_fin_acked(const struct utcp_conn *conn)
{
	return conn->fin_sent && conn->snd_una == conn->snd_max;
}

#endif
