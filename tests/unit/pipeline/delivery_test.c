/* The exact number of writes under each policy, asserted in every round. */
#include "dataplane/core/limits.h"
#include "tests/support/suite.h"
#include "tests/unit/pipeline/bench.h"

#include <errno.h>

enum {
	BODY_BYTES = 8,
	RESPONSE_BYTES = FRAME_HEAD_BYTES + BODY_BYTES, /* 32 */
	ITERATIONS = 40,
};

static const struct tp_limits limits = {
	.conn_max = BENCH_CONNS, .recv_bytes = LIMIT_RECV_BYTES, .send_bytes = LIMIT_SEND_BYTES};

struct delivery_case {
	const char *policy;
	unsigned depth, conns, rounds;
	uint64_t writes, largest;
};

/*
 * Sends a window on every connection, serves it, and takes every answer: the next window only
 * exists once this one arrived.
 */
static void serve_round(struct bench *bench, const struct delivery_case *c, uint64_t round)
{
	static const uint8_t body[BODY_BYTES] = {0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0x5A};
	uint32_t flags = FRAME_START | FRAME_END;

	for (unsigned i = 0; i < c->conns; i++)
		bench_request(bench, &bench->ends[i], round * c->depth, c->depth, 1);
	bench_turn(bench);
	for (unsigned i = 0; i < c->conns; i++)
		for (unsigned n = 0; n < c->depth; n++)
			CU_ASSERT_TRUE_FATAL(bench_expect(bench, &bench->ends[i],
							  round * c->depth + n, flags, body,
							  BODY_BYTES));
}

static void serve_case(const struct delivery_case *c)
{
	struct server_config config = bench_config(c->policy, "respond", BODY_BYTES);
	static struct bench bench;

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		struct tp_counters counters;

		bench_open(&bench, &config, &limits);
		for (unsigned i = 0; i < c->conns; i++)
			bench_connect(&bench, i);
		for (unsigned round = 0; round < c->rounds; round++)
			serve_round(&bench, c, round);
		counters = bench_counters(&bench);
		CU_ASSERT_EQUAL_FATAL(counters.writes, c->writes);
		CU_ASSERT_EQUAL_FATAL(counters.largest_write_bytes, c->largest);
		CU_ASSERT_EQUAL_FATAL(counters.written_bytes,
				      (uint64_t)c->conns * c->rounds * c->depth * RESPONSE_BYTES);
		bench_close(&bench);
	}
}

static void serve_cases(const struct delivery_case *cases, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		serve_case(&cases[i]);
}

static void one_window_of_64(void)
{
	static const struct delivery_case cases[] = {
		{"immediate", 64, 1, 1, 64, 32},
		{"coalesce", 64, 1, 1, 1, 2048},
		{"flush-at:1024", 64, 1, 1, 2, 1024},
		{"flush-at:2048", 64, 1, 1, 1, 2048},
	};

	serve_cases(cases, 4);
}

static void same_connection(void)
{
	static const struct delivery_case cases[] = {
		{"immediate", 1, 1, 1, 1, 32},	 {"immediate", 8, 1, 1, 8, 32},
		{"immediate", 32, 1, 1, 32, 32}, {"coalesce", 1, 1, 1, 1, 32},
		{"coalesce", 8, 1, 1, 1, 256},	 {"coalesce", 32, 1, 1, 1, 1024},
	};

	serve_cases(cases, 6);
}

static void pool_of_eight(void)
{
	static const struct delivery_case cases[] = {
		{"immediate", 1, 8, 8, 64, 32},	   {"immediate", 8, 8, 8, 512, 32},
		{"immediate", 32, 8, 8, 2048, 32}, {"coalesce", 1, 8, 8, 64, 32},
		{"coalesce", 8, 8, 8, 64, 256},	   {"coalesce", 32, 8, 8, 64, 1024},
	};

	serve_cases(cases, 6);
}

static void threshold_may_be_crossed(void)
{
	/*
	 * three responses of 32 bytes: 40 is reached by the second; what is left goes at the end of
	 * the input
	 */
	static const struct delivery_case cases[] = {
		{"flush-at:40", 3, 1, 1, 2, 64},
		{"flush-at:64", 3, 1, 1, 2, 64},
		{"flush-at:65", 3, 1, 1, 1, 96},
		{"flush-at:1", 3, 1, 1, 3, 32},
	};

	serve_cases(cases, 4);
}

static void coalesce_writes_at_its_capacity(void)
{
	/*
	 * 512 responses of 32 bytes are exactly the capacity; the 513th is left for the end of the
	 * input
	 */
	struct server_config config = bench_config("coalesce", "respond", BODY_BYTES);
	static struct bench bench;
	unsigned depth = LIMIT_COALESCE_BYTES / 32 + 1;

	config.turn_requests = 1000;
	bench_open(&bench, &config, &limits);
	bench_connect(&bench, 0);
	serve_round(&bench, &(struct delivery_case){.depth = depth, .conns = 1}, 0);
	CU_ASSERT_EQUAL(bench_counters(&bench).writes, 2);
	CU_ASSERT_EQUAL(bench_counters(&bench).largest_write_bytes, LIMIT_COALESCE_BYTES);
	bench_close(&bench);
}

static void names_are_judged(void)
{
	static const char *const bad[] = {"",
					  "Immediate",
					  "flush-at:",
					  "flush-at:0",
					  "flush-at:-1",
					  "flush-at:1k",
					  "flush-at: 5",
					  "coalesce ",
					  "flush-at:+5",
					  "flush-at:99999999",
					  "flush-at:32769"};
	struct delivery delivery = {.threshold_bytes = 77};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(delivery_parse(bad[i], &delivery), -EINVAL);
	CU_ASSERT_EQUAL(delivery.threshold_bytes, 77);
	CU_ASSERT_EQUAL(delivery_parse("flush-at:2KiB", &delivery), 0);
	CU_ASSERT_EQUAL(delivery.threshold_bytes, 2048);
	CU_ASSERT_EQUAL(delivery_parse("flush-at:32768", &delivery), 0);
	CU_ASSERT_EQUAL(delivery.threshold_bytes, 32768);
	CU_ASSERT_EQUAL(delivery_parse("immediate", &delivery), 0);
	CU_ASSERT_TRUE(delivery_due(&delivery, 1));
	CU_ASSERT_FALSE(delivery_due(&delivery, 0));
}

static const struct suite_test tests[] = {
	{"64 responses of 32 bytes make 64, 1, 2 and 1 writes", one_window_of_64},
	{"one connection at depth 1, 8, 32 makes d writes immediate and 1 coalesced",
	 same_connection},
	{"8 connections and 8 windows make 64 d writes immediate and 64 coalesced", pool_of_eight},
	{"a threshold may be reached or crossed", threshold_may_be_crossed},
	{"coalesce writes at its capacity and the rest at the end of the input",
	 coalesce_writes_at_its_capacity},
	{"policy names outside the grammar are refused", names_are_judged},
};

SUITE_MAIN("delivery", tests)
