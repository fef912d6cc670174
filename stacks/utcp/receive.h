/*
 * receive: what a segment brings of the peer's stream, its payload and its FIN: steps seven and
 * eight of RFC 9293 3.10.7.4, and the ACKs that they call for.
 *
 * In-order bytes go behind those in the receive ring, others to their places in its free room. The
 * leaves are inline because the common segment uses them, too.
 *
 * Plane: turn.
 */
#ifndef WEIR_UTCP_RECEIVE_H
#define WEIR_UTCP_RECEIVE_H

#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"
#include "stacks/utcp/seq.h"

/* ACKs of a gap that wait to leave each by itself; more are not owed. */
enum { DUP_ACKS_DUE_MAX = 64 };

/* Seventh, the payload. */
void receive_payload(struct utcp *utcp, struct utcp_conn *conn, struct segment *segment,
		     uint64_t now_ns);

/* Eighth, FIN, once all before it is there. */
void receive_fin(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		 uint64_t now_ns);

/* Of what was already in order, this arrived again: the next ACK says so (RFC 2883 4.1). What lies
 * further back than a window is no peer's that hears our ACKs. */
void receive_note_twice(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment);

/* How large the peer's full segments are is known from what it sends: one that is larger than any
 * before was full, and so was one without PSH, whose sender had more, unless it is smaller than any
 * path's. It may be less than we would take, and our own are another matter (RFC 5681 4.2). */
static inline void receive_note_size(struct utcp_conn *conn, const struct segment *segment)
{
	if (segment->bytes > conn->rcv_mss ||
	    (!(segment->flags & TCP_PSH) && segment->bytes >= OPTIONS_MSS_MIN))
		conn->rcv_mss = (uint16_t)segment->bytes;
}

/* In-order data waits for company: an ACK is due for every second full segment, else after a while
 * (RFC 9293 3.8.6.3). */
static inline void receive_schedule_ack(struct utcp *utcp, struct utcp_conn *conn, uint64_t now_ns)
{
	if (conn->rcv_nxt - conn->rcv_acked >= 2u * conn->rcv_mss) {
		tcp_ack_soon(utcp, conn);
	} else if (conn->ack_at_ns == TIMER_NEVER) {
		conn->ack_at_ns = now_ns + utcp->config.ack_delay_ns;
		timer_arm(&utcp->wheel, &conn->timer, conn->ack_at_ns);
	}
}

/* Copies bytes into the receive ring's free room, `offset` behind what is in order. */
static inline void receive_store(struct ring *ring, uint32_t offset, const uint8_t *data,
				 uint32_t bytes)
{
	uint32_t at = ring->tail + offset, first = ring_first_piece(ring, at, bytes);

	CHECK(offset + bytes <= ring_free(ring));
	memcpy(ring->base + (at & (ring->capacity - 1)), data, first);
	if (__builtin_expect(first < bytes, 0))
		memcpy(ring->base, data + first, bytes - first);
}

/* In-order data reaches `bytes` further; it stands in the ring. */
static inline void receive_deliver(struct utcp *utcp, struct utcp_conn *conn, uint32_t bytes)
{
	ring_commit(&conn->recv, bytes);
	conn->rcv_nxt += bytes;
	utcp->counters.in_bytes += bytes;
	utcp_post(utcp, conn, UTCP_READABLE);
}

#endif
