#include "tests/unit/utcp/crowd.h"

#include "dataplane/core/bytes.h"
#include "tests/support/suite.h"

#include <string.h>
#include <time.h>

enum { MANY = 100000 };

static struct crowd crowd;

static void serves_a_hundred_thousand(void)
{
	struct span spans[2];
	uint32_t wrong = 0;

	CU_ASSERT_FATAL(crowd_open(&crowd, MANY));
	CU_ASSERT(utcp_conn_count(crowd.utcp) == MANY);
	utcp_check(crowd.utcp);
	for (uint32_t i = 0; i < MANY; i++) {
		crowd_send(&crowd, i, ACK, true);
		wrong += utcp_peek(crowd.utcp, crowd.conns[i], spans) != 1 || spans[0].bytes != 1;
		utcp_consume(crowd.utcp, crowd.conns[i], 1);
	}
	CU_ASSERT(wrong == 0 && utcp_counters(crowd.utcp)->in_bytes == MANY);
	utcp_check(crowd.utcp);
	crowd.now_ns += 2 * MS;
	utcp_advance(crowd.utcp, crowd.now_ns);
	CU_ASSERT(crowd_drain(&crowd) == MANY); /* the delayed ACKs */
	utcp_check(crowd.utcp);
	crowd_close(&crowd);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* An ARP reply to us of the host with this last byte. */
static void build_answer(uint8_t frame[42], uint8_t host)
{
	static const uint8_t begin[] = {8, 6, 0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 7};
	struct utcp_config config = peer_config();

	memset(frame, 0, 42);
	memcpy(frame, config.mac, 6);
	memcpy(frame + 6, begin + 10, 6);
	memcpy(frame + 12, begin, sizeof(begin));
	bytes_put_be32(frame + 28, (OWN_IP & ~0xffu) | host);
	memcpy(frame + 32, config.mac, 6);
	bytes_put_be32(frame + 38, OWN_IP);
}

/* Among all connections one calls another host, which answers; the time of that. */
static uint64_t time_answer(uint8_t host)
{
	struct utcp_conn *conn;
	struct utcp_event event;
	uint8_t frame[42];
	uint64_t begin_ns;

	CU_ASSERT_FATAL(utcp_connect(crowd.utcp, peer_addr_of(host), 80, crowd.now_ns, &conn) == 0);
	CU_ASSERT(crowd_drain(&crowd) == 1);
	build_answer(frame, host);
	begin_ns = cpu_ns();
	utcp_input(crowd.utcp, frame, sizeof(frame), crowd.now_ns);
	begin_ns = cpu_ns() - begin_ns;
	CU_ASSERT(crowd_drain(&crowd) == 1); /* the SYN */
	utcp_abort(crowd.utcp, conn);
	CU_ASSERT(utcp_events(crowd.utcp, &event, 1) == 1 && event.bits == UTCP_CLOSED);
	utcp_advance(crowd.utcp, crowd.now_ns);
	return begin_ns;
}

/* The best of some: a look at each of so many takes milliseconds. */
static void an_answer_walks_over_nobody(void)
{
	struct utcp_event event;
	uint64_t least_ns = UINT64_MAX;

	CU_ASSERT_FATAL(crowd_open(&crowd, MANY));
	utcp_abort(crowd.utcp, crowd.conns[0]); /* room for another */
	crowd_drain(&crowd);
	CU_ASSERT(utcp_events(crowd.utcp, &event, 1) == 1);
	utcp_advance(crowd.utcp, crowd.now_ns);
	for (uint8_t host = 100; host < 110; host++) {
		uint64_t took_ns = time_answer(host);

		least_ns = took_ns < least_ns ? took_ns : least_ns;
	}
	CU_ASSERT(least_ns < 200 * 1000);
	crowd_close(&crowd);
}

static const struct suite_test tests[] = {
	{"one worker holds a hundred thousand connections, and each is served",
	 serves_a_hundred_thousand},
	{"an answer of ARP costs those who wait for it, not all", an_answer_walks_over_nobody},
};

SUITE_MAIN("crowd", tests)
