/*
 * liveness: whether a peer is still worth a connection.
 *
 * Two questions, neither of which the common segment pays for. Keep-alive (RFC 9293 3.8.4) asks an
 * idle peer whether it is still there: a look every `keepalive_ns` compares where both streams
 * stand with the last look, so that a segment need not note its time, and the first probe leaves
 * between one and two such times after the last byte. The user timeout (RFC 9293 3.9.1.1, RFC 5482)
 * ends a connection whose data the peer has not taken for so long, whether it is silent or answers
 * probes with a window that stays shut, which RFC 6429 allows and without which sockstress holds
 * our memory for ever (VU#723308).
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_LIVENESS_H
#define WEIR_UTCP_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

enum { KEEP_ALIVE_TRIES = 5 };

/* A silent peer is asked this often whether it is still there. */
#define KEEP_ALIVE_NS (15ull * 1000 * 1000 * 1000)

struct liveness {
	uint64_t look_at_ns;  /* the next look; TIMER_NEVER: none */
	uint32_t mark;	      /* where both streams stood at the last */
	uint32_t stalled_una; /* what waited for the peer when a timeout was last seen */
	uint32_t stalled_ms;  /* since when, modulo 2^32 */
	uint8_t probes;	      /* that were not answered */
};

struct utcp;
struct utcp_conn;

/* The connection is established: begins to look, if the instance is to. */
void liveness_begin(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns);

/* A look is due; false if that ended the connection. */
bool liveness_look(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns);

/*
 * Something has waited `waited_ns` for the peer and its timeout fires: there will be a look when
 * its user timeout, which the instance must have, is over.
 */
void liveness_stalled(struct utcp *utcp, struct utcp_conn *conn, uint64_t waited_ns,
		      uint64_t now_ns);

#endif
