#include "apps/run/result/summary.h"

#include "apps/common/json.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_DEPTH = 3 };

/* Others' work, in CPUs, that is said: the host's own housekeeping stays below it. */
static const double disturbed_cpus = 0.1;

/* A number of a result, and the name of its median in a summary. */
struct measure {
	const char *name;
	const char *path[PATH_DEPTH]; /* ended by NULL if shorter */
};

static const struct measure measures[] = {
	{"effective_rps", {"effective_rps"}},
	{"service_p50_us", {"latency_us", "service", "p50"}},
	{"service_p99_us", {"latency_us", "service", "p99"}},
	{"responses_per_write", {"server", "responses_per_write"}},
	{"bytes_per_write", {"server", "bytes_per_write"}},
	{"busy_us_per_request", {"server", "busy_us_per_request"}},
	{"os_cpu_us_per_request", {"server", "os_cpu_us_per_request"}},
	{"core_us_per_request", {"server", "core_us_per_request"}},
	{"client_busy_share", {"client", "busy_share"}},
	{"other_busy_cpus", {"other_busy_cpus"}},
};

static const json_t *follow(const json_t *from, const char *const path[PATH_DEPTH])
{
	for (unsigned i = 0; i < PATH_DEPTH && path[i]; i++)
		from = json_object_get(from, path[i]);
	return from;
}

static bool is_of(const json_t *result, const char *variant)
{
	const char *name = json_string_value(json_object_get(result, "variant"));

	return name && strcmp(name, variant) == 0;
}

static bool is_valid(const json_t *result)
{
	return json_is_true(json_object_get(result, "valid"));
}

static int by_size(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

/* The known values of one measure in a cell's valid samples, sorted; their number. */
static unsigned collect(const json_t *results, const char *variant, const struct measure *measure,
			double *values)
{
	unsigned count = 0;
	size_t index;
	json_t *result;

	json_array_foreach((json_t *)results, index, result)
	{
		const json_t *value = follow(result, measure->path);

		if (is_of(result, variant) && is_valid(result) && json_is_number(value))
			values[count++] = json_number_value(value);
	}
	qsort(values, count, sizeof(*values), by_size);
	return count;
}

/* {"median", "min", "max", "n"}, or null and why. */
static void set_measure(json_t *cell, const json_t *results, const char *variant,
			const struct measure *measure)
{
	double *values = calloc(json_array_size(results) + 1, sizeof(*values));
	unsigned count = values ? collect(results, variant, measure, values) : 0;
	double median;

	if (count == 0) {
		json_set_unknown(cell, measure->name, "no valid sample has it");
	} else {
		median = (values[(count - 1) / 2] + values[count / 2]) / 2;
		json_object_set_new(cell, measure->name,
				    json_pack("{sf sf sf si}", "median", median, "min", values[0],
					      "max", values[count - 1], "n", (int)count));
	}
	free(values);
}

unsigned summary_valid(const json_t *results)
{
	unsigned valid = 0;
	size_t index;
	json_t *result;

	json_array_foreach((json_t *)results, index, result)
	{
		valid += is_valid(result);
	}
	return valid;
}

/*
 * Counts of one cell: its samples, those valid, and those valid in which the client was at its
 * limit.
 */
static json_t *begin_cell(const char *variant, const json_t *settings, const json_t *results)
{
	unsigned samples = 0, valid = 0, saturated = 0;
	size_t index;
	json_t *result;

	json_array_foreach((json_t *)results, index, result)
	{
		const json_t *client = json_object_get(result, "client");

		if (!is_of(result, variant))
			continue;
		samples++;
		valid += is_valid(result);
		saturated += is_valid(result) && json_is_true(json_object_get(client, "saturated"));
	}
	return json_pack("{ss sO? si si si}", "variant", variant, "cell", (json_t *)settings,
			 "samples", (int)samples, "valid", (int)valid, "client_saturated",
			 (int)saturated);
}

/* The settings of a variant, as the plan's first sample of it has them. */
static const json_t *settings_of(const json_t *plan, const char *variant)
{
	size_t index;
	json_t *sample;

	json_array_foreach(json_object_get(plan, "samples"), index, sample)
	{
		if (is_of(sample, variant))
			return json_object_get(sample, "cell");
	}
	return NULL;
}

static json_t *make_cells(const json_t *plan, const json_t *results)
{
	json_t *cells = json_array(), *name;
	size_t index;

	json_array_foreach(json_object_get(plan, "variants"), index, name)
	{
		const char *variant = json_string_value(name);
		json_t *cell;

		if (!variant)
			continue;
		cell = begin_cell(variant, settings_of(plan, variant), results);
		for (unsigned m = 0; m < sizeof(measures) / sizeof(measures[0]); m++)
			set_measure(cell, results, variant, &measures[m]);
		json_array_append_new(cells, cell);
	}
	return cells;
}

/* Copies a member; one that is lacking becomes null. */
static void copy(json_t *to, const json_t *from, const char *name)
{
	json_t *value = json_object_get(from, name);

	json_object_set(to, name, value ? value : json_null());
}

/* Who else worked as each later part began: [{at, busy_at_start}], empty if there is none. */
static json_t *list_resumed(const json_t *plan)
{
	json_t *list = json_array(), *part;
	size_t index;

	json_array_foreach(json_object_get(plan, "resumed"), index, part)
	{
		json_t *entry = json_object();

		copy(entry, part, "at");
		copy(entry, part, "busy_at_start");
		json_array_append_new(list, entry);
	}
	return list;
}

json_t *summary_make(const json_t *plan, const json_t *results, unsigned attempts_failed,
		     json_t *mismatch)
{
	const json_t *effective = json_object_get(plan, "effective");
	json_t *question = json_object_get(effective, "question");
	unsigned valid = summary_valid(results);
	unsigned samples = (unsigned)json_array_size(results);
	json_t *summary = json_pack("{ss}", "schema", SUMMARY_SCHEMA);

	copy(summary, plan, "experiment");
	json_object_set_new(summary, "question",
			    question ? json_incref(question) : json_string(""));
	json_object_set_new(summary, "samples", json_integer(samples));
	json_object_set_new(summary, "valid", json_integer(valid));
	json_object_set_new(summary, "invalid", json_integer(samples - valid));
	json_object_set_new(summary, "attempts_failed", json_integer(attempts_failed));
	copy(summary, plan, "degraded");
	copy(summary, plan, "degraded_reason");
	copy(summary, plan, "busy_at_start");
	json_object_set_new(summary, "resumed", list_resumed(plan));
	json_object_set(summary, "servers_differ", mismatch);
	json_object_set_new(summary, "cells", make_cells(plan, results));
	return summary;
}

const char *summary_group(double value, char text[32])
{
	char digits[24];
	int count = snprintf(digits, sizeof(digits), "%.0f", value), at = 0;

	for (int i = 0; i < count && at < 30; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

/* A number of a cell's measure, right-aligned, or a dash. */
static void print_number(FILE *to, const json_t *cell, const char *measure, const char *which,
			 int width, int decimals)
{
	const json_t *value = json_object_get(json_object_get(cell, measure), which);
	char text[32] = "-";

	if (json_is_number(value) && decimals > 0)
		snprintf(text, sizeof(text), "%.*f", decimals, json_number_value(value));
	else if (json_is_number(value))
		summary_group(json_number_value(value), text);
	fprintf(to, "  %*s", width, text);
}

static void print_cell(const json_t *cell, int variant_width, FILE *to)
{
	bool saturated = json_integer_value(json_object_get(cell, "client_saturated")) > 0;

	fprintf(to, "%-*s  %2lld/%-2lld", variant_width,
		json_string_value(json_object_get(cell, "variant")),
		(long long)json_integer_value(json_object_get(cell, "valid")),
		(long long)json_integer_value(json_object_get(cell, "samples")));
	print_number(to, cell, "effective_rps", "median", 10, 0);
	print_number(to, cell, "effective_rps", "min", 10, 0);
	print_number(to, cell, "effective_rps", "max", 10, 0);
	print_number(to, cell, "service_p50_us", "median", 13, 1);
	print_number(to, cell, "service_p99_us", "median", 13, 1);
	print_number(to, cell, "responses_per_write", "median", 10, 2);
	print_number(to, cell, "busy_us_per_request", "median", 11, 3);
	fprintf(to, "%s\n", saturated ? " *" : "");
}

/*
 * The most that others took of the host in a sample of this cell, CPUs; 0 if it is too little to
 * matter.
 */
static double disturbance(const json_t *cell)
{
	double most =
		json_number_value(json_object_get(json_object_get(cell, "other_busy_cpus"), "max"));

	return most >= disturbed_cpus ? most : 0;
}

void summary_print(const json_t *summary, FILE *to)
{
	const json_t *cells = json_object_get(summary, "cells");
	const char *degraded = json_string_value(json_object_get(summary, "degraded_reason"));
	const char *differ = json_string_value(json_object_get(summary, "servers_differ"));
	double disturbed = 0;
	json_int_t saturated = 0, valid = json_integer_value(json_object_get(summary, "valid"));
	int width = 7;
	size_t index;
	json_t *cell;

	json_array_foreach((json_t *)cells, index, cell)
	{
		int length = (int)strlen(json_string_value(json_object_get(cell, "variant")));

		width = length > width ? length : width;
		saturated += json_integer_value(json_object_get(cell, "client_saturated"));
		disturbed = fmax(disturbed, disturbance(cell));
	}
	fprintf(to, "\n%-*s  valid  %10s  %10s  %10s  %13s  %13s  %10s  %11s\n", width, "cell",
		"req/s", "min", "max", "sample p50 us", "sample p99 us", "resp/write",
		"busy us/req");
	json_array_foreach((json_t *)cells, index, cell)
	{
		print_cell(cell, width, to);
	}
	fprintf(to,
		"\nMedians of the valid samples' own figures; min and max are of requests/s. "
		"Sample p50 and p99\nare medians of each sample's percentile of service time; the "
		"report's merged ones are of\nall samples' histograms and may differ.\n");
	if (saturated)
		fprintf(to,
			"* the client was at its limit, in %lld of %lld valid samples: the server "
			"may be faster.\n",
			(long long)saturated, (long long)valid);
	if (disturbed > 0)
		fprintf(to,
			"Other processes took up to %.2f CPUs while samples were measured: do not "
			"trust small "
			"differences.\n",
			disturbed);
	if (differ)
		fprintf(to, "The servers answered the same request differently: %s.\n", differ);
	if (degraded)
		fprintf(to, "degraded: %s.\n", degraded);
	fputc('\n', to);
}
