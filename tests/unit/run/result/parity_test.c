#include "apps/run/result/parity.h"
#include "tests/unit/run/sample/rig.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Serves with another size of answers than it is told. */
static const char other_size[] =
	"for word in \"$@\"; do shift; [ \"$last\" = --response-bytes ] && word=65; "
	"set -- \"$@\" \"$word\"; last=$word; done; exec $WEIR \"$@\"";

/* No child of this process is left. */
static bool childless(void)
{
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static json_t *check(struct rig *rig, int expected)
{
	json_t *parity = NULL;

	CU_ASSERT_EQUAL(
		parity_check(rig->plan, &rig->directory, &rig->interrupt, "before", &parity),
		expected);
	CU_ASSERT(childless());
	return parity;
}

static const json_t *servers_of(const json_t *parity, size_t group)
{
	return json_object_get(json_array_get(json_object_get(parity, "groups"), group), "servers");
}

static const char *digest_of(const json_t *servers, size_t index)
{
	return json_string_value(json_object_get(json_array_get(servers, index), "digest"));
}

static void each_distinct_server_is_asked_once_a_request(void)
{
	struct rig rig;
	json_t *parity;
	const json_t *servers;

	if (!rig_open(&rig, "\"delivery\": [\"immediate\", \"coalesce\"], \"depth\": [1, 8], "
			    "\"response_bytes\": [64, 20000]"))
		return;
	parity = check(&rig, 0);
	CU_ASSERT(json_is_true(json_object_get(parity, "equal")));
	CU_ASSERT_PTR_NULL(parity_mismatch(parity));
	CU_ASSERT_EQUAL_FATAL(json_array_size(json_object_get(parity, "groups")), 2);
	for (size_t group = 0; group < 2; group++) {
		servers = servers_of(parity, group);
		CU_ASSERT_EQUAL_FATAL(json_array_size(servers), 2);
		CU_ASSERT_PTR_NOT_NULL_FATAL(digest_of(servers, 0));
		CU_ASSERT_STRING_EQUAL(digest_of(servers, 0), digest_of(servers, 1));
		CU_ASSERT(json_is_true(json_object_get(json_array_get(servers, 1), "verified")));
	}
	CU_ASSERT_STRING_NOT_EQUAL(digest_of(servers_of(parity, 0), 0),
				   digest_of(servers_of(parity, 1), 0));
	json_decref(parity);
	rig_close(&rig);
}

static void servers_that_answer_differently_are_named_with_their_digests(void)
{
	struct rig rig;
	json_t *parity;
	const char *text, *one, *other;

	if (!rig_open(&rig, "\"delivery\": [\"immediate\", \"coalesce\"]"))
		return;
	rig_serve_by(&rig, 1, other_size);
	parity = check(&rig, 0);
	text = parity_mismatch(parity);
	CU_ASSERT(json_is_false(json_object_get(parity, "equal")));
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	one = digest_of(servers_of(parity, 0), 0);
	other = digest_of(servers_of(parity, 0), 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(one);
	CU_ASSERT_PTR_NOT_NULL_FATAL(other);
	CU_ASSERT_STRING_NOT_EQUAL(one, other);
	CU_ASSERT(strncmp(text, "the answers of immediate (SHA-256 ", 34) == 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, ") and coalesce (SHA-256 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, one));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, other));
	json_decref(parity);
	rig_close(&rig);
}

static void servers_that_are_wrong_alike_are_refused_too(void)
{
	struct rig rig;
	json_t *parity;

	if (!rig_open(&rig, "\"depth\": [1]"))
		return;
	rig_serve_by(&rig, 0, other_size);
	parity = check(&rig, 0);
	CU_ASSERT(json_is_false(json_object_get(parity, "equal")));
	CU_ASSERT_PTR_NOT_NULL_FATAL(parity_mismatch(parity));
	CU_ASSERT_PTR_NOT_NULL(strstr(parity_mismatch(parity),
				      "the answers of d1 are wrong: weir load: wrong_length (1): "
				      "connection 0: a response body of 65 bytes, asked for 64; "));
	CU_ASSERT_PTR_NOT_NULL(strstr(parity_mismatch(parity), " and --handler?; asked for: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(parity_mismatch(parity), "response_bytes 64"));
	json_decref(parity);
	rig_close(&rig);
}

static void a_server_that_cannot_be_asked_is_not_a_mismatch(void)
{
	struct rig rig;
	json_t *parity;
	const json_t *server;

	if (!rig_open(&rig, "\"delivery\": [\"immediate\", \"coalesce\"]"))
		return;
	rig_serve_by(&rig, 1, "echo no such luck >&2; exit 5");
	parity = check(&rig, 0);
	CU_ASSERT(json_is_null(json_object_get(parity, "equal")));
	CU_ASSERT_PTR_NULL(parity_mismatch(parity));
	server = json_array_get(servers_of(parity, 0), 1);
	CU_ASSERT(json_is_null(json_object_get(server, "digest")));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(server, "digest_reason")),
			       "the server ended with status 5 before it was ready: no such luck");
	json_decref(parity);
	rig_close(&rig);
}

static void an_interrupt_ends_it_and_leaves_nothing_running(void)
{
	struct rig rig;
	json_t *parity;

	if (!rig_open(&rig, "\"depth\": [1]"))
		return;
	rig_serve_by(&rig, 0, "kill -INT $PPID; exec sleep 60");
	parity = check(&rig, -EINTR);
	CU_ASSERT_PTR_NULL(parity);
	CU_ASSERT_EQUAL(rig.interrupt.signal_number, SIGINT);
	rig_close(&rig);
}

static void a_mismatch_is_refused_before_and_told_after(void)
{
	json_t *parity = json_object(), *kept;
	struct rig rig;
	char *text, *told;

	if (!rig_open(&rig, "\"delivery\": [\"immediate\", \"coalesce\"]")) {
		json_decref(parity);
		return;
	}
	CU_ASSERT_EQUAL(parity_keep(rig.plan, &rig.directory, &rig.interrupt, false, parity), 0);
	CU_ASSERT_PTR_NULL(parity_mismatch(json_object_get(parity, "before")));
	rig_serve_by(&rig, 1, other_size);
	CU_ASSERT_EQUAL(parity_keep(rig.plan, &rig.directory, &rig.interrupt, true, parity), 0);
	CU_ASSERT_PTR_NOT_NULL(parity_mismatch(json_object_get(parity, "after")));
	text = rig_read(&rig, "parity.json");
	kept = json_loads(text, 0, NULL);
	CU_ASSERT(json_equal(kept, parity));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(kept, "schema")), "weir.parity/1");
	CU_ASSERT_EQUAL(parity_keep(rig.plan, &rig.directory, &rig.interrupt, false, parity),
			-EBADMSG);
	CU_ASSERT_EQUAL(rig.directory.failed, -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.directory.error.text, ") and coalesce (SHA-256 "));
	directory_abandon(&rig.directory, rig.directory.error.text);
	told = rig_read(&rig, "INCOMPLETE.txt");
	CU_ASSERT_PTR_NOT_NULL(strstr(told, rig.directory.error.text));
	CU_ASSERT_PTR_NOT_NULL(strstr(told, "run it anew.\n"));
	CU_ASSERT_PTR_NULL(strstr(told, "--resume"));
	free(told);
	json_decref(kept);
	free(text);
	json_decref(parity);
	rig_close(&rig);
}

static const struct suite_test tests[] = {
	{"each distinct server is asked once a request",
	 each_distinct_server_is_asked_once_a_request},
	{"servers that answer differently are named with their digests",
	 servers_that_answer_differently_are_named_with_their_digests},
	{"servers that are all wrong alike are refused, too",
	 servers_that_are_wrong_alike_are_refused_too},
	{"a server that cannot be asked is no mismatch",
	 a_server_that_cannot_be_asked_is_not_a_mismatch},
	{"a mismatch is refused before the samples and told after them",
	 a_mismatch_is_refused_before_and_told_after},
	{"an interrupt ends it and leaves nothing running",
	 an_interrupt_ends_it_and_leaves_nothing_running},
};

RIG_MAIN("run parity", tests)
