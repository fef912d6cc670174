#include "dataplane/core/limits.h"
#include "tests/support/suite.h"
#include "tests/unit/pipeline/bench.h"

#include <string.h>

static const uint32_t whole = FRAME_START | FRAME_END;
static const struct tp_limits limits = {
	.conn_max = 4, .recv_bytes = LIMIT_RECV_BYTES, .send_bytes = LIMIT_SEND_BYTES};

static struct bench bench;

static void nobody_gets_more_than_a_share(void)
{
	struct server_config config = bench_config("coalesce", "echo", 0);
	struct bench_end *greedy, *modest;

	config.turn_requests = 10;
	bench_open(&bench, &config, &limits);
	greedy = bench_connect(&bench, 0);
	modest = bench_connect(&bench, 1);
	bench_request(&bench, greedy, 0, 100, 1);
	bench_request(&bench, modest, 200, 1, 1);
	bench_turn(&bench);
	CU_ASSERT_EQUAL(server_counters(bench.server)->responses, 11);
	CU_ASSERT_EQUAL(server_counters(bench.server)->yields, 1);
	CU_ASSERT_TRUE(bench_expect(&bench, modest, 200, whole, (const uint8_t *)"\xC8", 1));
	for (unsigned i = 0; i < 9; i++)
		bench_turn(&bench);
	for (unsigned i = 0; i < 100; i++)
		CU_ASSERT_TRUE(bench_expect(&bench, greedy, i, whole, &(uint8_t){(uint8_t)i}, 1));
	/* ten writes: each share is written when it ends */
	CU_ASSERT_EQUAL(bench_counters(&bench).writes, 11);
	bench_close(&bench);
}

/* The send memory takes all there is, as a kernel's does for one who never reads. */
static void nobody_fills_a_turn_with_bytes(void)
{
	static const struct tp_limits roomy = {
		.conn_max = 4, .recv_bytes = 4 * 1024 * 1024, .send_bytes = 4 * 1024 * 1024};
	static uint8_t answer[LIMIT_TURN_BYTES];
	const uint32_t body_bytes = 5 * LIMIT_TURN_BYTES / 2;
	struct server_config config = bench_config("coalesce", "spin:1", body_bytes);
	struct bench_end *greedy, *modest;
	size_t got = 0;

	bench_open(&bench, &config, &roomy);
	greedy = bench_connect(&bench, 0);
	modest = bench_connect(&bench, 1);
	bench_request(&bench, greedy, 0, 1, 1);
	for (uint64_t sent = 0, last = 0; got < FRAME_HEAD_BYTES + body_bytes; last = sent) {
		bench_turn(&bench);
		sent = bench_counters(&bench).written_bytes;
		CU_ASSERT_TRUE(sent - last < LIMIT_TURN_BYTES + 2 * LIMIT_CHUNK_BYTES);
		if (sent == last)
			break;
		for (size_t read; (read = bench_read(&bench, greedy, answer, sizeof(answer)));)
			got += read;
	}
	CU_ASSERT_EQUAL(got, FRAME_HEAD_BYTES + body_bytes);
	CU_ASSERT_EQUAL(server_counters(bench.server)->yields, 2);
	CU_ASSERT_FALSE(modest->closed);
	bench_close(&bench);
}

static const struct suite_test tests[] = {
	{"nobody gets more than its share of a turn's requests", nobody_gets_more_than_a_share},
	{"nobody fills a turn with a large answer", nobody_fills_a_turn_with_bytes},
};

SUITE_MAIN("share", tests)
