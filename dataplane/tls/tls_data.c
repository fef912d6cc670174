/*
 * What a connection that stands receives and sends: records opened from what the lower transport
 * lends, and what its user committed sealed into that transport's send memory.
 */
#include "dataplane/tls/instance.h"

/* --- receiving --- */

/*
 * Where decrypted bytes may go, in one piece. What the lower transport still held when it closed is
 * taken in whole: the ring has a second half for it.
 */
static struct room next_room(struct tls_conn *conn)
{
	uint32_t used = ring_used(&conn->recv);
	uint32_t bound = conn->lower_closed ? conn->recv.capacity : conn->tls->limits.recv_bytes;
	struct room rooms[2] = {{0}};

	if (used < bound)
		ring_rooms(&conn->recv, bound - used, rooms);
	return rooms[0];
}

static void take_plaintext(struct tls_conn *conn, size_t bytes)
{
	struct tls_counters *counters = &conn->tls->counters;

	ring_commit(&conn->recv, (uint32_t)bytes);
	counters->record_bytes_in += bytes;
	counters->records_in += SSL_pending(conn->ssl) == 0;
	tls_conn_extend_end(conn);
	tls_conn_report(conn, TP_READABLE);
}

static void end_of_peer(struct tls_conn *conn)
{
	if (conn->peer_ended)
		return;
	conn->peer_ended = true;
	tls_conn_extend_end(conn);
	tls_conn_report(conn, TP_FINISHED);
}

/* Whether anything is there that has not been read: lent, or with OpenSSL. */
static bool is_more_there(const struct tls_conn *conn)
{
	return conn->tls->input.left > 0 || SSL_has_pending(conn->ssl);
}

/* One read of OpenSSL; whether another can bring more. */
static bool receive_once(struct tls_conn *conn, struct room room)
{
	size_t bytes;
	int done;

	conn->tls->starved = false;
	tls_forget_errors();
	done = SSL_read_ex(conn->ssl, room.base, room.bytes, &bytes);
	if (done) {
		take_plaintext(conn, bytes);
		return is_more_there(conn);
	}
	switch (SSL_get_error(conn->ssl, done)) {
	case SSL_ERROR_WANT_READ: /* also behind each message that is not data */
		if (conn->key_updates <= TLS_KEY_UPDATES_MAX)
			return !conn->tls->starved;
		break;
	case SSL_ERROR_WANT_WRITE: /* an answer of OpenSSL's own waits for send memory */
		return false;
	case SSL_ERROR_ZERO_RETURN:
		end_of_peer(conn);
		return false;
	default:
		break;
	}
	tls_conn_break_off(conn);
	if (conn->key_updates > TLS_KEY_UPDATES_MAX)
		conn->fault.text = "too many KeyUpdates";
	return false;
}

/* Decrypts what was lent, as far as there is room. */
static void receive_lent(struct tls_conn *conn)
{
	struct room room;

	while (conn->state == TLS_HANDSHAKE && tls_conn_shake_hands(conn))
		;
	if (conn->state != TLS_OPEN && conn->state != TLS_ENDING)
		return;
	do {
		room = next_room(conn);
		conn->paused = room.bytes == 0;
	} while (!conn->paused && !conn->peer_ended && receive_once(conn, room));
}

/* What comes behind the end, or to a connection that is broken, is of no use to anybody. */
static bool takes_no_more(const struct tls_conn *conn)
{
	return conn->peer_ended || conn->state == TLS_LINGERING;
}

/*
 * Borrows what the lower transport holds, works on it, and gives back what was used. Whether it
 * may hold more than it lent.
 */
static bool receive_some(struct tls_conn *conn)
{
	struct tls *tls = conn->tls;
	unsigned count = tp_peek(tls->lower, conn->lower, tls->input_spans, LIMIT_SPANS);
	size_t lent, used;

	tls->input = span_reader_of(tls->input_spans, count);
	lent = tls->input.left;
	conn->paused = false;
	if (!takes_no_more(conn))
		receive_lent(conn);
	conn->paused = !takes_no_more(conn) && (conn->paused || tls->input.left > 0);
	used = takes_no_more(conn) ? lent : lent - tls->input.left;
	tls->input = (struct span_reader){0};
	if (used > 0)
		tp_consume(tls->lower, conn->lower, used);
	return used > 0 && count == LIMIT_SPANS;
}

static void receive(struct tls_conn *conn)
{
	while (receive_some(conn) && !conn->paused)
		;
	if (conn->lower_finished && !conn->paused && !takes_no_more(conn))
		tls_conn_end_truncated(conn);
}

/* Whether its next step is left to the next turn; what the stack will not lend again is not. */
static bool waits_its_turn(const struct tls_conn *conn)
{
	return conn->state == TLS_HANDSHAKE && conn->tls->steps_left == 0 && !conn->lower_closed;
}

void tls_conn_advance(struct tls_conn *conn)
{
	if (!conn->lower || conn->state == TLS_CONNECTING)
		return;
	if (waits_its_turn(conn)) {
		list_push(&conn->tls->runnable, &conn->runnable);
		return;
	}
	receive(conn);
	tls_conn_send(conn);
	if (conn->lower)
		tls_conn_flush_lower(conn);
}

/* --- sending --- */

/* The next record's bytes in one piece: in place, or gathered where they wrap. */
static const uint8_t *next_record(struct tls_conn *conn, uint32_t bytes)
{
	struct span spans[2];
	struct span_reader reader = span_reader_of(spans, ring_spans(&conn->send, 0, bytes, spans));

	return span_reader_peek(&reader, conn->tls->gathered, bytes);
}

/* An emptied ring starts again at its base, but not under a room that is lent. */
static void sealed(struct tls_conn *conn, uint32_t bytes)
{
	if (conn->lent_bytes == 0)
		ring_consume(&conn->send, bytes);
	else
		ring_pass(&conn->send, bytes);
}

static void count_record(struct tls_conn *conn, size_t bytes)
{
	struct tls_counters *counters = &conn->tls->counters;

	counters->records_out++;
	counters->record_bytes_out += bytes;
}

/*
 * One record, or the rest of one that the lower transport had refused; whether it left. A record is
 * handed to OpenSSL again with the size it had: it is sealed already.
 */
static bool seal_record(struct tls_conn *conn)
{
	uint32_t used = ring_used(&conn->send);
	uint32_t bytes = conn->sealing_bytes	   ? conn->sealing_bytes
			 : used < TLS_RECORD_BYTES ? used
						   : TLS_RECORD_BYTES;
	size_t written;
	int done;

	tls_forget_errors();
	done = SSL_write_ex(conn->ssl, next_record(conn, bytes), bytes, &written);
	if (done) {
		conn->sealing_bytes = 0;
		sealed(conn, (uint32_t)written);
		count_record(conn, written);
		return true;
	}
	switch (SSL_get_error(conn->ssl, done)) {
	case SSL_ERROR_WANT_WRITE:
	case SSL_ERROR_WANT_READ:
		conn->sealing_bytes = bytes;
		return false;
	default:
		tls_conn_break_off(conn);
		return false;
	}
}

/* Refused by the lower transport, what it has is flushed, which may make room at once. */
static void seal(struct tls_conn *conn)
{
	while (conn->state == TLS_OPEN && ring_used(&conn->send) > 0) {
		if (seal_record(conn))
			continue;
		if (conn->state != TLS_OPEN || !conn->unflushed)
			return;
		tls_conn_flush_lower(conn);
	}
}

static void answer_refused(struct tls_conn *conn)
{
	if (!conn->refused_bytes || ring_free(&conn->send) < conn->refused_bytes)
		return;
	conn->refused_bytes = 0;
	tls_conn_report(conn, TP_WRITABLE);
}

/* close_notify behind all that was committed, then the lower transport's end. */
static void end_our_side(struct tls_conn *conn)
{
	int done;

	tls_forget_errors();
	done = SSL_shutdown(conn->ssl);
	if (done < 0) {
		if (SSL_get_error(conn->ssl, done) != SSL_ERROR_WANT_WRITE)
			tls_conn_break_off(conn);
		return;
	}
	tls_conn_set_state(conn, TLS_ENDING);
	conn->end_bound_ns = conn->tls->now_ns + TLS_END_TIMEOUTS * conn->tls->shutdown_timeout_ns;
	tls_conn_extend_end(conn);
	tls_conn_flush_lower(conn);
	tp_finish(conn->tls->lower, conn->lower);
}

void tls_conn_send(struct tls_conn *conn)
{
	if (conn->state != TLS_OPEN || conn->lower_closed)
		return;
	conn->tls->counters.runs_out += conn->unwritten_bytes > 0;
	conn->unwritten_bytes = 0;
	seal(conn);
	if (conn->state != TLS_OPEN)
		return;
	answer_refused(conn);
	tls_conn_flush_lower(conn);
	if (conn->finish_wanted && ring_used(&conn->send) == 0)
		end_our_side(conn);
}
