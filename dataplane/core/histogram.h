/*
 * histogram: how often each duration was seen, to 3 significant digits, from 1 ns to 100 s.
 *
 * The layout is that of HdrHistogram (Tene): values below 2048 have a bucket each; above, every
 * doubling is cut in 1024 buckets, so that a bucket's width is at most 1/1024 of its values.
 * Recording is a few instructions and never fails: what exceeds the range is put into the last
 * bucket and counted as saturated. Minimum, maximum and sum are exact. Histograms of one layout
 * add up, which is how workers, intervals and runs are merged.
 *
 * The memory is the caller's (about 220 KiB); zeroed memory is not yet a histogram, reset makes
 * it one.
 *
 * Planes: record is turn, the rest is report.
 */
#ifndef WEIR_CORE_HISTOGRAM_H
#define WEIR_CORE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HISTOGRAM_DIGITS = 3,
	HISTOGRAM_HALF_BITS = 10, /* log2 of the buckets in each doubling */
	HISTOGRAM_BUCKETS = 28115,
};

/* The largest value told apart from larger ones, ns. */
#define HISTOGRAM_MAX_NS (100ull * 1000 * 1000 * 1000)

struct histogram {
	uint64_t count;	    /* values recorded, saturated ones included */
	uint64_t saturated; /* values above HISTOGRAM_MAX_NS */
	uint64_t min_ns;    /* exact; UINT64_MAX while empty */
	uint64_t max_ns;    /* exact, also when saturated; 0 while empty */
	uint64_t sum_ns;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* A bucket that has something in it. */
struct histogram_bucket {
	uint32_t index;
	uint64_t low_ns;  /* the smallest value that falls into it */
	uint64_t high_ns; /* the largest */
	uint64_t count;
};

/* Makes it empty. */
void histogram_reset(struct histogram *histogram);

/* Adds all of `from`. */
void histogram_merge(struct histogram *histogram, const struct histogram *from);

/*
 * The value that `percentile` (0 to 100) of the recorded ones do not exceed: the largest of its
 * bucket, but never above the exact maximum. 0 for an empty histogram.
 */
uint64_t histogram_percentile(const struct histogram *histogram, double percentile);

/* The mean of the exact values, ns; 0 for an empty histogram. */
double histogram_mean(const struct histogram *histogram);

/*
 * Finds the first non-empty bucket with index >= `from`. False if there is none, `bucket_out`
 * untouched.
 */
bool histogram_next(const struct histogram *histogram, uint32_t from,
		    struct histogram_bucket *bucket_out);

/* The bucket of a value within the range. */
static inline uint32_t histogram_index(uint64_t value_ns)
{
	unsigned top_bit = 63 - (unsigned)__builtin_clzll(value_ns | 1);
	unsigned shift = top_bit > HISTOGRAM_HALF_BITS ? top_bit - HISTOGRAM_HALF_BITS : 0;

	return (shift << HISTOGRAM_HALF_BITS) + (uint32_t)(value_ns >> shift);
}

static inline void histogram_record(struct histogram *histogram, uint64_t value_ns)
{
	uint64_t within_ns = value_ns;

	if (__builtin_expect(value_ns > HISTOGRAM_MAX_NS, 0)) {
		histogram->saturated++;
		within_ns = HISTOGRAM_MAX_NS;
	}
	histogram->buckets[histogram_index(within_ns)]++;
	histogram->count++;
	histogram->sum_ns += value_ns;
	if (value_ns < histogram->min_ns)
		histogram->min_ns = value_ns;
	if (value_ns > histogram->max_ns)
		histogram->max_ns = value_ns;
}

#endif
