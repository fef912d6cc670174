/*
 * latency: a histogram as results show it, in percentiles and in buckets.
 *
 * One form for a client's own file and for what the runner makes of several.
 *
 * Plane: report.
 */
#ifndef WEIR_APPS_LOAD_LATENCY_H
#define WEIR_APPS_LOAD_LATENCY_H

#include "dataplane/core/histogram.h"

#include <jansson.h>

/* What a latency object has beside min, max and n. */
enum { LATENCY_PERCENTILE_COUNT = 4 };

extern const struct latency_percentile {
	const char *name;
	double percentile;
} latency_percentiles[LATENCY_PERCENTILE_COUNT];

/* {min, p50, ..., max, n}, in us, null with a reason if nothing was recorded; a new reference. */
json_t *latency_to_json(const struct histogram *histogram);

/*
 * [[value_ns, count], ...]: the largest value of each bucket that has something in it; a new
 * reference.
 */
json_t *latency_buckets_to_json(const struct histogram *histogram);

#endif
