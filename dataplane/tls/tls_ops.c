/*
 * What the user of a connection calls in a turn. Plain connections go straight to the lower
 * transport; the others work on the connection's rings.
 */
#include "dataplane/tls/instance.h"

#include "dataplane/core/check.h"

static struct tls *tls_of(struct tp *tp)
{
	return (struct tls *)tp;
}

static struct tls_conn *conn_of(struct tp_conn *conn)
{
	return (struct tls_conn *)conn;
}

static bool is_plain(const struct tls_conn *conn)
{
	return conn->ssl == NULL;
}

/* Whether anything may still be sent. */
static bool is_sending(const struct tls_conn *conn)
{
	return !conn->over && !conn->finish_wanted;
}

/* To be sent at the next poll, if nobody flushes before. */
static void mark(struct tls_conn *conn)
{
	if (!list_linked(&conn->marked))
		list_push(&conn->tls->marked, &conn->marked);
}

unsigned tls_peek(struct tp *tp, struct tp_conn *handle, struct span *spans, unsigned room)
{
	struct tls_conn *conn = conn_of(handle);
	struct span both[2];
	unsigned count;

	if (is_plain(conn))
		return conn->lower ? tp_peek(tls_of(tp)->lower, conn->lower, spans, room) : 0;
	count = ring_spans(&conn->recv, 0, ring_used(&conn->recv), both);
	for (unsigned i = 0; i < count && i < room; i++)
		spans[i] = both[i];
	return count < room ? count : room;
}

void tls_consume(struct tp *tp, struct tp_conn *handle, size_t bytes)
{
	struct tls_conn *conn = conn_of(handle);

	if (is_plain(conn)) {
		tp_consume(tls_of(tp)->lower, conn->lower, bytes);
		return;
	}
	ring_consume(&conn->recv, (uint32_t)bytes);
	if (conn->paused && conn->lower && !conn->over && !list_linked(&conn->runnable))
		list_push(&conn->tls->runnable, &conn->runnable);
}

unsigned tls_reserve(struct tp *tp, struct tp_conn *handle, size_t bytes, struct room rooms[2])
{
	struct tls_conn *conn = conn_of(handle);

	if (!is_sending(conn))
		return 0;
	if (is_plain(conn))
		return tp_reserve(tls_of(tp)->lower, conn->lower, bytes, rooms);
	conn->lent_bytes = 0;
	if (ring_free(&conn->send) < bytes) {
		conn->refused_bytes = (uint32_t)bytes;
		return 0;
	}
	conn->lent_bytes = (uint32_t)bytes;
	return ring_rooms(&conn->send, conn->lent_bytes, rooms);
}

void tls_commit(struct tp *tp, struct tp_conn *handle, size_t bytes)
{
	struct tls_conn *conn = conn_of(handle);

	if (!is_sending(conn))
		return;
	if (is_plain(conn)) {
		tp_commit(tls_of(tp)->lower, conn->lower, bytes);
		return;
	}
	CHECK(bytes <= conn->lent_bytes);
	conn->lent_bytes = 0;
	ring_commit(&conn->send, (uint32_t)bytes);
	conn->unwritten_bytes += (uint32_t)bytes;
	mark(conn);
}

void tls_flush(struct tp *tp, struct tp_conn *handle)
{
	struct tls_conn *conn = conn_of(handle);

	if (!is_sending(conn))
		return;
	if (is_plain(conn)) {
		tp_flush(tls_of(tp)->lower, conn->lower);
		return;
	}
	list_remove(&conn->marked);
	tls_conn_send(conn);
}

void tls_finish(struct tp *tp, struct tp_conn *handle)
{
	struct tls_conn *conn = conn_of(handle);

	if (!is_sending(conn))
		return;
	conn->finish_wanted = true;
	if (is_plain(conn)) {
		tp_finish(tls_of(tp)->lower, conn->lower);
		return;
	}
	mark(conn);
}

/* Nothing else is told about an aborted connection, also if another end was to be told. */
void tls_abort(struct tp *tp, struct tp_conn *handle)
{
	struct tls_conn *conn = conn_of(handle);

	if (conn->over && !(conn->bits & TP_CLOSED))
		return; /* its last event was already returned */
	tls_conn_drop(conn, TP_ABORTED);
	conn->bits = TP_CLOSED;
	conn->reason = TP_ABORTED;
	conn->fault = (struct tp_fault){0};
}

struct tp_fault tls_fault(const struct tp *tp, const struct tp_conn *handle)
{
	return ((const struct tls_conn *)handle)->fault;
}
