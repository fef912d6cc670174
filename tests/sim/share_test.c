/*
 * share_test: how flows share a bottleneck, by each congestion control.
 *
 * Senders, each an instance of its own, stream through one queue to one receiver for some virtual
 * time. Judged are how much of the link they use, how they share it, and what it costs in losses
 * and waiting.
 */
#include "apps/sim/random.h"
#include "apps/sim/wire.h"
#include "dataplane/core/check.h"
#include "stacks/utcp/utcp.h"
#include "tests/support/suite.h"

#include <string.h>

#define MS 1000000ull
#define SECOND (1000 * MS)
#define NEVER UINT64_MAX

enum {
	SENDERS_MAX = 4,
	PORT = 7878,
	IP_RECEIVER = 0x0a000001,
	IP_SENDER = 0x0a000002, /* of the first */
	MEMORY_BYTES = 1 << 20,
	PIECE_BYTES = 1 << 16,
	EVENTS = 16,
};

struct link {
	uint64_t bits_per_s;
	uint64_t rtt_ns;
	uint32_t queue_bytes;
	uint32_t mark_bytes;
};

struct sender {
	enum utcp_congestion congestion;
	bool ecn;
	uint64_t begin_ns;

	struct utcp *utcp;
	struct utcp_conn *conn;
	struct utcp_conn *there; /* at the receiver */
	bool up;
	uint64_t delivered; /* bytes, while it is judged */
};

static struct {
	struct link link;
	struct sender senders[SENDERS_MAX];
	unsigned count;
	struct utcp *receiver;
	struct wire *wire;
	struct random random;
	uint64_t now_ns;
	uint64_t judged_from_ns;
	uint64_t queued_sum; /* bytes that waited, over all looks */
	uint64_t queued_most;
	uint64_t looks;
} world;

/* --- setup --- */

static struct utcp *create(uint8_t number, uint32_t ip, enum utcp_congestion congestion, bool ecn)
{
	struct utcp_config config = {.mac = {2, 0, 0, 0, 0, number},
				     .ip = ip,
				     .prefix_bits = 24,
				     .mtu = 1500,
				     .conn_max = SENDERS_MAX,
				     .recv_bytes = MEMORY_BYTES,
				     .send_bytes = MEMORY_BYTES,
				     .congestion = congestion,
				     .ecn = ecn};
	struct utcp *utcp = NULL;

	memset(config.secret, number, sizeof(config.secret));
	CHECK(utcp_create(&config, world.now_ns, &utcp) == 0);
	return utcp;
}

/* The receiver tells of marks as the first sender wants it. */
static void begin(const struct link *link, const struct sender *senders, unsigned count,
		  uint64_t seed)
{
	struct wire_faults faults = {.delay_ns = link->rtt_ns / 2,
				     .jitter_ns = 20000,
				     .bits_per_s = link->bits_per_s,
				     .queue_bytes = link->queue_bytes,
				     .mark_bytes = link->mark_bytes};

	memset(&world, 0, sizeof(world));
	world.link = *link;
	world.count = count;
	world.now_ns = SECOND;
	world.random.state = seed;
	world.wire = wire_create(seed, &faults);
	world.receiver = create(1, IP_RECEIVER, senders[0].congestion, true);
	CHECK(utcp_listen(world.receiver, PORT) == 0);
	for (unsigned i = 0; i < count; i++) {
		struct sender *sender = &world.senders[i];

		*sender = senders[i];
		sender->begin_ns += world.now_ns + random_below(&world.random, link->rtt_ns);
		sender->utcp =
			create((uint8_t)(2 + i), IP_SENDER + i, sender->congestion, sender->ecn);
	}
}

static void end(void)
{
	for (unsigned i = 0; i < world.count; i++) {
		utcp_check(world.senders[i].utcp);
		utcp_destroy(world.senders[i].utcp);
	}
	utcp_check(world.receiver);
	utcp_destroy(world.receiver);
	wire_destroy(world.wire);
}

/* --- a turn of each end --- */

static void send_all(struct utcp *utcp, unsigned end)
{
	uint8_t frame[WIRE_FRAME_MAX];
	size_t bytes;

	while ((bytes = utcp_output(utcp, frame, world.now_ns)) > 0)
		wire_send(world.wire, end, frame, bytes, world.now_ns);
}

/* Keeps the send memory full. */
static void write_more(struct sender *sender)
{
	struct room rooms[2];

	while (utcp_reserve(sender->utcp, sender->conn, PIECE_BYTES, rooms) > 0)
		utcp_commit(sender->utcp, sender->conn, PIECE_BYTES);
}

static void turn_sender(struct sender *sender)
{
	struct utcp_event events[EVENTS];
	unsigned count;

	utcp_advance(sender->utcp, world.now_ns);
	if (!sender->conn && world.now_ns >= sender->begin_ns)
		CHECK(utcp_connect(sender->utcp, addr_of_ip4(IP_RECEIVER), PORT, world.now_ns,
				   &sender->conn) == 0);
	while ((count = utcp_events(sender->utcp, events, EVENTS)) > 0)
		for (unsigned i = 0; i < count; i++) {
			CHECK(!(events[i].bits & UTCP_CLOSED));
			if (events[i].bits & (UTCP_CONNECTED | UTCP_WRITABLE))
				sender->up = true;
		}
	if (sender->up)
		write_more(sender);
	sender->up = false;
	send_all(sender->utcp, 0);
}

/* The sender whose connection this is: they call one after the other. */
static struct sender *sender_of(struct utcp_conn *there)
{
	for (unsigned i = 0; i < world.count; i++)
		if (world.senders[i].there == there)
			return &world.senders[i];
	CHECK(false);
	return NULL;
}

/* A connection was accepted: its sender is the one that has called and is not yet known. */
static void note_accepted(struct utcp_conn *there)
{
	for (unsigned i = 0; i < world.count; i++)
		if (world.senders[i].conn && !world.senders[i].there) {
			world.senders[i].there = there;
			return;
		}
}

static void read_all(struct utcp_conn *there)
{
	struct span spans[2];
	unsigned count = utcp_peek(world.receiver, there, spans);
	size_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += spans[i].bytes;
	utcp_consume(world.receiver, there, bytes);
	if (world.now_ns >= world.judged_from_ns)
		sender_of(there)->delivered += bytes;
}

static void turn_receiver(void)
{
	struct utcp_event events[EVENTS];
	unsigned count;

	utcp_advance(world.receiver, world.now_ns);
	while ((count = utcp_events(world.receiver, events, EVENTS)) > 0)
		for (unsigned i = 0; i < count; i++) {
			if (events[i].bits & UTCP_ACCEPTED)
				note_accepted(events[i].conn);
			if (events[i].bits & UTCP_READABLE)
				read_all(events[i].conn);
		}
	send_all(world.receiver, 1);
}

/* Brings a frame to whom its hardware address names, or to all at that end. */
static void deliver(const uint8_t *frame, size_t bytes, unsigned end)
{
	if (end == 1) {
		utcp_input(world.receiver, frame, bytes, world.now_ns);
		return;
	}
	for (unsigned i = 0; i < world.count; i++)
		if ((frame[0] & 1) || frame[5] == 2 + i)
			utcp_input(world.senders[i].utcp, frame, bytes, world.now_ns);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_moment(void)
{
	uint64_t next = sooner(wire_next(world.wire), utcp_deadline(world.receiver));

	for (unsigned i = 0; i < world.count; i++) {
		next = sooner(next, utcp_deadline(world.senders[i].utcp));
		if (!world.senders[i].conn)
			next = sooner(next, world.senders[i].begin_ns);
	}
	return next;
}

static void look(void)
{
	uint64_t queued = wire_queued(world.wire, 0, world.now_ns);

	if (world.now_ns < world.judged_from_ns)
		return;
	world.queued_sum += queued;
	world.queued_most = queued > world.queued_most ? queued : world.queued_most;
	world.looks++;
}

/* Runs `warm_ns` and then, judged, `for_ns` of virtual time. */
static void run(uint64_t warm_ns, uint64_t for_ns)
{
	uint64_t end_ns = world.now_ns + warm_ns + for_ns, next;
	uint8_t frame[WIRE_FRAME_MAX];
	unsigned end;
	size_t bytes;

	world.judged_from_ns = world.now_ns + warm_ns;
	while ((next = next_moment()) < end_ns) {
		world.now_ns = next > world.now_ns ? next : world.now_ns;
		while ((bytes = wire_receive(world.wire, world.now_ns, frame, &end)) > 0)
			deliver(frame, bytes, end);
		turn_receiver();
		for (unsigned i = 0; i < world.count; i++)
			turn_sender(&world.senders[i]);
		look();
	}
	world.now_ns = end_ns;
}

/* --- judgement --- */

/* Payload carried, as a part of what full segments with timestamps could carry at most. */
static double used(uint64_t for_ns)
{
	const double payload = 1448.0 / 1514.0;
	double bytes = 0;

	for (unsigned i = 0; i < world.count; i++)
		bytes += (double)world.senders[i].delivered;
	return bytes * 8 / ((double)world.link.bits_per_s * (double)for_ns / 1e9 * payload);
}

/* Jain's index: 1 for equal shares, 1/n if one has all. */
static double fairness(void)
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < world.count; i++) {
		double share = (double)world.senders[i].delivered;

		sum += share;
		squares += share * share;
	}
	return sum * sum / (world.count * squares);
}

static uint64_t total(size_t counter)
{
	uint64_t sum = 0, value;

	for (unsigned i = 0; i < world.count; i++) {
		memcpy(&value, (const char *)utcp_counters(world.senders[i].utcp) + counter,
		       sizeof(value));
		sum += value;
	}
	return sum;
}

#define TOTAL(name) total(offsetof(struct utcp_counters, name))

static void tell(uint64_t for_ns)
{
	printf("# used %.3f, fairness %.3f, shares", used(for_ns), fairness());
	for (unsigned i = 0; i < world.count; i++)
		printf(" %.1f Mbit/s", (double)world.senders[i].delivered * 8e3 / (double)for_ns);
	printf("; queue %.0f bytes, at most %llu; %llu resent, %llu timeouts, %llu ECE\n",
	       (double)world.queued_sum / (double)world.looks,
	       (unsigned long long)world.queued_most, (unsigned long long)TOTAL(retransmits),
	       (unsigned long long)TOTAL(timeouts), (unsigned long long)TOTAL(ece_acks));
}

/* 100 Mbit/s and 10 ms: a window of 83 segments fills the link, and the queue holds as much; it is
 * marked from 20 on, above the least that keeps it busy, a seventh of that window. */
static const struct link marking = {.bits_per_s = 100 * 1000 * 1000,
				    .rtt_ns = 10 * MS,
				    .queue_bytes = 125000,
				    .mark_bytes = 30000};

/* The same, but it drops what finds the queue full. */
static const struct link dropping = {
	.bits_per_s = 100 * 1000 * 1000, .rtt_ns = 10 * MS, .queue_bytes = 125000};

enum { SEEDS = 4 };

/* What must come of it. */
struct bounds {
	double used;
	double fairness;
	uint64_t queued_bytes; /* at most */
	uint64_t resent;
};

static void judge(const struct link *link, const struct sender *senders, unsigned count,
		  const struct bounds *bounds)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(link, senders, count, seed);
		run(10 * SECOND, 20 * SECOND);
		tell(20 * SECOND);
		CU_ASSERT(used(20 * SECOND) >= bounds->used);
		CU_ASSERT(fairness() >= bounds->fairness);
		CU_ASSERT(world.queued_most <= bounds->queued_bytes);
		CU_ASSERT(TOTAL(retransmits) <= bounds->resent);
		end();
	}
}

static void dctcp_shares(void)
{
	static const struct sender senders[] = {{.congestion = UTCP_DCTCP},
						{.congestion = UTCP_DCTCP}};

	judge(&marking, senders, 2,
	      &(struct bounds){.used = 0.99, .fairness = 0.99, .queued_bytes = 45000});
}

static void four_of_dctcp_share(void)
{
	static const struct sender senders[] = {{.congestion = UTCP_DCTCP},
						{.congestion = UTCP_DCTCP},
						{.congestion = UTCP_DCTCP},
						{.congestion = UTCP_DCTCP}};

	judge(&marking, senders, 4,
	      &(struct bounds){.used = 0.99, .fairness = 0.99, .queued_bytes = 60000});
}

static void a_late_flow_of_dctcp_gets_its_share(void)
{
	static const struct sender senders[] = {{.congestion = UTCP_DCTCP},
						{.congestion = UTCP_DCTCP, .begin_ns = 5 * SECOND}};

	judge(&marking, senders, 2,
	      &(struct bounds){.used = 0.99, .fairness = 0.99, .queued_bytes = 45000});
}

static void cubic_shares_by_marks(void)
{
	static const struct sender senders[] = {{.congestion = UTCP_CUBIC, .ecn = true},
						{.congestion = UTCP_CUBIC, .ecn = true}};

	judge(&marking, senders, 2,
	      &(struct bounds){.used = 0.95, .fairness = 0.98, .queued_bytes = 45000});
}

static void newreno_shares_by_marks(void)
{
	static const struct sender senders[] = {{.congestion = UTCP_NEWRENO, .ecn = true},
						{.congestion = UTCP_NEWRENO, .ecn = true}};

	judge(&marking, senders, 2,
	      &(struct bounds){.used = 0.85, .fairness = 0.98, .queued_bytes = 45000});
}

static void cubic_leaves_newreno_its_share(void)
{
	static const struct sender senders[] = {{.congestion = UTCP_CUBIC, .ecn = true},
						{.congestion = UTCP_NEWRENO, .ecn = true}};

	judge(&marking, senders, 2,
	      &(struct bounds){.used = 0.9, .fairness = 0.9, .queued_bytes = 45000});
}

static const struct bounds by_losses = {
	.used = 0.99, .fairness = 0.95, .queued_bytes = 125000, .resent = 400};

static void cubic_shares_by_losses(void)
{
	static const struct sender senders[] = {{.congestion = UTCP_CUBIC},
						{.congestion = UTCP_CUBIC}};

	judge(&dropping, senders, 2, &by_losses);
}

static void newreno_shares_by_losses(void)
{
	static const struct sender senders[] = {{.congestion = UTCP_NEWRENO},
						{.congestion = UTCP_NEWRENO}};

	judge(&dropping, senders, 2, &by_losses);
}

static void cubic_and_newreno_share_by_losses(void)
{
	static const struct sender senders[] = {{.congestion = UTCP_CUBIC},
						{.congestion = UTCP_NEWRENO}};

	judge(&dropping, senders, 2, &by_losses);
}

static const struct suite_test tests[] = {
	{"two CUBIC flows that lose fill a link evenly", cubic_shares_by_losses},
	{"two NewReno flows that lose fill a link evenly", newreno_shares_by_losses},
	{"CUBIC and NewReno that lose share a short path", cubic_and_newreno_share_by_losses},
	{"two DCTCP flows fill a link evenly, lose nothing and keep its queue short", dctcp_shares},
	{"four DCTCP flows do, too", four_of_dctcp_share},
	{"a DCTCP flow that comes late gets its share", a_late_flow_of_dctcp_gets_its_share},
	{"two CUBIC flows that are marked fill a link evenly and lose nothing",
	 cubic_shares_by_marks},
	{"two NewReno flows that are marked share evenly and lose nothing",
	 newreno_shares_by_marks},
	{"CUBIC leaves NewReno its share of a short path", cubic_leaves_newreno_its_share},
};

SUITE_MAIN("share", tests)
