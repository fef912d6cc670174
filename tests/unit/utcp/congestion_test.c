#include "stacks/utcp/congestion.h"

#include "tests/support/suite.h"

enum { MSS = 1000 };

static void begins(void)
{
	struct congestion c;

	congestion_init(&c, MSS, 0, false);
	CU_ASSERT(c.cwnd == 10 * MSS);
	congestion_init(&c, 8960, 0, false);
	CU_ASSERT(c.cwnd == 2 * 8960);
	congestion_init(&c, 1460, 0, false);
	CU_ASSERT(c.cwnd == 14600);
	congestion_init(&c, MSS, 0, true);
	CU_ASSERT(c.cwnd == MSS);
}

static void grows(void)
{
	struct congestion c;

	congestion_init(&c, MSS, 0, false);
	congestion_acked(&c, MSS, 1000, MSS, 10 * MSS);
	CU_ASSERT(c.cwnd == 11 * MSS);
	congestion_acked(&c, MSS, 6000, 5 * MSS, 9 * MSS); /* one ACK counts as one segment */
	CU_ASSERT(c.cwnd == 12 * MSS);
	congestion_acked(&c, MSS, 10000, 4 * MSS, 4 * MSS); /* the rest of a flight of ten */
	CU_ASSERT(c.cwnd == 13 * MSS);
	congestion_acked(&c, MSS, 11000, MSS, MSS); /* not the window's fault */
	CU_ASSERT(c.cwnd == 13 * MSS);
	c.ssthresh = c.cwnd;
	for (uint32_t i = 0; i < 13; i++)
		congestion_acked(&c, MSS, 12000 + i * MSS, MSS, 13 * MSS);
	CU_ASSERT(c.cwnd == 14 * MSS);
}

static void acks_cannot_be_divided(void)
{
	struct congestion c;

	congestion_init(&c, MSS, 0, false);
	for (uint32_t i = 1; i <= MSS; i++)
		congestion_acked(&c, MSS, i, 1, c.cwnd);
	CU_ASSERT(c.cwnd == 11 * MSS);
}

static void recovers(void)
{
	struct congestion c;

	congestion_init(&c, MSS, 0, false);
	CU_ASSERT(congestion_duplicate(&c, MSS, 1, 10 * MSS, 10001) == CONGESTION_GO_ON);
	CU_ASSERT(congestion_window(&c, MSS) == 11 * MSS); /* limited transmit */
	CU_ASSERT(congestion_duplicate(&c, MSS, 1, 10 * MSS, 10001) == CONGESTION_GO_ON);
	CU_ASSERT(congestion_window(&c, MSS) == 12 * MSS);
	CU_ASSERT(congestion_duplicate(&c, MSS, 1, 10 * MSS, 10001) == CONGESTION_RECOVER);
	CU_ASSERT(c.ssthresh == 5 * MSS && c.cwnd == 8 * MSS && c.recovering);
	CU_ASSERT(congestion_duplicate(&c, MSS, 1, 10 * MSS, 10001) == CONGESTION_GO_ON);
	CU_ASSERT(c.cwnd == 9 * MSS);
	CU_ASSERT(congestion_acked(&c, MSS, 3001, 3 * MSS, 10 * MSS) == CONGESTION_RESEND);
	CU_ASSERT(c.cwnd == 7 * MSS && c.recovering);
	CU_ASSERT(congestion_acked(&c, MSS, 10001, 7 * MSS, 7 * MSS) == CONGESTION_GO_ON);
	CU_ASSERT(!c.recovering && c.cwnd == 2 * MSS);
	/* Duplicates of what was sent before the recovery ended begin no other. */
	for (unsigned i = 0; i < 5; i++)
		CU_ASSERT(congestion_duplicate(&c, MSS, 10001, MSS, 11001) == CONGESTION_GO_ON);
}

static void times_out(void)
{
	struct congestion c;

	congestion_init(&c, MSS, 0, false);
	congestion_timeout(&c, MSS, 10 * MSS, 10001, true);
	CU_ASSERT(c.cwnd == MSS && c.ssthresh == 5 * MSS);
	for (unsigned i = 0; i < 5; i++) /* duplicates of what was sent before it say nothing new */
		CU_ASSERT(congestion_duplicate(&c, MSS, 5001, 5 * MSS, 10001) == CONGESTION_GO_ON);
	congestion_timeout(&c, MSS, MSS, 10001, false);
	CU_ASSERT(c.ssthresh == 5 * MSS);
	congestion_timeout(&c, MSS, MSS, 10001, true);
	CU_ASSERT(c.ssthresh == 2 * MSS);
}

static const struct suite_test tests[] = {
	{"the initial window is RFC 6928's, one segment after a lost SYN", begins},
	{"slow start and avoidance grow only while the window limits", grows},
	{"dividing an ACK gains nothing", acks_cannot_be_divided},
	{"three duplicates begin one NewReno recovery", recovers},
	{"a timeout halves once and restarts from one segment", times_out},
};

SUITE_MAIN("congestion", tests)
