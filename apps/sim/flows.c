#include "apps/sim/flows.h"

#include "apps/sim/inside.h"
#include "dataplane/core/check.h"
#include "stacks/utcp/conn.h"

#include <string.h>

enum { EVENTS = 8 };

#define ARP_PATIENCE_NS (3000 * MS) /* questions lost before the faults stopped */

/* Whether an application has aborted the connection from this caller, at either end. */
static bool is_aborted(const struct world *world, uint32_t caller)
{
	for (int i = 0; i < world->stream_count; i++)
		if (world->streams[i].caller == caller && world->streams[i].aborted)
			return true;
	return false;
}

static int new_stream(struct world *world, unsigned from, uint32_t caller)
{
	static const uint32_t sizes[] = {0, 100, 3000, 20000, 150000};
	struct stream *stream;

	CHECK(world->stream_count < STREAMS_MAX);
	stream = &world->streams[world->stream_count];
	stream->from = from;
	stream->caller = caller;
	stream->aborted = is_aborted(world, caller); /* the other end was quicker */
	stream->bytes =
		STREAM_HEAD_BYTES +
		(uint32_t)random_below(&world->random, sizes[random_below(&world->random, 5)] + 1);
	return world->stream_count++;
}

static struct flow *flow_of(struct host *host, struct utcp_conn *conn)
{
	return &host->flows[utcp_conn_index(host->utcp, conn)];
}

/* What both ends of a connection know it by: who called, and from which port. */
static uint32_t caller_of(unsigned index, const struct utcp_conn *conn, bool called)
{
	uint16_t own = (uint16_t)conn->key, peer = (uint16_t)(conn->key >> 16);

	return called ? index << 16 | own : (1 - index) << 16 | peer;
}

static void begin_flow(struct world *world, unsigned index, struct utcp_conn *conn, bool called)
{
	struct host *host = &world->hosts[index];
	struct flow *flow = flow_of(host, conn);

	if (flow->conn)
		world_fail(world, "host %c: a handle is given out while it is in use", "AB"[index]);
	*flow = (struct flow){.conn = conn,
			      .out = new_stream(world, index, caller_of(index, conn, called)),
			      .in = -1,
			      .called = called,
			      .up = !called,
			      .read_at = NEVER};
	host->opened++;
}

void flows_open_one(struct world *world, unsigned index)
{
	struct host *host = &world->hosts[index];
	struct utcp_conn *conn;
	/* Calls take turns with the families, where both hosts have both. */
	bool is_ip6 = world->hosts[0].has_ip6 && world->hosts[1].has_ip6 &&
		      (world->config.seed + host->to_open) % 2 == 0;
	int error = utcp_connect(host->utcp, world_address(1 - index, is_ip6), PORT, world->now_ns,
				 &conn);

	host->open_at = world->now_ns + random_below(&world->random, 50 * MS);
	if (error) {
		world_fail(world, "host %c: connect says %d", "AB"[index], error);
		return;
	}
	host->to_open--;
	begin_flow(world, index, conn, true);
}

/* Writes one piece of random size; false if nothing is left or there is no room. */
static bool write_piece(struct world *world, struct host *host, struct flow *flow, uint32_t memory)
{
	struct stream *stream = &world->streams[flow->out];
	uint32_t left = stream->bytes - stream->written, bytes;
	struct room rooms[2];
	unsigned count;

	if (left == 0 || flow->want_write)
		return false;
	bytes = 1 + (uint32_t)random_below(&world->random, memory);
	if (bytes > left)
		bytes = left;
	count = utcp_reserve(host->utcp, flow->conn, bytes, rooms);
	if (count == 0) {
		flow->want_write = true;
		return false;
	}
	stream_fill(stream, flow->out, rooms, count, bytes);
	utcp_commit(host->utcp, flow->conn, bytes);
	return true;
}

static void write_flow(struct world *world, unsigned index, struct flow *flow)
{
	struct host *host = &world->hosts[index];
	uint8_t frame[WIRE_FRAME_MAX];
	size_t bytes;

	while (write_piece(world, host, flow, 1024)) {
		if (random_chance(&world->random, 500))
			continue;
		while ((bytes = utcp_conn_output(host->utcp, flow->conn, frame, world->now_ns)))
			wire_send(world->wire, index, frame, bytes, world->now_ns);
	}
	if (world->streams[flow->out].written == world->streams[flow->out].bytes &&
	    !flow->finished_out) {
		flow->finished_out = true;
		utcp_finish(host->utcp, flow->conn);
	}
}

/* The head of a stream is complete: which is it? */
static void claim_stream(struct world *world, unsigned index, struct flow *flow)
{
	uint32_t bytes;

	memcpy(&flow->in, flow->head, 4);
	memcpy(&bytes, flow->head + 4, 4);
	if (flow->in < 0 || flow->in >= world->stream_count ||
	    world->streams[flow->in].from == index || world->streams[flow->in].claimed ||
	    world->streams[flow->in].bytes != bytes) {
		world_fail(world, "host %c: a stream begins with a wrong head", "AB"[index]);
		flow->in = flow->out;
		return;
	}
	world->streams[flow->in].claimed = true;
}

static void verify(struct world *world, unsigned index, struct flow *flow, const uint8_t *data,
		   size_t bytes)
{
	for (size_t i = 0; i < bytes && !world->failure[0]; i++) {
		uint32_t at = flow->received++;

		if (at < STREAM_HEAD_BYTES) {
			flow->head[at] = data[i];
			if (at == STREAM_HEAD_BYTES - 1)
				claim_stream(world, index, flow);
		} else if (at >= world->streams[flow->in].bytes) {
			world_fail(world, "host %c: stream %d goes on behind its end", "AB"[index],
				   flow -> in);
		} else if (data[i] != stream_byte(flow->in, at)) {
			world_fail(world, "host %c: stream %d has a wrong byte at %u", "AB"[index],
				   flow -> in, at);
		}
	}
	world->bytes += bytes;
}

/* Reads some or all of what is there. */
static void read_flow(struct world *world, unsigned index, struct flow *flow, bool all)
{
	struct host *host = &world->hosts[index];
	struct span spans[2];
	unsigned count = utcp_peek(host->utcp, flow->conn, spans);
	size_t there = 0, take;

	for (unsigned i = 0; i < count; i++)
		there += spans[i].bytes;
	flow->read_at = NEVER;
	if (there == 0)
		return;
	take = all || random_chance(&world->random, 700) ? there
							 : random_below(&world->random, there + 1);
	for (unsigned i = 0, left = (unsigned)take; i < count && left > 0; i++) {
		size_t piece = spans[i].bytes < left ? spans[i].bytes : left;

		verify(world, index, flow, spans[i].base, piece);
		left -= (unsigned)piece;
	}
	utcp_consume(host->utcp, flow->conn, take);
	if (take < there)
		flow->read_at = world->now_ns + random_below(&world->random, 30 * MS);
}

/* A connection ended: was it allowed to, and is all there? */
static void end_flow(struct world *world, unsigned index, struct flow *flow, unsigned reason)
{
	struct host *host = &world->hosts[index];
	struct stream *out = &world->streams[flow->out];
	struct stream *in = flow->in >= 0 ? &world->streams[flow->in] : NULL;

	host->closed++;
	if (reason == UTCP_DONE) {
		if (!in || flow->received != in->bytes || out->written != out->bytes ||
		    !flow->finished_in || !flow->finished_out)
			world_fail(world, "host %c: a connection is done before its streams are",
				   "AB"[index]);
		else
			in->whole = true;
	} else if (reason == UTCP_UNREACHABLE && flow->called && !flow->up &&
		   world->now_ns < world->config.heal_ns + ARP_PATIENCE_NS) {
		out->broken = true; /* three questions lost: the caller tries again */
		host->to_open++;
		host->open_at = world->now_ns;
	} else if (reason == UTCP_RESET && in && flow->received == in->bytes && flow->finished_in &&
		   flow->finished_out) {
		/* The last ACKs were lost, and the peer, done, has forgotten us. */
		in->whole = true;
	} else if (reason == UTCP_ABORTED ? flow->aborted : reason == UTCP_RESET && out->aborted) {
		out->broken = true;
	} else {
		world_fail(world, "host %c: a connection ended for reason %u", "AB"[index], reason);
	}
	flow->conn = NULL;
}

static void handle_event(struct world *world, unsigned index, const struct utcp_event *event)
{
	struct host *host = &world->hosts[index];
	struct flow *flow = flow_of(host, event->conn);

	wire_trace_note(world->wire, world->now_ns, "%c      event %02x reason %u conn %u",
			"AB"[index], event -> bits, event -> reason,
			utcp_conn_index(host->utcp, event->conn));
	if (event->bits & UTCP_ACCEPTED)
		begin_flow(world, index, event->conn, false);
	if (flow->conn != event->conn) {
		world_fail(world, "host %c: an event for a connection that has ended", "AB"[index]);
		return;
	}
	if (event->bits & UTCP_CONNECTED)
		flow->up = true;
	if (event->bits & UTCP_WRITABLE) {
		if (!flow->want_write)
			world_fail(world, "host %c: writable, though nothing was refused",
				   "AB"[index]);
		flow->want_write = false;
	}
	if (event->bits & UTCP_READABLE && flow->read_at == NEVER)
		flow->read_at = random_chance(&world->random, 900)
					? world->now_ns
					: world->now_ns + random_below(&world->random, 400 * MS);
	if (event->bits & UTCP_FINISHED) {
		if (flow->finished_in)
			world_fail(world, "host %c: finished twice", "AB"[index]);
		flow->finished_in = true;
	}
	if (event->bits & UTCP_CLOSED) {
		read_flow(world, index, flow, true);
		end_flow(world, index, flow, event->reason);
	}
}

/* From now on either end may be told so, and neither stream need arrive whole. */
static void note_abort(struct world *world, struct flow *flow)
{
	uint32_t caller = world->streams[flow->out].caller;

	for (int i = 0; i < world->stream_count; i++)
		if (world->streams[i].caller == caller)
			world->streams[i].aborted = true;
	world->aborts++;
	flow->aborted = true;
	flow->read_at = NEVER;
}

static void run_flow(struct world *world, unsigned index, struct flow *flow)
{
	if (flow->read_at <= world->now_ns)
		read_flow(world, index, flow, false);
	if (flow->up)
		write_flow(world, index, flow);
	if (world->abortive && random_chance(&world->random, 5)) {
		note_abort(world, flow);
		utcp_abort(world->hosts[index].utcp, flow->conn);
	}
}

bool flows_handle_events(struct world *world, unsigned index)
{
	struct utcp_event events[EVENTS];
	unsigned count, total = 0;

	while ((count = utcp_events(world->hosts[index].utcp, events, EVENTS)) > 0) {
		for (unsigned i = 0; i < count; i++)
			handle_event(world, index, &events[i]);
		total += count;
	}
	return total > 0;
}

void flows_run(struct world *world, unsigned index)
{
	struct flow *flows = world->hosts[index].flows;

	for (unsigned i = 0; i < CONNS_MAX; i++)
		if (flows[i].conn)
			run_flow(world, index, &flows[i]);
}

/* Polls, handles and flushes one host, in the legal order of a turn. */
