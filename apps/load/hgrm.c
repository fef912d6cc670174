#include "apps/common/file.h"
#include "apps/load/load.h"

#include <math.h>

enum { TICKS_PER_HALF = 5 };

/* The next percentile to report: ticks get closer as the distance to 100 halves. */
static double next_percentile(double percentile)
{
	double halvings = floor(log2(100 / (100 - percentile))) + 1;

	return percentile + 100 / (TICKS_PER_HALF * pow(2, halvings));
}

static void print_line(FILE *to, double value_ns, double percentile, uint64_t total)
{
	if (percentile < 100)
		fprintf(to, "%12.3f %2.12f %10llu %14.2f\n", value_ns / 1e3, percentile / 100,
			(unsigned long long)total, 100 / (100 - percentile));
	else
		fprintf(to, "%12.3f %2.12f %10llu\n", value_ns / 1e3, 1.0,
			(unsigned long long)total);
}

static double deviation_ns(const struct histogram *histogram)
{
	double mean = histogram_mean(histogram), sum = 0;
	struct histogram_bucket bucket = {0};

	for (uint32_t at = 0; histogram_next(histogram, at, &bucket); at = bucket.index + 1) {
		double off = (double)(bucket.low_ns + bucket.high_ns) / 2 - mean;

		sum += off * off * (double)bucket.count;
	}
	return histogram->count ? sqrt(sum / (double)histogram->count) : 0;
}

static void print_spectrum(FILE *to, const struct histogram *histogram)
{
	struct histogram_bucket bucket = {0};
	double due = 0;
	uint64_t total = 0;

	for (uint32_t at = 0; histogram_next(histogram, at, &bucket); at = bucket.index + 1) {
		double reached;

		total += bucket.count;
		reached = 100.0 * (double)total / (double)histogram->count;
		if (total == histogram->count)
			break;
		for (; due <= reached; due = next_percentile(due))
			print_line(to, (double)bucket.high_ns, due, total);
	}
	if (histogram->count)
		print_line(to, (double)histogram->max_ns, 100, total);
}

int load_write_hgrm(const char *path, const struct histogram *histogram, struct tp_error *error)
{
	struct file file;
	int rc = file_begin(&file, path, error);

	if (rc < 0)
		return rc;
	fprintf(file.stream, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
		"1/(1-Percentile)");
	print_spectrum(file.stream, histogram);
	fprintf(file.stream, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n",
		histogram_mean(histogram) / 1e3, deviation_ns(histogram) / 1e3);
	fprintf(file.stream, "#[Max     = %12.3f, Total count    = %12llu]\n",
		(double)histogram->max_ns / 1e3, (unsigned long long)histogram->count);
	fprintf(file.stream, "#[Buckets = %12d, SubBuckets     = %12d]\n",
		HISTOGRAM_BUCKETS >> HISTOGRAM_HALF_BITS, 2 << HISTOGRAM_HALF_BITS);
	return file_commit(&file, error);
}
