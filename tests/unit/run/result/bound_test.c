#include "apps/run/result/bound.h"
#include "tests/support/suite.h"

#include <string.h>

/* Judges a server put on CPUs 2 and 3 by what its two workers said; the reasons. */
static json_t *judge(const char *memory, const char *first, const char *second,
		     json_t **binding_out)
{
	static const struct cpus pins = {.count = 2, .cpu = {2, 3}};
	json_t *said = json_pack("{so s[oo]}", "memory", json_loads(memory, 0, NULL), "workers",
				 json_loads(first, 0, NULL), json_loads(second, 0, NULL));
	struct bound_side side = {"server", &pins, said, "it did not say"};
	json_t *reasons = json_array();

	CU_ASSERT_PTR_NOT_NULL_FATAL(said);
	*binding_out = bound_judge(&side, 1, reasons);
	json_decref(said);
	return reasons;
}

static const char memory[] = "{\"asked\": \"bind\", \"bound\": true, \"nodes\": [0]}";
static const char first[] =
	"{\"affinity\": [2], \"seen_on\": [2], \"migrations\": 0, \"memory_nodes\": [0]}";
static const char second[] =
	"{\"affinity\": [3], \"seen_on\": [3], \"migrations\": 0, \"memory_nodes\": [0]}";

static void workers_in_their_places_are_kept(void)
{
	json_t *binding, *reasons = judge(memory, first, second, &binding);

	CU_ASSERT_EQUAL(json_array_size(reasons), 0);
	CU_ASSERT(json_is_true(json_object_get(binding, "kept")));
	CU_ASSERT(json_is_object(json_object_get(binding, "server")));
	json_decref(binding);
	json_decref(reasons);
}

static void expect(const char *memory_said, const char *worker, const char *reason)
{
	json_t *binding, *reasons = judge(memory_said, first, worker, &binding);

	CU_ASSERT(json_is_false(json_object_get(binding, "kept")));
	CU_ASSERT_EQUAL_FATAL(json_array_size(reasons), 1);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(reasons, 0)), reason);
	json_decref(binding);
	json_decref(reasons);
}

static void whatever_is_elsewhere_is_named(void)
{
	expect(memory, "{\"affinity\": [2, 3], \"seen_on\": [3], \"migrations\": 0}",
	       "the server's worker 1 may run on CPU 2, 3, but was put on CPU 3");
	expect(memory, "{\"affinity\": [3], \"seen_on\": [3, 5], \"migrations\": 0}",
	       "the server's worker 1 was seen on CPU 3, 5, but was put on CPU 3");
	expect(memory, "{\"affinity\": [3], \"seen_on\": [3], \"migrations\": 2}",
	       "the server's worker 1, put on CPU 3, went from one CPU to another 2 times");
	expect(memory, "{\"affinity\": [3], \"seen_on\": [3], \"memory_nodes\": [1]}",
	       "the server's worker 1 takes memory from node 1, but was bound to that of node 0");
}

/* No breach, but nothing that could be called kept either. */
static void expect_unknown(const char *memory_said, const char *worker, const char *why)
{
	json_t *binding, *reasons = judge(memory_said, first, worker, &binding);
	const char *said = json_string_value(json_object_get(binding, "kept_reason"));

	CU_ASSERT_EQUAL(json_array_size(reasons), 0);
	CU_ASSERT(json_is_null(json_object_get(binding, "kept")));
	CU_ASSERT_PTR_NOT_NULL_FATAL(said);
	CU_ASSERT_STRING_EQUAL(said, why);
	json_decref(binding);
	json_decref(reasons);
}

static void what_is_not_known_is_neither_kept_nor_broken(void)
{
	expect_unknown(memory,
		       "{\"affinity\": null, \"affinity_reason\": \"gone\", \"seen_on\": [3], "
		       "\"migrations\": 0, \"memory_nodes\": [0]}",
		       "affinity of the server's worker 1 is not known: gone");
	expect_unknown(memory,
		       "{\"affinity\": [3], \"seen_on\": [], \"migrations\": 0, "
		       "\"memory_nodes\": [0]}",
		       "seen_on of the server's worker 1 is not known: it did not say");
	expect_unknown(memory,
		       "{\"affinity\": [3], \"seen_on\": [3], \"migrations\": null, "
		       "\"memory_nodes\": [0]}",
		       "migrations of the server's worker 1 is not known: it did not say");
	expect_unknown(memory, "{\"affinity\": [3], \"seen_on\": [3], \"migrations\": 0}",
		       "memory_nodes of the server's worker 1 is not known: it did not say");
	expect_unknown("{\"asked\": \"bind\", \"bound\": false, \"bound_reason\": \"denied\"}",
		       second, "the server's memory is bound to no node: denied");
	expect_unknown(memory, "{}",
		       "affinity of the server's worker 1 is not known: it did not say");
}

static void memory_that_nobody_bound_is_kept_wherever_it_is(void)
{
	json_t *binding, *reasons = judge("{\"asked\": \"none\", \"bound\": false}", first, second,
					  &binding);

	CU_ASSERT_EQUAL(json_array_size(reasons), 0);
	CU_ASSERT(json_is_true(json_object_get(binding, "kept")));
	json_decref(binding);
	json_decref(reasons);
}

static void a_worker_that_is_not_told_of_is_not_kept(void)
{
	static const struct cpus pins = {.count = 2, .cpu = {2, 3}};
	json_t *said = json_pack("{so s[o]}", "memory", json_loads(memory, 0, NULL), "workers",
				 json_loads(first, 0, NULL));
	struct bound_side side = {"server", &pins, said, "it did not say"};
	json_t *reasons = json_array(), *binding = bound_judge(&side, 1, reasons);

	CU_ASSERT(json_is_null(json_object_get(binding, "kept")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(binding, "kept_reason")),
			       "the server told of 1 of its 2 workers");
	json_decref(said);
	json_decref(binding);
	json_decref(reasons);
}

static void who_did_not_say_is_null_with_the_reason(void)
{
	static const struct cpus pins = {.count = 1, .cpu = {2}};
	struct bound_side side = {"server", &pins, NULL, "it is of an older commit"};
	json_t *reasons = json_array(), *binding = bound_judge(&side, 1, reasons);

	CU_ASSERT_EQUAL(json_array_size(reasons), 0);
	CU_ASSERT(json_is_null(json_object_get(binding, "kept")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(binding, "kept_reason")),
			       "it is of an older commit");
	json_decref(binding);
	json_decref(reasons);
}

static const struct suite_test tests[] = {
	{"workers in their places are kept", workers_in_their_places_are_kept},
	{"a worker elsewhere, moved, or with other memory is named",
	 whatever_is_elsewhere_is_named},
	{"what nobody knows is neither kept nor a breach, and the reason is said",
	 what_is_not_known_is_neither_kept_nor_broken},
	{"memory that was to be bound to no node is kept wherever it is",
	 memory_that_nobody_bound_is_kept_wherever_it_is},
	{"a side that tells of fewer workers than planned is null with the reason",
	 a_worker_that_is_not_told_of_is_not_kept},
	{"a side that did not say is null with the reason",
	 who_did_not_say_is_null_with_the_reason},
};

SUITE_MAIN("run bound", tests)
