#include "apps/common/json.h"
#include "apps/load/latency.h"
#include "apps/load/load.h"
#include "dataplane/pipeline/codec.h"

/* Above this share of busy time the client counts as saturated: its CPU may have been the limit. */
static const double saturated_share = 0.95;

double load_rps(const struct record *record)
{
	double elapsed_s = record_elapsed_s(record);

	return elapsed_s > 0 ? (double)record->service.count / elapsed_s : 0;
}

bool load_saturated(const struct record *measured)
{
	return record_busy_share(measured) > saturated_share;
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

/* --- for people ------------------------------------------------------------------------------- */

static void print_latency(const char *name, const struct histogram *histogram)
{
	if (histogram->count == 0) {
		printf("%-24s n/a (n=0)\n", name);
		return;
	}
	printf("%-24s min %.1f", name, us(histogram->min_ns));
	for (unsigned i = 0; i < LATENCY_PERCENTILE_COUNT; i++)
		printf("  %s %.1f", latency_percentiles[i].name,
		       us(histogram_percentile(histogram, latency_percentiles[i].percentile)));
	printf("  max %.1f us  (n=%llu)\n", us(histogram->max_ns),
	       (unsigned long long)histogram->count);
}

static void print_rate(const char *name, double rps, double bytes)
{
	printf("%-24s %.2f MiB/s\n", name, rps * bytes / (1024 * 1024));
}

void load_print_summary(const struct load_options *options, const struct load_result *result)
{
	const struct record *measured = result->measured;
	double rps = load_rps(measured);

	printf("%-24s %llu\n", "completed", (unsigned long long)measured->service.count);
	printf("%-24s %llu\n", "failed", (unsigned long long)failures_total(&result->failures));
	if (record_elapsed_s(measured) == 0) {
		printf("%-24s n/a (nothing was measured)\n", "effective_rps");
		return;
	}
	printf("%-24s %.3f s\n", "elapsed", record_elapsed_s(measured));
	printf("%-24s %.2f\n", "effective_rps", rps);
	print_rate("request_throughput", rps, options->request_bytes);
	print_rate("response_throughput", rps, talk_body_bytes(&options->talk));
	print_latency("service_latency", &measured->service);
	print_latency("intended_latency", &measured->intended);
	printf("%-24s %.1f of %u (rate x mean service time, Little's law)\n", "implied_in_flight",
	       rps * histogram_mean(&measured->service) / 1e9,
	       options->connections * options->depth);
	if (stack_is_submitted_for(&options->stack))
		printf("%-24s n/a (%s)\n", "client_busy_share", stack_busy_unknown);
	else
		printf("%-24s %.3f%s\n", "client_busy_share", record_busy_share(measured),
		       load_saturated(measured) ? " (saturated: the client may be the limit)" : "");
	if (options->depth > 1)
		printf("%-24s at depth %u requests queue behind each other; for the stack's own "
		       "latency use --depth 1\n",
		       "latency_note", options->depth);
	fflush(stdout);
}

void load_print_failures(const struct load_result *result)
{
	for (unsigned i = 0; i < FAILURE_KIND_COUNT; i++)
		if (result->failures.count[i])
			fprintf(stderr, "weir load: %s (%llu): %s\n", failure_name(i),
				(unsigned long long)result->failures.count[i],
				result->failures.text[i]);
}

/* --- for programs ----------------------------------------------------------------------------- */

static json_t *failures_to_json(const struct failures *failures)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < FAILURE_KIND_COUNT; i++) {
		json_t *object;

		if (failures->count[i] == 0)
			continue;
		object = json_object();
		json_object_set_new(object, "kind", json_text(failure_name(i)));
		json_object_set_new(object, "count", json_count(failures->count[i]));
		json_object_set_new(object, "text", json_text(failures->text[i]));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *histograms_to_json(const struct record *measured)
{
	json_t *object = json_object();

	json_object_set_new(object, "unit", json_text("ns"));
	json_object_set_new(object, "significant_digits", json_integer(HISTOGRAM_DIGITS));
	json_object_set_new(object, "service", latency_buckets_to_json(&measured->service));
	json_object_set_new(object, "intended", latency_buckets_to_json(&measured->intended));
	json_object_set_new(object, "service_saturated", json_count(measured->service.saturated));
	json_object_set_new(object, "intended_saturated", json_count(measured->intended.saturated));
	return object;
}

/* Why it is not known how busy the workers were, or NULL. */
static const char *busy_unknown(const struct load_options *options, const struct record *measured)
{
	if (record_elapsed_s(measured) <= 0)
		return "nothing was measured";
	return stack_is_submitted_for(&options->stack) ? stack_busy_unknown : NULL;
}

/* How it was told to speak TLS, and what came of it. */
static json_t *tls_to_json(const struct load_options *options, const struct record *measured)
{
	json_t *object = tls_options_to_json(&options->stack.tls);

	if (options->stack.tls.on)
		json_object_set_new(object, "negotiated",
				    tls_agreed_to_json(&measured->transport.agreed));
	return object;
}

static json_t *client_to_json(const struct load_options *options, const struct load_result *result)
{
	const struct record *measured = result->measured;
	json_t *object = json_object();
	const char *unknown = busy_unknown(options, measured);

	if (unknown) {
		json_set_unknown(object, "busy_share", unknown);
		json_set_unknown(object, "saturated", unknown);
	} else {
		json_object_set_new(object, "busy_share", json_number(record_busy_share(measured)));
		json_object_set_new(object, "saturated", json_boolean(load_saturated(measured)));
	}
	json_object_set_new(
		object, "transport",
		stack_counters_to_json(options->stack.stack->ops, &measured->transport.counters));
	json_object_set_new(object, "details",
			    stack_details_to_json(&measured->transport, TP_DETAIL_COUNT));
	json_object_set_new(object, "levels",
			    stack_details_to_json(&measured->transport, TP_DETAIL_LEVEL));
#define X(name, meaning) json_object_set_new(object, #name, json_count(result->counters.name));
	CLIENT_COUNTERS(X)
#undef X
	return object;
}

json_t *load_result_to_json(const struct load_options *options, const struct load_result *result,
			    json_t *config)
{
	const struct record *measured = result->measured;
	json_t *object = json_object(), *latency = json_object();

	json_object_set_new(latency, "service", latency_to_json(&measured->service));
	json_object_set_new(latency, "intended", latency_to_json(&measured->intended));
	json_object_set_new(object, "schema", json_text("weir.load/1"));
	json_object_set_new(object, "config", config);
	json_object_set(object, "config_sources", options->sources);
	json_object_set_new(object, "protocol", json_text(codec_names[options->protocol]));
	json_object_set_new(object, "http",
			    options->scan ? json_pack("{ss}", "scan", options->scan) : json_null());
	json_object_set_new(object, "tls", tls_to_json(options, measured));
	json_object_set_new(object, "warnings",
			    options->warning[0] ? json_pack("[s]", options->warning)
						: json_array());
	json_object_set_new(object, "completed", json_count(measured->service.count));
	json_object_set_new(object, "failed", json_count(failures_total(&result->failures)));
	json_object_set_new(object, "failures", failures_to_json(&result->failures));
	json_object_set_new(object, "elapsed_s", json_number(record_elapsed_s(measured)));
	if (record_elapsed_s(measured) > 0)
		json_object_set_new(object, "effective_rps", json_number(load_rps(measured)));
	else
		json_set_unknown(object, "effective_rps", "nothing was measured");
	json_object_set_new(object, "latency_us", latency);
	json_object_set_new(object, "histogram", histograms_to_json(measured));
	json_object_set_new(object, "client", client_to_json(options, result));
	load_add_accounts(object, options, result);
	return object;
}
