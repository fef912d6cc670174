#include "apps/load/latency.h"

#include "apps/common/json.h"

const struct latency_percentile latency_percentiles[LATENCY_PERCENTILE_COUNT] = {
	{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p999", 99.9}};

static void set_us(json_t *object, const char *name, const struct histogram *histogram, uint64_t ns)
{
	if (histogram->count)
		json_object_set_new(object, name, json_number((double)ns / 1e3));
	else
		json_set_unknown(object, name, "no request was completed in the measured window");
}

json_t *latency_to_json(const struct histogram *histogram)
{
	json_t *object = json_object();

	set_us(object, "min", histogram, histogram->min_ns);
	for (unsigned i = 0; i < LATENCY_PERCENTILE_COUNT; i++)
		set_us(object, latency_percentiles[i].name, histogram,
		       histogram_percentile(histogram, latency_percentiles[i].percentile));
	set_us(object, "max", histogram, histogram->max_ns);
	json_object_set_new(object, "n", json_count(histogram->count));
	return object;
}

json_t *latency_buckets_to_json(const struct histogram *histogram)
{
	struct histogram_bucket bucket = {0};
	json_t *array = json_array();

	for (uint32_t at = 0; histogram_next(histogram, at, &bucket); at = bucket.index + 1)
		json_array_append_new(array, json_pack("[II]", (json_int_t)bucket.high_ns,
						       (json_int_t)bucket.count));
	return array;
}
