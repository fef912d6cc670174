#include "dataplane/core/histogram.h"

#include <math.h>
#include <string.h>

void histogram_reset(struct histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
	histogram->min_ns = UINT64_MAX;
}

/* The last bucket that can hold something. */
static uint32_t last_index(const struct histogram *histogram)
{
	return histogram_index(histogram->max_ns < HISTOGRAM_MAX_NS ? histogram->max_ns
								    : HISTOGRAM_MAX_NS);
}

/* The first bucket that can hold something; only for a histogram that is not empty. */
static uint32_t first_index(const struct histogram *histogram)
{
	return histogram_index(histogram->min_ns < HISTOGRAM_MAX_NS ? histogram->min_ns
								    : HISTOGRAM_MAX_NS);
}

void histogram_merge(struct histogram *histogram, const struct histogram *from)
{
	if (from->count == 0)
		return;
	for (uint32_t i = first_index(from); i <= last_index(from); i++)
		histogram->buckets[i] += from->buckets[i];
	histogram->count += from->count;
	histogram->saturated += from->saturated;
	histogram->sum_ns += from->sum_ns;
	if (from->min_ns < histogram->min_ns)
		histogram->min_ns = from->min_ns;
	if (from->max_ns > histogram->max_ns)
		histogram->max_ns = from->max_ns;
}

/* A bucket's bounds. */
static struct histogram_bucket bucket_of(const struct histogram *histogram, uint32_t index)
{
	uint32_t doubling = index >> HISTOGRAM_HALF_BITS;
	unsigned shift = doubling > 1 ? doubling - 1 : 0;
	uint64_t low_ns = (uint64_t)(index - (shift << HISTOGRAM_HALF_BITS)) << shift;

	return (struct histogram_bucket){.index = index,
					 .low_ns = low_ns,
					 .high_ns = low_ns + (1ull << shift) - 1,
					 .count = histogram->buckets[index]};
}

bool histogram_next(const struct histogram *histogram, uint32_t from,
		    struct histogram_bucket *bucket_out)
{
	for (uint32_t i = from; i < HISTOGRAM_BUCKETS; i++) {
		if (histogram->buckets[i] == 0)
			continue;
		*bucket_out = bucket_of(histogram, i);
		return true;
	}
	return false;
}

uint64_t histogram_percentile(const struct histogram *histogram, double percentile)
{
	double wanted = ceil(percentile / 100 * (double)histogram->count);
	uint64_t rank = wanted < 1 ? 1 : (uint64_t)wanted;
	uint64_t seen = 0;

	if (histogram->count == 0)
		return 0;
	for (uint32_t i = first_index(histogram); i < last_index(histogram); i++) {
		seen += histogram->buckets[i];
		if (seen >= rank) {
			uint64_t high_ns = bucket_of(histogram, i).high_ns;

			return high_ns < histogram->max_ns ? high_ns : histogram->max_ns;
		}
	}
	return histogram->max_ns;
}

double histogram_mean(const struct histogram *histogram)
{
	return histogram->count ? (double)histogram->sum_ns / (double)histogram->count : 0;
}
