/*
 * goodput_test: how fast one stream gets over a simulated wire that loses frames, CUBIC at both
 * ends.
 *
 * Time is virtual and the losses are seeded, so each number is the same wherever it is run. What is
 * demanded is a part of what RFC 5681's rules would make of the same losses if recovery took no
 * time: a window of sqrt(3/2 / p) segments a round trip (Mathis 1997), which CUBIC is to reach as
 * well (RFC 9438 4.3).
 */
#include "dataplane/core/check.h"
#include "stacks/utcp/utcp.h"
#include "apps/sim/random.h"
#include "apps/sim/wire.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	PORT = 7878,
	IP_FIRST = 0x0a000001,
	MEMORY = 1 << 20,
	PIECE = 1 << 16,
	SEGMENT = 1448,
	LOSS_UNIT = 100000, /* losses are in hundred-thousandths */
};

#define MS 1000000ull

struct road {
	struct utcp *utcp[2];
	struct utcp_conn *conn[2];
	struct wire *wire;
	struct random random;
	unsigned loss;
	uint64_t now_ns;
	uint64_t received;
};

static void create_end(struct road *road, unsigned index)
{
	struct utcp_config config = {.mac = {2, 0, 0, 0, 0, (uint8_t)(index + 1)},
				     .ip = IP_FIRST + index,
				     .prefix_bits = 24,
				     .mtu = 1500,
				     .conn_max = 4,
				     .recv_bytes = MEMORY,
				     .send_bytes = MEMORY,
				     .congestion = UTCP_CUBIC,
				     .secret = {1, (uint8_t)index}};

	CHECK(utcp_create(&config, road->now_ns, &road->utcp[index]) == 0);
	CHECK(utcp_listen(road->utcp[index], PORT) == 0);
}

static void open_road(struct road *road, unsigned loss, uint64_t rtt_ns, unsigned late)
{
	*road = (struct road){.loss = loss, .now_ns = 1000 * MS, .random = {loss + rtt_ns}};
	road->wire = wire_create(1, &(struct wire_faults){.delay_ns = rtt_ns / 2,
							  .reorder = late,
							  .reorder_ns = 3 * rtt_ns / 2});
	for (unsigned i = 0; i < 2; i++)
		create_end(road, i);
	CHECK(utcp_connect(road->utcp[0], addr_of_ip4(IP_FIRST + 1), PORT, road->now_ns,
			   &road->conn[0]) == 0);
}

static void close_road(struct road *road)
{
	for (unsigned i = 0; i < 2; i++)
		utcp_destroy(road->utcp[i]);
	wire_destroy(road->wire);
}

static void write_all(struct road *road)
{
	struct room rooms[2];

	while (utcp_reserve(road->utcp[0], road->conn[0], PIECE, rooms) > 0)
		utcp_commit(road->utcp[0], road->conn[0], PIECE);
}

static void read_all(struct road *road)
{
	struct span spans[2];
	unsigned count = utcp_peek(road->utcp[1], road->conn[1], spans);
	size_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += spans[i].bytes;
	utcp_consume(road->utcp[1], road->conn[1], bytes);
	road->received += bytes;
}

static void turn(struct road *road, unsigned index)
{
	uint8_t frame[WIRE_FRAME_MAX];
	struct utcp_event event;
	size_t bytes;

	utcp_advance(road->utcp[index], road->now_ns);
	while (utcp_events(road->utcp[index], &event, 1) > 0) {
		CHECK(!(event.bits & UTCP_CLOSED));
		road->conn[index] = event.conn;
		if (index == 0)
			write_all(road);
		else
			read_all(road);
	}
	while ((bytes = utcp_output(road->utcp[index], frame, road->now_ns)) > 0)
		if (bytes < SEGMENT || random_below(&road->random, LOSS_UNIT) >= road->loss)
			wire_send(road->wire, index, frame, bytes, road->now_ns);
}

static uint64_t next_moment(const struct road *road)
{
	uint64_t next = wire_next(road->wire);

	for (unsigned i = 0; i < 2; i++)
		if (utcp_deadline(road->utcp[i]) < next)
			next = utcp_deadline(road->utcp[i]);
	return next;
}

static void drive(struct road *road, uint64_t for_ns)
{
	uint64_t end_ns = road->now_ns + for_ns;
	uint8_t frame[WIRE_FRAME_MAX];
	unsigned to;
	size_t bytes;

	while (road->now_ns < end_ns) {
		while ((bytes = wire_receive(road->wire, road->now_ns, frame, &to)) > 0)
			utcp_input(road->utcp[to], frame, bytes, road->now_ns);
		for (unsigned i = 0; i < 2; i++)
			turn(road, i);
		if (next_moment(road) > road->now_ns)
			road->now_ns = next_moment(road);
	}
}

/* The part of sqrt(3/2 / p) segments a round trip that arrives. */
static double part(unsigned loss, uint64_t rtt_ns, uint64_t for_ns)
{
	double ideal = sqrt(1.5 * LOSS_UNIT / loss) * SEGMENT * (double)for_ns / (double)rtt_ns;
	const struct utcp_counters *counters;
	struct road road;
	double got;

	open_road(&road, loss, rtt_ns, 0);
	drive(&road, for_ns);
	got = (double)road.received;
	counters = utcp_counters(road.utcp[0]);
	printf("# %g %% loss, %g ms: %.2f MB/s, %.2f of the ideal; %llu recoveries, %llu "
	       "timeouts, %llu of %llu segments again\n",
	       100.0 * loss / LOSS_UNIT, (double)rtt_ns / 1e6, got * 1e3 / (double)for_ns,
	       got / ideal, (unsigned long long)counters->fast_retransmits,
	       (unsigned long long)counters->timeouts, (unsigned long long)counters->retransmits,
	       (unsigned long long)counters->out_segments);
	close_road(&road);
	return got / ideal;
}

static void one_in_ten_thousand(void)
{
	CU_ASSERT(part(10, 1 * MS, 20000 * MS) > 0.9);
	CU_ASSERT(part(10, 20 * MS, 400000 * MS) > 0.9);
}

static void one_in_a_thousand(void)
{
	CU_ASSERT(part(100, 1 * MS, 20000 * MS) > 0.9);
	CU_ASSERT(part(100, 20 * MS, 200000 * MS) > 0.9);
}

static void one_in_a_hundred(void)
{
	CU_ASSERT(part(1000, 1 * MS, 20000 * MS) > 0.8);
	CU_ASSERT(part(1000, 20 * MS, 200000 * MS) > 0.8);
}

static void three_in_a_hundred(void)
{
	CU_ASSERT(part(3000, 1 * MS, 20000 * MS) > 0.7);
	CU_ASSERT(part(3000, 20 * MS, 200000 * MS) > 0.7);
}

/* The part of the receive memory that arrives in a round trip where so many frames in ten thousand
 * are late by up to one and a half of it. */
static double part_in_disorder(unsigned late, uint64_t rtt_ns, uint64_t for_ns)
{
	const struct utcp_counters *counters;
	struct road road;
	double got;

	open_road(&road, 0, rtt_ns, late);
	drive(&road, for_ns);
	got = (double)road.received / (double)for_ns;
	counters = utcp_counters(road.utcp[0]);
	printf("# %g %% late, %g ms: %.2f MB/s; %llu recoveries, %llu taken back, %llu timeouts, "
	       "%llu of %llu segments again\n",
	       late / 100.0, (double)rtt_ns / 1e6, got * 1e3,
	       (unsigned long long)counters->fast_retransmits,
	       (unsigned long long)counters->cuts_undone, (unsigned long long)counters->timeouts,
	       (unsigned long long)counters->retransmits,
	       (unsigned long long)counters->out_segments);
	close_road(&road);
	return got * (double)rtt_ns / MEMORY;
}

static void some_are_late(void)
{
	CU_ASSERT(part_in_disorder(1, 20 * MS, 20000 * MS) > 0.25);
	CU_ASSERT(part_in_disorder(10, 20 * MS, 20000 * MS) > 0.2);
	CU_ASSERT(part_in_disorder(100, 20 * MS, 20000 * MS) > 0.085);
}

static const struct suite_test tests[] = {
	{"with one segment in ten thousand lost nine tenths of the ideal arrive",
	 one_in_ten_thousand},
	{"with one segment in a thousand lost nine tenths of the ideal arrive", one_in_a_thousand},
	{"with one segment in a hundred lost eight tenths of the ideal arrive", one_in_a_hundred},
	{"with three segments in a hundred lost seven tenths of the ideal arrive",
	 three_in_a_hundred},
	{"what is only late does not hold a stream up for long", some_are_late},
};

SUITE_MAIN("goodput", tests)
