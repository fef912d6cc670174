#include "stacks/utcp/prr.h"

#include "tests/support/suite.h"

enum { MSS = 1000 };

/* Half the window is to go: of each two that arrive the second lets one out. */
static void sends_in_proportion(void)
{
	struct prr prr = prr_of(20 * MSS);
	uint32_t pipe = 16 * MSS, out = 0; /* three have arrived, one is lost */
	uint32_t room = prr_take(&prr, 10 * MSS, MSS, &(struct prr_news){3 * MSS, pipe});

	CU_ASSERT(room == 3 * MSS / 2);
	for (unsigned i = 0; i < 17; i++) {
		for (; room >= MSS; room -= MSS) {
			prr.sent += MSS;
			pipe += MSS;
			out++;
		}
		pipe -= MSS;
		room = prr_take(&prr, 10 * MSS, MSS, &(struct prr_news){MSS, pipe});
	}
	CU_ASSERT(out >= 9 && out <= 10 && pipe + room <= 11 * MSS);
}

static void the_first_sending_never_waits(void)
{
	struct prr prr = prr_of(10 * MSS);

	CU_ASSERT(prr_take(&prr, 5 * MSS, MSS, &(struct prr_news){1, 9 * MSS}) == MSS);
	prr.sent = MSS;
	CU_ASSERT(prr_take(&prr, 5 * MSS, MSS, &(struct prr_news){1, 10 * MSS}) == 0);
	CU_ASSERT(prr_take(&prr, 5 * MSS, MSS, &(struct prr_news){1, 10 * MSS, .urgent = true}) ==
		  MSS);
}

/* With less under way than the new window: slow start up to it, or only what was delivered. */
static void refills_after_many_losses(void)
{
	struct prr prr = prr_of(10 * MSS);

	CU_ASSERT(prr_take(&prr, 5 * MSS, MSS, &(struct prr_news){MSS, MSS}) == MSS);
	prr.sent = MSS;
	CU_ASSERT(prr_take(&prr, 5 * MSS, MSS, &(struct prr_news){MSS, MSS, .safe = true}) ==
		  2 * MSS);
	CU_ASSERT(prr_take(&prr, 5 * MSS, MSS,
			   &(struct prr_news){5 * MSS, 4 * MSS, .safe = true}) == MSS);
}

static void nothing_overflows(void)
{
	struct prr prr = prr_of(0);

	CU_ASSERT(prr_take(&prr, 1 << 30, MSS, &(struct prr_news){1 << 30, 1u << 31}) > 0);
	CU_ASSERT(prr_take(&prr, 1 << 30, MSS, &(struct prr_news){1 << 30, 0, .safe = true}) ==
		  1 << 30);
}

static const struct suite_test tests[] = {
	{"what is sent follows what is delivered, down to the new window", sends_in_proportion},
	{"the first sending of a recovery never waits", the_first_sending_never_waits},
	{"after many losses slow start refills the new window", refills_after_many_losses},
	{"no amount overflows", nothing_overflows},
};

SUITE_MAIN("prr", tests)
