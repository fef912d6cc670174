#include "dataplane/pipeline/conn.h"

#include "dataplane/core/check.h"
#include "dataplane/core/limits.h"

#include <string.h>

/* What one step of the machine asks of the visit. */
enum step {
	STEP_ON,    /* take the next step */
	STEP_WAIT,  /* input or send memory is short */
	STEP_YIELD, /* the turn's share is used up */
};

/* Legal transitions: bit (1 << to) in the row of `from`. Any state may end. */
static const uint8_t conn_transitions[CONN_STATE_COUNT] = {
	[CONN_HEAD] = 1 << CONN_BODY | 1 << CONN_RESPOND | 1 << CONN_REJECT | 1 << CONN_ENDED,
	[CONN_BODY] = 1 << CONN_RESPOND | 1 << CONN_ENDED,
	[CONN_RESPOND] = 1 << CONN_HEAD | 1 << CONN_ENDED,
	[CONN_REJECT] = 1 << CONN_ENDED,
	[CONN_ENDED] = 1 << CONN_ENDED,
};

static void set_state(struct conn *conn, enum conn_state to)
{
	ASSERT(conn_transitions[conn->state] & 1 << to);
	conn->state = to;
}

void conn_init(struct conn *conn, struct tp_conn *handle)
{
	*conn = (struct conn){.handle = handle, .state = CONN_HEAD};
	list_init(&conn->all);
	list_init(&conn->ready);
	list_init(&conn->lingering);
}

static void write_queued(struct conn_world *world, struct conn *conn)
{
	if (conn->queued_bytes == 0)
		return;
	conn->queued_bytes = 0;
	tp_flush(world->tp, conn->handle);
}

void conn_abort(struct conn_world *world, struct conn *conn)
{
	conn->aborted = true;
	set_state(conn, CONN_ENDED);
	tp_abort(world->tp, conn->handle);
}

/* Ends our side behind everything committed. */
static enum step end(struct conn_world *world, struct conn *conn)
{
	write_queued(world, conn);
	tp_finish(world->tp, conn->handle);
	set_state(conn, CONN_ENDED);
	return STEP_ON;
}

/* The request in hand can not be completed: the peer ended within it. */
static enum step cut_short(struct conn_world *world, struct conn *conn)
{
	world->counters->cut_short++;
	if (conn->state == CONN_RESPOND && !conn->head_due) {
		/*
		 * half a response is out: only a reset tells the peer that the rest will not come
		 */
		conn_abort(world, conn);
		return STEP_WAIT;
	}
	return end(world, conn);
}

/* No complete head is there. */
static enum step await_head(struct conn_world *world, struct conn *conn, size_t partial_bytes)
{
	if (!conn->peer_finished && !world->draining)
		return STEP_WAIT;
	return partial_bytes > 0 ? cut_short(world, conn) : end(world, conn);
}

static void begin_request(struct conn_world *world, struct conn *conn)
{
	const struct handler *handler = &world->config.handler;

	world->counters->requests++;
	world->counters->request_bytes += conn->request.body_bytes;
	conn->request_left = conn->request.body_bytes;
	conn->response_left = handler_response_bytes(handler, conn->request.body_bytes);
	conn->head_due = true;
	set_state(conn, handler_uses_body(handler) ? CONN_RESPOND : CONN_BODY);
}

static enum step step_head(struct conn_world *world, struct conn *conn, struct span_reader *reader,
			   unsigned *share)
{
	enum frame_status status;

	if (*share == 0 && reader->left > 0)
		return STEP_YIELD;
	status = frame_decode(reader, world->config.frame_max, &conn->request);
	switch (status) {
	case FRAME_OK:
		(*share)--;
		begin_request(world, conn);
		return STEP_ON;
	case FRAME_NEED_MORE:
		return await_head(world, conn, reader->left);
	case FRAME_TOO_SHORT:
	case FRAME_TOO_LONG:
		break;
	}
	conn->fault = status;
	set_state(conn, CONN_REJECT);
	return STEP_ON;
}

static enum step step_body(struct conn_world *world, struct conn *conn, struct span_reader *reader)
{
	size_t bytes = reader->left < conn->request_left ? reader->left : conn->request_left;

	span_reader_skip(reader, bytes);
	conn->request_left -= (uint32_t)bytes;
	if (conn->request_left > 0)
		return conn->peer_finished ? cut_short(world, conn) : STEP_WAIT;
	set_state(conn, CONN_RESPOND);
	return STEP_ON;
}

/* Lends room for `bytes`; where there is none, what is queued is written, so that room comes. */
static unsigned reserve_or_write(struct conn_world *world, struct conn *conn, size_t bytes,
				 struct room rooms[2])
{
	unsigned count = tp_reserve(world->tp, conn->handle, bytes, rooms);

	if (count == 0) {
		world->counters->stalls++;
		write_queued(world, conn);
	}
	return count;
}

static void encode_head(struct room_writer *writer, const struct frame_head *head)
{
	uint8_t bytes[FRAME_HEAD_BYTES];
	struct room piece = room_writer_piece(writer);

	if (piece.bytes >= FRAME_HEAD_BYTES) {
		frame_encode(piece.base, head);
		room_writer_advance(writer, FRAME_HEAD_BYTES);
		return;
	}
	frame_encode(bytes, head);
	room_writer_put(writer, bytes, FRAME_HEAD_BYTES);
}

/* Responses have been committed whole: the only place where the policy decides. */
static void write_if_due(struct conn_world *world, struct conn *conn)
{
	if (delivery_due(&world->config.delivery, conn->queued_bytes))
		write_queued(world, conn);
}

static void complete_response(struct conn_world *world, struct conn *conn)
{
	world->counters->responses++;
	set_state(conn, CONN_HEAD);
	write_if_due(world, conn);
}

/*
 * Produces the next chunk of the response; a response within LIMIT_CHUNK_BYTES is one chunk, head
 * and all.
 */
static enum step step_respond(struct conn_world *world, struct conn *conn,
			      struct span_reader *reader)
{
	const struct handler *handler = &world->config.handler;
	size_t body =
		conn->response_left < LIMIT_CHUNK_BYTES ? conn->response_left : LIMIT_CHUNK_BYTES;
	size_t bytes = body + (conn->head_due ? FRAME_HEAD_BYTES : 0);
	struct room_writer writer;
	struct room rooms[2];
	unsigned count;

	if (handler_uses_body(handler) && reader->left < body)
		return conn->peer_finished ? cut_short(world, conn) : STEP_WAIT;
	count = reserve_or_write(world, conn, bytes, rooms);
	if (count == 0)
		return STEP_WAIT;
	writer = room_writer_of(rooms, count);
	if (conn->head_due)
		encode_head(&writer, &(struct frame_head){.id = conn->request.id,
							  .opcode = conn->request.opcode,
							  .flags = FRAME_START | FRAME_END,
							  .body_bytes = conn->response_left});
	handler_produce(handler, reader, &writer, body);
	tp_commit(world->tp, conn->handle, bytes);
	conn->head_due = false;
	conn->queued_bytes += bytes;
	conn->response_left -= (uint32_t)body;
	world->counters->response_bytes += body;
	if (conn->response_left == 0)
		complete_response(world, conn);
	return STEP_ON;
}

static enum step step_reject(struct conn_world *world, struct conn *conn)
{
	const char *text = frame_status_text(conn->fault);
	size_t text_bytes = strlen(text);
	struct room_writer writer;
	struct room rooms[2];
	unsigned count = reserve_or_write(world, conn, FRAME_HEAD_BYTES + text_bytes, rooms);

	if (count == 0)
		return STEP_WAIT;
	writer = room_writer_of(rooms, count);
	encode_head(&writer, &(struct frame_head){.flags = FRAME_START | FRAME_END | FRAME_ERROR,
						  .body_bytes = (uint32_t)text_bytes});
	room_writer_put(&writer, (const uint8_t *)text, text_bytes);
	tp_commit(world->tp, conn->handle, FRAME_HEAD_BYTES + text_bytes);
	conn->queued_bytes += FRAME_HEAD_BYTES + text_bytes;
	conn->linger_until_ns = world->now_ns + LIMIT_LINGER_NS;
	world->counters->errors++;
	return end(world, conn);
}

/* Drops what still comes in, within a bound, so that the error frame is not lost to a reset. */
static enum step step_ended(struct conn_world *world, struct conn *conn, struct span_reader *reader)
{
	conn->dropped_bytes += reader->left;
	span_reader_skip(reader, reader->left);
	if (conn->dropped_bytes > LIMIT_LINGER_BYTES)
		conn_abort(world, conn);
	return STEP_WAIT;
}

/* --- runs of requests --- */

/*
 * Most of the time whole requests stand one behind the other, and the answers to all of them find
 * room in one piece. Such a run is answered in one go, with one reserve and one commit: what it
 * writes, leaves and counts as the server's is what the steps above would have, one request after
 * the other.
 *
 * The transport's own count shows one difference. How much room there is cannot be asked without a
 * reserve, so where the send memory is short the run is refused first, and then the step for which
 * there is no room either: two refused reserves in place of one. The transport remembers the later,
 * smaller one, so WRITABLE comes when it would have come anyhow.
 */
struct run {
	unsigned requests;
	size_t request_bytes;  /* of whole frames */
	size_t response_bytes; /* likewise */
};

/* A run asks for no more room at once than a single response may. */
enum { RUN_BYTES_MAX = FRAME_HEAD_BYTES + LIMIT_CHUNK_BYTES };

/* The run at the beginning of `piece`; its last response is the first that makes a write due. */
static struct run find_run(const struct conn_world *world, const struct conn *conn,
			   struct span piece, unsigned requests_max)
{
	size_t response_bytes = FRAME_HEAD_BYTES + world->config.handler.response_bytes;
	size_t due_bytes = world->config.delivery.threshold_bytes - conn->queued_bytes;
	struct run run = {0};

	ASSERT(conn->queued_bytes < world->config.delivery.threshold_bytes);
	while (run.requests < requests_max && run.response_bytes < due_bytes &&
	       run.response_bytes + response_bytes <= RUN_BYTES_MAX) {
		size_t frame_bytes =
			frame_whole(piece.base + run.request_bytes, piece.bytes - run.request_bytes,
				    world->config.frame_max);

		if (frame_bytes == 0)
			break;
		run.requests++;
		run.request_bytes += frame_bytes;
		run.response_bytes += response_bytes;
	}
	return run;
}

/* Writes the run's responses at `to`: all bodies in one sweep, then the heads into it. */
static void write_run(const struct conn_world *world, const struct run *run, const uint8_t *request,
		      uint8_t *to)
{
	uint32_t body_bytes = world->config.handler.response_bytes;

	memset(to, FRAME_FILL_BYTE, run->response_bytes);
	for (unsigned i = 0; i < run->requests; i++) {
		frame_encode_answer(to, request, body_bytes);
		to += FRAME_HEAD_BYTES + body_bytes;
		request += FRAME_LENGTH_BYTES + bytes_get_le32(request + FRAME_OFFSET_LENGTH);
	}
}

static void account_run(struct conn_world *world, const struct run *run)
{
	size_t heads_bytes = (size_t)run->requests * FRAME_HEAD_BYTES;

	world->counters->requests += run->requests;
	world->counters->request_bytes += run->request_bytes - heads_bytes;
	world->counters->responses += run->requests;
	world->counters->response_bytes += run->response_bytes - heads_bytes;
}

/*
 * Answers runs as long as there are any. False if the transport lacked room in one piece: then
 * steps go on as far as there is room, and no other run is tried in this visit.
 */
static bool serve_runs(struct conn_world *world, struct conn *conn, struct span_reader *reader,
		       unsigned *share)
{
	for (;;) {
		struct span piece = span_reader_piece(reader);
		struct run run = find_run(world, conn, piece, *share);
		struct room rooms[2];

		if (run.requests == 0)
			return true;
		if (tp_reserve(world->tp, conn->handle, run.response_bytes, rooms) != 1)
			return false;
		write_run(world, &run, piece.base, rooms[0].base);
		tp_commit(world->tp, conn->handle, run.response_bytes);
		span_reader_skip(reader, run.request_bytes);
		*share -= run.requests;
		account_run(world, &run);
		conn->queued_bytes += run.response_bytes;
		write_if_due(world, conn);
	}
}

static enum step take_step(struct conn_world *world, struct conn *conn, struct span_reader *reader,
			   unsigned *share)
{
	switch (conn->state) {
	case CONN_HEAD:
		return step_head(world, conn, reader, share);
	case CONN_BODY:
		return step_body(world, conn, reader);
	case CONN_RESPOND:
		return step_respond(world, conn, reader);
	case CONN_REJECT:
		return step_reject(world, conn);
	case CONN_ENDED:
	case CONN_STATE_COUNT:
		break;
	}
	return step_ended(world, conn, reader);
}

enum conn_visit conn_serve(struct conn_world *world, struct conn *conn)
{
	struct span spans[LIMIT_SPANS];
	unsigned count = conn->aborted ? 0 : tp_peek(world->tp, conn->handle, spans, LIMIT_SPANS);
	struct span_reader reader = span_reader_of(spans, count);
	unsigned share = world->config.turn_requests;
	bool runs = handler_answers_alike(&world->config.handler);
	size_t lent = reader.left;
	enum step step;

	do {
		if (runs && conn->state == CONN_HEAD)
			runs = serve_runs(world, conn, &reader, &share);
		step = take_step(world, conn, &reader, &share);
	} while (step == STEP_ON);
	if (conn->aborted)
		return CONN_WAITS;
	if (lent > reader.left)
		tp_consume(world->tp, conn->handle, lent - reader.left);
	write_queued(world, conn);
	if (step == STEP_YIELD) {
		world->counters->yields++;
		return CONN_YIELDS;
	}
	/* a full array may hide more input, which brings no event of its own */
	return count == LIMIT_SPANS && lent > reader.left ? CONN_YIELDS : CONN_WAITS;
}
