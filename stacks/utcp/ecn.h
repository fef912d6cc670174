/*
 * ecn: explicit congestion notification (RFC 3168), and its exact form for DCTCP (RFC 8257 3.2).
 *
 * Both ends say in their SYNs that they take part. Then new data is sent so that a router may mark
 * it instead of dropping it; the receiver tells of marks with ECE on its ACKs, and the sender
 * answers as to a loss, without one, and says so with CWR. What a mark does to the window is
 * congestion.h's.
 *
 * By RFC 3168 the receiver repeats ECE until it sees CWR, so each window has one mark. By RFC 8257
 * each ACK says whether just what it acknowledges was marked, so that the sender can tell how much
 * was. Nothing on the wire says which of the two a receiver follows: ours does as its own instance
 * is told to send.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_ECN_H
#define WEIR_UTCP_ECN_H

#include "stacks/utcp/segment_head.h"

struct utcp;
struct utcp_conn;

enum ecn_bit {
	ECN_TELLS = 1 << 0,  /* both ends agreed: marks that arrive are told */
	ECN_SENDS = 1 << 1,  /* and our new data may be marked */
	ECN_EXACT = 1 << 2,  /* marks are told as RFC 8257 3.2 wants it */
	ECN_ECHOES = 1 << 3, /* ACKs carry ECE */
};

/* What our SYN or SYN-ACK says of ECN: TCP_ECE, TCP_CWR. */
uint8_t ecn_syn_flags(const struct utcp *utcp, const struct utcp_conn *conn);

/* What the SYN-ACK to a SYN with these flags says. */
uint8_t ecn_answer_flags(const struct utcp *utcp, uint8_t syn_flags);

/* The peer's first SYN came. */
void ecn_take_syn(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment);

/* Another SYN or SYN-ACK of the peer came: it can only take back what was agreed. */
void ecn_take_again(struct utcp_conn *conn, const struct segment *segment);

/* An acceptable segment with data came; what it acknowledges stands as before it. */
void ecn_take_data(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		   uint64_t now_ns);

/* Data is about to leave for the first time: adds what its headers say of ECN. */
void ecn_put_data(struct utcp *utcp, struct utcp_conn *conn, struct segment_fields *fields);

#endif
