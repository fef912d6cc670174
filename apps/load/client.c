#include "apps/load/client.h"

#include "apps/load/dialect.h"
#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const client_refill_names[] = {"each", "window", NULL};

enum {
	CONNECTING_MAX = 64, /* connections opened at a time */
	SEND_BYTES_MAX = 64 * 1024 * 1024,
	ID_WORKER_SHIFT = 48, /* id = worker, connection, number on the connection */
	ID_CONN_SHIFT = 32,
};

_Static_assert(LIMIT_CONN_MAX <= 1 << (ID_WORKER_SHIFT - ID_CONN_SHIFT),
	       "a connection's index fits the id");

enum conn_state {
	CONN_UNOPENED,
	CONN_CONNECTING,
	CONN_OPEN,
	CONN_ENDING, /* we have finished or aborted it; only CLOSED is of interest */
	CONN_CLOSED,
};

/* A place in the window. */
struct slot {
	uint64_t due_ns;
	uint64_t sent_ns;
};

struct conn {
	struct tp_conn *handle;
	enum conn_state state;
	uint32_t index;
	uint32_t sent;	      /* requests sent: the number of the next one */
	uint32_t answered;    /* responses complete: the number of the next one */
	uint32_t owed;	      /* requests due and not sent */
	uint32_t send_slot;   /* slot of the next request */
	uint32_t answer_slot; /* slot of the next response */
	bool refused;	      /* reserve said no; WRITABLE follows */
	bool partial;	      /* a response has begun and is not complete */
	struct verify verify;
	struct slot *slots; /* config.depth of them */
};

struct client {
	struct tp *tp;
	struct client_config config;
	struct record *record;
	struct client_counters counters;
	struct busy busy;
	bool sending; /* between begin and hold */
	bool failed;
	uint32_t opened;     /* connections that connect was called for */
	uint32_t connecting; /* of them, not yet decided */
	uint64_t outstanding;
	uint64_t progress_ns;
	struct conn *conns;
	struct slot *slots;
	struct failures failures;
	struct verifier verifier;
	struct tp_event events[LIMIT_TURN_EVENTS];
};

uint32_t client_send_bytes(uint32_t depth, uint32_t request_bytes)
{
	uint64_t window_bytes = (uint64_t)depth * request_bytes;
	uint32_t bytes = LIMIT_SEND_BYTES;

	if (window_bytes > SEND_BYTES_MAX)
		return 0;
	while (bytes < window_bytes)
		bytes *= 2;
	return bytes;
}

int client_create(const struct client_config *config, struct tp *tp, struct record *record,
		  struct client **client_out)
{
	struct client *client = calloc(1, sizeof(*client));
	size_t slots = (size_t)config->connections * config->depth;

	if (!client)
		return -ENOMEM;
	client->conns = calloc(config->connections, sizeof(*client->conns));
	client->slots = calloc(slots, sizeof(*client->slots));
	if (!client->conns || !client->slots) {
		client_destroy(client);
		return -ENOMEM;
	}
	client->tp = tp;
	client->config = *config;
	client->record = record;
	client->verifier.talk = config->talk;
	client->verifier.failures = &client->failures;
	for (uint32_t i = 0; i < config->connections; i++) {
		client->conns[i].index = i;
		client->conns[i].slots = client->slots + (size_t)i * config->depth;
	}
	record_reset(record);
	record_begin(record, clock_now_ns(), &client->busy, tp);
	*client_out = client;
	return 0;
}

void client_destroy(struct client *client)
{
	if (!client)
		return;
	free(client->conns);
	free(client->slots);
	free(client);
}

static uint64_t id_of(const struct client *client, const struct conn *conn, uint32_t number)
{
	return (uint64_t)client->config.worker << ID_WORKER_SHIFT |
	       (uint64_t)conn->index << ID_CONN_SHIFT | number;
}

static void fail(struct client *client)
{
	client->failed = true;
	client->sending = false;
}

/* --- sending ---------------------------------------------------------------------------------- */

/* The slots of the requests just built have been sent. */
static void stamp_sent(const struct client *client, struct conn *conn, uint32_t count,
		       uint64_t now_ns)
{
	for (uint32_t i = 0; i < count; i++) {
		conn->slots[conn->send_slot].sent_ns = now_ns;
		if (++conn->send_slot == client->config.depth)
			conn->send_slot = 0;
	}
}

/*
 * Sends the next `count` requests as one write. False if send memory is short: WRITABLE will
 * follow.
 */
static bool send_requests(struct client *client, struct conn *conn, uint32_t count)
{
	const struct talk *talk = client->config.talk;
	size_t bytes = (size_t)count * talk->request_bytes;
	struct room rooms[2];
	unsigned room_count = tp_reserve(client->tp, conn->handle, bytes, rooms);
	struct room_writer writer = room_writer_of(rooms, room_count);

	if (room_count == 0) {
		conn->refused = true;
		client->counters.refusals++;
		return false;
	}
	for (uint32_t i = 0; i < count; i++)
		talk->dialect->put_request(talk, id_of(client, conn, conn->sent + i), &writer);
	tp_commit(client->tp, conn->handle, bytes);
	stamp_sent(client, conn, count, clock_now_ns());
	tp_flush(client->tp, conn->handle);
	conn->sent += count;
	conn->owed -= count;
	client->outstanding += count;
	client->counters.requests += count;
	client->counters.writes++;
	return true;
}

/* Sends what the refill policy wants sent. */
static void refill(struct client *client, struct conn *conn)
{
	if (!client->sending || conn->refused)
		return;
	if (conn->owed == client->config.depth) {
		send_requests(client, conn, conn->owed);
		return;
	}
	if (client->config.refill == CLIENT_REFILL_WINDOW)
		return;
	while (conn->owed > 0 && send_requests(client, conn, 1))
		;
}

void client_begin(struct client *client)
{
	uint64_t now_ns = clock_now_ns();

	client->sending = true;
	client->progress_ns = now_ns;
	for (uint32_t i = 0; i < client->config.connections && client->sending; i++) {
		struct conn *conn = &client->conns[i];

		for (uint32_t j = 0; j < client->config.depth; j++)
			conn->slots[j].due_ns = now_ns;
		conn->owed = client->config.depth;
		refill(client, conn);
	}
}

void client_hold(struct client *client)
{
	client->sending = false;
}

/* --- receiving -------------------------------------------------------------------------------- */

/* Drops a connection whose bytes make no sense any more. */
static void give_up(struct client *client, struct conn *conn)
{
	fail(client);
	conn->state = CONN_ENDING;
	tp_abort(client->tp, conn->handle);
}

/* A response is complete: records it, and its place is free. */
static void complete(struct client *client, struct conn *conn, uint64_t now_ns)
{
	struct slot *slot = &conn->slots[conn->answer_slot];

	record_complete(client->record, now_ns, slot->due_ns, slot->sent_ns);
	slot->due_ns = now_ns;
	conn->answered++;
	conn->owed++;
	if (++conn->answer_slot == client->config.depth)
		conn->answer_slot = 0;
	client->outstanding--;
	client->counters.responses++;
}

/* Verifies what is there; true if the connection is still good. */
static bool take_responses(struct client *client, struct conn *conn, struct span_reader *reader,
			   uint64_t now_ns)
{
	const struct dialect *dialect = client->config.talk->dialect;

	while (reader->left > 0 && conn->answered != conn->sent) {
		switch (dialect->verify(&client->verifier, &conn->verify,
					id_of(client, conn, conn->answered), reader, conn->index)) {
		case VERIFY_COMPLETE:
			complete(client, conn, now_ns);
			if (client->config.refill == CLIENT_REFILL_EACH)
				refill(client, conn);
			break;
		case VERIFY_MORE:
			conn->partial = true;
			return true;
		case VERIFY_WRONG:
			return false;
		}
	}
	conn->partial = false;
	if (reader->left == 0)
		return true;
	failures_note(&client->failures, FAILURE_wrong_id, 1,
		      "connection %u: %zu bytes behind the last response that was asked "
		      "for" FAILURE_ASK_SIZES,
		      conn->index, reader->left);
	return false;
}

/* Reads until nothing more is lent. */
static void receive(struct client *client, struct conn *conn)
{
	struct span spans[LIMIT_SPANS];
	unsigned count;
	size_t taken;

	do {
		struct span_reader reader;
		size_t there;

		count = tp_peek(client->tp, conn->handle, spans, LIMIT_SPANS);
		reader = span_reader_of(spans, count);
		there = reader.left;
		if (!take_responses(client, conn, &reader, clock_now_ns())) {
			give_up(client, conn);
			return;
		}
		taken = there - reader.left;
		if (taken > 0)
			tp_consume(client->tp, conn->handle, taken);
	} while (count == LIMIT_SPANS && taken > 0);
	refill(client, conn);
}

#define ASK_ROOM "; does the server's --conn-max allow so many?"

/* What to ask when the server ends a connection: one that has answered on it was not full. */
static const char *ask_end(const struct conn *conn, bool by_server)
{
	if (!by_server)
		return "";
	return conn->answered == 0 ? ", before any answer" ASK_ROOM
				     " do both sides speak TLS, or neither?"
				   : "; was the server told to end?";
}

/*
 * A connection ended, in one way or the other, while we wanted more of it; `by_server` if that was
 * the server's doing.
 */
static void note_end(struct client *client, struct conn *conn, const char *how, bool by_server)
{
	uint32_t unanswered = conn->sent - conn->answered;

	fail(client);
	if (conn->verify.is_error)
		verify_note_error(&conn->verify, conn->index, &client->failures);
	else if (conn->partial)
		failures_note(&client->failures, FAILURE_short, 1,
			      "connection %u: %s within a response, %u unanswered", conn->index,
			      how, unanswered);
	else
		failures_note(&client->failures, FAILURE_lost, unanswered ? unanswered : 1,
			      "connection %u: %s with %u requests unanswered%s", conn->index, how,
			      unanswered, ask_end(conn, by_server));
}

static void on_finished(struct client *client, struct conn *conn)
{
	note_end(client, conn, "the server ended it", true);
	conn->state = CONN_ENDING;
	tp_finish(client->tp, conn->handle);
}

/* What to ask when a connection did not come about. */
static const char *ask_connected(const struct tp_fault *fault, enum tp_reason reason)
{
	if (fault->is_trust)
		return "; --tls-ca says whom to trust, --tls-name what the server is called, and "
		       "--tls-insecure takes any certificate";
	if (reason == TP_REFUSED)
		return "; is a server running there?";
	/* a reset that says no more; an alert of TLS does */
	return reason == TP_RESET && !fault->text ? ASK_ROOM : "";
}

/* A connection did not come about. */
static void note_unconnected(struct client *client, struct conn *conn, enum tp_reason reason)
{
	enum failure_kind kind = reason == TP_TIMEOUT	  ? FAILURE_connect_timeout
				 : reason == TP_LINK_DOWN ? FAILURE_lost
							  : FAILURE_refused;
	struct tp_fault fault = tp_fault_of(client->tp, conn->handle);
	char server[TP_ADDR_TEXT];

	fail(client);
	failures_note(&client->failures, kind, 1, "connection %u: not connected to %s: %s%s",
		      conn->index, tp_addr_print(&client->config.server, server),
		      fault.text ? fault.text : tp_reason_name(reason),
		      ask_connected(&fault, reason));
}

static void on_closed(struct client *client, struct conn *conn, enum tp_reason reason)
{
	if (conn->state == CONN_CONNECTING) {
		client->connecting--;
		note_unconnected(client, conn, reason);
	} else if (conn->state == CONN_OPEN) {
		note_end(client, conn, tp_reason_name(reason), reason == TP_RESET);
	}
	client->outstanding -= conn->sent - conn->answered;
	conn->answered = conn->sent;
	conn->state = CONN_CLOSED;
	client->counters.closed++;
}

static void on_connected(struct client *client, struct conn *conn)
{
	conn->state = CONN_OPEN;
	client->connecting--;
	client->counters.connected++;
}

static void visit(struct client *client, const struct tp_event *event)
{
	struct conn *conn = event->conn->user;

	if (event->bits & TP_CONNECTED && conn->state == CONN_CONNECTING)
		on_connected(client, conn);
	if (event->bits & TP_WRITABLE) {
		conn->refused = false;
		if (conn->state == CONN_OPEN)
			refill(client, conn);
	}
	if (event->bits & TP_READABLE && conn->state == CONN_OPEN) {
		receive(client, conn);
		client->progress_ns = 0; /* set by the turn's end */
	}
	if (event->bits & TP_FINISHED && conn->state == CONN_OPEN)
		on_finished(client, conn);
	if (event->bits & TP_CLOSED)
		on_closed(client, conn, event->reason);
}

void client_turn(struct client *client, uint64_t wait_ns)
{
	struct tp_turn turn;
	unsigned count = tp_poll(client->tp, client->events, LIMIT_TURN_EVENTS, wait_ns, &turn);

	for (unsigned i = 0; i < count; i++)
		visit(client, &client->events[i]);
	busy_account(&client->busy, &turn);
	if (client->progress_ns == 0)
		client->progress_ns = client->busy.end_ns;
}

/* --- opening and ending ----------------------------------------------------------------------- */

void client_connect(struct client *client)
{
	struct tp_error error;

	while (client->opened < client->config.connections && client->connecting < CONNECTING_MAX &&
	       !client->failed) {
		struct conn *conn = &client->conns[client->opened];

		if (client->tp->ops->connect(client->tp, &client->config.server, conn,
					     &conn->handle, &error) < 0) {
			fail(client);
			failures_note(&client->failures, FAILURE_refused, 1, "connection %u: %s",
				      conn->index, error.text);
			return;
		}
		conn->state = CONN_CONNECTING;
		client->opened++;
		client->connecting++;
	}
}

bool client_connected(const struct client *client)
{
	return client->counters.connected == client->config.connections;
}

void client_fail_connecting(struct client *client, uint64_t timeout_ns)
{
	fail(client);
	failures_note(&client->failures, FAILURE_connect_timeout,
		      client->config.connections - client->counters.connected,
		      "%llu of %u connections came about within %g s",
		      (unsigned long long)client->counters.connected, client->config.connections,
		      (double)timeout_ns / 1e9);
}

void client_fail_stalled(struct client *client, uint64_t timeout_ns)
{
	fail(client);
	failures_note(&client->failures, FAILURE_stalled, client->outstanding,
		      "nothing was received for %g s while %llu requests were unanswered; is the "
		      "server stopped, or a bare one with another --request-bytes than the line "
		      "`request` names?",
		      (double)timeout_ns / 1e9, (unsigned long long)client->outstanding);
}

void client_finish(struct client *client)
{
	client->sending = false;
	for (uint32_t i = 0; i < client->opened; i++) {
		struct conn *conn = &client->conns[i];

		if (conn->state != CONN_OPEN)
			continue;
		conn->state = CONN_ENDING;
		tp_finish(client->tp, conn->handle);
	}
}

bool client_idle(const struct client *client)
{
	return client->counters.closed == client->opened;
}

/* --- accounts --------------------------------------------------------------------------------- */

uint64_t client_outstanding(const struct client *client)
{
	return client->outstanding;
}

uint64_t client_progress_ns(const struct client *client)
{
	return client->progress_ns;
}

struct record *client_swap(struct client *client, struct record *next)
{
	struct record *ended = client->record;
	uint64_t now_ns = clock_now_ns();

	record_end(ended, now_ns, &client->busy, client->tp);
	record_begin(next, now_ns, &client->busy, client->tp);
	client->record = next;
	return ended;
}

const struct failures *client_failures(const struct client *client)
{
	return &client->failures;
}

bool client_failed(const struct client *client)
{
	return client->failed;
}

const struct client_counters *client_counters(const struct client *client)
{
	return &client->counters;
}

const struct busy *client_busy(const struct client *client)
{
	return &client->busy;
}
