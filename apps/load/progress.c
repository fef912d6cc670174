#include "apps/common/json.h"
#include "apps/load/load.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * An octave is cut in 8: a line has at most 8 * 34 + 8 pairs, for no value is above 2^37 ns, and
 * usually some 40.
 */
enum { COARSE_BITS = 3 };

int progress_open(struct progress *progress, const char *metrics, struct tp_error *error)
{
	struct stat about;

	*progress = (struct progress){.on_terminal = isatty(STDERR_FILENO) == 1};
	if (!metrics)
		return 0;
	/* Opening a pipe would wait for its reader, with the signals blocked that could end it. */
	if (stat(metrics, &about) == 0 && !S_ISREG(about.st_mode))
		return tp_fail(error, -EINVAL,
			       "cannot append to %.300s: it is no regular file; name a file",
			       metrics);
	progress->metrics = fopen(metrics, "ae");
	if (progress->metrics)
		return 0;
	return tp_fail(error, -errno, "cannot append to %.300s: %s", metrics, strerror(errno));
}

void progress_clear(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}

/* A percentile in us; NaN (null) if nothing was recorded. */
static double percentile_us(const struct histogram *histogram, double percentile)
{
	return histogram->count ? (double)histogram_percentile(histogram, percentile) / 1e3
				: __builtin_nan("");
}

/* The largest value of the coarse bucket that a value falls into, ns. */
static uint64_t coarse_end_ns(uint64_t value_ns)
{
	unsigned top_bit = 63 - (unsigned)__builtin_clzll(value_ns | 1);
	unsigned shift = top_bit > COARSE_BITS ? top_bit - COARSE_BITS : 0;

	return value_ns | ((1ull << shift) - 1);
}

static void append_pair(json_t *pairs, uint64_t end_ns, uint64_t count)
{
	json_t *pair = json_array();

	json_array_append_new(pair, json_count(end_ns));
	json_array_append_new(pair, json_count(count));
	json_array_append_new(pairs, pair);
}

/* [[largest value, count], ...] of the coarse buckets that are not empty; a new reference. */
static json_t *coarse_counts(const struct histogram *histogram)
{
	json_t *pairs = json_array();
	struct histogram_bucket bucket = {0};
	uint64_t end_ns = 0, count = 0;

	for (uint32_t at = 0; histogram_next(histogram, at, &bucket); at = bucket.index + 1) {
		if (count && bucket.high_ns > end_ns) {
			append_pair(pairs, end_ns, count);
			count = 0;
		}
		end_ns = coarse_end_ns(bucket.high_ns);
		count += bucket.count;
	}
	if (count)
		append_pair(pairs, end_ns, count);
	return pairs;
}

static void append_metrics(struct progress *progress, enum load_phase phase,
			   const struct record *interval)
{
	json_t *object = json_object();
	uint64_t since_ns = interval->end_ns - progress->begin_ns;

	json_object_set_new(object, "t_s", json_number((double)since_ns / 1e9));
	json_object_set_new(object, "phase", json_text(load_phase_name(phase)));
	json_object_set_new(object, "completed", json_count(interval->service.count));
	json_object_set_new(object, "rps", json_number(load_rps(interval)));
	json_object_set_new(object, "p50_us", json_number(percentile_us(&interval->service, 50)));
	json_object_set_new(object, "p99_us", json_number(percentile_us(&interval->service, 99)));
	json_object_set_new(object, "service_ns", coarse_counts(&interval->service));
	json_print_line(progress->metrics, "", object);
}

void progress_show(struct progress *progress, enum load_phase phase, const struct record *interval)
{
	if (progress->metrics)
		append_metrics(progress, phase, interval);
	if (!progress->on_terminal)
		return;
	fprintf(stderr, "\r\033[K%-8s %6.1f s  %12.0f rps  p50 %9.1f us  p99 %9.1f us",
		load_phase_name(phase), (double)(interval->end_ns - progress->begin_ns) / 1e9,
		load_rps(interval), (double)histogram_percentile(&interval->service, 50) / 1e3,
		(double)histogram_percentile(&interval->service, 99) / 1e3);
	fflush(stderr);
	progress->shown = true;
}

int progress_close(struct progress *progress, struct tp_error *error)
{
	FILE *metrics = progress->metrics;
	bool broken;

	progress_clear(progress);
	progress->metrics = NULL;
	if (!metrics)
		return 0;
	errno = 0;
	broken = ferror(metrics) != 0;
	if (fclose(metrics) != 0 || broken)
		return tp_fail(error, -EIO, "the metrics could not be written whole: %s",
			       errno ? strerror(errno) : "earlier write error");
	return 0;
}
