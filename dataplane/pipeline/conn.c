#include "dataplane/pipeline/conn.h"

#include "dataplane/core/check.h"
#include "dataplane/pipeline/body.h"
#include "dataplane/pipeline/output.h"
#include "dataplane/pipeline/refusal.h"

/* What one step of the machine asks of the visit. */
enum step {
	STEP_ON,    /* take the next step */
	STEP_WAIT,  /* input, send memory or an answer is awaited */
	STEP_YIELD, /* the turn's share is used up */
};

/* Legal transitions: bit (1 << to) in the row of `from`. Any state may end. */
static const uint8_t conn_transitions[CONN_STATE_COUNT] = {
	[CONN_HEAD] = 1 << CONN_EXCHANGE | 1 << CONN_REJECT | 1 << CONN_ENDED,
	[CONN_EXCHANGE] = 1 << CONN_HEAD | 1 << CONN_DROP | 1 << CONN_REJECT | 1 << CONN_ENDED,
	[CONN_DROP] = 1 << CONN_HEAD | 1 << CONN_ENDED,
	[CONN_REJECT] = 1 << CONN_ENDED,
	[CONN_ENDED] = 1 << CONN_ENDED,
};

static void set_state(struct conn *conn, enum conn_state to)
{
	ASSERT(conn_transitions[conn->state] & 1 << to);
	conn->state = to;
}

static void arm(struct conn *conn)
{
	uint64_t at_ns = deadline_at(&conn->deadline, &conn->world->timeouts);

	if (at_ns != TIMER_NEVER)
		world_arm(conn->world, &conn->deadline.timer, at_ns);
}

void conn_init(struct conn *conn, struct conn_world *world, struct tp_conn *handle)
{
	*conn = (struct conn){.state = CONN_HEAD, .world = world, .handle = handle};
	list_init(&conn->all);
	list_init(&conn->ready);
	deadline_init(&conn->deadline);
	deadline_note(&conn->deadline, DEADLINE_HEAD, world->now_ns, 0);
	arm(conn);
}

/* --- ends --- */

void conn_forget_head(struct conn *conn)
{
	if (conn->head && conn->head != conn->world->head)
		slab_release(&conn->world->heads, conn->head);
	conn->head = NULL;
	conn->head_bytes = 0;
}

static void end_exchange(struct conn *conn)
{
	struct handler *handler = conn->exchange.handler;

	if (!handler)
		return;
	if (handler->ops->end)
		handler->ops->end(handler, &conn->exchange);
	conn->exchange.handler = NULL;
	if (conn->head_bytes > 0)
		conn_forget_head(conn);
}

void conn_closed(struct conn *conn)
{
	end_exchange(conn);
	timer_cancel(&conn->world->wheel, &conn->deadline.timer);
}

/* Resets it, whatever its state. */
static enum step reset(struct conn *conn)
{
	end_exchange(conn);
	conn->aborted = true;
	set_state(conn, CONN_ENDED);
	tp_abort(conn->world->tp, conn->handle);
	return STEP_WAIT;
}

/* Ends our side behind everything committed. */
static enum step end(struct conn *conn)
{
	end_exchange(conn);
	output_write(conn);
	tp_finish(conn->world->tp, conn->handle);
	set_state(conn, CONN_ENDED);
	return STEP_ON;
}

/* The request in hand can not be completed: the peer ended within it. */
static enum step cut_short(struct conn *conn)
{
	conn->world->counters->cut_short++;
	/* half a response is out: only a reset tells the peer that the rest will not come */
	if (conn->state == CONN_EXCHANGE && conn->exchange.out)
		return reset(conn);
	return end(conn);
}

/* The request in hand can not be completed: the codec's fault says why, as far as it still can. */
static enum step fail(struct conn *conn)
{
	if (conn->state == CONN_EXCHANGE && conn->exchange.out)
		return reset(conn);
	if (conn->state == CONN_DROP) { /* it has its answer */
		conn->lingers = true;
		return end(conn);
	}
	end_exchange(conn);
	set_state(conn, CONN_REJECT);
	return STEP_ON;
}

/* Whether what is missing can not come any more. */
static bool is_cut(const struct conn *conn)
{
	return conn->peer_finished && !conn->crowded;
}

/* --- exchanges --- */

/* No complete head is there. */
static enum step await_head(struct conn *conn)
{
	size_t partial_bytes = conn->reader->left;

	conn->partial = partial_bytes > 0;
	if (!is_cut(conn) && !conn->world->draining)
		return STEP_WAIT;
	return conn->partial ? cut_short(conn) : end(conn);
}

static enum step complete(struct conn *conn)
{
	struct codec_state *state = &conn->codec;

	conn->world->counters->responses++;
	end_exchange(conn);
	state->within = false;
	set_state(conn, state->body_ended ? CONN_HEAD : CONN_DROP);
	output_complete(conn);
	/* who waits to be asked for its body may or may not send it: nothing behind is certain */
	if ((state->close && state->body_ended) || state->expects)
		return end(conn);
	return STEP_ON;
}

/* A head that waits for room outlives the visit, and the scratch does not. */
static void keep_head(struct conn *conn)
{
	struct conn_world *world = conn->world;
	uint8_t *kept;

	if (conn->head_bytes == 0 || conn->head != world->head)
		return;
	kept = slab_acquire(&world->heads);
	CHECK(kept); /* there is one for each connection */
	memcpy(kept, world->head, conn->head_bytes);
	conn->head = kept;
}

/* The handler has done what it could. */
static enum step settle(struct conn *conn)
{
	struct exchange *exchange = &conn->exchange;

	if (exchange->finished)
		return complete(conn);
	if (exchange->broken)
		return reset(conn);
	if (conn->codec.fault.status)
		return fail(conn);
	if (conn->starved && is_cut(conn))
		return cut_short(conn);
	keep_head(conn);
	return STEP_WAIT;
}

static enum step begin_exchange(struct conn *conn, const struct request *request)
{
	struct conn_world *world = conn->world;
	struct exchange *exchange = &conn->exchange;

	world->counters->requests++;
	world->counters->request_bytes += conn->codec.body_left;
	conn->codec.within = true;
	conn->begun = conn->served = true;
	conn->partial = false;
	if (world->draining && conn->reader->left == 0)
		conn->codec.close = true;
	*exchange = (struct exchange){0};
	exchange->handler = refusal_or_handler(world, request, exchange);
	set_state(conn, CONN_EXCHANGE);
	exchange->handler->ops->begin(exchange->handler, exchange, request);
	if (world->codec->release)
		world->codec->release(world);
	return settle(conn);
}

static enum step step_head(struct conn *conn, unsigned *share)
{
	struct conn_world *world = conn->world;
	struct request request;

	if (conn->reader->left > 0) {
		if (*share == 0 || output_sated(conn))
			return STEP_YIELD;
		switch (world->codec->decode(world, &conn->codec, conn->reader, &request)) {
		case CODEC_OK:
			(*share)--;
			return begin_exchange(conn, &request);
		case CODEC_BAD:
			return fail(conn);
		case CODEC_MORE:
			break;
		}
	}
	return await_head(conn);
}

static enum step step_exchange(struct conn *conn)
{
	struct exchange *exchange = &conn->exchange;

	if (!exchange->broken)
		exchange->handler->ops->advance(exchange->handler, exchange);
	return settle(conn);
}

static enum step step_drop(struct conn *conn)
{
	if (body_drop(conn)) {
		set_state(conn, CONN_HEAD);
		return conn->codec.close ? end(conn) : STEP_ON;
	}
	if (conn->codec.fault.status)
		return fail(conn);
	return is_cut(conn) ? cut_short(conn) : STEP_WAIT;
}

static enum step step_reject(struct conn *conn)
{
	struct conn_world *world = conn->world;
	size_t bytes = world->codec->reject(world, &conn->codec, world->head);
	struct room_writer writer;

	if (!output_reserve(conn, bytes, &writer))
		return STEP_WAIT;
	room_writer_put(&writer, world->head, bytes);
	output_commit(conn, bytes);
	world->counters->errors++;
	conn->lingers = true;
	return end(conn);
}

/* Drops what still comes in, within a bound, so that the error is not lost to a reset. */
static enum step step_ended(struct conn *conn)
{
	conn->dropped_bytes += conn->reader->left;
	span_reader_skip(conn->reader, conn->reader->left);
	return conn->dropped_bytes > LIMIT_LINGER_BYTES ? reset(conn) : STEP_WAIT;
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
static void account_run(struct conn *conn, const struct run *run)
{
	struct server_counters *counters = conn->world->counters;

	counters->requests += run->requests;
	counters->request_bytes += run->request_body_bytes;
	counters->responses += run->requests;
	counters->response_bytes += run->response_body_bytes;
	conn->begun = conn->served = true;
}

/*
 * Answers runs as long as there are any. False if the transport lacked room in one piece: then
 * steps go on as far as there is room, and no other run is tried in this visit.
 */
static bool serve_runs(struct conn *conn, unsigned *share)
{
	struct conn_world *world = conn->world;

	while (*share > 0 && conn->reader->left > 0 && !output_sated(conn)) {
		struct span piece = span_reader_piece(conn->reader);
		struct run run;

		ASSERT(conn->queued_bytes < world->delivery.threshold_bytes);
		if (!world->codec->find_run(world, piece, *share,
					    world->delivery.threshold_bytes - conn->queued_bytes,
					    &run))
			return true;
		if (tp_reserve(world->tp, conn->handle, run.response_bytes, world->rooms) != 1)
			return false;
		world->codec->write_run(world, &run, piece.base, world->rooms[0].base);
		output_commit(conn, run.response_bytes);
		span_reader_pass(conn->reader, run.request_bytes);
		*share -= run.requests;
		account_run(conn, &run);
		output_complete(conn);
	}
	return true;
}

/* --- visits --- */

static enum step take_step(struct conn *conn, unsigned *share)
{
	switch (conn->state) {
	case CONN_HEAD:
		return step_head(conn, share);
	case CONN_EXCHANGE:
		return step_exchange(conn);
	case CONN_DROP:
		return step_drop(conn);
	case CONN_REJECT:
		return step_reject(conn);
	case CONN_ENDED:
	case CONN_STATE_COUNT:
		break;
	}
	return step_ended(conn);
}

static enum deadline_kind wait_kind(const struct conn *conn)
{
	switch (conn->state) {
	case CONN_HEAD:
		return conn->partial || !conn->served ? DEADLINE_HEAD : DEADLINE_IDLE;
	case CONN_EXCHANGE:
		if (conn->stalled)
			return DEADLINE_SEND;
		return conn->starved ? DEADLINE_BODY : DEADLINE_NONE;
	case CONN_DROP:
		return DEADLINE_BODY;
	case CONN_REJECT:
		return DEADLINE_SEND;
	case CONN_ENDED:
	case CONN_STATE_COUNT:
		break;
	}
	return conn->lingers ? DEADLINE_LINGER : DEADLINE_END;
}

/* A visit is over: what is awaited from now on. */
static void note_wait(struct conn *conn, size_t unread_bytes)
{
	enum deadline_kind kind = wait_kind(conn);
	uint64_t bytes = 0;

	if (kind == DEADLINE_BODY)
		bytes = conn->consumed_bytes + unread_bytes;
	else if (kind == DEADLINE_SEND)
		bytes = conn->committed_bytes;
	if (conn->begun && kind != DEADLINE_IDLE)
		conn->deadline.kind = DEADLINE_NONE; /* another request's */
	conn->begun = false;
	if (deadline_note(&conn->deadline, kind, conn->world->now_ns, bytes))
		arm(conn);
}

/* Takes steps as long as one leads on. */
static enum step take_steps(struct conn *conn)
{
	unsigned share = conn->world->turn_requests;
	bool runs = conn->world->runs;
	enum step step;

	do {
		if (runs && conn->state == CONN_HEAD && !conn->partial)
			runs = serve_runs(conn, &share);
		step = take_step(conn, &share);
	} while (step == STEP_ON);
	return step;
}

void conn_visit(struct conn *conn)
{
	struct conn_world *world = conn->world;
	struct span spans[LIMIT_SPANS];
	unsigned count = conn->aborted ? 0 : tp_peek(world->tp, conn->handle, spans, LIMIT_SPANS);
	struct span_reader reader = span_reader_of(spans, count);
	size_t lent = reader.left, used;
	enum step step;
	bool yields;

	if (list_linked(&conn->ready))
		list_remove(&conn->ready);
	conn->crowded = count == LIMIT_SPANS;
	conn->starved = conn->stalled = conn->sated = false;
	conn->sated_bytes = conn->committed_bytes + LIMIT_TURN_BYTES;
	conn->reader = &reader;
	step = take_steps(conn);
	conn->reader = NULL;
	if (conn->aborted)
		return;
	used = lent - reader.left;
	if (used > 0) {
		conn->consumed_bytes += used;
		tp_consume(world->tp, conn->handle, used);
	}
	output_write(conn);
	if (conn->state == CONN_HEAD && !conn->partial && conn->deadline.kind == DEADLINE_IDLE)
		conn->deadline.since_ns = world->now_ns; /* as most visits end */
	else
		note_wait(conn, reader.left);
	yields = step == STEP_YIELD || conn->sated;
	world->counters->yields += yields;
	/* a full array may hide more input, which brings no event of its own */
	if (yields || (conn->crowded && used > 0))
		list_push(&world->ready, &conn->ready);
}

/* --- deadlines --- */

/* The peer has had its time for a request. */
static void refuse_late(struct conn *conn, const char *text)
{
	conn->codec.fault = (struct codec_fault){408, text};
	fail(conn);
	conn_visit(conn);
}

static void act_overdue(struct conn *conn)
{
	struct server_counters *counters = conn->world->counters;

	switch (conn->deadline.kind) {
	case DEADLINE_NONE:
		return;
	case DEADLINE_HEAD:
		counters->timeouts_head++;
		if (conn->partial) {
			refuse_late(conn, "request head took too long");
			return;
		}
		break;
	case DEADLINE_BODY:
		counters->timeouts_body++;
		refuse_late(conn, "request body took too long");
		return;
	case DEADLINE_IDLE:
		counters->timeouts_idle++;
		break;
	case DEADLINE_SEND:
	case DEADLINE_END:
		counters->timeouts_send++;
		reset(conn);
		return;
	case DEADLINE_LINGER:
		reset(conn);
		return;
	}
	end(conn);
	conn_visit(conn);
}

void conn_overdue(struct conn *conn)
{
	if (conn->aborted)
		return;
	if (deadline_at(&conn->deadline, &conn->world->timeouts) <= conn->world->now_ns)
		act_overdue(conn);
	else
		arm(conn);
}

/* --- invariants --- */

static void check_exchange(const struct conn *conn)
{
	const struct exchange *exchange = &conn->exchange;
	const struct handler *handler = exchange->handler;

	CHECK((handler != NULL) == (conn->state == CONN_EXCHANGE));
	if (!handler)
		return;
	CHECK(!exchange->finished);
	CHECK(!exchange->broken || list_linked(&conn->ready)); /* its reset is due */
	if (handler->ops->check)
		handler->ops->check(handler, exchange);
}

void conn_check(const struct conn *conn)
{
	const struct conn_world *world = conn->world;
	const struct timer *timer = &conn->deadline.timer;
	const uint64_t tick_ns = 1u << TIMER_TICK_SHIFT;
	uint64_t at_ns = deadline_at(&conn->deadline, &world->timeouts);

	CHECK(conn->state < CONN_STATE_COUNT);
	CHECK(!conn->reader);
	CHECK(conn->head_bytes == 0 || (conn->state == CONN_EXCHANGE && conn->head != world->head));
	check_exchange(conn);
	if (conn->aborted) {
		CHECK(conn->state == CONN_ENDED);
		return;
	}
	CHECK(conn->queued_bytes == 0); /* whatever the delivery policy says */
	/* it fires when it is due, and the next sleep ends then, each to a tick */
	CHECK(at_ns == TIMER_NEVER || timer->at_ns <= at_ns + tick_ns);
	CHECK(timer->at_ns == TIMER_NEVER || world->wake_ns <= timer->at_ns + tick_ns);
}
