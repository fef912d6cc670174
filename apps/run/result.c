#include "apps/run/result.h"

#include "apps/common/json.h"
#include "apps/common/stack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char no_snapshots[] = "the server's snapshots of the measured window are lacking";
static const char no_client[] = "the client left no result";

/* A client's window may overrun by so much of itself, and by so much in any case. */
#define WINDOW_FACTOR 1.1
#define WINDOW_SLACK_S 0.1

/* A number in two snapshots. */
struct source {
	const char *section; /* "" for the top */
	const char *name;
};

/* What grew during the window, by name in the result. */
static const struct {
	const char *name;
	struct source source;
} growths[] = {
	{"requests", {"server", "requests"}},
	{"responses", {"server", "responses"}},
	{"errors", {"server", "errors"}},
	{"yields", {"server", "yields"}},
	{"stalls", {"server", "stalls"}},
	{"writes", {"transport", "writes"}},
	{"written_bytes", {"transport", "written_bytes"}},
	{"received_bytes", {"transport", "received_bytes"}},
	{"segments_out", {"transport", "segments_out"}},
	{"segments_in", {"transport", "segments_in"}},
	{"segments_resent", {"transport", "segments_resent"}},
	{"syscalls", {"transport", "syscalls"}},
	{"bursts_out", {"transport", "bursts_out"}},
	{"bursts_in", {"transport", "bursts_in"}},
	{"drops_in", {"transport", "drops_in"}},
	{"drops_out", {"transport", "drops_out"}},
	{"reserves_refused", {"transport", "reserves_refused"}},
	{"polls", {"transport", "polls"}},
	{"waits", {"transport", "waits"}},
	{"wakeups", {"transport", "wakeups"}},
	{"busy_turns", {"busy", "busy_turns"}},
	{"turns", {"busy", "turns"}},
	{"voluntary_switches", {"process", "voluntary_switches"}},
	{"involuntary_switches", {"process", "involuntary_switches"}},
	{"migrations", {"process", "migrations"}},
	{"user_us", {"process", "user_us"}},
	{"system_us", {"process", "system_us"}},
	{"softirq_us", {"cpu", "softirq_us"}},
	{"net_rx_softirqs", {"cpu", "net_rx_softirqs"}},
	{"net_tx_softirqs", {"cpu", "net_tx_softirqs"}},
	{"steal_us", {"cpu", "steal_us"}},
};

/* One growth over another. */
static const struct {
	const char *name;
	struct source over;
	struct source under;
	double scale;
} ratios[] = {
	{"bytes_per_write", {"transport", "written_bytes"}, {"transport", "writes"}, 1},
	{"responses_per_write", {"server", "responses"}, {"transport", "writes"}, 1},
	{"busy_us_per_request", {"busy", "busy_ns"}, {"server", "requests"}, 1e-3},
	{"empty_poll_share", {"transport", "empty_polls"}, {"transport", "polls"}, 1},
	{"copied_bytes_per_request", {"transport", "copied_bytes"}, {"server", "requests"}, 1},
	{"segments_out_per_request", {"transport", "segments_out"}, {"server", "requests"}, 1},
	{"syscalls_per_request", {"transport", "syscalls"}, {"server", "requests"}, 1},
	{"waits_per_request", {"transport", "waits"}, {"server", "requests"}, 1},
	{"wakeups_per_request", {"transport", "wakeups"}, {"server", "requests"}, 1},
	{"voluntary_switches_per_request",
	 {"process", "voluntary_switches"},
	 {"server", "requests"},
	 1},
	{"involuntary_switches_per_request",
	 {"process", "involuntary_switches"},
	 {"server", "requests"},
	 1},
	{"softirq_us_per_request", {"cpu", "softirq_us"}, {"server", "requests"}, 1},
	{"net_rx_softirqs_per_request", {"cpu", "net_rx_softirqs"}, {"server", "requests"}, 1},
	{"net_tx_softirqs_per_request", {"cpu", "net_tx_softirqs"}, {"server", "requests"}, 1},
	{"segments_per_burst_out", {"transport", "segments_out"}, {"transport", "bursts_out"}, 1},
	{"segments_per_burst_in", {"transport", "segments_in"}, {"transport", "bursts_in"}, 1},
};

static const json_t *find(const json_t *snapshot, struct source source)
{
	const json_t *in = source.section[0] ? json_object_get(snapshot, source.section) : snapshot;

	return json_object_get(in, source.name);
}

/* How much a counter grew. False, with the reason, if that is not known. */
static bool growth(const json_t *before, const json_t *after, struct source source,
		   double *growth_out, const char **reason_out)
{
	const json_t *first = find(before, source), *last = find(after, source);

	*reason_out = "not counted by this stack or host";
	if (!before || !after)
		*reason_out = no_snapshots;
	if (!json_is_number(first) || !json_is_number(last))
		return false;
	*reason_out = "the counter went backwards";
	*growth_out = json_number_value(last) - json_number_value(first);
	return *growth_out >= 0;
}

static void set_growth(json_t *to, const char *name, const json_t *before, const json_t *after,
		       struct source source)
{
	const char *reason;
	double value;

	if (growth(before, after, source, &value, &reason))
		json_object_set_new(to, name, json_integer((json_int_t)value));
	else
		json_set_unknown(to, name, reason);
}

/* over / under * scale, or why not. */
static void set_ratio(json_t *to, const char *name, bool known, double over, double under,
		      double scale, const char *reason)
{
	if (known && under > 0)
		json_object_set_new(to, name, json_real(over / under * scale));
	else
		json_set_unknown(to, name,
				 known ? "nothing to divide by: none in the window" : reason);
}

/*
 * User, system and softirq time of the server's CPUs, a request. Kernels that do not account
 * interrupts apart charge softirq time to the interrupted task as well, and nothing tells how much.
 * So the sum is too much, and what the CPUs were busy at all, each tick once, bounds it; it is
 * never less than what the process itself was charged with.
 */
static void set_os_cpu(json_t *to, const json_t *before, const json_t *after, unsigned cpus)
{
	static const struct source parts[] = {
		{"process", "user_us"}, {"process", "system_us"}, {"cpu", "softirq_us"}};
	const char *reason, *ignored;
	double requests = 0, window_ns = 0, busy = 0, part[3] = {0}, own, sum, used;
	bool known =
		growth(before, after, (struct source){"server", "requests"}, &requests, &reason) &&
		growth(before, after, (struct source){"", "now_ns"}, &window_ns, &reason);

	for (unsigned i = 0; known && i < sizeof(parts) / sizeof(parts[0]); i++)
		known = growth(before, after, parts[i], &part[i], &reason);
	own = part[0] + part[1];
	sum = own + part[2];
	used = sum;
	if (growth(before, after, (struct source){"cpu", "busy_us"}, &busy, &ignored))
		used = fmax(own, fmin(sum, busy));
	set_ratio(to, "os_cpu_us_per_request", known, fmin(used, window_ns * 1e-3 * cpus), requests,
		  1, reason);
}

/* Cores held, busy or not, times the window. */
static void set_core(json_t *to, const json_t *before, const json_t *after, unsigned workers,
		     unsigned cpus)
{
	const char *reason;
	double window_ns = 0, requests = 0, busy_ns = 0;
	bool known =
		growth(before, after, (struct source){"", "now_ns"}, &window_ns, &reason) &&
		growth(before, after, (struct source){"server", "requests"}, &requests, &reason);

	set_ratio(to, "window_s", known, window_ns, 1, 1e-9, reason);
	set_ratio(to, "core_us_per_request", known, window_ns * cpus, requests, 1e-3, reason);
	known = known &&
		growth(before, after, (struct source){"busy", "busy_ns"}, &busy_ns, &reason);
	set_ratio(to, "busy_share", known, busy_ns, window_ns * workers, 1, reason);
}

/* A value as it stood at one snapshot, not a difference. */
static void set_level(json_t *to, const char *name, const json_t *snapshot, struct source source)
{
	const json_t *value = find(snapshot, source);

	if (json_is_number(value))
		json_object_set(to, name, (json_t *)value);
	else
		json_set_unknown(to, name,
				 snapshot ? "not counted by this stack or host" : no_snapshots);
}

/* The stack's own counters: what each grew by. */
static json_t *details_of(const json_t *before, const json_t *after)
{
	const json_t *last = json_object_get(after, "details");
	json_t *details = json_object();
	const char *name;
	json_t *ignored;

	json_object_foreach((json_t *)last, name, ignored)
		set_growth(details, name, before, after, (struct source){"details", name});
	return details;
}

/* What is no count stands as the later snapshot has it. */
static json_t *levels_of(const json_t *after)
{
	json_t *levels = json_object();

	json_object_update(levels, json_object_get(after, "levels"));
	return levels;
}

json_t *result_server(const json_t *before, const json_t *after, unsigned workers, unsigned cpus)
{
	json_t *server = json_object();

	for (unsigned i = 0; i < sizeof(growths) / sizeof(growths[0]); i++)
		set_growth(server, growths[i].name, before, after, growths[i].source);
	for (unsigned i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
		const char *over_reason, *under_reason;
		double over = 0, under = 0;
		bool over_known = growth(before, after, ratios[i].over, &over, &over_reason);
		bool under_known = growth(before, after, ratios[i].under, &under, &under_reason);

		set_ratio(server, ratios[i].name, over_known && under_known, over, under,
			  ratios[i].scale, over_known ? under_reason : over_reason);
	}
	set_os_cpu(server, before, after, cpus);
	set_core(server, before, after, workers, cpus);
	set_level(server, "rss_start_kib", before, (struct source){"process", "rss_kib"});
	set_level(server, "rss_end_kib", after, (struct source){"process", "rss_kib"});
	set_level(server, "rss_peak_kib", after, (struct source){"process", "rss_peak_kib"});
	set_level(server, "largest_write_bytes", after,
		  (struct source){"transport", "largest_write_bytes"});
	json_object_set_new(server, "details", details_of(before, after));
	json_object_set_new(server, "levels", levels_of(after));
	return server;
}

/* Takes `name` over from `from` with its reason, or says why it is not there. */
static void set_copy(json_t *to, const char *name, const json_t *from, const char *lacking)
{
	char key[96];
	json_t *value = json_object_get(from, name), *reason;

	snprintf(key, sizeof(key), "%s_reason", name);
	reason = json_object_get(from, key);
	if (!value || (json_is_null(value) && !reason))
		json_set_unknown(to, name, from ? "the client did not say" : lacking);
	else
		json_object_set(to, name, value);
	if (value && reason)
		json_object_set(to, key, reason);
}

/* The cell as it was: what the server found effective replaces what was asked. */
static json_t *cell_of(const struct result_parts *parts)
{
	json_t *cell = plan_cell_to_json(parts->sample->cell);
	json_t *wait = json_object_get(parts->ready, "wait");
	json_t *hugepages = json_object_get(parts->ready, "hugepages");

	if (json_is_string(wait))
		json_object_set(cell, "wait", wait);
	if (json_is_boolean(hugepages))
		json_object_set(cell, "hugepages", hugepages);
	else
		json_set_unknown(cell, "hugepages",
				 parts->ready ? "this stack has no use for them"
					      : "the server was never ready");
	return cell;
}

/*
 * The server's accounts; without busy time where a thread of the kernel's submits for the workers,
 * for it is none of theirs.
 */
static json_t *server_of(const struct result_parts *parts)
{
	const json_t *options = json_object_get(parts->ready, "options");
	const char *sqpoll = json_string_value(json_object_get(options, "sqpoll"));
	unsigned workers = parts->sample->cell->cell.of[SETTING_WORKERS].number;
	size_t held = json_array_size(json_object_get(parts->ready, "held_cpus"));
	json_t *server = result_server(parts->before, parts->after, workers,
				       held ? (unsigned)held : workers);

	if (sqpoll && strcmp(sqpoll, "on") == 0) {
		json_set_unknown(server, "busy_us_per_request", stack_busy_unknown);
		json_set_unknown(server, "busy_share", stack_busy_unknown);
	}
	return server;
}

/* A client that was itself stopped, or its host, measured something else than was asked for. */
static void judge_window(const struct result_parts *parts)
{
	double elapsed_s = json_number_value(json_object_get(parts->client, "elapsed_s"));
	char text[160];

	if (parts->duration_s <= 0 ||
	    elapsed_s <= WINDOW_FACTOR * parts->duration_s + WINDOW_SLACK_S)
		return;
	snprintf(text, sizeof(text),
		 "the client's window of %.3f s took %.3f s: the client or its host stood still",
		 parts->duration_s, elapsed_s);
	json_array_append_new(parts->reasons, json_text(text));
}

/* What the server's stack declares that it can do. */
static void set_capabilities(json_t *result, const json_t *ready)
{
	json_t *capabilities = json_object_get(ready, "capabilities");

	if (json_is_array(capabilities))
		json_object_set(result, "capabilities", capabilities);
	else
		json_set_unknown(result, "capabilities",
				 ready ? "the server did not say" : "the server was never ready");
}

/* Failures that the client counted; its exit status alone may not say which. */
static void judge_client(const struct result_parts *parts)
{
	const json_t *failures = json_object_get(parts->client, "failures");
	size_t index;
	json_t *failure;
	char text[400];

	json_array_foreach((json_t *)failures, index, failure)
	{
		const char *words = json_string_value(json_object_get(failure, "text"));
		const char *kind = json_string_value(json_object_get(failure, "kind"));

		snprintf(text, sizeof(text), "%s (%lld)%s%.200s", kind ? kind : "failed",
			 (long long)json_integer_value(json_object_get(failure, "count")),
			 words ? ": " : "", words ? words : "");
		json_array_append_new(parts->reasons, json_text(text));
	}
	if (json_array_size(parts->reasons) > 0)
		return;
	if (!parts->client)
		json_array_append_new(parts->reasons, json_text(no_client));
	else if (json_integer_value(json_object_get(parts->client, "completed")) == 0)
		json_array_append_new(parts->reasons,
				      json_text("no request was completed in the measured window"));
	else if (!parts->before || !parts->after)
		json_array_append_new(parts->reasons, json_text(no_snapshots));
	judge_window(parts);
}

static json_t *client_of(const json_t *client_json)
{
	const json_t *from = json_object_get(client_json, "client");
	json_t *client = json_object();

	set_copy(client, "busy_share", from, no_client);
	set_copy(client, "saturated", from, no_client);
	return client;
}

static json_t *latency_of(const json_t *client_json)
{
	const json_t *from = json_object_get(client_json, "latency_us");
	json_t *latency = json_object();

	set_copy(latency, "service", from, no_client);
	set_copy(latency, "intended", from, no_client);
	return latency;
}

json_t *result_make(const struct result_parts *parts)
{
	static const char *const copied[] = {"completed", "failed", "elapsed_s", "effective_rps"};
	const struct plan_sample *sample = parts->sample;
	json_t *result;

	judge_client(parts);
	result = json_pack("{ss ss si si ss sb sO ss so}", "schema", RESULT_SCHEMA, "sample_id",
			   sample->id, "order_index", (int)sample->order_index, "run",
			   (int)sample->run, "variant", sample->cell->variant, "valid",
			   json_array_size(parts->reasons) == 0, "invalid_reasons", parts->reasons,
			   "started_at", parts->started_at, "cell", cell_of(parts));
	set_capabilities(result, parts->ready);
	for (unsigned i = 0; i < sizeof(copied) / sizeof(copied[0]); i++)
		set_copy(result, copied[i], parts->client, no_client);
	json_object_set_new(result, "latency_us", latency_of(parts->client));
	json_object_set_new(result, "server", server_of(parts));
	json_object_set_new(result, "client", client_of(parts->client));
	json_object_set_new(result, "pins", pins_to_json(&sample->cell->pins));
	if (parts->other_busy_cpus >= 0)
		json_object_set_new(result, "other_busy_cpus", json_real(parts->other_busy_cpus));
	else
		json_set_unknown(result, "other_busy_cpus", "/proc could not be read at both ends");
	if (parts->ready_ms >= 0)
		json_object_set_new(result, "server_ready_ms", json_real(parts->ready_ms));
	else
		json_set_unknown(result, "server_ready_ms", "the server was never ready");
	return result;
}
