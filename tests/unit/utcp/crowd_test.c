#include "tests/unit/utcp/crowd.h"

#include "tests/support/suite.h"

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

static const struct suite_test tests[] = {
	{"one worker holds a hundred thousand connections, and each is served",
	 serves_a_hundred_thousand},
};

SUITE_MAIN("crowd", tests)
