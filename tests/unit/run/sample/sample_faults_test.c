#include "apps/run/sample/log.h"
#include "apps/run/sample/sample.h"
#include "tests/unit/run/sample/rig.h"

#include <stdlib.h>
#include <string.h>

/* Carries the rig's one sample out; its result. */
static json_t *run_sample(struct rig *rig)
{
	json_t *result = NULL;

	CU_ASSERT_EQUAL(sample_run(&rig->plan->samples[0], rig->experiment, &rig->directory,
				   &rig->interrupt, NULL, &result),
			0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(result);
	return result;
}

/* The result of a sample whose server is this script. */
static json_t *serve_by(struct rig *rig, const char *script)
{
	rig_serve_by(rig, 0, script);
	return run_sample(rig);
}

static const char *reason_of(const json_t *result, size_t index)
{
	const char *reason = json_string_value(
		json_array_get(json_object_get(result, "invalid_reasons"), index));

	CU_ASSERT_PTR_NOT_NULL_FATAL(reason);
	return reason;
}

static char *server_log(const struct rig *rig)
{
	char name[SETTING_TEXT_BYTES + 64];

	snprintf(name, sizeof(name), "%s/server.log", rig->plan->samples[0].folder);
	return rig_read(rig, name);
}

static void a_flood_on_both_streams_neither_blocks_nor_fills_the_disk(void)
{
	struct rig rig;
	json_t *result;
	char *log;

	if (!rig_open(&rig, "\"depth\": [1]"))
		return;
	result = serve_by(&rig, "yes out | head -c 100000000\n"
				"yes error | head -c 100000000 >&2\n"
				"head -c 1000000 /dev/urandom\n"
				"head -c 1000000 /dev/urandom >&2\n"
				"echo\n" /* what is printed then begins a line */
				"exec $WEIR \"$@\"");
	CU_ASSERT(json_is_true(json_object_get(result, "valid")));
	log = server_log(&rig);
	CU_ASSERT(strlen(log) < LOG_BYTES_MAX + 200);
	CU_ASSERT_PTR_NOT_NULL(strstr(log, " more bytes were not kept]"));
	free(log);
	json_decref(result);
	rig_close(&rig);
}

static void a_server_that_floods_and_never_is_ready_is_told_from_one_that_died(void)
{
	struct rig rig;
	json_t *result;

	if (!rig_open(&rig, "\"depth\": [1]"))
		return;
	result = serve_by(&rig, "yes | head -c 10000000; printf 'last \\377 words\\n' >&2; exit 7");
	CU_ASSERT(json_is_false(json_object_get(result, "valid")));
	CU_ASSERT_STRING_EQUAL(reason_of(result, 0),
			       "the server ended with status 7 before it was ready: last ? words");
	json_decref(result);
	rig_close(&rig);
}

static void a_ready_line_of_something_else_is_not_taken_for_the_servers(void)
{
	struct rig rig;
	json_t *result;
	double ready_ms;

	if (!rig_open(&rig, "\"depth\": [1]"))
		return;
	result = serve_by(&rig, "echo 'ready {\"nonce\": \"guessed\", \"wait\": \"none\"}'\n"
				"echo 'ready {\"pid\": 1}'\n"
				"echo 'ready or not'\n"
				"sleep 0.2\n"
				"exec $WEIR \"$@\"");
	ready_ms = json_number_value(json_object_get(result, "server_ready_ms"));
	CU_ASSERT(json_is_true(json_object_get(result, "valid")));
	CU_ASSERT(ready_ms >= 200);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(json_object_get(result, "cell"), "wait")),
		"block");
	json_decref(result);
	rig_close(&rig);
}

static void a_server_that_knows_no_nonce_is_measured_all_the_same(void)
{
	struct rig rig;
	json_t *result;
	const json_t *binding;

	if (!rig_open(&rig, "\"depth\": [1]"))
		return;
	/* as a server of an older commit: it does not say what it was not asked then */
	result = serve_by(&rig, "unset WEIR_NONCE; exec $WEIR \"$@\"");
	CU_ASSERT(json_is_true(json_object_get(result, "valid")));
	binding = json_object_get(result, "binding");
	CU_ASSERT(json_is_true(json_object_get(binding, "kept")));
	json_decref(result);
	rig_close(&rig);
}

static void an_answer_of_another_size_is_no_fast_success(void)
{
	struct rig rig;
	json_t *result;

	if (!rig_open(&rig, "\"depth\": [1]"))
		return;
	result = serve_by(&rig, "for word in \"$@\"; do shift; "
				"[ \"$last\" = --response-bytes ] && word=1; "
				"set -- \"$@\" \"$word\"; last=$word; done; exec $WEIR \"$@\"");
	CU_ASSERT(json_is_false(json_object_get(result, "valid")));
	CU_ASSERT_PTR_NOT_NULL(strstr(reason_of(result, 0), "the client ended with status 3"));
	CU_ASSERT_PTR_NOT_NULL(strstr(reason_of(result, 0), "wrong_length"));
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(result, "completed")), 0);
	json_decref(result);
	rig_close(&rig);
}

static void the_server_that_was_killed_is_named_with_its_signal_and_last_words(void)
{
	struct rig rig;
	json_t *result;

	if (!rig_open(&rig, "\"depth\": [1]"))
		return;
	result = serve_by(&rig, "echo all is well >&2; $WEIR \"$@\" & sleep 0.05; kill -9 $!; "
				"echo out of memory >&2; kill -9 $$");
	CU_ASSERT(json_is_false(json_object_get(result, "valid")));
	CU_ASSERT_PTR_NOT_NULL(strstr(reason_of(result, 0), "was killed by signal 9 (Killed)"));
	CU_ASSERT_PTR_NOT_NULL(strstr(reason_of(result, 0), "all is well | out of memory"));
	json_decref(result);
	rig_close(&rig);
}

/*
 * The runner is stopped while the server dies and the client, which fails at once, says that it is
 * done: it finds all of it together, as on a host that leaves it no time.
 */
static void a_runner_that_looks_late_names_the_phase_that_the_client_failed_in(void)
{
	struct rig rig;
	json_t *result;

	if (!rig_open(&rig, "\"depth\": [1]"))
		return;
	result = serve_by(&rig,
			  "$WEIR \"$@\" & until grep -qs 'phase warmup' samples/*/client.log; do "
			  "sleep 0.01; done; kill -STOP $PPID; kill -9 $!; (sleep 0.5; kill -CONT "
			  "$PPID) & kill -9 $$");
	CU_ASSERT(json_is_false(json_object_get(result, "valid")));
	CU_ASSERT_PTR_NOT_NULL(strstr(reason_of(result, 0), "in the client's phase `"));
	CU_ASSERT_PTR_NULL(strstr(reason_of(result, 0), "phase `done`"));
	json_decref(result);
	rig_close(&rig);
}

static const struct suite_test tests[] = {
	{"a flood of text and bytes on both streams neither blocks nor fills the disk",
	 a_flood_on_both_streams_neither_blocks_nor_fills_the_disk},
	{"a server that talks and ends unready is told with its last words",
	 a_server_that_floods_and_never_is_ready_is_told_from_one_that_died},
	{"a ready line of something else is not taken for the server's",
	 a_ready_line_of_something_else_is_not_taken_for_the_servers},
	{"a server that knows no nonce is measured all the same",
	 a_server_that_knows_no_nonce_is_measured_all_the_same},
	{"an answer of another size is no fast success",
	 an_answer_of_another_size_is_no_fast_success},
	{"a server that was killed is named with its signal and its last words",
	 the_server_that_was_killed_is_named_with_its_signal_and_last_words},
	{"a runner that looks late names the phase that the client failed in",
	 a_runner_that_looks_late_names_the_phase_that_the_client_failed_in},
};

RIG_MAIN("run sample faults", tests)
