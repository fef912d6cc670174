/* Several workers of one server, of epoll or uring: who gets how many connections. */
#include "dataplane/core/clock.h"
#include "stacks/socket/socket.h"
#include "tests/support/loopback.h"
#include "tests/support/suite.h"
#include "tests/unit/epoll/bench.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WORKERS = 2, CONNS = 64, SHARE = CONNS / WORKERS };

#define DEADLINE_NS (10 * CLOCK_SECOND_NS)

static struct bench workers[WORKERS];

static void open_all(const char *options)
{
	struct tp_addr addr = {.ip = loopback_ip(), .port = loopback_port()};
	uint64_t values[TP_OPTIONS_MAX];
	struct tp_config config = {
		.limits = {.conn_max = CONNS, .recv_bytes = 4096, .send_bytes = 4096},
		.device = "",
		.cpu = -1,
		.workers = WORKERS,
		.options = values,
	};
	struct tp_error error = {{0}};

	clock_start();
	memset(workers, 0, sizeof(workers));
	CU_ASSERT_EQUAL_FATAL(tp_options_parse(&BENCH_OPS, options, values, &error), 0);
	for (; config.worker < WORKERS; config.worker++) {
		struct bench *bench = &workers[config.worker];

		bench->addr = addr;
		CU_ASSERT_EQUAL_FATAL(BENCH_OPS.open(&config, &bench->tp, &error), 0);
		CU_ASSERT_EQUAL_FATAL(BENCH_OPS.listen(bench->tp, &addr, &error), 0);
	}
}

static unsigned accepted(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < WORKERS; i++)
		sum += (unsigned)bench_counters(&workers[i]).accepted;
	return sum;
}

static void dial_all(int fds[CONNS])
{
	uint64_t until_ns = clock_now_ns() + DEADLINE_NS;

	for (unsigned i = 0; i < CONNS; i++)
		fds[i] = bench_dial(&workers[0]);
	while (accepted() < CONNS && clock_now_ns() < until_ns)
		for (unsigned i = 0; i < WORKERS; i++)
			bench_turn(&workers[i], 0);
	CU_ASSERT_EQUAL(accepted(), CONNS);
}

static void close_all(const int fds[CONNS])
{
	for (unsigned i = 0; i < CONNS; i++)
		close(fds[i]);
	for (unsigned i = 0; i < WORKERS; i++)
		bench_close(&workers[i]);
}

static bool host_has_turns(void)
{
	struct tp_feature features[TP_FEATURES_MAX];
	struct tp_error error;
	int count = BENCH_OPS.probe(features, TP_FEATURES_MAX, &error);

	for (int i = 0; i < count; i++)
		if (strcmp(features[i].name, "reuseport-ebpf") == 0)
			return features[i].present;
	CU_FAIL("the stack does not tell");
	return false;
}

static void connections_go_in_turn(void)
{
	int fds[CONNS];

	if (!host_has_turns()) {
		suite_skip("this host does not let a program deal connections out in turn");
		return;
	}
	open_all("");
	dial_all(fds);
	for (unsigned i = 0; i < WORKERS; i++) {
		CU_ASSERT_EQUAL(bench_detail(&workers[i], "listeners_in_turn"), 1);
		CU_ASSERT_EQUAL(bench_counters(&workers[i]).accepted, SHARE);
	}
	close_all(fds);
}

static void other_ways_say_that_it_is_not_in_turn(void)
{
	static const char *const ways[] = {"steer=hash", "steer=port", "steer=cpu"};
	int fds[CONNS];

	for (unsigned way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
		open_all(ways[way]);
		dial_all(fds);
		for (unsigned i = 0; i < WORKERS; i++)
			CU_ASSERT_EQUAL(bench_detail(&workers[i], "listeners_in_turn"), 0);
		close_all(fds);
	}
}

static void one_worker_needs_no_turns(void)
{
	struct bench *bench = &workers[0];

	if (!bench_open(bench, 4))
		return;
	CU_ASSERT_EQUAL(bench_detail(bench, "listeners_in_turn"), 0);
	bench_close(bench);
}

static const struct suite_test tests[] = {
	{"64 connections to two workers are 32 each, unless told otherwise",
	 connections_go_in_turn},
	{"steered otherwise, none is lost and none is said to go in turn",
	 other_ways_say_that_it_is_not_in_turn},
	{"one worker alone needs no turns", one_worker_needs_no_turns},
};

SUITE_MAIN("workers of a server", tests)
