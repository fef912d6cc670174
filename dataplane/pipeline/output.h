/*
 * output: a connection's way into the transport's send memory, and past it from files.
 *
 * What is committed is counted as queued until it is written; a file's bytes are written at once.
 * The delivery policy is asked in one place, output_complete, which is told of complete responses
 * alone.
 *
 * Plane: turn.
 */
#ifndef WEIR_PIPELINE_OUTPUT_H
#define WEIR_PIPELINE_OUTPUT_H

#include "dataplane/pipeline/conn.h"

/* Writes what is queued. */
static inline void output_write(struct conn *conn)
{
	if (conn->queued_bytes == 0)
		return;
	conn->queued_bytes = 0;
	tp_flush(conn->world->tp, conn->handle);
}

/* Whether the connection has had its share of the turn's bytes. */
static inline bool output_sated(struct conn *conn)
{
	return conn->sated = conn->committed_bytes >= conn->sated_bytes;
}

/*
 * Lends room for `bytes`; where there is none, what is queued is written, so that room comes. None
 * is lent either to who has had its share; the next turn visits it again.
 */
static inline bool output_reserve(struct conn *conn, size_t bytes, struct room_writer *writer_out)
{
	struct conn_world *world = conn->world;
	unsigned count;

	if (output_sated(conn)) {
		output_write(conn);
		return false;
	}
	count = tp_reserve(world->tp, conn->handle, bytes, world->rooms);
	world->room_count = count;
	conn->stalled = count == 0;
	if (count == 0) {
		world->counters->stalls++;
		output_write(conn);
		return false;
	}
	*writer_out = room_writer_of(world->rooms, count);
	return true;
}

/* The first `bytes` of the room are to be sent. */
static inline void output_commit(struct conn *conn, size_t bytes)
{
	tp_commit(conn->world->tp, conn->handle, bytes);
	conn->queued_bytes += bytes;
	conn->committed_bytes += bytes;
}

/* Whether the transport can send from files at all. */
static inline bool output_sends_files(const struct conn *conn)
{
	return conn->world->tp->ops->send_file != NULL;
}

/*
 * Sends from a file behind what is queued, at most `bytes` and the rest of the turn's share. As
 * tp_ops.send_file; 0 also to who has had its share.
 */
static inline int64_t output_send_file(struct conn *conn, int fd, uint64_t offset, uint64_t bytes)
{
	struct tp *tp = conn->world->tp;
	uint64_t share = conn->sated_bytes - conn->committed_bytes;
	int64_t sent;

	output_write(conn);
	if (output_sated(conn))
		return 0;
	sent = tp->ops->send_file(tp, conn->handle, fd, offset, bytes < share ? bytes : share);
	conn->stalled = sent == 0;
	conn->world->counters->stalls += sent == 0;
	if (sent > 0)
		conn->committed_bytes += (uint64_t)sent;
	return sent;
}

/* Responses have been committed whole: the only place where the policy decides. */
static inline void output_complete(struct conn *conn)
{
	if (delivery_due(&conn->world->delivery, conn->queued_bytes))
		output_write(conn);
}

#endif
