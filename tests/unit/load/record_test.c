#include "apps/load/record.h"
#include "tests/support/suite.h"

/* 244 KiB each: not for the stack. */
static struct record record, sum;

static void a_response_before_its_request_is_seen(void)
{
	record_reset(&record);
	CU_ASSERT_FALSE(record_went_backwards(&record));
	record_complete(&record, 1000, 900, 900);
	record_complete(&record, HISTOGRAM_MAX_NS * 10, 1, 1); /* long, and no more than that */
	CU_ASSERT_FALSE(record_went_backwards(&record));
	CU_ASSERT_EQUAL(record.service.saturated, 1);
	record_complete(&record, 1000, 900, 1001);
	CU_ASSERT(record_went_backwards(&record));
	record_reset(&record);
	record_complete(&record, 1000, 1001, 900);
	CU_ASSERT(record_went_backwards(&record));
}

static void a_sum_keeps_it(void)
{
	record_reset(&record);
	record_reset(&sum);
	record_complete(&record, 1000, 900, 2000);
	record_add(&sum, &record);
	CU_ASSERT(record_went_backwards(&sum));
	CU_ASSERT_EQUAL(sum.service.count, 1);
}

static const struct suite_test tests[] = {
	{"a response before its request is seen, a slow one is not taken for it",
	 a_response_before_its_request_is_seen},
	{"a sum of records keeps it", a_sum_keeps_it},
};

SUITE_MAIN("load record", tests)
