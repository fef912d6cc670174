#include "apps/sim/world.h"

#include "apps/sim/flows.h"
#include "apps/sim/inside.h"
#include "dataplane/core/check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
	IP_FIRST = 0x0a000001,
	IP6_MTU_MIN = 1280,
	ISN_BELOW_WRAP = 30000, /* most that an initial number is under the wrap */
};

#define CALL_PATIENCE_NS (63000 * MS) /* a peer's call that stays unanswered */

void world_fail(struct world *world, const char *format, ...)
{
	va_list arguments;

	if (world->failure[0])
		return;
	va_start(arguments, format);
	vsnprintf(world->failure, sizeof(world->failure), format, arguments);
	va_end(arguments);
	wire_trace_note(world->wire, world->now_ns, "FAILED: %s", world->failure);
}

static uint32_t random_memory(struct random *random)
{
	return 1024u << random_below(random, 7); /* 1 to 64 KiB */
}

struct utcp_addr world_address(unsigned index, bool is_ip6)
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
		config.ip6 = world_address(index, true);
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

/* Polls, handles and flushes one host, in the legal order of a turn. */
static void turn(struct world *world, unsigned index)
{
	struct host *host = &world->hosts[index];
	uint8_t frame[WIRE_FRAME_MAX];
	size_t bytes;

	utcp_advance(host->utcp, world->now_ns);
	utcp_check(host->utcp);
	flows_handle_events(world, index);
	do /* what applications do has events too: an abort's or a last read's end */
		flows_run(world, index);
	while (flows_handle_events(world, index));
	while (host->to_open > 0 && host->open_at <= world->now_ns && !world->failure[0])
		flows_open_one(world, index);
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
			world_fail(world,
				   "nothing will ever happen again, but connections are open");
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
		world_fail(world, "host %c: a timer or a frame is left over", "AB"[index]);
}

/* What must be true once everything has ended. */
static void judge_end(struct world *world)
{
	for (unsigned i = 0; i < HOSTS; i++) {
		const struct host *host = &world->hosts[i];
		const struct utcp_counters *c = utcp_counters(host->utcp);

		if (host->opened != host->closed)
			world_fail(world, "host %c: %lu opened, %lu closed", "AB"[i],
				   host -> opened, host -> closed);
		if (c->opened_active + c->opened_passive != c->closed || c->closed != host->closed)
			world_fail(world, "host %c: the counters of connections do not balance",
				   "AB"[i]);
		judge_rest(world, i);
	}
	for (int i = 0; i < world->stream_count; i++) {
		const struct stream *stream = &world->streams[i];

		if (!stream->whole && !stream->broken && !stream->aborted)
			world_fail(world, "stream %d never arrived whole", i);
	}
}

bool world_run(struct world *world)
{
	while (!world->failure[0] && !is_over(world)) {
		step(world);
		if (world->now_ns > world->config.heal_ns + world->config.bound_ns)
			world_fail(world,
				   "no end within %g s of virtual time after the faults stopped",
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
