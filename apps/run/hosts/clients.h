/*
 * clients: the results of several load generators as one of the same shape.
 *
 * Counts are added and histograms are added bucket by bucket; percentiles are read from the sum,
 * never averaged. What is of one process or its host alone (memory, CPUs, binding) is null with the
 * reason and stays with each in "clients"; what its process counted is added. The window is the
 * union of theirs, as the runner saw them begin and end, and how much of it all of them measured
 * stands beside it.
 *
 * Plane: report.
 */
#ifndef WEIR_RUN_CLIENTS_H
#define WEIR_RUN_CLIENTS_H

#include "dataplane/core/histogram.h"

#include <jansson.h>
#include <stdint.h>

/* When one client's measured window began and ended, CLOCK_MONOTONIC here. */
struct clients_window {
	uint64_t begin_ns;
	uint64_t end_ns;
};

/* How the windows of several lie to each other, s. */
struct clients_overlap {
	double union_s;
	double common_s; /* 0 if they have nothing in common */
};

struct clients_overlap clients_overlap(const struct clients_window *windows, unsigned count);

/*
 * Merges `count` objects of `weir load --json`, lent. A new reference to one of the same shape,
 * with "clients" (theirs, without their histograms) and "windows" added; the merged service times
 * in `service_out`. NULL if one of them is not of that shape.
 */
json_t *clients_merge(json_t *const *clients, const struct clients_window *windows, unsigned count,
		      struct histogram *service_out);

/*
 * Adds the buckets [[value_ns, count], ...] of a client's file, whose exact extremes are these, to
 * a histogram. 0, or -EINVAL if they are not that.
 */
int clients_add_buckets(struct histogram *histogram, const json_t *buckets, uint64_t saturated,
			uint64_t min_ns, uint64_t max_ns);

#endif
