#include "stacks/utcp/receive.h"

/* An ACK that the peer must be able to count (RFC 5681 4.2). */
static void duplicate_ack_soon(struct utcp *utcp, struct utcp_conn *conn)
{
	if (conn->dup_acks_due < DUP_ACKS_DUE_MAX)
		conn->dup_acks_due++;
	utcp_mark(utcp, conn);
}

void receive_note_twice(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment)
{
	uint32_t end = seq_min(segment->seq + segment->bytes, conn->rcv_nxt);

	if (conn->sack_ok && conn_synchronized(conn) && seq_before(segment->seq, end) &&
	    conn->rcv_nxt - segment->seq <= conn->recv.capacity)
		gaps_note_twice(&utcp->gaps, &conn->gaps, segment->seq, end);
}

/* Cuts off what we have, and what lies beyond the window or the peer's own FIN. The sixth step,
 * URG, is to do nothing (RFC 6093). */
static void trim(struct utcp_conn *conn, struct segment *segment)
{
	uint32_t edge = conn->rcv_edge, end;
	int32_t had = seq_diff(conn->rcv_nxt, segment->seq);

	if (had > 0) {
		uint32_t cut = (uint32_t)had < segment->bytes ? (uint32_t)had : segment->bytes;

		segment->seq += cut;
		segment->data += cut;
		segment->bytes -= cut;
	}
	if (conn->fin_known)
		edge = seq_min(edge, conn->fin_seq);
	end = segment->seq + segment->bytes;
	if (seq_after(end, edge)) {
		uint32_t beyond = end - edge;

		segment->bytes -= beyond < segment->bytes ? beyond : segment->bytes;
		segment->flags &= (uint16_t)~TCP_FIN;
	}
}

/* Of data with a gap before it, what was there already (RFC 2883 4.2). */
static void note_twice_ahead(struct utcp *utcp, struct utcp_conn *conn,
			     const struct segment *segment)
{
	const struct gaps_table *table = gaps_at(&utcp->gaps, conn->gaps);
	struct seq_range had;

	if (!table || !conn->sack_ok)
		return;
	had = reassembly_overlap(&table->reassembly, segment->seq, segment->seq + segment->bytes);
	if (had.begin != had.end)
		gaps_note_twice(&utcp->gaps, &conn->gaps, had.begin, had.end);
}

/* Data with a gap before it is kept at its place, and the peer is told of the gap at once. */
static void keep_out_of_order(struct utcp *utcp, struct utcp_conn *conn,
			      const struct segment *segment)
{
	uint32_t offset = segment->seq - conn->rcv_nxt;

	note_twice_ahead(utcp, conn, segment);
	if (gaps_add(&utcp->gaps, &conn->gaps, segment->seq, segment->seq + segment->bytes)) {
		receive_store(&conn->recv, offset, segment->data, segment->bytes);
		utcp->counters.ooo_segments++;
	} else {
		utcp->counters.ooo_dropped++;
	}
}

void receive_payload(struct utcp *utcp, struct utcp_conn *conn, struct segment *segment,
		     uint64_t now_ns)
{
	uint32_t came = segment->bytes, reach;

	receive_note_size(conn, segment);
	receive_note_twice(utcp, conn, segment);
	trim(conn, segment);
	if (segment->bytes == 0) {
		if (came > 0) /* none of it was let in: that is unacceptable, and answered so */
			tcp_ack_soon(utcp, conn);
		return;
	}
	if (segment->seq != conn->rcv_nxt) {
		keep_out_of_order(utcp, conn, segment);
		duplicate_ack_soon(utcp, conn);
		return;
	}
	receive_store(&conn->recv, 0, segment->data, segment->bytes);
	reach = segment->seq + segment->bytes;
	if (conn->gaps != SLAB_NONE) {
		reach = gaps_take(&utcp->gaps, &conn->gaps, reach);
		tcp_ack_soon(utcp, conn); /* it filled a gap (RFC 5681 4.2) */
	}
	receive_deliver(utcp, conn, reach - conn->rcv_nxt);
	receive_schedule_ack(utcp, conn, now_ns);
}

/* Remembers where the peer's stream ends. A FIN before data that already came is a lie and is
 * ignored. */
static void note_fin(const struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment)
{
	const struct gaps_table *table = gaps_at(&utcp->gaps, conn->gaps);
	uint32_t fin_seq = segment->seq + segment->bytes;

	if (!(segment->flags & TCP_FIN) || conn->fin_known || seq_before(fin_seq, conn->rcv_nxt))
		return;
	if (table && reassembly_reaches_beyond(&table->reassembly, fin_seq))
		return;
	conn->fin_known = true;
	conn->fin_seq = fin_seq;
}

void receive_fin(struct utcp *utcp, struct utcp_conn *conn, const struct segment *segment,
		 uint64_t now_ns)
{
	note_fin(utcp, conn, segment);
	if (!conn->fin_known)
		return;
	if (conn->fin_seq != conn->rcv_nxt) {
		if (segment->bytes == 0 && (segment->flags & TCP_FIN))
			duplicate_ack_soon(utcp, conn); /* a FIN ahead of data: the gap is news */
		return;
	}
	conn->rcv_nxt++;
	conn->rcv_edge = seq_max(conn->rcv_edge, conn->rcv_nxt); /* it may stand just behind */
	utcp_post(utcp, conn, UTCP_FINISHED);
	tcp_ack_soon(utcp, conn);
	switch (conn->state) {
	case CONN_ESTABLISHED:
		conn_set_state(conn, CONN_CLOSE_WAIT);
		break;
	case CONN_FIN_WAIT_1:
		conn_set_state(conn, CONN_CLOSING);
		break;
	default:
		close_enter_time_wait(utcp, conn, now_ns);
		break;
	}
}
