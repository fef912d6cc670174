#include "apps/run/hosts/clients.h"

#include "apps/load/load.h"
#include "apps/sim/random.h"
#include "tests/support/suite.h"

#include <stdlib.h>

enum { PARTS_MAX = 5, VALUES = 4000 };

static const struct clients_window windows[PARTS_MAX] = {{1000000000, 2000000000},
							 {1010000000, 2020000000},
							 {1005000000, 2005000000},
							 {1000000000, 2000000000},
							 {1020000000, 2010000000}};

/* What `weir load --json` writes of such a measurement, as it is read from the file. */
static json_t *client_json(struct record *record, const struct failures *failures)
{
	static struct load_options options;
	struct load_result result = {.measured = record, .failures = *failures};
	struct stack_choice choice;
	struct tp_error error;
	json_t *json, *read;
	char *text;

	CU_ASSERT_EQUAL_FATAL(stack_find("epoll", &choice, &error), 0);
	options.stack.stack = choice.stack;
	record->begin_ns = 1000000000;
	record->end_ns = 2000000000;
	result.counters.requests = record->service.count;
	json = load_result_to_json(&options, &result, json_object());
	text = json_dumps(json, 0);
	read = json_loads(text, 0, NULL);
	free(text);
	json_decref(json);
	CU_ASSERT_PTR_NOT_NULL_FATAL(read);
	return read;
}

static struct record *new_record(void)
{
	struct record *record = calloc(1, sizeof(*record));

	CU_ASSERT_PTR_NOT_NULL_FATAL(record);
	record_reset(record);
	return record;
}

static void fill(struct record *whole, struct record **parts, unsigned count, uint64_t seed)
{
	struct random random = {seed};

	for (unsigned i = 0; i < VALUES; i++) {
		struct record *part = parts[random_below(&random, count)];
		/* over all doublings, some beyond the range */
		uint64_t value = random_next(&random) >> (20 + random_below(&random, 44));

		value %= 2 * HISTOGRAM_MAX_NS;
		histogram_record(&whole->service, value);
		histogram_record(&part->service, value);
		histogram_record(&whole->intended, value + 5);
		histogram_record(&part->intended, value + 5);
	}
}

static json_int_t count_of(const json_t *json, const char *name)
{
	return json_integer_value(json_object_get(json, name));
}

/*
 * Splits one measurement over `count` clients and compares what their merger says with the whole.
 */
static void expect_whole(unsigned count, uint64_t seed)
{
	static const char *const same[] = {"completed", "latency_us", "histogram", "failed"};
	struct record *whole = new_record(), *parts[PARTS_MAX];
	struct histogram *service = malloc(sizeof(*service));
	json_t *clients[PARTS_MAX], *merged, *expected;
	static const struct failures none;

	for (unsigned i = 0; i < count; i++)
		parts[i] = new_record();
	fill(whole, parts, count, seed);
	for (unsigned i = 0; i < count; i++)
		clients[i] = client_json(parts[i], &none);
	expected = client_json(whole, &none);
	merged = clients_merge(clients, windows, count, service);
	CU_ASSERT_PTR_NOT_NULL_FATAL(merged);
	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		CU_ASSERT(json_equal(json_object_get(merged, same[i]),
				     json_object_get(expected, same[i])));
	CU_ASSERT_EQUAL(service->count, whole->service.count);
	CU_ASSERT_EQUAL(service->min_ns, whole->service.min_ns);
	CU_ASSERT_EQUAL(service->max_ns, whole->service.max_ns);
	CU_ASSERT_EQUAL(service->saturated, whole->service.saturated);
	CU_ASSERT_EQUAL(count_of(json_object_get(merged, "client"), "requests"), VALUES);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(merged, "clients")), count);
	for (unsigned i = 0; i < count; i++) {
		json_decref(clients[i]);
		free(parts[i]);
	}
	json_decref(merged);
	json_decref(expected);
	free(service);
	free(whole);
}

static void merges_to_the_whole(void)
{
	for (unsigned count = 1; count <= PARTS_MAX; count++)
		for (uint64_t seed = 1; seed <= 6; seed++)
			expect_whole(count, seed);
}

/* One that has nothing must not drag the minimum to 0. */
static void keeps_extremes_beside_an_empty_one(void)
{
	struct record *full = new_record(), *empty = new_record();
	struct histogram *service = malloc(sizeof(*service));
	static const struct failures none;
	json_t *clients[2], *merged;

	histogram_record(&full->service, 70);
	histogram_record(&full->intended, 70);
	clients[0] = client_json(empty, &none);
	clients[1] = client_json(full, &none);
	merged = clients_merge(clients, windows, 2, service);
	CU_ASSERT(json_equal(json_object_get(merged, "latency_us"),
			     json_object_get(clients[1], "latency_us")));
	CU_ASSERT_EQUAL(service->min_ns, 70);
	json_decref(clients[0]);
	json_decref(clients[1]);
	json_decref(merged);
	free(service);
	free(full);
	free(empty);
}

/* 1.0 to 2.0 s and 1.01 to 2.02 s: 1.02 s in all, 0.99 s together. */
static void states_windows(void)
{
	struct clients_overlap overlap = clients_overlap(windows, 2);
	struct clients_window apart[] = {{10, 20}, {30, 40}};

	CU_ASSERT_DOUBLE_EQUAL(overlap.union_s, 1.02, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(overlap.common_s, 0.99, 1e-9);
	CU_ASSERT_EQUAL(clients_overlap(apart, 2).common_s, 0);
	CU_ASSERT_DOUBLE_EQUAL(clients_overlap(apart, 2).union_s, 30e-9, 1e-15);
}

/* The busiest client's share and any saturation stand for all. */
static void merges_business_and_failures(void)
{
	struct record *idle = new_record(), *busy = new_record();
	struct histogram *service = malloc(sizeof(*service));
	struct failures first = {.count = {[FAILURE_lost] = 2}, .text = {[FAILURE_lost] = "a"}};
	struct failures second = {.count = {[FAILURE_lost] = 3, [FAILURE_stalled] = 1},
				  .text = {[FAILURE_lost] = "b", [FAILURE_stalled] = "c"}};
	json_t *clients[2], *merged, *expected;

	idle->busy = (struct busy){.busy_ns = 10, .empty_ns = 90};
	busy->busy = (struct busy){.busy_ns = 97, .empty_ns = 3};
	clients[0] = client_json(idle, &first);
	clients[1] = client_json(busy, &second);
	merged = clients_merge(clients, windows, 2, service);
	expected = json_pack("[{ss si ss} {ss si ss}]", "kind", "lost", "count", 5, "text", "a",
			     "kind", "stalled", "count", 1, "text", "c");
	CU_ASSERT(json_equal(json_object_get(merged, "failures"), expected));
	CU_ASSERT_EQUAL(count_of(merged, "failed"), 6);
	CU_ASSERT(json_is_true(json_object_get(json_object_get(merged, "client"), "saturated")));
	CU_ASSERT_DOUBLE_EQUAL(
		json_number_value(json_object_get(json_object_get(merged, "client"), "busy_share")),
		0.97, 1e-9);
	json_decref(expected);
	json_decref(clients[0]);
	json_decref(clients[1]);
	json_decref(merged);
	free(service);
	free(idle);
	free(busy);
}

/* Another client's process, of which the kernel said `migrations` or nothing. */
static json_t *add_accounts(json_t *client, int user_us, json_t *migrations)
{
	json_object_set_new(client, "process",
			    json_pack("{si si so sf}", "user_us", user_us, "rss_end_kib", 7,
				      "migrations", migrations, "window_s", 1.0));
	json_object_set_new(client, "cpu", json_pack("{si si}", "tasks_us", 9, "steal_us", 1));
	json_object_set_new(client, "host", json_object());
	json_object_set_new(client, "cpus", json_pack("[i]", 1));
	json_object_set_new(client, "binding", json_object());
	return client;
}

static void expect_separate(const json_t *merged, const char *name)
{
	char reason[64];

	snprintf(reason, sizeof(reason), "%s_reason", name);
	CU_ASSERT(json_is_null(json_object_get(merged, name)));
	CU_ASSERT(json_is_string(json_object_get(merged, reason)));
}

/* What processes counted is added; what is of one process or its host is nobody's of all. */
static void keeps_apart_what_is_of_one_process(void)
{
	static const char *const own[] = {"config", "cpus", "host", "binding"};
	struct record *record = new_record();
	struct histogram *service = malloc(sizeof(*service));
	static const struct failures none;
	json_t *clients[2], *merged, *process, *first;

	clients[0] = add_accounts(client_json(record, &none), 3, json_integer(2));
	clients[1] = add_accounts(client_json(record, &none), 4, json_null());
	merged = clients_merge(clients, windows, 2, service);
	process = json_object_get(merged, "process");
	CU_ASSERT_EQUAL(count_of(process, "user_us"), 7);
	expect_separate(process, "migrations");
	expect_separate(process, "rss_end_kib");
	expect_separate(process, "window_s");
	expect_separate(json_object_get(merged, "cpu"), "steal_us");
	for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		expect_separate(merged, own[i]);
	first = json_array_get(json_object_get(merged, "clients"), 0);
	CU_ASSERT_EQUAL(count_of(json_object_get(first, "process"), "rss_end_kib"), 7);
	CU_ASSERT(json_is_array(json_object_get(first, "cpus")));
	json_decref(clients[0]);
	json_decref(clients[1]);
	json_decref(merged);
	free(service);
	free(record);
}

static void refuses_what_is_no_histogram(void)
{
	static const char *const wrong[] = {"7",	 "[[1]]",     "[[1, 0]]",
					    "[[-1, 2]]", "[[1, -2]]", "[5]"};
	struct histogram *histogram = malloc(sizeof(*histogram));

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json_t *buckets = json_loads(wrong[i], JSON_DECODE_ANY, NULL);

		histogram_reset(histogram);
		CU_ASSERT(clients_add_buckets(histogram, buckets, 0, 1, 1) < 0);
		json_decref(buckets);
	}
	free(histogram);
}

static const struct suite_test tests[] = {
	{"the merger of any parts of a measurement is the measurement", merges_to_the_whole},
	{"a client without a request leaves the others' extremes",
	 keeps_extremes_beside_an_empty_one},
	{"the window is the union, and what all share is beside it", states_windows},
	{"the busiest client stands for all, and failures add up by kind",
	 merges_business_and_failures},
	{"counts of processes add up, and what is of one process stays with it",
	 keeps_apart_what_is_of_one_process},
	{"what is no list of buckets is refused", refuses_what_is_no_histogram},
};

SUITE_MAIN("run clients", tests)
