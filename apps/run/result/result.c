#include "apps/run/result/result.h"

#include "apps/common/json.h"
#include "apps/common/stack.h"
#include "apps/run/result/bound.h"
#include "apps/run/result/growth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char no_client[] = "the client left no result";

/* A window may be so much of itself longer or shorter than asked for, and so much in any case. */
#define WINDOW_FACTOR 1.1
#define WINDOW_SLACK_S 0.1

/* The server's is bracketed by two signals and their answers, which a busy host delays. */
#define SNAPSHOT_SLACK_S 0.5

/* More of a CPU than this, taken by others where we measure, is worth a note. */
static const double others_max = 0.1;

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

static bool overruns(double took_s, double asked_s, double slack_s)
{
	return took_s > WINDOW_FACTOR * asked_s + slack_s;
}

/* Who was stopped for a while, or whose host was, measured something else than was asked for. */
static void judge_window(const struct result_parts *parts)
{
	static const struct growth_source now = {"", "now_ns"};
	double elapsed_s = json_number_value(json_object_get(parts->client, "elapsed_s"));
	double window_ns;
	const char *ignored;
	char text[200];

	if (parts->duration_s <= 0)
		return;
	snprintf(text, sizeof(text),
		 "the client's window of %.3f s took %.3f s: the client or its host stood still",
		 parts->duration_s, elapsed_s);
	if (overruns(elapsed_s, parts->duration_s, WINDOW_SLACK_S))
		json_array_append_new(parts->reasons, json_text(text));
	if (!growth_of(parts->before, parts->after, now, &window_ns, &ignored) ||
	    !(overruns(window_ns / 1e9, parts->duration_s, SNAPSHOT_SLACK_S) ||
	      overruns(parts->duration_s, window_ns / 1e9, SNAPSHOT_SLACK_S)))
		return;
	snprintf(text, sizeof(text),
		 "the server's snapshots of a window of %.3f s are %.3f s apart: the server or its "
		 "host stood still",
		 parts->duration_s, window_ns / 1e9);
	json_array_append_new(parts->reasons, json_text(text));
}

/* A count of the server's own that shrank: its other counts are not to be believed either. */
static void judge_counts(const struct result_parts *parts)
{
	static const char *const sections[] = {"server", "transport", "busy"};
	bool by_kernel =
		growth_find(parts->after,
			    (struct growth_source){"transport", "segments_connections"}) != NULL;
	char text[160];
	const char *name;
	json_t *value;

	for (unsigned i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		const json_t *first = json_object_get(parts->before, sections[i]);

		json_object_foreach(json_object_get(parts->after, sections[i]), name, value)
		{
			if (!json_is_integer(value) ||
			    (by_kernel && strncmp(name, "segments_", 9) == 0) ||
			    json_integer_value(value) >=
				    json_integer_value(json_object_get(first, name)))
				continue;
			snprintf(text, sizeof(text), "the server's counter %s.%.60s went backwards",
				 sections[i], name);
			json_array_append_new(parts->reasons, json_text(text));
		}
	}
}

/* Which program served. */
static void set_program(json_t *result, const struct program *program)
{
	if (program && program->sha256[0])
		json_object_set_new(result, "program_sha256", json_string(program->sha256));
	else
		json_set_unknown(result, "program_sha256", "the program was not looked at");
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
		json_array_append_new(parts->reasons, json_text(growth_no_snapshots));
}

/* CPUs' worth of others' work on the client's CPUs. */
static void set_client_others(json_t *client, const json_t *client_json)
{
	const json_t *process = json_object_get(client_json, "process");
	const json_t *tasks = json_object_get(json_object_get(client_json, "cpu"), "tasks_us");
	const json_t *user = json_object_get(process, "user_us");
	const json_t *system = json_object_get(process, "system_us");
	bool known = json_is_number(tasks) && json_is_number(user) && json_is_number(system);
	const char *lacking = json_string_value(
		json_object_get(json_object_get(client_json, "cpu"), "tasks_us_reason"));
	double others = fmax(0, json_number_value(tasks) - json_number_value(user) -
					json_number_value(system));

	growth_set_ratio(client, "other_busy_cpus", known, others,
			 json_number_value(json_object_get(process, "window_s")), 1e-6,
			 lacking       ? lacking
			 : client_json ? "the client did not say"
				       : no_client);
}

json_t *result_client(const json_t *client_json)
{
	static const char *const of_client[] = {"busy_share", "saturated"};
	static const char *const of_process[] = {"window_s",
						 "user_us",
						 "system_us",
						 "voluntary_switches",
						 "involuntary_switches",
						 "migrations",
						 "runqueue_wait_us",
						 "rss_start_kib",
						 "rss_end_kib",
						 "rss_peak_kib",
						 "rss_peak_since_start_kib"};
	static const char *const of_cpus[] = {"softirq_us", "steal_us"};
	const json_t *said = json_object_get(client_json, "client");
	const json_t *process = json_object_get(client_json, "process");
	const json_t *cpu = json_object_get(client_json, "cpu");
	const char *lacking = client_json ? "the client did not say" : no_client;
	json_t *client = json_object();

	for (unsigned i = 0; i < sizeof(of_client) / sizeof(of_client[0]); i++)
		set_copy(client, of_client[i], said, lacking);
	for (unsigned i = 0; i < sizeof(of_process) / sizeof(of_process[0]); i++)
		set_copy(client, of_process[i], process, lacking);
	for (unsigned i = 0; i < sizeof(of_cpus) / sizeof(of_cpus[0]); i++)
		set_copy(client, of_cpus[i], cpu, lacking);
	set_client_others(client, client_json);
	set_copy(client, "host", client_json, lacking);
	return client;
}

static const struct cpus *upstream_cpus(const struct result_parts *parts)
{
	return &parts->sample->cell->pins.upstream;
}

/* The upstream's accounts, as the server's are. */
static json_t *upstream_of(const struct result_parts *parts)
{
	unsigned workers = upstream_cpus(parts)->count;
	json_t *upstream =
		result_server(parts->upstream_before, parts->upstream_after, workers, workers);

	if (pins_upstream_shares(&parts->sample->cell->pins))
		json_set_unknown(upstream, "other_busy_cpus", "the client has the same CPUs");
	return upstream;
}

/* What an upstream on the client's CPUs uses there is none of others' work. */
static void settle_client_others(const json_t *upstream, json_t *client)
{
	double own_us = json_number_value(json_object_get(upstream, "user_us")) +
			json_number_value(json_object_get(upstream, "system_us"));
	double window_s = json_number_value(json_object_get(upstream, "window_s"));
	const json_t *others = json_object_get(client, "other_busy_cpus");

	if (json_is_number(others) && window_s > 0)
		json_object_set_new(
			client, "other_busy_cpus",
			json_number(fmax(0, json_number_value(others) - own_us * 1e-6 / window_s)));
}

/* The upstream's part, where there is one. */
static void set_upstream(json_t *result, const struct result_parts *parts)
{
	json_t *upstream;

	if (upstream_cpus(parts)->count == 0)
		return;
	upstream = upstream_of(parts);
	if (pins_upstream_shares(&parts->sample->cell->pins))
		settle_client_others(upstream, json_object_get(result, "client"));
	json_object_set_new(result, "upstream", upstream);
}

/* Whether all sides stayed where the plan put them. */
static json_t *binding_of(const struct result_parts *parts)
{
	const struct pins *pins = &parts->sample->cell->pins;
	const json_t *server = json_object_get(parts->after, "binding");
	unsigned count = 1 + (parts->client_count ? parts->client_count : 1);
	struct bound_side sides[2 + HOSTS_CLIENTS_MAX] = {
		{"server", &pins->server, server,
		 parts->after ? "the server did not say: it is of an older commit"
			      : growth_no_snapshots},
		{"client", &pins->client, json_object_get(parts->client, "binding"),
		 parts->client ? "the client did not say" : no_client},
	};

	for (unsigned i = 0; i < parts->client_count; i++) {
		const struct result_client *client = &parts->clients[i];

		sides[1 + i] = (struct bound_side){
			client->name, client->cpus, json_object_get(client->json, "binding"),
			client->json ? "the client did not say" : no_client};
	}
	if (pins->upstream.count)
		sides[count++] = (struct bound_side){
			"upstream", &pins->upstream,
			json_object_get(parts->upstream_after, "binding"), growth_no_snapshots};
	return bound_judge(sides, count, parts->reasons);
}

static void note_others(const json_t *side, const char *name, json_t *notes)
{
	double others = json_number_value(json_object_get(side, "other_busy_cpus"));
	char text[160];

	if (others <= others_max)
		return;
	snprintf(text, sizeof(text), "other processes took %.2f of a CPU on the %s's CPUs", others,
		 name);
	json_array_append_new(notes, json_text(text));
}

static void note_saturated(const json_t *client, const char *name, json_t *notes)
{
	json_int_t count =
		json_integer_value(json_object_get(json_object_get(client, "histogram"), name));
	char text[160];

	if (count <= 0)
		return;
	snprintf(text, sizeof(text), "%lld responses took longer than the histogram holds (%s)",
		 (long long)count, name);
	json_array_append_new(notes, json_text(text));
}

/*
 * A cache without a hit is measured as what it passes on for. Its figures are true of it, and may
 * be what is asked for, as the cost of answers that may not be kept: a note, and not invalid.
 */
bool result_lacks_hits(const json_t *result, char *text, size_t text_bytes)
{
	const json_t *handlers = json_object_get(json_object_get(result, "server"), "handlers");
	const json_t *hits = json_object_get(handlers, "cache_hits");
	double misses = json_number_value(json_object_get(handlers, "cache_misses"));

	if (!json_is_number(hits) || json_number_value(hits) > 0 || misses <= 0)
		return false;
	snprintf(text, text_bytes,
		 "the cache had no hit, and fetched %.0f answers: a proxy was measured; do the "
		 "upstream's answers say how long they are fresh, or the handler, like "
		 "cache:;ttl=60s?",
		 misses);
	return true;
}

static void note_no_hit(const json_t *result, json_t *notes)
{
	char text[RESULT_HITS_BYTES];

	if (result_lacks_hits(result, text, sizeof(text)))
		json_array_append_new(notes, json_text(text));
}

/* What speaks against a sample without making it invalid. */
static json_t *notes_of(const struct result_parts *parts, json_t *result)
{
	json_t *notes = json_array();

	note_others(json_object_get(result, "server"), "server", notes);
	note_others(json_object_get(result, "client"), "client", notes);
	note_others(json_object_get(result, "upstream"), "upstream", notes);
	note_saturated(parts->client, "service_saturated", notes);
	note_saturated(parts->client, "intended_saturated", notes);
	note_no_hit(result, notes);
	watch_add(parts->watch, result, notes);
	return notes;
}

static json_t *latency_of(const json_t *client_json)
{
	const json_t *from = json_object_get(client_json, "latency_us");
	json_t *latency = json_object();

	set_copy(latency, "service", from, no_client);
	set_copy(latency, "intended", from, no_client);
	return latency;
}

/* What the sample is, and what it came to. */
static json_t *begin(const struct result_parts *parts)
{
	const struct plan_sample *sample = parts->sample;

	return json_pack("{ss ss si si ss sb sO ss so}", "schema", RESULT_SCHEMA, "sample_id",
			 sample->id, "order_index", (int)sample->order_index, "run",
			 (int)sample->run, "variant", sample->cell->variant, "valid",
			 json_array_size(parts->reasons) == 0, "invalid_reasons", parts->reasons,
			 "started_at", parts->started_at, "cell", cell_of(parts));
}

json_t *result_make(const struct result_parts *parts)
{
	static const char *const copied[] = {"completed", "failed", "elapsed_s", "effective_rps"};
	const struct pins *pins = &parts->sample->cell->pins;
	json_t *result, *binding, *tls = NULL;

	judge_client(parts);
	judge_window(parts);
	if (parts->before && parts->after)
		judge_counts(parts);
	binding = binding_of(parts);
	if (parts->sample->cell->cell.of[SETTING_TLS].number)
		tls = result_tls(parts);
	result = begin(parts);
	set_program(result, parts->sample->cell->program);
	set_capabilities(result, parts->ready);
	if (tls)
		json_object_set_new(result, "tls", tls);
	for (unsigned i = 0; i < sizeof(copied) / sizeof(copied[0]); i++)
		set_copy(result, copied[i], parts->client, no_client);
	json_object_set_new(result, "latency_us", latency_of(parts->client));
	json_object_set_new(result, "server", server_of(parts));
	json_object_set_new(result, "client", result_client(parts->client));
	set_upstream(result, parts);
	json_object_set_new(result, "pins", pins_to_json(pins));
	json_object_set_new(result, "binding", binding);
	json_object_set_new(result, "notes", notes_of(parts, result));
	if (parts->ready_ms >= 0)
		json_object_set_new(result, "server_ready_ms", json_real(parts->ready_ms));
	else
		json_set_unknown(result, "server_ready_ms", "the server was never ready");
	return result;
}
