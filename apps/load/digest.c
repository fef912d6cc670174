#include "apps/load/digest.h"

#include "apps/common/signals.h"
#include "apps/load/dialect.h"
#include "apps/load/hasher.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Longest sleep of a turn, so that signals and deadlines are seen. */
#define TURN_WAIT_NS (10 * CLOCK_MS_NS)

/* Time between the end of the connection and that of the transport. */
#define FAREWELL_NS (50 * CLOCK_MS_NS)

enum { EVENTS = 16 };

struct asker {
	const struct load_options *options;
	struct digest *digest;
	struct tp *tp;
	struct tp_conn *conn;
	struct hasher hasher;
	struct verifier verifier;
	struct verify verify;
	uint32_t sent;
	uint32_t answered; /* whole responses */
	uint32_t verified; /* of them, right ones */
	bool wrong;	   /* an answer was; nothing behind it is verified */
	bool over;	   /* nothing more will come, or is wanted */
	uint64_t progress_ns;
};

static void end(struct asker *asker, enum failure_kind kind, const char *text)
{
	failures_note(&asker->digest->failures, kind, asker->options->digest - asker->answered,
		      "%s after %u of %u answers", text, asker->answered, asker->options->digest);
	asker->over = true;
}

/* Sends the next window once the last one is answered, as soon as there is room. */
static void ask(struct asker *asker)
{
	uint32_t left = asker->options->digest - asker->sent;
	uint32_t count = left < asker->options->depth ? left : asker->options->depth;
	const struct talk *talk = &asker->options->talk;
	size_t bytes = count * (size_t)talk->request_bytes;
	struct room_writer writer;
	struct room rooms[2];
	unsigned room_count;

	if (asker->over || count == 0 || asker->answered < asker->sent)
		return;
	room_count = tp_reserve(asker->tp, asker->conn, bytes, rooms);
	if (room_count == 0)
		return;
	writer = room_writer_of(rooms, room_count);
	for (uint32_t i = 0; i < count; i++)
		talk->dialect->put_request(talk, asker->sent + i, &writer);
	tp_commit(asker->tp, asker->conn, bytes);
	tp_flush(asker->tp, asker->conn);
	asker->sent += count;
}

/* Verifies what is there, up to the first answer that is wrong. */
static void verify_on(struct asker *asker, struct span_reader reader)
{
	const struct dialect *dialect = asker->options->talk.dialect;
	enum verify_result result = VERIFY_COMPLETE;

	while (!asker->wrong && result == VERIFY_COMPLETE && reader.left > 0 &&
	       asker->verified < asker->sent) {
		result = dialect->verify(&asker->verifier, &asker->verify, asker->verified, &reader,
					 0);
		asker->verified += result == VERIFY_COMPLETE;
		asker->wrong = result == VERIFY_WRONG;
	}
}

/* Hashes what is there of the answers, whatever they say. */
static void hash_on(struct asker *asker, struct span_reader *reader)
{
	while (asker->answered < asker->sent && !asker->over && reader->left > 0) {
		switch (hasher_next(&asker->hasher, reader)) {
		case HASHER_COMPLETE:
			asker->answered++;
			break;
		case HASHER_MORE:
			return;
		case HASHER_ENDLESS:
			end(asker, FAILURE_wrong_length, "an answer's length is none");
			return;
		}
	}
}

static void receive(struct asker *asker)
{
	struct span spans[LIMIT_SPANS];
	unsigned count = tp_peek(asker->tp, asker->conn, spans, LIMIT_SPANS);
	struct span_reader reader = span_reader_of(spans, count);
	size_t there = reader.left;

	verify_on(asker, reader);
	hash_on(asker, &reader);
	if (there > reader.left)
		tp_consume(asker->tp, asker->conn, there - reader.left);
	if (reader.left > 0 && asker->answered == asker->options->digest)
		end(asker, FAILURE_wrong_id, "more than was asked for was answered");
	asker->progress_ns = clock_now_ns();
}

static void visit(struct asker *asker, const struct tp_event *event)
{
	if (event->bits & TP_READABLE)
		receive(asker);
	if (asker->over || asker->answered == asker->options->digest)
		return;
	if (event->bits & TP_CLOSED)
		end(asker, asker->sent ? FAILURE_lost : FAILURE_refused,
		    tp_reason_name(event->reason));
	else if (event->bits & TP_FINISHED)
		end(asker, FAILURE_lost, "the server ended it");
}

static void turn(struct asker *asker)
{
	struct tp_event events[EVENTS];
	struct tp_turn ignored;
	unsigned count = tp_poll(asker->tp, events, EVENTS, TURN_WAIT_NS, &ignored);

	for (unsigned i = 0; i < count; i++)
		visit(asker, &events[i]);
}

/* Whether a signal asks for the end. */
static bool interrupted(struct asker *asker)
{
	sigset_t signals;
	int number;

	signals_of_ending(&signals);
	number = sigtimedwait(&signals, NULL, &(struct timespec){0});
	if (number > 0)
		asker->digest->signal_number = number;
	return number > 0;
}

/* Asks and hears until all is answered, or nothing more will be. */
static void converse(struct asker *asker)
{
	uint64_t timeout_ns = asker->options->stall_timeout_ns;

	asker->progress_ns = clock_now_ns();
	while (!asker->over && asker->answered < asker->options->digest && !interrupted(asker)) {
		turn(asker);
		ask(asker);
		if (!asker->over && clock_now_ns() > asker->progress_ns + timeout_ns)
			end(asker, FAILURE_stalled, "nothing more was received");
	}
}

/* Ends the connection in good order; the peer gets a moment to take our last acknowledgements. */
static void part(struct asker *asker)
{
	uint64_t deadline_ns = clock_now_ns() + FAREWELL_NS;

	if (asker->over)
		return;
	tp_finish(asker->tp, asker->conn);
	asker->over = true;
	while (clock_now_ns() < deadline_ns)
		turn(asker);
}

int digest_run(const struct load_options *options, struct digest *digest_out,
	       struct tp_error *error)
{
	struct tp_limits limits = {
		.conn_max = 1, .recv_bytes = LIMIT_RECV_BYTES, .send_bytes = options->send_bytes};
	struct asker asker = {
		.options = options,
		.digest = digest_out,
		.verifier = {.talk = &options->talk, .failures = &digest_out->failures}};
	int code = stack_open(&options->stack, 0, false, &limits, &asker.tp, error);

	if (code < 0)
		return code;
	*digest_out = (struct digest){.hex = ""};
	hasher_init(&asker.hasher, &options->talk);
	code = asker.tp->ops->connect(asker.tp, &options->connect, &asker, &asker.conn, error);
	if (code == 0) {
		converse(&asker);
		part(&asker);
		digest_out->bytes = asker.hasher.bytes;
		if (asker.answered == options->digest)
			code = hasher_finish(&asker.hasher, digest_out->hex);
		if (code < 0)
			tp_fail(error, code, "OpenSSL gave no SHA-256 of the answers");
	}
	hasher_fini(&asker.hasher);
	asker.tp->ops->close(asker.tp);
	return code;
}
