#include "stacks/utcp/rtt.h"

#include "tests/support/suite.h"

#define MS 1000000ull

static void first_sample(void)
{
	struct rtt rtt;

	rtt_init(&rtt);
	CU_ASSERT(rtt_timeout(&rtt, 0) == 1000 * MS);
	rtt_sample(&rtt, 100 * MS, 1);
	CU_ASSERT(rtt.smoothed_ns == 100 * MS && rtt.variation_ns == 50 * MS);
	CU_ASSERT(rtt_timeout(&rtt, 0) == 300 * MS);
}

static void follows_the_formula(void)
{
	struct rtt rtt;
	double srtt = 100e6, rttvar = 50e6;
	static const uint64_t samples[] = {80, 120, 300, 10, 90};

	rtt_init(&rtt);
	rtt_sample(&rtt, 100 * MS, 1);
	for (unsigned i = 0; i < 5; i++) {
		double r = (double)(samples[i] * MS), error = r > srtt ? r - srtt : srtt - r;

		rttvar = 0.75 * rttvar + 0.25 * error;
		srtt = 0.875 * srtt + 0.125 * r;
		rtt_sample(&rtt, samples[i] * MS, 1);
		CU_ASSERT_DOUBLE_EQUAL((double)rtt.smoothed_ns, srtt, 1000);
		CU_ASSERT_DOUBLE_EQUAL((double)rtt.variation_ns, rttvar, 1000);
	}
}

static void has_floor_and_ceiling(void)
{
	struct rtt rtt;

	rtt_init(&rtt);
	for (unsigned i = 0; i < 50; i++)
		rtt_sample(&rtt, 1000, 200 * MS);
	CU_ASSERT(rtt_timeout(&rtt, 0) == 200 * MS && rtt_timeout(&rtt, 1) == 400 * MS);
	CU_ASSERT(rtt_timeout(&rtt, 20) == RTT_RTO_MAX_NS &&
		  rtt_timeout(&rtt, 255) == RTT_RTO_MAX_NS);
	rtt_sample(&rtt, 1000000 * MS, 200 * MS);
	CU_ASSERT(rtt_timeout(&rtt, 0) == RTT_RTO_MAX_NS);
}

static void one_sample_a_round_trip(void)
{
	struct rtt rtt;

	rtt_init(&rtt);
	rtt.timed_to = 100;
	CU_ASSERT(!rtt_is_due(&rtt, 50, 200) && !rtt_is_due(&rtt, 100, 200));
	CU_ASSERT(rtt_is_due(&rtt, 101, 200));
	for (uint32_t una = 1u << 28; una < 0xf0000000; una += 1u << 28) /* nothing was timed */
		CU_ASSERT(rtt_is_due(&rtt, una, una + 1000));
}

static const struct suite_test tests[] = {
	{"the first sample sets both estimates", first_sample},
	{"later samples follow RFC 6298's formula", follows_the_formula},
	{"the timeout stays between floor and 60 s, whatever the back-off", has_floor_and_ceiling},
	{"there is one sample a round trip, however long none could be taken",
	 one_sample_a_round_trip},
};

SUITE_MAIN("rtt", tests)
