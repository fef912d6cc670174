#include "apps/run/hosts/clients.h"

#include "apps/common/json.h"
#include "apps/load/latency.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char each_its_own[] = "several clients: each has its own, in `clients`";

struct clients_overlap clients_overlap(const struct clients_window *windows, unsigned count)
{
	uint64_t first_begin = UINT64_MAX, last_begin = 0, first_end = UINT64_MAX, last_end = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct clients_window *window = &windows[i];

		first_begin = window->begin_ns < first_begin ? window->begin_ns : first_begin;
		last_begin = window->begin_ns > last_begin ? window->begin_ns : last_begin;
		first_end = window->end_ns < first_end ? window->end_ns : first_end;
		last_end = window->end_ns > last_end ? window->end_ns : last_end;
	}
	return (struct clients_overlap){
		.union_s = last_end > first_begin ? (double)(last_end - first_begin) / 1e9 : 0,
		.common_s = first_end > last_begin ? (double)(first_end - last_begin) / 1e9 : 0};
}

int clients_add_buckets(struct histogram *histogram, const json_t *buckets, uint64_t saturated,
			uint64_t min_ns, uint64_t max_ns)
{
	size_t index;
	json_t *pair;

	json_array_foreach((json_t *)buckets, index, pair)
	{
		json_int_t value = json_integer_value(json_array_get(pair, 0));
		json_int_t count = json_integer_value(json_array_get(pair, 1));

		uint64_t within =
			(uint64_t)value < HISTOGRAM_MAX_NS ? (uint64_t)value : HISTOGRAM_MAX_NS;

		if (json_array_size(pair) != 2 || value < 0 || count <= 0)
			return -EINVAL;
		histogram->buckets[histogram_index(within)] += (uint64_t)count;
		histogram->count += (uint64_t)count;
	}
	if (json_array_size(buckets) == 0)
		return json_is_array(buckets) ? 0 : -EINVAL;
	histogram->saturated += saturated;
	if (min_ns < histogram->min_ns)
		histogram->min_ns = min_ns;
	if (max_ns > histogram->max_ns)
		histogram->max_ns = max_ns;
	return 0;
}

/* The exact values are gone: the middles of their buckets stand for them. */
static void estimate_sum(struct histogram *histogram)
{
	struct histogram_bucket bucket = {0};

	for (uint32_t at = 0; histogram_next(histogram, at, &bucket); at = bucket.index + 1)
		histogram->sum_ns += (bucket.low_ns + bucket.high_ns) / 2 * bucket.count;
}

/* A latency in us of a client's file, exact to the ns as it was written, as ns. */
static uint64_t latency_ns(const json_t *client, const char *which, const char *name)
{
	const json_t *of = json_object_get(json_object_get(client, "latency_us"), which);

	return (uint64_t)llround(json_number_value(json_object_get(of, name)) * 1e3);
}

/* Adds the histogram `which` ("service", "intended") of one client. 0 or -EINVAL. */
static int add_histogram(struct histogram *sum, const json_t *client, const char *which)
{
	const json_t *histograms = json_object_get(client, "histogram");
	json_t *saturated =
		json_object_get(histograms, strcmp(which, "service") == 0 ? "service_saturated"
									  : "intended_saturated");

	return clients_add_buckets(
		sum, json_object_get(histograms, which), (uint64_t)json_integer_value(saturated),
		latency_ns(client, which, "min"), latency_ns(client, which, "max"));
}

/* The sum of a count over all. */
static json_t *sum_of(json_t *const *clients, unsigned count, const char *section, const char *name)
{
	json_int_t sum = 0;

	for (unsigned i = 0; i < count; i++) {
		const json_t *in = section ? json_object_get(clients[i], section) : clients[i];

		sum += json_integer_value(json_object_get(in, name));
	}
	return json_integer(sum);
}

/* Adds the numbers of `from` to those of `to`, member by member; what is no number stays. */
static void add_members(json_t *to, const json_t *from)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)from, name, value)
	{
		json_t *sum = json_object_get(to, name);

		if (json_is_integer(sum) && json_is_integer(value))
			json_object_set_new(
				to, name,
				json_integer(json_integer_value(sum) + json_integer_value(value)));
		else if (!sum)
			json_object_set(to, name, value);
	}
}

/* Failures of one kind are one entry, with the words of the first. */
static json_t *merge_failures(json_t *const *clients, unsigned count)
{
	json_t *all = json_array(), *failure, *known;
	size_t index, k;

	for (unsigned i = 0; i < count; i++)
		json_array_foreach(json_object_get(clients[i], "failures"), index, failure)
		{
			bool found = false;

			json_array_foreach(all, k, known)
			{
				found = json_equal(json_object_get(known, "kind"),
						   json_object_get(failure, "kind"));
				if (!found)
					continue;
				json_object_set_new(known, "count",
						    json_integer(json_integer_value(json_object_get(
									 known, "count")) +
								 json_integer_value(json_object_get(
									 failure, "count"))));
				break;
			}
			if (!found)
				json_array_append_new(all, json_copy(failure));
		}
	return all;
}

/* The busiest client's share: one that is the limit must not hide behind others. */
static void merge_busy(json_t *client, json_t *const *clients, unsigned count)
{
	double most = -1;
	bool saturated = false;
	const char *unknown = NULL;

	for (unsigned i = 0; i < count; i++) {
		const json_t *one = json_object_get(clients[i], "client");
		const json_t *share = json_object_get(one, "busy_share");

		if (!json_is_number(share))
			unknown = json_string_value(json_object_get(one, "busy_share_reason"));
		most = fmax(most, json_number_value(share));
		saturated |= json_is_true(json_object_get(one, "saturated"));
	}
	if (unknown) {
		json_set_unknown(client, "busy_share", unknown);
		json_set_unknown(client, "saturated", unknown);
	} else {
		json_object_set_new(client, "busy_share", json_number(most));
		json_object_set_new(client, "saturated", json_boolean(saturated));
	}
}

static json_t *merge_client(json_t *const *clients, unsigned count)
{
	static const char *const added[] = {"transport", "details"};
	json_t *client = json_deep_copy(json_object_get(clients[0], "client"));

	for (unsigned i = 1; i < count; i++) {
		const json_t *other = json_object_get(clients[i], "client");

		add_members(client, other);
		for (unsigned k = 0; k < sizeof(added) / sizeof(added[0]); k++)
			add_members(json_object_get(client, added[k]),
				    json_object_get(other, added[k]));
	}
	/* a level is of one process, so each keeps its own */
	json_object_set_new(client, "levels", json_object());
	merge_busy(client, clients, count);
	return client;
}

/* A count of every client's process; what one of them does not know nobody knows of all. */
static void add_count(json_t *to, const char *name, json_t *const *clients, unsigned count)
{
	json_int_t sum = 0;

	for (unsigned i = 0; i < count; i++) {
		const json_t *process = json_object_get(clients[i], "process");
		const json_t *value = json_object_get(process, name);

		if (!json_is_integer(value)) {
			json_set_unknown(to, name, "a client does not know it");
			return;
		}
		sum += json_integer_value(value);
	}
	json_object_set_new(to, name, json_integer(sum));
}

/* Counts add up; a level of memory and a length of time are of one process each. */
static json_t *merge_process(json_t *const *clients, unsigned count)
{
	static const char *const counts[] = {
		"user_us",    "system_us",	 "voluntary_switches", "involuntary_switches",
		"migrations", "runqueue_wait_us"};
	static const char *const levels[] = {"window_s", "rss_start_kib", "rss_end_kib",
					     "rss_peak_kib", "rss_peak_since_start_kib"};
	json_t *process = json_object();

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		add_count(process, counts[i], clients, count);
	for (unsigned i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		json_set_unknown(process, levels[i], each_its_own);
	return process;
}

/* What is of one process or of its host stays with each, and is none of all. */
static void separate(json_t *merged, json_t *const *clients, unsigned count)
{
	static const char *const own[] = {"config", "cpus", "host", "binding"};
	static const char *const of_cpus[] = {"tasks_us", "softirq_us", "steal_us"};
	json_t *cpu = json_object();

	for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		json_set_unknown(merged, own[i], each_its_own);
	for (unsigned i = 0; i < sizeof(of_cpus) / sizeof(of_cpus[0]); i++)
		json_set_unknown(cpu, of_cpus[i], each_its_own);
	json_object_set_new(merged, "cpu", cpu);
	json_object_set_new(merged, "process", merge_process(clients, count));
}

static json_t *merge_warnings(json_t *const *clients, unsigned count)
{
	json_t *warnings = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_extend(warnings, json_object_get(clients[i], "warnings"));
	return warnings;
}

/* Each by itself, without its histogram, which its own file keeps. */
static json_t *list_clients(json_t *const *clients, unsigned count)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++) {
		json_t *one = json_copy(clients[i]);

		json_object_del(one, "histogram");
		json_array_append_new(list, one);
	}
	return list;
}

/* The sum of what each did in its own window. */
static double sum_of_rates(json_t *const *clients, unsigned count)
{
	double sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += json_number_value(json_object_get(clients[i], "effective_rps"));
	return sum;
}

static double longest(json_t *const *clients, unsigned count)
{
	double most = 0;

	for (unsigned i = 0; i < count; i++)
		most = fmax(most, json_number_value(json_object_get(clients[i], "elapsed_s")));
	return most;
}

/* How long all measured together, and what they did in that time. */
static void set_window(json_t *merged, json_t *const *clients, const struct clients_window *windows,
		       unsigned count)
{
	struct clients_overlap overlap = clients_overlap(windows, count);
	double union_s = fmax(overlap.union_s, longest(clients, count));
	double completed = json_number_value(json_object_get(merged, "completed"));

	json_object_set_new(merged, "elapsed_s", json_number(union_s));
	if (union_s > 0)
		json_object_set_new(merged, "effective_rps", json_number(completed / union_s));
	else
		json_set_unknown(merged, "effective_rps", "nothing was measured");
	json_object_set_new(merged, "windows",
			    json_pack("{sf sf sf sf}", "union_s", union_s, "common_s",
				      overlap.common_s, "common_share",
				      union_s > 0 ? overlap.common_s / union_s : 0.0,
				      "sum_of_rates_rps", sum_of_rates(clients, count)));
}

static json_t *histograms_to_json(json_t *const *clients, unsigned count,
				  const struct histogram *service, const struct histogram *intended)
{
	json_t *histogram = json_copy(json_object_get(clients[0], "histogram"));

	json_object_set_new(histogram, "service", latency_buckets_to_json(service));
	json_object_set_new(histogram, "intended", latency_buckets_to_json(intended));
	json_object_set_new(histogram, "service_saturated",
			    sum_of(clients, count, "histogram", "service_saturated"));
	json_object_set_new(histogram, "intended_saturated",
			    sum_of(clients, count, "histogram", "intended_saturated"));
	return histogram;
}

json_t *clients_merge(json_t *const *clients, const struct clients_window *windows, unsigned count,
		      struct histogram *service_out)
{
	struct histogram *intended = malloc(sizeof(*intended));
	json_t *merged = NULL, *latency;
	int code = intended ? 0 : -ENOMEM;

	histogram_reset(service_out);
	if (intended)
		histogram_reset(intended);
	for (unsigned i = 0; code == 0 && i < count; i++) {
		code = add_histogram(service_out, clients[i], "service");
		if (code == 0)
			code = add_histogram(intended, clients[i], "intended");
	}
	if (code == 0) {
		estimate_sum(service_out);
		merged = json_copy(clients[0]);
		latency = json_pack("{so so}", "service", latency_to_json(service_out), "intended",
				    latency_to_json(intended));
		json_object_set_new(merged, "completed", sum_of(clients, count, NULL, "completed"));
		json_object_set_new(merged, "failed", sum_of(clients, count, NULL, "failed"));
		json_object_set_new(merged, "failures", merge_failures(clients, count));
		json_object_set_new(merged, "warnings", merge_warnings(clients, count));
		json_object_set_new(merged, "latency_us", latency);
		json_object_set_new(merged, "histogram",
				    histograms_to_json(clients, count, service_out, intended));
		json_object_set_new(merged, "client", merge_client(clients, count));
		json_object_set_new(merged, "clients", list_clients(clients, count));
		set_window(merged, clients, windows, count);
		if (count > 1)
			separate(merged, clients, count);
	}
	free(intended);
	return merged;
}
