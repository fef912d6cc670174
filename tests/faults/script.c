#include "tests/faults/script.h"

#include "dataplane/core/clock.h"
#include "tests/faults/ground.h"
#include "tests/support/loopback.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	RING_BYTES = 16384,
	LARGE_BYTES = 60000, /* more than a ring and the socket buffers together */
	PIECE_BYTES = 3000,
	EVENTS = 64,
	SPANS = 16,
	HELD = 8,    /* the pair that stays open */
	REFUSED = 9, /* the pair that goes where nobody listens */
};

#define DEADLINE_NS (20 * CLOCK_SECOND_NS)

enum ending {
	WHEN_SENT,  /* finishes when all was committed */
	AFTER_PEER, /* and the peer has ended its side */
	ABORTS,	    /* when `abort_at` bytes were received */
	HOLDS,	    /* never */
};

struct half {
	uint32_t bytes;
	enum ending ending;
	uint32_t abort_at;
	uint32_t gulp; /* bytes read a turn; 0: all */
};

struct pair {
	const char *what;
	struct half half[2];
};

/* A client's first byte says to the server which pair it is. */
static const struct pair pairs[SCRIPT_PAIRS] = {
	{"one byte each way", {{1, WHEN_SENT}, {1, AFTER_PEER}}},
	{"a server that ends first", {{3300, AFTER_PEER}, {5000, WHEN_SENT}}},
	{"much both ways", {{LARGE_BYTES, WHEN_SENT}, {LARGE_BYTES, WHEN_SENT}}},
	{"much to a slow server", {{LARGE_BYTES, WHEN_SENT}, {0, AFTER_PEER, 0, 1777}}},
	{"a client that aborts", {{1, ABORTS, 10000, 2000}, {LARGE_BYTES, AFTER_PEER}}},
	{"a server that aborts", {{LARGE_BYTES, AFTER_PEER}, {0, ABORTS, 1, 1000}}},
	{"a client that aborts at once", {{1, ABORTS, 0}, {0, AFTER_PEER}}},
	{"a client that ends at once", {{0, WHEN_SENT}, {0, AFTER_PEER}}},
	{"one that stays", {{700, HOLDS}, {900, HOLDS}}},
	{"one that is refused", {{1, WHEN_SENT}, {0, AFTER_PEER}}},
	{"an answer behind the end", {{300, WHEN_SENT}, {9000, AFTER_PEER, 0, 100}}},
};

struct run {
	const struct script_config *config;
	struct script_result *result;
	struct tp *tp[2];
	struct tp_addr addr;
	struct tp_addr nobody;
	struct script_end ends[SCRIPT_ENDS + SCRIPT_PAIRS];
	unsigned end_count;
	unsigned accepted;
	unsigned not_begun; /* connects that this host refused */
	bool moved;
};

static void break_rule(struct run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void break_rule(struct run *run, const char *format, ...)
{
	va_list arguments;

	if (run->result->trouble[0])
		return; /* the first says most */
	va_start(arguments, format);
	vsnprintf(run->result->trouble, sizeof(run->result->trouble), format, arguments);
	va_end(arguments);
}

/* --- what is to move --- */

static uint8_t stream_byte(unsigned pair, unsigned side, uint32_t at)
{
	uint32_t mixed = (at + 1) * 2654435761u + pair * 40503u + side * 97u;

	return at == 0 && side == 0 ? (uint8_t)pair : (uint8_t)(mixed >> 24 ^ mixed >> 9);
}

/* What one side of a pair does; a server that has read nothing yet waits for its peer. */
static struct half half_of(const struct run *run, const struct script_end *end, unsigned side)
{
	struct half half = {.ending = AFTER_PEER};

	if (end->pair < SCRIPT_PAIRS)
		half = pairs[end->pair].half[side];
	if (half.bytes == LARGE_BYTES)
		half.bytes /= run->config->shrink;
	half.abort_at /= run->config->shrink;
	half.gulp = half.gulp > run->config->shrink ? half.gulp / run->config->shrink : half.gulp;
	return half;
}

static bool has_all(const struct run *run, const struct script_end *end)
{
	return end->received == half_of(run, end, !end->side).bytes;
}

/* --- one end's turn --- */

static void check_bytes(struct run *run, struct script_end *end, const uint8_t *bytes, size_t count)
{
	if (count > 0 && end->pair == SCRIPT_PAIRS && bytes[0] < SCRIPT_PAIRS)
		end->pair = bytes[0];
	for (size_t i = 0; i < count; i++) {
		if (bytes[i] != stream_byte(end->pair, !end->side, end->received++)) {
			break_rule(run, "%s side of '%s': byte %u differs",
				   end->side ? "server" : "client",
				   end->pair < SCRIPT_PAIRS ? pairs[end->pair].what : "?",
				   end->received - 1);
			return;
		}
	}
}

static void read_some(struct run *run, struct script_end *end)
{
	struct half half = half_of(run, end, end->side);
	size_t most = half.gulp && end->closed == 0 ? half.gulp : SIZE_MAX;
	struct span spans[SPANS];
	size_t took = 0;
	unsigned count;

	if (!end->readable)
		return;
	count = tp_peek(run->tp[end->side], end->conn, spans, SPANS);
	for (unsigned i = 0; i < count && took < most; i++) {
		size_t step = spans[i].bytes < most - took ? spans[i].bytes : most - took;

		check_bytes(run, end, spans[i].base, step);
		took += step;
	}
	tp_consume(run->tp[end->side], end->conn, took);
	end->readable = took > 0;
	run->moved |= took > 0;
}

static void write_some(struct run *run, struct script_end *end)
{
	uint32_t bytes = half_of(run, end, end->side).bytes;
	uint8_t piece[PIECE_BYTES];
	struct room rooms[2];
	unsigned count;

	while (end->sent < bytes && !end->refused && !end->ending) {
		uint32_t step = bytes - end->sent < PIECE_BYTES ? bytes - end->sent : PIECE_BYTES;
		struct room_writer writer;

		count = tp_reserve(run->tp[end->side], end->conn, step, rooms);
		end->refused = count == 0;
		if (end->refused)
			return;
		for (uint32_t i = 0; i < step; i++)
			piece[i] = stream_byte(end->pair, end->side, end->sent + i);
		writer = room_writer_of(rooms, count);
		room_writer_put(&writer, piece, step);
		tp_commit(run->tp[end->side], end->conn, step);
		tp_flush(run->tp[end->side], end->conn);
		end->sent += step;
		run->moved = true;
	}
}

static void end_if_due(struct run *run, struct script_end *end)
{
	struct half half = half_of(run, end, end->side);
	struct tp *tp = run->tp[end->side];

	if (end->ending)
		return;
	if (half.ending == ABORTS && end->received >= half.abort_at) {
		end->ending = true;
		tp_abort(tp, end->conn);
	} else if (end->sent == half.bytes &&
		   (half.ending == WHEN_SENT ||
		    (half.ending == AFTER_PEER && end->bits & TP_FINISHED && !end->readable))) {
		end->ending = true;
		tp_finish(tp, end->conn);
	}
}

static void turn_end(struct run *run, struct script_end *end)
{
	if (!end->conn)
		return;
	if (end->closed > 0) {
		while (end->readable)
			read_some(run, end);
		end->conn = NULL;
		return;
	}
	read_some(run, end);
	write_some(run, end);
	end_if_due(run, end);
}

/* --- turns --- */

static struct script_end *new_end(struct run *run, unsigned side)
{
	struct script_end *end = &run->ends[run->end_count];

	if (run->end_count == sizeof(run->ends) / sizeof(run->ends[0])) {
		break_rule(run, "more connections were accepted than opened");
		return NULL;
	}
	run->end_count++;
	*end = (struct script_end){.side = side, .pair = SCRIPT_PAIRS};
	return end;
}

static void take_event(struct run *run, unsigned side, const struct tp_event *event)
{
	struct script_end *end = event->conn->user;

	if (event->bits & TP_ACCEPTED) {
		end = new_end(run, 1);
		if (!end)
			return;
		end->conn = event->conn;
		event->conn->user = end;
		run->accepted++;
	}
	if (!end || end->conn != event->conn || end->side != side) {
		break_rule(run, "an event (bits 0x%x) for a connection that is over", event->bits);
		return;
	}
	end->bits |= event->bits;
	end->readable |= (event->bits & (TP_READABLE | TP_FINISHED | TP_CLOSED)) != 0;
	if (event->bits & TP_WRITABLE)
		end->refused = false;
	if (event->bits & TP_CLOSED) {
		end->closed++;
		end->reason = event->reason;
	}
}

static void poll_side(struct run *run, unsigned side, uint64_t wait_ns)
{
	struct tp_event events[EVENTS];
	struct tp_turn turn = {0};
	unsigned count;

	if (!run->tp[side])
		return;
	count = tp_poll(run->tp[side], events, EVENTS, wait_ns, &turn);
	run->moved |= turn.moved;
	for (unsigned i = 0; i < count; i++)
		take_event(run, side, &events[i]);
	for (unsigned i = 0; i < run->end_count; i++)
		if (run->ends[i].side == side)
			turn_end(run, &run->ends[i]);
}

static void turn(struct run *run)
{
	uint64_t wait_ns = run->moved ? 0 : CLOCK_MS_NS;

	run->moved = false;
	poll_side(run, 0, 0);
	poll_side(run, 1, wait_ns);
}

/* --- the run --- */

static bool is_held(const struct run *run, const struct script_end *end)
{
	return end->pair == HELD && has_all(run, end) && end->closed == 0;
}

static struct tp_counters counters_of(const struct run *run, unsigned side)
{
	struct tp_counters counters = {0};

	run->tp[side]->ops->counters(run->tp[side], &counters);
	return counters;
}

/* Whether nothing is left to happen: each end is over or held, and each that came was taken. */
static bool is_over(const struct run *run)
{
	struct tp_counters server = counters_of(run, 1);
	unsigned due = 0;

	for (unsigned i = 0; i < run->end_count; i++) {
		const struct script_end *end = &run->ends[i];

		if (end->conn && !is_held(run, end))
			return false;
		due += end->side == 0 && (end->bits & TP_CONNECTED) != 0;
	}
	return server.accepted + server.accepts_refused >= due;
}

static void name_hanging(struct run *run)
{
	struct tp_counters server = counters_of(run, 1);

	for (unsigned i = 0; i < run->end_count; i++) {
		const struct script_end *end = &run->ends[i];

		if (end->conn && !is_held(run, end))
			break_rule(run,
				   "the %s side of '%s' hangs: sent %u, received %u, bits 0x%x%s%s",
				   end->side ? "server" : "client",
				   end->pair < SCRIPT_PAIRS ? pairs[end->pair].what : "?",
				   end->sent, end->received, end->bits,
				   end->refused ? ", waits for WRITABLE" : "",
				   end->ending ? ", ends" : "");
	}
	break_rule(run, "a connection was lost: %llu accepted, %llu refused",
		   (unsigned long long)server.accepted, (unsigned long long)server.accepts_refused);
}

static void turn_until_over(struct run *run)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;

	while (!is_over(run) && !run->result->trouble[0]) {
		if (clock_now_ns() > until_ns)
			name_hanging(run);
		turn(run);
	}
	/* what comes after the end is wrong, or is a connection that nobody was told of */
	for (unsigned i = 0; i < 4 && !run->result->trouble[0]; i++)
		turn(run);
}

/* The server goes while a connection stands; its client is told. */
static void close_under_the_held(struct run *run)
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;
	bool waits = true;

	run->tp[1]->ops->close(run->tp[1]);
	run->tp[1] = NULL;
	while (waits && !run->result->trouble[0]) {
		waits = false;
		poll_side(run, 0, CLOCK_MS_NS);
		for (unsigned i = 0; i < run->end_count; i++)
			waits |= run->ends[i].side == 0 && run->ends[i].conn != NULL;
		if (clock_now_ns() > until_ns)
			break_rule(run, "a client was not told that its server closed");
	}
}

static void connect_all(struct run *run)
{
	for (unsigned i = 0; i < SCRIPT_PAIRS; i++) {
		const struct tp_addr *addr = i == REFUSED ? &run->nobody : &run->addr;
		struct script_end *end = new_end(run, 0);
		struct tp_error error = {{0}};

		end->pair = i;
		if (run->tp[0]->ops->connect(run->tp[0], addr, end, &end->conn, &error) == 0)
			continue;
		run->not_begun++;
		if (!error.text[0])
			break_rule(run, "a connect that fails says nothing");
	}
}

/* --- judgement --- */

static bool went_as_scripted(const struct run *run, const struct script_end *end)
{
	struct half half = half_of(run, end, end->side);
	struct half other = half_of(run, end, !end->side);
	enum tp_reason reason = TP_DONE;

	if (end->pair == REFUSED)
		reason = TP_REFUSED;
	else if (half.ending == ABORTS)
		reason = TP_ABORTED;
	else if (other.ending == ABORTS || (half.ending == HOLDS && end->side == 0))
		reason = TP_RESET;
	else if (half.ending == HOLDS)
		return end->closed == 0 && has_all(run, end);
	return end->closed == 1 && end->reason == reason;
}

static void judge_end(struct run *run, const struct script_end *end)
{
	const char *side = end->side ? "server" : "client";
	const char *what = end->pair < SCRIPT_PAIRS ? pairs[end->pair].what : "?";
	struct half half = half_of(run, end, end->side);

	if (run->config->is_traced)
		printf("# %s side of '%s': sent %u of %u, received %u, bits 0x%x, %s\n", side, what,
		       end->sent, half.bytes, end->received, end->bits,
		       end->closed ? tp_reason_name(end->reason) : "not closed");
	if (end->closed > 1)
		break_rule(run, "the %s side of '%s' was closed twice", side, what);
	if (end->closed == 1 && end->reason == TP_ABORTED && half.ending != ABORTS)
		break_rule(run, "the %s side of '%s' was aborted, but not by us", side, what);
	if (end->closed == 1 && end->reason == TP_DONE && end->pair < SCRIPT_PAIRS &&
	    (!has_all(run, end) || end->sent != half.bytes))
		break_rule(run, "the %s side of '%s' is done, with %u sent and %u received", side,
			   what, end->sent, end->received);
}

/* A pair strays if either end did not go as scripted; one may be missing altogether. */
static void judge_pair(struct run *run, unsigned pair)
{
	unsigned good = 0, wanted = pair == REFUSED ? 1 : 2;
	bool nameless = pair == 6 || pair == 7; /* their servers may never learn which they are */

	for (unsigned i = 0; i < run->end_count; i++) {
		const struct script_end *end = &run->ends[i];

		if (end->pair == pair && went_as_scripted(run, end))
			good++;
		else if ((end->pair == pair || end->pair == SCRIPT_PAIRS) && end->closed > 0)
			run->result->strayed_reasons |= 1u << end->reason;
	}
	run->result->strayed += good < (nameless ? 1 : wanted);
}

static void judge_counters(struct run *run, const struct tp_counters *server)
{
	struct tp_counters client = counters_of(run, 0);
	unsigned begun = SCRIPT_PAIRS - run->not_begun;
	unsigned held = 0, closed = 0;

	for (unsigned i = 0; i < run->end_count; i++) {
		held += run->ends[i].side == 1 && run->ends[i].closed == 0;
		closed += run->ends[i].side == 1 && run->ends[i].closed == 1;
	}
	if (client.closed != begun)
		break_rule(run, "%u connections were opened and %llu closed", begun,
			   (unsigned long long)client.closed);
	if (server->accepted != run->accepted || server->closed != closed ||
	    server->accepted != closed + held)
		break_rule(run, "%u connections were accepted and %u closed; counted %llu and %llu",
			   run->accepted, closed, (unsigned long long)server->accepted,
			   (unsigned long long)server->closed);
	if (server->accepted + server->accepts_refused > SCRIPT_PAIRS)
		break_rule(run, "more connections were refused than opened");
}

static bool prepare(struct run *run)
{
	const struct tp_limits limits = {SCRIPT_PAIRS, RING_BYTES, RING_BYTES};
	struct tp_error error = {{0}};
	int code = 0;

	for (unsigned side = 0; side < 2 && code == 0; side++)
		code = ground_open(run->config->spec, &limits, &run->tp[side], &error);
	if (code == 0)
		code = run->tp[1]->ops->listen(run->tp[1], &run->addr, &error);
	if (code == 0)
		return true;
	run->result->is_absent = code > 0;
	run->result->is_unready = code < 0;
	snprintf(run->result->trouble, sizeof(run->result->trouble), "%s", error.text);
	return false;
}

static void finish(struct run *run)
{
	for (unsigned side = 0; side < 2; side++)
		if (run->tp[side])
			run->tp[side]->ops->close(run->tp[side]);
}

void script_run(const struct script_config *config, struct script_result *result_out)
{
	struct run run = {.config = config, .result = result_out};
	struct tp_counters server;

	*result_out = (struct script_result){0};
	run.addr = (struct tp_addr){.ip = loopback_ip(), .port = loopback_port()};
	run.nobody = (struct tp_addr){.ip = loopback_ip(), .port = loopback_port()};
	inject_arm(&config->fault);
	if (prepare(&run)) {
		connect_all(&run);
		turn_until_over(&run);
		server = counters_of(&run, 1);
		if (!result_out->trouble[0])
			close_under_the_held(&run);
		for (unsigned i = 0; i < run.end_count; i++)
			judge_end(&run, &run.ends[i]);
		if (!result_out->trouble[0])
			judge_counters(&run, &server);
		for (unsigned i = 0; i < SCRIPT_PAIRS; i++)
			judge_pair(&run, i);
	}
	finish(&run);
	result_out->struck = inject_disarm();
}
