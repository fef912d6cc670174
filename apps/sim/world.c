#include "apps/sim/world.h"

#include "dataplane/core/check.h"
#include "stacks/utcp/conn.h"
#include "stacks/utcp/utcp.h"
#include "apps/sim/random.h"
#include "apps/sim/stream.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
	HOSTS = 2,
	PORT = 7878,
	CONNS_MAX = 16, /* of an instance */
	STREAMS_MAX = 128,
	EVENTS = 8,
	IP_FIRST = 0x0a000001,
	IP6_MTU_MIN = 1280,
	ISN_BELOW_WRAP = 30000, /* most that an initial number is under the wrap */
};

#define NEVER UINT64_MAX
#define MS 1000000ull
#define CALL_PATIENCE_NS (63000 * MS) /* a peer's call that stays unanswered */
#define ARP_PATIENCE_NS (3000 * MS)   /* questions lost before the faults stopped */

/* An application's side of a connection. */
struct flow {
	struct utcp_conn *conn; /* NULL: the place is free */
	int out;		/* stream that it sends */
	int in;			/* stream that it receives, -1 before its head is complete */
	uint8_t head[STREAM_HEAD_BYTES];
	uint32_t received;
	bool called; /* by connect */
	bool up;
	bool finished_out;
	bool finished_in;
	bool aborted;	  /* by its application */
	bool want_write;  /* reserve refused: waits for WRITABLE */
	uint64_t read_at; /* does not read before; NEVER: nothing to read */
};

struct host {
	struct utcp *utcp;
	struct flow flows[CONNS_MAX];
	unsigned to_open;
	uint64_t open_at;
	bool has_ip6; /* its link's MTU is large enough */
	uint64_t opened;
	uint64_t closed;
};

struct world {
	struct world_config config;
	struct random random;
	struct wire *wire;
	struct host hosts[HOSTS];
	struct stream streams[STREAMS_MAX];
	int stream_count;
	uint64_t now_ns;
	bool healed;
	bool abortive; /* this seed's applications abort now and then */
	uint64_t bytes;
	uint64_t aborts;
	char failure[256];
};

static void __attribute__((format(printf, 2, 3))) fail(struct world *world, const char *format, ...)
{
	va_list arguments;

	if (world->failure[0])
		return;
	va_start(arguments, format);
	vsnprintf(world->failure, sizeof(world->failure), format, arguments);
	va_end(arguments);
	wire_trace_note(world->wire, world->now_ns, "FAILED: %s", world->failure);
}

/* --- setup ----------------------------------------------------------------------------------- */

static uint32_t random_memory(struct random *random)
{
	return 1024u << random_below(random, 7); /* 1 to 64 KiB */
}

static struct utcp_addr address_of(unsigned index, bool is_ip6)
{
	uint8_t ip6[16] = {0xfd, 0x77, [15] = (uint8_t)(index + 1)};

	return is_ip6 ? addr_of_ip6(ip6) : addr_of_ip4(IP_FIRST + index);
}

static void create_host(struct world *world, unsigned index)
{
	struct host *host = &world->hosts[index];
	struct random *random = &world->random;
	struct utcp_config config = {
		.mac = {2, 0, 0, 0, 0, (uint8_t)(index + 1)},
		.ip = IP_FIRST + index,
		.prefix_bits = 24,
		.mtu = random_chance(random, 500) ? 1500
						  : (uint16_t)(576 + random_below(random, 4000)),
		.conn_max = CONNS_MAX,
		.recv_bytes = random_memory(random),
		.send_bytes = random_memory(random),
		.congestion = (world->config.seed + index) % UTCP_CONGESTION_COUNT,
		.sack_off = world->config.seed % 7 == index,
		.timestamps_off = world->config.seed % 5 == index,
		.ecn = (world->config.seed / UTCP_CONGESTION_COUNT + index) % 4 > 0,
		.isn_fixed = true,
		.isn = (uint32_t) - (int32_t)random_below(random, ISN_BELOW_WRAP),
	};

	if (config.mtu >= IP6_MTU_MIN) {
		config.ip6 = address_of(index, true);
		config.prefix6_bits = 64;
		host->has_ip6 = true;
	}
	memset(config.secret, (int)index + 7, sizeof(config.secret));
	CHECK(utcp_create(&config, world->now_ns, &host->utcp) == 0);
	CHECK(utcp_listen(host->utcp, PORT) == 0);
	host->to_open = (unsigned)random_below(random, 4);
	host->open_at = world->now_ns + random_below(random, 20 * MS);
}

struct world *world_create(const struct world_config *config)
{
	struct world *world = calloc(1, sizeof(*world));

	CHECK(world != NULL);
	world->config = *config;
	world->random.state = config->seed * 2 + 1;
	world->now_ns = 1000 * MS;
	world->wire = wire_create(config->seed, &config->faults);
	if (config->trace)
		wire_trace_start(world->wire);
	for (unsigned i = 0; i < HOSTS; i++)
		create_host(world, i);
	if (world->hosts[0].to_open + world->hosts[1].to_open == 0)
		world->hosts[0].to_open = 1;
	world->abortive = random_chance(&world->random, 125);
	return world;
}

void world_destroy(struct world *world)
{
	for (unsigned i = 0; i < HOSTS; i++)
		utcp_destroy(world->hosts[i].utcp);
	wire_destroy(world->wire);
	free(world);
}

/* --- applications ---------------------------------------------------------------------------- */

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
		fail(world, "host %c: a handle is given out while it is in use", "AB"[index]);
	*flow = (struct flow){.conn = conn,
			      .out = new_stream(world, index, caller_of(index, conn, called)),
			      .in = -1,
			      .called = called,
			      .up = !called,
			      .read_at = NEVER};
	host->opened++;
}

static void open_one(struct world *world, unsigned index)
{
	struct host *host = &world->hosts[index];
	struct utcp_conn *conn;
	/* Calls take turns with the families, where both hosts have both. */
	bool is_ip6 = world->hosts[0].has_ip6 && world->hosts[1].has_ip6 &&
		      (world->config.seed + host->to_open) % 2 == 0;
	int error =
		utcp_connect(host->utcp, address_of(1 - index, is_ip6), PORT, world->now_ns, &conn);

	host->open_at = world->now_ns + random_below(&world->random, 50 * MS);
	if (error) {
		fail(world, "host %c: connect says %d", "AB"[index], error);
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
		fail(world, "host %c: a stream begins with a wrong head", "AB"[index]);
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
			fail(world, "host %c: stream %d goes on behind its end", "AB"[index],
			     flow -> in);
		} else if (data[i] != stream_byte(flow->in, at)) {
			fail(world, "host %c: stream %d has a wrong byte at %u", "AB"[index],
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
			fail(world, "host %c: a connection is done before its streams are",
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
		fail(world, "host %c: a connection ended for reason %u", "AB"[index], reason);
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
		fail(world, "host %c: an event for a connection that has ended", "AB"[index]);
		return;
	}
	if (event->bits & UTCP_CONNECTED)
		flow->up = true;
	if (event->bits & UTCP_WRITABLE) {
		if (!flow->want_write)
			fail(world, "host %c: writable, though nothing was refused", "AB"[index]);
		flow->want_write = false;
	}
	if (event->bits & UTCP_READABLE && flow->read_at == NEVER)
		flow->read_at = random_chance(&world->random, 900)
					? world->now_ns
					: world->now_ns + random_below(&world->random, 400 * MS);
	if (event->bits & UTCP_FINISHED) {
		if (flow->finished_in)
			fail(world, "host %c: finished twice", "AB"[index]);
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

/* --- time ------------------------------------------------------------------------------------ */

static bool handle_events(struct world *world, unsigned index)
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

static void run_flows(struct world *world, unsigned index)
{
	struct flow *flows = world->hosts[index].flows;

	for (unsigned i = 0; i < CONNS_MAX; i++)
		if (flows[i].conn)
			run_flow(world, index, &flows[i]);
}

/* Polls, handles and flushes one host, in the legal order of a turn. */
static void turn(struct world *world, unsigned index)
{
	struct host *host = &world->hosts[index];
	uint8_t frame[WIRE_FRAME_MAX];
	size_t bytes;

	utcp_advance(host->utcp, world->now_ns);
	utcp_check(host->utcp);
	handle_events(world, index);
	do /* what applications do has events too: an abort's or a last read's end */
		run_flows(world, index);
	while (handle_events(world, index));
	while (host->to_open > 0 && host->open_at <= world->now_ns && !world->failure[0])
		open_one(world, index);
	while ((bytes = utcp_output(host->utcp, frame, world->now_ns)) > 0)
		wire_send(world->wire, index, frame, bytes, world->now_ns);
	utcp_check(host->utcp);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* When anything happens next. */
static uint64_t next_moment(const struct world *world)
{
	uint64_t next = wire_next(world->wire);

	for (unsigned i = 0; i < HOSTS; i++) {
		const struct host *host = &world->hosts[i];

		next = sooner(next, utcp_deadline(host->utcp));
		if (host->to_open > 0)
			next = sooner(next, host->open_at);
		for (unsigned j = 0; j < CONNS_MAX; j++)
			if (host->flows[j].conn)
				next = sooner(next, host->flows[j].read_at);
	}
	return next;
}

static void heal(struct world *world)
{
	struct wire_faults none = {.delay_ns = world->config.faults.delay_ns};

	world->healed = true;
	world->config.heal_ns = world->now_ns; /* later, if a host stood still just then */
	wire_set_faults(world->wire, &none);
	wire_trace_note(world->wire, world->now_ns, "the faults stop");
}

static bool is_over(const struct world *world)
{
	for (unsigned i = 0; i < HOSTS; i++)
		if (world->hosts[i].to_open > 0 || utcp_conn_count(world->hosts[i].utcp) > 0)
			return false;
	return wire_in_flight(world->wire) == 0;
}

/* Moves the clock to the next event; false if there is none left and connections are still open. */
static bool move_on(struct world *world)
{
	uint64_t next = next_moment(world);

	if (next == NEVER) { /* only handles are left, which the next call takes back */
		for (unsigned i = 0; i < HOSTS; i++)
			utcp_advance(world->hosts[i].utcp, world->now_ns);
		if (!is_over(world))
			fail(world, "nothing will ever happen again, but connections are open");
		return false;
	}
	if (next > world->now_ns)
		world->now_ns = next;
	return true;
}

static void step(struct world *world)
{
	uint8_t frame[WIRE_FRAME_MAX];
	unsigned end;
	size_t bytes;

	if (!move_on(world))
		return;
	if (!world->healed && random_chance(&world->random, world->config.stall_permille))
		world->now_ns += random_below(&world->random, 5000 * MS);
	if (!world->healed && world->now_ns >= world->config.heal_ns)
		heal(world);
	while ((bytes = wire_receive(world->wire, world->now_ns, frame, &end)) > 0) {
		utcp_input(world->hosts[end].utcp, frame, bytes, world->now_ns);
		utcp_check(world->hosts[end].utcp);
	}
	for (unsigned i = 0; i < HOSTS; i++)
		turn(world, i);
}

/* With nothing open and nothing to come, no timer and no frame may be left. */
static void judge_rest(struct world *world, unsigned index)
{
	struct utcp *utcp = world->hosts[index].utcp;
	uint64_t later = world->now_ns + CALL_PATIENCE_NS + MS; /* a SYN may have come late */
	uint8_t frame[WIRE_FRAME_MAX];
	uint64_t next;

	while ((next = utcp_deadline(utcp)) <= later) {
		utcp_advance(utcp, next);
		while (utcp_output(utcp, frame, next) > 0)
			;
	}
	utcp_check(utcp);
	if (next != NEVER || utcp_output(utcp, frame, later) > 0)
		fail(world, "host %c: a timer or a frame is left over", "AB"[index]);
}

/* What must be true once everything has ended. */
static void judge_end(struct world *world)
{
	for (unsigned i = 0; i < HOSTS; i++) {
		const struct host *host = &world->hosts[i];
		const struct utcp_counters *c = utcp_counters(host->utcp);

		if (host->opened != host->closed)
			fail(world, "host %c: %lu opened, %lu closed", "AB"[i], host -> opened,
			     host -> closed);
		if (c->opened_active + c->opened_passive != c->closed || c->closed != host->closed)
			fail(world, "host %c: the counters of connections do not balance", "AB"[i]);
		judge_rest(world, i);
	}
	for (int i = 0; i < world->stream_count; i++) {
		const struct stream *stream = &world->streams[i];

		if (!stream->whole && !stream->broken && !stream->aborted)
			fail(world, "stream %d never arrived whole", i);
	}
}

bool world_run(struct world *world)
{
	while (!world->failure[0] && !is_over(world)) {
		step(world);
		if (world->now_ns > world->config.heal_ns + world->config.bound_ns)
			fail(world, "no end within %g s of virtual time after the faults stopped",
			     (double)world->config.bound_ns / 1e9);
	}
	if (!world->failure[0])
		judge_end(world);
	return !world->failure[0];
}

const char *world_failure(const struct world *world)
{
	return world->failure;
}

const struct wire *world_wire(const struct world *world)
{
	return world->wire;
}

void world_add_totals(const struct world *world, struct world_totals *totals)
{
	totals->virtual_ns += world->now_ns;
	totals->bytes += world->bytes;
	totals->aborts += world->aborts;
	for (unsigned i = 0; i < HOSTS; i++) {
		const struct utcp_counters *c = utcp_counters(world->hosts[i].utcp);

		totals->retransmits += c->retransmits;
		totals->fast_retransmits += c->fast_retransmits;
		totals->timeouts += c->timeouts;
		totals->probes += c->probes;
		totals->kept_out_of_order += c->ooo_segments;
		totals->marked += c->ce_segments;
		totals->dropped +=
			c->in_frames - c->in_arp - c->in_nd - c->in_icmp - c->in_segments;
		totals->connections += world->hosts[i].closed;
	}
}
