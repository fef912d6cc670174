#include "apps/run/result/result.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, 0, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	return json;
}

static const char before_text[] =
	"{\"now_ns\": 1000000000, \"transport\": {\"writes\": 100, "
	"\"written_bytes\": 8800, \"polls\": 10,"
	" \"empty_polls\": 5, \"syscalls\": null, \"copied_bytes\": "
	"1000, \"largest_write_bytes\": 704, "
	"\"segments_in\": 10, \"bursts_in\": 4, \"segments_out\": null, "
	"\"bursts_out\": 1, \"wakeups\": 100},"
	" \"details\": {\"reads\": 7}, \"levels\": {\"low\": 90}, \"server\": {\"requests\": 800, "
	"\"responses\": 800, \"errors\": 0, \"cache_hits\": 3},"
	" \"busy\": {\"busy_ns\": 5000}, \"process\": {\"user_us\": 10, "
	"\"system_us\": 20, \"rss_kib\": 100,"
	" \"rss_peak_kib\": 110, \"rss_peak_since_start_kib\": 150, \"migrations\": 2, "
	"\"voluntary_switches\": 9}, \"cpu\": "
	"{\"softirq_us\": 0, \"steal_us\": 0, \"net_rx_softirqs\": 1}}";
static const char after_text[] =
	"{\"now_ns\": 3000000000, \"transport\": {\"writes\": 300, "
	"\"written_bytes\": 149600, \"polls\": 50,"
	" \"empty_polls\": 15, \"syscalls\": null, \"copied_bytes\": "
	"5000, \"largest_write_bytes\": 704, "
	"\"segments_in\": 70, \"bursts_in\": 28, \"segments_out\": null, "
	"\"bursts_out\": 9, \"wakeups\": 500},"
	" \"details\": {\"reads\": 17}, \"levels\": {\"low\": 40}, \"server\": {\"requests\": "
	"2400, "
	"\"responses\": 2400, \"errors\": 0, \"cache_hits\": 10},"
	" \"busy\": {\"busy_ns\": 1605000}, \"process\": {\"user_us\": "
	"510, \"system_us\": 1020, \"rss_kib\": 130,"
	" \"rss_peak_kib\": 140, \"rss_peak_since_start_kib\": 150, \"migrations\": 5, "
	"\"voluntary_switches\": 9}, \"cpu\": "
	"{\"softirq_us\": 100, \"steal_us\": 0, \"net_rx_softirqs\": 801}}";

static void expect_number(const json_t *from, const char *name, double expected)
{
	const json_t *value = json_object_get(from, name);

	CU_ASSERT_FATAL(json_is_number(value));
	CU_ASSERT(fabs(json_number_value(value) - expected) < 1e-9);
}

static void expect_unknown(const json_t *from, const char *name, const char *reason)
{
	char key[96];
	const char *got;

	snprintf(key, sizeof(key), "%s_reason", name);
	got = json_string_value(json_object_get(from, key));
	CU_ASSERT(json_is_null(json_object_get(from, name)));
	CU_ASSERT_PTR_NOT_NULL_FATAL(got);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, reason));
}

static void takes_the_difference(void)
{
	json_t *before = parse(before_text), *after = parse(after_text);
	json_t *server = result_server(before, after, 2, 2);

	expect_number(server, "requests", 1600);
	expect_number(server, "writes", 200);
	expect_number(server, "bytes_per_write", 704);
	expect_number(server, "responses_per_write", 8);
	expect_number(server, "busy_us_per_request", 1.0);
	expect_number(server, "os_cpu_us_per_request", 1.0);
	expect_number(server, "core_us_per_request", 2500);
	expect_number(server, "window_s", 2);
	expect_number(server, "empty_poll_share", 0.25);
	expect_number(server, "copied_bytes_per_request", 2.5);
	expect_number(server, "voluntary_switches", 0);
	expect_number(server, "voluntary_switches_per_request", 0);
	expect_number(server, "wakeups_per_request", 0.25);
	expect_number(server, "softirq_us_per_request", 0.0625);
	expect_number(server, "net_rx_softirqs", 800);
	expect_number(server, "net_rx_softirqs_per_request", 0.5);
	expect_number(server, "migrations", 3);
	expect_number(server, "segments_per_burst_in", 2.5);
	expect_number(server, "rss_start_kib", 100);
	expect_number(server, "rss_end_kib", 130);
	expect_number(server, "rss_peak_kib", 140);
	expect_number(server, "rss_peak_since_start_kib", 150);
	expect_number(server, "largest_write_bytes", 704);
	expect_number(json_object_get(server, "details"), "reads", 10);
	expect_number(json_object_get(server, "handlers"), "cache_hits", 7);
	CU_ASSERT_EQUAL(json_object_size(json_object_get(server, "handlers")), 1);
	expect_number(json_object_get(server, "levels"), "low", 40);
	json_decref(server);
	json_decref(before);
	json_decref(after);
}

static void an_unknown_is_not_a_zero(void)
{
	json_t *before = parse(before_text), *after = parse(after_text);
	json_t *server = result_server(before, after, 1, 1);

	expect_unknown(server, "syscalls", "not counted");
	expect_unknown(server, "segments_out", "not counted");
	expect_unknown(server, "involuntary_switches_per_request", "not counted");
	expect_unknown(server, "net_tx_softirqs_per_request", "not counted");
	expect_unknown(server, "syscalls_per_request", "not counted");
	expect_unknown(server, "segments_per_burst_out", "not counted");
	json_decref(server);
	server = result_server(NULL, after, 1, 1);
	expect_unknown(server, "writes", "snapshots");
	expect_unknown(server, "os_cpu_us_per_request", "snapshots");
	expect_unknown(server, "rss_start_kib", "snapshots");
	expect_number(server, "rss_end_kib", 130);
	json_decref(server);
	json_decref(before);
	json_decref(after);
}

static void no_more_time_is_used_than_there_was(void)
{
	json_t *before = parse(before_text), *after = parse(after_text);
	json_t *server;

	/* softirq time that was charged to the tasks, too: 2 s of window, 3.5 s of accounts */
	json_object_set_new(json_object_get(after, "process"), "user_us", json_integer(2000000));
	json_object_set_new(json_object_get(after, "cpu"), "softirq_us", json_integer(1500000));
	server = result_server(before, after, 1, 1);
	CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(server, "os_cpu_us_per_request")),
			       json_number_value(json_object_get(server, "core_us_per_request")),
			       1e-6);
	json_decref(server);
	json_decref(before);
	json_decref(after);
}

/* What the CPUs were busy, each tick once, tells how much of the sum was counted twice. */
static void softirq_time_is_not_counted_twice(void)
{
	static const struct {
		json_int_t busy_us;
		double expected; /* of 500 + 1000 us of its own and 100 us of softirqs */
	} cases[] = {{1550, 1550}, {9999, 1600}, {10, 1500}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *before = parse(before_text), *after = parse(after_text), *server;

		json_object_set_new(json_object_get(before, "cpu"), "busy_us", json_integer(0));
		json_object_set_new(json_object_get(after, "cpu"), "busy_us",
				    json_integer(cases[i].busy_us));
		server = result_server(before, after, 1, 1);
		expect_number(server, "os_cpu_us_per_request", cases[i].expected / 1600);
		json_decref(server);
		json_decref(before);
		json_decref(after);
	}
}

static void a_cpu_held_for_the_workers_counts(void)
{
	json_t *before = parse(before_text), *after = parse(after_text);
	json_t *server = result_server(before, after, 1, 2);

	expect_number(server, "core_us_per_request", 2500);
	expect_number(server, "busy_share", 1600e3 / 2e9);
	json_decref(server);
	json_decref(before);
	json_decref(after);
}

static void nothing_is_divided_by_nothing(void)
{
	json_t *before = parse(before_text);
	json_t *server = result_server(before, before, 1, 1);

	expect_number(server, "writes", 0);
	expect_unknown(server, "responses_per_write", "none in the window");
	expect_unknown(server, "core_us_per_request", "none in the window");
	json_decref(server);
	json_decref(before);
}

static void a_counter_that_shrinks_is_not_believed(void)
{
	json_t *before = parse(before_text), *after = parse(after_text);
	json_t *server = result_server(after, before, 1, 1);

	expect_unknown(server, "writes", "went backwards");
	expect_unknown(server, "busy_us_per_request", "went backwards");
	json_decref(server);
	json_decref(before);
	json_decref(after);
}

static void an_older_server_knows_the_peak_since_its_start_alone(void)
{
	json_t *before = parse(before_text), *after = parse(after_text), *server;

	json_object_del(json_object_get(after, "process"), "rss_peak_since_start_kib");
	server = result_server(before, after, 1, 1);
	expect_unknown(server, "rss_peak_kib", "since its start alone");
	expect_number(server, "rss_peak_since_start_kib", 140);
	json_decref(server);
	json_decref(before);
	json_decref(after);
}

/* The kernel's counts over `first` connections, and later over `last`, `accepted` of them new. */
static json_t *make_segments(json_int_t first_open, json_int_t last_open, json_int_t accepted)
{
	json_t *before = parse(before_text), *after = parse(after_text), *server;
	json_t *first = json_object_get(before, "transport");
	json_t *last = json_object_get(after, "transport");

	json_object_set_new(first, "accepted", json_integer(10));
	json_object_set_new(last, "accepted", json_integer(10 + accepted));
	json_object_set_new(first, "segments_out", json_integer(100));
	json_object_set_new(last, "segments_out", json_integer(900));
	json_object_set_new(first, "segments_connections", json_integer(first_open));
	json_object_set_new(last, "segments_connections", json_integer(last_open));
	server = result_server(before, after, 1, 1);
	json_decref(before);
	json_decref(after);
	return server;
}

static void segments_of_other_connections_are_not_compared(void)
{
	static const json_int_t others[][3] = {{4, 3, 0}, {4, 5, 1}, {4, 4, 1}};
	json_t *server = make_segments(4, 4, 0);

	expect_number(server, "segments_out", 800);
	expect_number(server, "segments_out_per_request", 0.5);
	json_decref(server);
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		server = make_segments(others[i][0], others[i][1], others[i][2]);
		expect_unknown(server, "segments_out", "connections came or ended");
		expect_unknown(server, "segments_out_per_request", "connections came or ended");
		json_decref(server);
	}
}

static void what_others_took_of_the_cpus_is_apart(void)
{
	json_t *before = parse(before_text), *after = parse(after_text), *server, *host;

	json_object_set_new(json_object_get(before, "cpu"), "tasks_us", json_integer(0));
	json_object_set_new(json_object_get(after, "cpu"), "tasks_us", json_integer(501500));
	json_object_set_new(before, "host", parse("{\"cpus\": 8, \"steal_us\": 10}"));
	json_object_set_new(after, "host", parse("{\"cpus\": 8, \"steal_us\": 30}"));
	server = result_server(before, after, 1, 1);
	host = json_object_get(server, "host");
	expect_number(server, "other_busy_cpus", 0.25);
	expect_number(host, "cpus", 8);
	expect_number(host, "steal_us", 20);
	expect_unknown(host, "busy_us", "not counted");
	json_decref(server);
	json_decref(before);
	json_decref(after);
}

static void a_devices_counters_that_stand_still_are_left_out(void)
{
	json_t *before = parse(before_text), *after = parse(after_text), *server, *details;

	json_object_set_new(before, "details",
			    parse("{\"xstat_a\": 1, \"xstat_b\": 1, \"c\": 1, \"xstat_back\": 5}"));
	json_object_set_new(after, "details",
			    parse("{\"xstat_a\": 1, \"xstat_b\": 4, \"c\": 1, \"xstat_back\": 3}"));
	server = result_server(before, after, 1, 1);
	details = json_object_get(server, "details");
	CU_ASSERT_PTR_NULL(json_object_get(details, "xstat_a"));
	expect_number(details, "xstat_b", 3);
	expect_number(details, "c", 0);
	CU_ASSERT(json_is_null(json_object_get(details, "xstat_back")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(details, "xstat_back_reason")),
			       "the counter went backwards");
	json_decref(server);
	json_decref(before);
	json_decref(after);
}

static const char ready_text[] =
	"{\"wait\": \"spin\", \"hugepages\": true, \"capabilities\": [\"can_block\"]}";

/* A sample's result from these parts and a server that said `ready_line`. */
static json_t *make_ready(const char *ready_line, json_t *reasons, json_t *client, json_t *before,
			  json_t *after)
{
	static struct plan_cell cell = {.variant = "epoll@loopback.d1"};
	static const struct plan_sample sample = {.id = "s0001", .run = 1, .cell = &cell};
	json_t *ready = parse(ready_line), *result;
	struct setting_value value;

	for (unsigned id = 0; id < SETTING_COUNT; id++)
		cell.cell.of[id] = setting_default(id, &value)
					   ? value
					   : (struct setting_value){.word = "epoll@loopback"};
	result = result_make(&(struct result_parts){
		.sample = &sample,
		.reasons = reasons,
		.started_at = "2026-01-01T00:00:00Z",
		.duration_s = 2,
		.ready_ms = 1.5,
		.ready = ready,
		.before = before,
		.after = after,
		.client = client,
	});
	json_decref(ready);
	return result;
}

static json_t *make(json_t *reasons, json_t *client, json_t *before, json_t *after)
{
	return make_ready(ready_text, reasons, client, before, after);
}

/* Each client is held to the CPUs of its own: one that moved is named, whichever it is. */
static void every_clients_binding_is_judged(void)
{
	static const struct cpus cpus[] = {{1, {1}}, {1, {3}}};
	json_t *first = parse("{\"binding\": {\"workers\": [{\"affinity\": [1], \"seen_on\": "
			      "[1], \"migrations\": 0}]}}");
	json_t *second = parse("{\"binding\": {\"workers\": [{\"affinity\": [3], \"seen_on\": "
			       "[2, 3], \"migrations\": 1}]}}");
	const struct result_client clients[] = {{"client 1", &cpus[0], first},
						{"client 2", &cpus[1], second}};
	struct plan_cell cell = {.variant = "x"};
	const struct plan_sample sample = {.id = "s0001", .run = 1, .cell = &cell};
	json_t *reasons = json_array(), *result, *binding;
	bool blamed = false;

	for (unsigned id = 0; id < SETTING_COUNT; id++)
		cell.cell.of[id] = (struct setting_value){.word = "epoll@loopback"};
	result = result_make(&(struct result_parts){.sample = &sample,
						    .reasons = reasons,
						    .started_at = "",
						    .clients = clients,
						    .client_count = 2});
	binding = json_object_get(result, "binding");
	CU_ASSERT(json_is_false(json_object_get(binding, "kept")));
	CU_ASSERT_PTR_NOT_NULL(json_object_get(binding, "client 1"));
	CU_ASSERT_PTR_NOT_NULL(json_object_get(binding, "client 2"));
	CU_ASSERT_PTR_NULL(json_object_get(binding, "client"));
	for (size_t i = 0; i < json_array_size(reasons); i++) {
		const char *text = json_string_value(json_array_get(reasons, i));

		CU_ASSERT_PTR_NULL(strstr(text, "the client 1's"));
		blamed |= strstr(text, "the client 2's worker 0 was seen on CPU 2, 3") != NULL;
	}
	CU_ASSERT(blamed);
	json_decref(result);
	json_decref(reasons);
	json_decref(first);
	json_decref(second);
}

static void expect_busy(const char *sqpoll, bool known)
{
	json_t *reasons = json_array(), *before = parse(before_text), *after = parse(after_text);
	json_t *result, *server;
	char ready[64];

	snprintf(ready, sizeof(ready), "{\"options\": {\"sqpoll\": \"%s\"}}", sqpoll);
	result = make_ready(ready, reasons, NULL, before, after);
	server = json_object_get(result, "server");
	if (known) {
		expect_number(server, "busy_us_per_request", 1);
	} else {
		expect_unknown(server, "busy_us_per_request", "kernel's submission thread");
		expect_unknown(server, "busy_share", "kernel's submission thread");
	}
	CU_ASSERT(json_is_number(json_object_get(server, "core_us_per_request")));
	json_decref(result);
	json_decref(reasons);
	json_decref(before);
	json_decref(after);
}

static void a_thread_beside_the_worker_hides_how_busy_the_server_was(void)
{
	expect_busy("on", false);
	expect_busy("off", true);
}

static void a_whole_sample_is_valid(void)
{
	json_t *client =
		parse("{\"completed\": 10, \"failed\": 0, \"failures\": [], \"elapsed_s\": 2.0,"
		      " \"effective_rps\": 5.0, \"latency_us\": {\"service\": {\"p50\": 3.0},"
		      " \"intended\": null, \"intended_reason\": \"n is 0\"},"
		      " \"client\": {\"busy_share\": 0.5, \"saturated\": false}}");
	json_t *reasons = json_array(), *before = parse(before_text), *after = parse(after_text);
	json_t *result = make(reasons, client, before, after);
	const json_t *latency = json_object_get(result, "latency_us");
	const json_t *cell = json_object_get(result, "cell");

	CU_ASSERT(json_is_true(json_object_get(result, "valid")));
	CU_ASSERT_EQUAL(json_array_size(json_object_get(result, "invalid_reasons")), 0);
	expect_number(result, "completed", 10);
	expect_number(json_object_get(latency, "service"), "p50", 3);
	expect_unknown(latency, "intended", "n is 0");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(cell, "wait")), "spin");
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_array_get(json_object_get(result, "capabilities"), 0)),
		"can_block");
	expect_unknown(result, "other_busy_cpus", "could not be read");
	CU_ASSERT(json_is_true(json_object_get(cell, "hugepages")));
	json_decref(result);
	json_decref(reasons);
	json_decref(client);
	json_decref(before);
	json_decref(after);
}

static void expect_invalid(const char *client_text, bool snapshots, const char *reason)
{
	json_t *client = client_text ? parse(client_text) : NULL;
	json_t *before = snapshots ? parse(before_text) : NULL;
	json_t *after = snapshots ? parse(after_text) : NULL;
	json_t *reasons = json_array(), *result = make(reasons, client, before, after);
	const char *got =
		json_string_value(json_array_get(json_object_get(result, "invalid_reasons"), 0));

	CU_ASSERT(json_is_false(json_object_get(result, "valid")));
	CU_ASSERT_PTR_NOT_NULL_FATAL(got);
	CU_ASSERT_STRING_EQUAL(got, reason);
	json_decref(result);
	json_decref(reasons);
	json_decref(client);
	json_decref(before);
	json_decref(after);
}

static void what_is_lacking_makes_it_invalid(void)
{
	expect_invalid(NULL, true, "the client left no result");
	expect_invalid("{\"completed\": 0}", true,
		       "no request was completed in the measured window");
	expect_invalid("{\"completed\": 9}", false,
		       "the server's snapshots of the measured window are lacking");
	expect_invalid("{\"completed\": 9, \"elapsed_s\": 2.5}", true,
		       "the client's window of 2.000 s took 2.500 s: the client or its host stood "
		       "still");
	expect_invalid("{\"completed\": 9, \"failures\": [{\"kind\": \"lost\", \"count\": 3, "
		       "\"text\": \"connection 4 was reset\"}]}",
		       true, "lost (3): connection 4 was reset");
}

/* The reason that a sample is invalid for if its later snapshot says this of the server. */
static void expect_blamed(const char *section, const char *name, json_int_t value,
			  const char *reason)
{
	json_t *client = parse("{\"completed\": 9, \"elapsed_s\": 2.0}");
	json_t *before = parse(before_text), *after = parse(after_text);
	json_t *reasons = json_array(), *result;
	const char *got;

	json_object_set_new(section[0] ? json_object_get(after, section) : after, name,
			    json_integer(value));
	result = make(reasons, client, before, after);
	got = json_string_value(json_array_get(reasons, 0));
	CU_ASSERT_PTR_NOT_NULL_FATAL(got);
	CU_ASSERT_STRING_EQUAL(got, reason);
	CU_ASSERT(json_is_false(json_object_get(result, "valid")));
	json_decref(result);
	json_decref(reasons);
	json_decref(client);
	json_decref(before);
	json_decref(after);
}

static void a_server_that_stood_still_makes_it_invalid(void)
{
	expect_blamed("", "now_ns", 4000000000,
		      "the server's snapshots of a window of 2.000 s are 3.000 s apart: the server "
		      "or its host stood still");
	expect_blamed("", "now_ns", 2000000000,
		      "the server's snapshots of a window of 2.000 s are 1.000 s apart: the server "
		      "or its host stood still");
}

static void a_count_that_shrinks_makes_it_invalid(void)
{
	expect_blamed("server", "requests", 700,
		      "the server's counter server.requests went backwards");
	expect_blamed("transport", "writes", 99,
		      "the server's counter transport.writes went backwards");
	expect_blamed("busy", "busy_ns", 4999, "the server's counter busy.busy_ns went backwards");
}

/* No number in it that is none: JSON has no NaN, and neither has ours. */
static void nothing_completed_leaves_no_number_that_is_none(void)
{
	json_t *client = parse("{\"completed\": 0, \"failed\": 4, \"elapsed_s\": 0.0, "
			       "\"effective_rps\": null, \"effective_rps_reason\": \"nothing\"}");
	json_t *before = parse(before_text), *reasons = json_array();
	json_t *result = make(reasons, client, before, before);
	char *text = json_dumps(result, 0);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_NULL(strstr(text, "nan"));
	CU_ASSERT_PTR_NULL(strstr(text, "inf"));
	CU_ASSERT(json_is_false(json_object_get(result, "valid")));
	expect_unknown(json_object_get(result, "server"), "busy_us_per_request",
		       "none in the window");
	free(text);
	json_decref(result);
	json_decref(reasons);
	json_decref(client);
	json_decref(before);
}

static void what_speaks_against_it_is_noted(void)
{
	json_t *client = parse(
		"{\"completed\": 9, \"elapsed_s\": 2.0, \"process\": {\"user_us\": 0, "
		"\"system_us\": 500000, \"window_s\": 2.0}, \"cpu\": {\"tasks_us\": 1500000}, "
		"\"histogram\": {\"service_saturated\": 3, \"intended_saturated\": 0}}");
	json_t *before = parse(before_text), *after = parse(after_text), *reasons = json_array();
	json_t *result = make(reasons, client, before, after);
	json_t *notes = json_object_get(result, "notes");

	CU_ASSERT(json_is_true(json_object_get(result, "valid")));
	expect_number(json_object_get(result, "client"), "other_busy_cpus", 0.5);
	CU_ASSERT_EQUAL_FATAL(json_array_size(notes), 2);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(notes, 0)),
			       "other processes took 0.50 of a CPU on the client's CPUs");
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_array_get(notes, 1)),
		"3 responses took longer than the histogram holds (service_saturated)");
	json_decref(result);
	json_decref(reasons);
	json_decref(client);
	json_decref(before);
	json_decref(after);
}

static const struct suite_test tests[] = {
	{"every client's binding is judged by its own CPUs", every_clients_binding_is_judged},
	{"everything is of the window between two snapshots", takes_the_difference},
	{"what is not counted is null with a reason", an_unknown_is_not_a_zero},
	{"no more CPU time is used than the window had", no_more_time_is_used_than_there_was},
	{"softirq time that was charged twice counts once", softirq_time_is_not_counted_twice},
	{"a CPU that is held for the workers counts as the server's",
	 a_cpu_held_for_the_workers_counts},
	{"a ratio to nothing is null with a reason", nothing_is_divided_by_nothing},
	{"a counter that shrinks is not believed", a_counter_that_shrinks_is_not_believed},
	{"an older server knows its peak of memory since its start alone",
	 an_older_server_knows_the_peak_since_its_start_alone},
	{"segments of other connections are not compared",
	 segments_of_other_connections_are_not_compared},
	{"what others took of the server's CPUs is apart", what_others_took_of_the_cpus_is_apart},
	{"a device's counters that stand still are left out",
	 a_devices_counters_that_stand_still_are_left_out},
	{"a server that stood still makes a sample invalid",
	 a_server_that_stood_still_makes_it_invalid},
	{"a count that shrinks makes a sample invalid", a_count_that_shrinks_makes_it_invalid},
	{"a sample of nothing has no number that is none",
	 nothing_completed_leaves_no_number_that_is_none},
	{"what speaks against a sample is noted", what_speaks_against_it_is_noted},
	{"a server that a thread of the kernel's submits for has no busy time",
	 a_thread_beside_the_worker_hides_how_busy_the_server_was},
	{"a sample with everything is valid and says what was effective", a_whole_sample_is_valid},
	{"a sample that lacks something is invalid and says what",
	 what_is_lacking_makes_it_invalid},
};

SUITE_MAIN("run result", tests)
