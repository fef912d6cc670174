/*
 * challenge: how often segments that should not have come are answered (RFC 5961 7).
 *
 * An answer to a forged segment costs us a frame and, where the answers of all connections share
 * one known limit, tells whoever counts his own how many others got (CVE-2016-5696). So there are
 * two limits a period: one of each connection, which keeps its peer's confusion to itself, and one
 * of the instance, drawn anew for each period from the secret, whose spread is a hundred times what
 * one connection can take from it.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_CHALLENGE_H
#define WEIR_UTCP_CHALLENGE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CHALLENGES_CONN_MAX = 10, /* a period and connection */
	CHALLENGES_MIN = 500,	  /* a period, all connections: at least this */
	CHALLENGES_SPREAD = 1000, /* and less than this more */
};

#define CHALLENGE_PERIOD_NS (1000ull * 1000 * 1000)

/* Part of the instance; zeroed is ready. */
struct challenges {
	uint64_t ends_ns; /* of the period */
	uint32_t period;  /* its number; 0: none has begun */
	uint32_t left;	  /* answers that it still allows */
};

/* The share of a connection or call. */
struct challenge_share {
	uint32_t period; /* in which these were taken */
	uint8_t taken;
};

struct utcp;
struct utcp_conn;

/* Whether an empty segment outside the window may be answered; takes it from the connection's limit
 * alone. Keep-alives and window probes are such: who uses up the limit of all must not make other
 * peers think that we are gone. */
bool challenge_answer_allowed(struct utcp *utcp, struct challenge_share *share, uint64_t now_ns);

/* Whether one more such segment may be answered; takes it from both limits. */
bool challenge_allowed(struct utcp *utcp, struct challenge_share *share, uint64_t now_ns);

/* Sends a challenge ACK, if one is allowed (RFC 5961 3.2, 4.2, 5.2). */
void challenge_send(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns);

#endif
