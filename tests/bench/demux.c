#include "tests/bench/demux.h"

#include "dataplane/core/check.h"
#include "stacks/utcp/instance.h"
#include "tests/unit/utcp/crowd.h"

#include <stdlib.h>
#include <time.h>

enum { SEGMENT_ROOM = 64, BURST = UTCP_EXPECT_MAX };

_Static_assert(BENCH_DEMUX_SEGMENTS % BURST == 0, "bursts are whole");

static struct crowd crowd;
static uint32_t *seqs; /* of the next byte to each connection */

bool bench_demux_open(uint32_t count)
{
	if (crowd.utcp)
		crowd_close(&crowd);
	seqs = realloc(seqs, count * sizeof(*seqs));
	for (uint32_t i = 0; i < count; i++)
		seqs[i] = (uint32_t)PEER_ISN + 1;
	return crowd_open(&crowd, count);
}

/* A place below `bound`, of a sequence in which each leads to the next (Numerical Recipes' LCG). */
static uint32_t choose(uint32_t *state, uint32_t bound)
{
	*state = *state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)*state * bound >> 32);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool bench_demux_reseed(uint32_t number)
{
	struct tuples *tuples = &crowd.utcp->tuples;
	const uint8_t secret[16] = {(uint8_t)number, (uint8_t)(number >> 8), 77};

	tuples_fini(tuples);
	if (tuples_init(tuples, crowd.count, secret) != 0)
		return false;
	for (uint32_t i = 0; i < crowd.count; i++)
		tuples_add(tuples, &crowd.utcp->conns, crowd.conns[i]);
	return true;
}

double bench_demux_find(uint32_t among)
{
	static uint32_t state;
	uint32_t found = 0;
	double seconds = cpu_seconds();

	for (uint32_t i = 0; i < BENCH_DEMUX_SEGMENTS; i++) {
		uint32_t index = choose(&state, among);
		uint64_t key =
			tuples_key_ip4(PEER_IP, crowd_peer_port(index), crowd_own_port(index));

		found += tuples_find_ip4(&crowd.utcp->tuples, &crowd.utcp->conns, key) != NULL;
	}
	seconds = cpu_seconds() - seconds;
	return found == BENCH_DEMUX_SEGMENTS ? seconds : -1;
}

/* A segment that brings the next byte. */
static size_t build(uint32_t index, uint8_t *to)
{
	static uint8_t frame[FRAME_ROOM];
	struct peer_segment segment = {.seq = seqs[index]++,
				       .ack = (uint32_t)OWN_ISN + 1,
				       .window = 60000,
				       .port = crowd_peer_port(index),
				       .own_port = crowd_own_port(index),
				       .flags = ACK,
				       .data = (const uint8_t *)"x",
				       .bytes = 1};
	size_t bytes = peer_build(&segment, frame);

	CHECK(bytes <= SEGMENT_ROOM);
	memcpy(to, frame, bytes);
	return bytes;
}

/* The application reads all that came, and its ACKs leave; how many bytes that was. */
static uint64_t read_all(void)
{
	struct utcp_event event;
	struct span spans[2];
	uint64_t bytes = 0;

	while (utcp_events(crowd.utcp, &event, 1) > 0)
		for (unsigned left = utcp_peek(crowd.utcp, event.conn, spans); left > 0;
		     left = utcp_peek(crowd.utcp, event.conn, spans)) {
			bytes += spans[0].bytes;
			utcp_consume(crowd.utcp, event.conn, spans[0].bytes);
		}
	crowd.now_ns += 2 * MS;
	utcp_advance(crowd.utcp, crowd.now_ns);
	crowd_drain(&crowd);
	return bytes;
}

/* As stacks/dpdk/turn.c does. */
static void take_burst(const struct span frames[BURST])
{
	if (utcp_expect_pays(crowd.utcp))
		utcp_expect(crowd.utcp, frames, BURST);
	for (unsigned i = 0; i < BURST; i++)
		utcp_input(crowd.utcp, frames[i].base, frames[i].bytes, crowd.now_ns);
}

double bench_demux_input(uint32_t among)
{
	static uint8_t memory[BENCH_DEMUX_SEGMENTS][SEGMENT_ROOM];
	static struct span frames[BENCH_DEMUX_SEGMENTS];
	static uint32_t state;
	double seconds;

	for (unsigned i = 0; i < BENCH_DEMUX_SEGMENTS; i++)
		frames[i] = (struct span){memory[i], build(choose(&state, among), memory[i])};
	seconds = cpu_seconds();
	for (unsigned i = 0; i < BENCH_DEMUX_SEGMENTS; i += BURST)
		take_burst(frames + i);
	seconds = cpu_seconds() - seconds;
	return read_all() == BENCH_DEMUX_SEGMENTS ? seconds : -1;
}
