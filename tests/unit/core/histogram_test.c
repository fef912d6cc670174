#include "dataplane/core/histogram.h"

#include "tests/support/suite.h"

#include <stdlib.h>

static struct histogram a, b, c;

/* Bounds worked out apart from the code, by integer arithmetic on the definition. */
static void test_buckets(void)
{
	static const struct {
		uint64_t value_ns;
		uint32_t index;
		uint64_t low_ns;
		uint64_t high_ns;
	} rows[] = {
		{0ull, 0, 0ull, 0ull},
		{1ull, 1, 1ull, 1ull},
		{1023ull, 1023, 1023ull, 1023ull},
		{1024ull, 1024, 1024ull, 1024ull},
		{2047ull, 2047, 2047ull, 2047ull},
		{2048ull, 2048, 2048ull, 2049ull},
		{2049ull, 2048, 2048ull, 2049ull},
		{4095ull, 3071, 4094ull, 4095ull},
		{4096ull, 3072, 4096ull, 4099ull},
		{1000000ull, 11169, 999936ull, 1000447ull},
		{123456789ull, 18267, 123404288ull, 123469823ull},
		{1000000000ull, 21363, 999817216ull, 1000341503ull},
		{99999999999ull, 28114, 99992207360ull, 100059316223ull},
		{100000000000ull, 28114, 99992207360ull, 100059316223ull},
	};
	struct histogram_bucket bucket;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		histogram_reset(&a);
		histogram_record(&a, rows[i].value_ns);
		CU_ASSERT_TRUE_FATAL(histogram_next(&a, 0, &bucket));
		CU_ASSERT_EQUAL(bucket.index, rows[i].index);
		CU_ASSERT_EQUAL(bucket.low_ns, rows[i].low_ns);
		CU_ASSERT_EQUAL(bucket.high_ns, rows[i].high_ns);
		CU_ASSERT_EQUAL(bucket.count, 1);
		CU_ASSERT_FALSE(histogram_next(&a, bucket.index + 1, &bucket));
		CU_ASSERT_EQUAL(a.saturated, 0);
	}
}

static void test_buckets_join(void)
{
	struct histogram_bucket bucket = {0};
	uint64_t next_ns = 0;

	histogram_reset(&a);
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		a.buckets[i] = 1;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		CU_ASSERT_TRUE_FATAL(histogram_next(&a, i, &bucket));
		if (bucket.low_ns != next_ns || histogram_index(bucket.low_ns) != i ||
		    histogram_index(bucket.high_ns) != i)
			CU_FAIL_FATAL("a bucket's bounds do not join the one before");
		if (bucket.high_ns - bucket.low_ns > bucket.low_ns / 1000)
			CU_FAIL_FATAL("a bucket is wider than 3 significant digits");
		next_ns = bucket.high_ns + 1;
	}
	CU_ASSERT_TRUE(bucket.high_ns >= HISTOGRAM_MAX_NS);
}

static void test_percentiles(void)
{
	static const struct {
		double percentile;
		uint64_t value_ns;
	} rows[] = {
		{0, 1000},     {1, 100031},	{50, 5001215},	   {90, 9003007},
		{99, 9904127}, {99.9, 9994239}, {99.99, 10000000}, {100, 10000000},
	};

	histogram_reset(&a);
	for (uint64_t i = 10000; i > 0; i--)
		histogram_record(&a, i * 1000);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CU_ASSERT_EQUAL(histogram_percentile(&a, rows[i].percentile), rows[i].value_ns);
	CU_ASSERT_EQUAL(a.min_ns, 1000);
	CU_ASSERT_EQUAL(a.max_ns, 10000000);
	CU_ASSERT_DOUBLE_EQUAL(histogram_mean(&a), 5000500.0, 1e-6);
}

static void test_merge(void)
{
	uint64_t value = 1;

	histogram_reset(&a);
	histogram_reset(&b);
	histogram_reset(&c);
	for (unsigned i = 0; i < 100000; i++) {
		value = value * 6364136223846793005ull + 1442695040888963407ull;
		histogram_record(i % 3 ? &a : &b, (value >> 20) % (2 * HISTOGRAM_MAX_NS));
		histogram_record(&c, (value >> 20) % (2 * HISTOGRAM_MAX_NS));
	}
	CU_ASSERT_TRUE(a.saturated > 0 && b.saturated > 0);
	histogram_merge(&a, &b);
	CU_ASSERT_EQUAL(memcmp(&a, &c, sizeof(a)), 0);
	histogram_reset(&b);
	histogram_merge(&a, &b);
	CU_ASSERT_EQUAL(memcmp(&a, &c, sizeof(a)), 0);
	histogram_merge(&b, &a);
	CU_ASSERT_EQUAL(memcmp(&b, &c, sizeof(b)), 0);
}

static void test_empty(void)
{
	struct histogram_bucket bucket;

	histogram_reset(&a);
	CU_ASSERT_EQUAL(histogram_percentile(&a, 50), 0);
	CU_ASSERT_EQUAL(histogram_percentile(&a, 100), 0);
	CU_ASSERT_EQUAL(histogram_mean(&a), 0);
	CU_ASSERT_FALSE(histogram_next(&a, 0, &bucket));
}

static void test_one_value(void)
{
	histogram_reset(&a);
	histogram_record(&a, 123456789);
	CU_ASSERT_EQUAL(histogram_percentile(&a, 0), 123456789);
	CU_ASSERT_EQUAL(histogram_percentile(&a, 50), 123456789);
	CU_ASSERT_EQUAL(histogram_percentile(&a, 100), 123456789);
}

static void test_saturation(void)
{
	histogram_reset(&a);
	histogram_record(&a, HISTOGRAM_MAX_NS);
	CU_ASSERT_EQUAL(a.saturated, 0);
	histogram_record(&a, HISTOGRAM_MAX_NS + 1);
	histogram_record(&a, UINT64_MAX / 4);
	CU_ASSERT_EQUAL(a.saturated, 2);
	CU_ASSERT_EQUAL(a.count, 3);
	CU_ASSERT_EQUAL(a.buckets[HISTOGRAM_BUCKETS - 1], 3);
	CU_ASSERT_EQUAL(a.max_ns, UINT64_MAX / 4);
	CU_ASSERT_EQUAL(histogram_percentile(&a, 100), UINT64_MAX / 4);
}

static const struct suite_test tests[] = {
	{"a value falls into the bucket that the layout says", test_buckets},
	{"buckets join without gap or overlap and keep 3 significant digits", test_buckets_join},
	{"percentiles of known values are those values' buckets", test_percentiles},
	{"a merge equals recording all values into one", test_merge},
	{"an empty histogram answers with zeros", test_empty},
	{"one value is every percentile, exactly", test_one_value},
	{"a value beyond the range is counted as saturated and kept as the maximum",
	 test_saturation},
};

SUITE_MAIN("histogram", tests)
