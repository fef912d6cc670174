#include "apps/common/document.h"
#include "tests/support/suite.h"
#include "tests/unit/run/experiment/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The value of a factor at one of its levels. */
#define LEVEL(experiment, factor, level) \
	((experiment)->axes[factor].levels[level].cell.of[(experiment)->axes[factor].setting])

static const struct {
	const char *text;
	const char *expected;
} bad[] = {
	/* Malformed. */
	{"", "1:1: the file is empty; an object {...} is expected\n"},
	{"{\n \"name\": \"x\",\n}", "3:1: string or '}' expected near '}'; no comma stands behind "
				    "the last of a list in JSON\n"},
	{"{\"name\": 1e999}", "1:14: real number overflow near '1e999'\n"},
	{"{\"runs\": 08}", "1:10: 08 is no value in JSON: 'runs' is \"08\"; accepted: a whole "
			   "number from 1 to 1000\n"},
	{HEAD FIXED ",\n \"factors\": {\"depth\": [1, NaN]}}",
	 "3:27: NaN is no value in JSON: 'depth' is \"NaN\", but a whole number from 1 to 1024 is "
	 "accepted\n"},
	{"{\"name\": \"a\xff\"}", "1:11: unable to decode byte 0xff near '\"a'\n"},
	{"\xef\xbb\xbf{}",
	 "1:1: the file begins with a byte order mark; save it as UTF-8 without one\n"},
	{HEAD "\"runs\": 1,\n \"runs\": 2}",
	 "3:2: the key 'runs' stands twice in one object: here, "
	 "and before in line 2, column 1\n"},
	{HEAD "\"fixed\": {\"stack\": \"}{\", \"depth\" : [{}, 2],\n \"depth\": 2}}",
	 "3:2: the key 'depth' stands twice in one object: here, and before in line 2, column "
	 "26\n"},
	{"[]", "1:1: an object {...} is expected\n"},
	{HEAD FIXED "} x", "2:39: end of file expected near 'x'\n"},
	/* Unknown keys. */
	{HEAD FIXED ",\n  \"durration\": \"2s\"}",
	 "3:3: unknown key 'durration'; did you mean 'duration'?\n"},
	{HEAD "\"fixed\": {\"stack\": \"epoll@loopback\",\n \"conections\": 4}}",
	 "3:2: unknown key 'conections'; did you mean 'connections'?\n"},
	{HEAD FIXED ", \"factors\": {\"dept\": [1]}}",
	 "2:51: unknown key 'dept'; did you mean 'depth'?\n"},
	/* Missing. */
	{HEAD "\"runs\": 1}", "1:1: 'stack' is missing: give it in \"fixed\" or in \"factors\"\n"},
	{"{" FIXED "}",
	 "1:1: 'schema' is missing; accepted: \"weir.experiment/1\"\n"
	 "1:1: 'name' is missing; accepted: 1 to 64 of a-z, 0-9 and '-', but no '-' first\n"},
	/* Types and ranges. */
	{"{\"schema\": \"weir.experiment/2\", \"name\": \"x\", " FIXED "}",
	 "1:12: 'schema' is \"weir.experiment/2\"; this version reads \"weir.experiment/1\" "
	 "only\n"},
	{"{\"schema\": \"weir.experiment/1\", \"name\": \"../x\", " FIXED "}",
	 "1:41: 'name' is \"../x\"; accepted: 1 to 64 of a-z, 0-9 and '-', but no '-' first\n"},
	{HEAD FIXED ", \"runs\": 0}",
	 "2:47: 'runs' is 0; accepted: a whole number from 1 to 1000\n"},
	{HEAD FIXED ", \"runs\": \"3\"}",
	 "2:47: 'runs' is \"3\"; accepted: a whole number from 1 to 1000\n"},
	{HEAD FIXED ", \"order\": \"abab\"}",
	 "2:48: 'order' is \"abab\"; accepted: \"rotate\", \"abba\", \"balanced\", \"random\" or "
	 "\"random(SEED)\"\n"},
	{HEAD FIXED ", \"duration\": \"2\"}", "2:51: 'duration' is \"2\"; accepted: 100ms to 60m, "
					      "with its unit, e.g. \"2s\" or \"500ms\"\n"},
	{HEAD FIXED ", \"duration\": \"61m\"}",
	 "2:51: 'duration' is \"61m\"; accepted: 100ms to 60m, with its unit, e.g. \"2s\" or "
	 "\"500ms\"\n"},
	{HEAD FIXED ", \"duration\": 2}", "2:51: 'duration' is 2; accepted: 100ms to 60m, with its "
					  "unit, e.g. \"2s\" or \"500ms\"\n"},
	{HEAD FIXED ", \"factors\": {\"depth\": [1, 0]}}",
	 "2:64: 'depth' is 0, but a whole number from 1 to 1024 is accepted\n"},
	{HEAD FIXED ", \"factors\": {\"depth\": [8, 8]}}", "2:64: 'depth' has this level twice\n"},
	{HEAD FIXED ", \"factors\": {\"depth\": 8}}",
	 "2:60: 'depth' must be a list [...] of 1 to 64 levels\n"},
	{HEAD FIXED ", \"factors\": {\"depth\": []}}",
	 "2:60: 'depth' must be a list [...] of 1 to 64 levels\n"},
	{HEAD FIXED ", \"factors\": {\"delivery\": [\"colaesce\"]}}",
	 "2:64: 'delivery' is \"colaesce\"; accepted: immediate, coalesce or flush-at:N (N from 1 "
	 "to 32KiB, like 2048 or 2KiB)\n"},
	{HEAD "\"fixed\": {\"stack\": \"kernel\"}}",
	 "2:20: 'stack' is \"kernel\"; accepted: epoll@loopback, epoll@unix, epoll@veth, "
	 "epoll@network, uring@loopback, uring@unix, uring@veth, uring@network or dpdk@memif\n"},
	{HEAD FIXED ", \"factors\": {\"request_bytes\": [16384, \"16KiB\"]}}",
	 "2:76: 'request_bytes' has this level twice\n"},
	{HEAD FIXED ", \"factors\": {\"request_bytes\": [\"16KB\"]}}",
	 "2:69: 'request_bytes' is \"16KB\", but a whole number from 0 to 16777196 is accepted, or "
	 "one with its unit, like \"16KiB\"\n"},
	{HEAD FIXED ", \"factors\": {\"depth\": [\"1\"]}}",
	 "2:61: 'depth' is \"1\", but a whole number from 1 to 1024 is accepted\n"},
	{HEAD FIXED ", \"factors\": {\"client_stack\": [\"dpdk\"]}}",
	 "2:68: 'client_stack' is \"dpdk\"; accepted: same, epoll@loopback, epoll@unix, "
	 "epoll@veth, epoll@network, uring@loopback, uring@unix, uring@veth, uring@network or "
	 "dpdk@memif\n"},
	{HEAD FIXED ", \"factors\": {\"bare\": [1]}}",
	 "2:60: 'bare' is 1; accepted: true or false\n"},
	{HEAD FIXED ", \"factors\": {\"tls\": [true, \"no\"]}}",
	 "2:65: 'tls' is \"no\"; accepted: true or false\n"},
	{HEAD FIXED ", \"factors\": {\"protocol\": [\"http2\"]}}",
	 "2:64: 'protocol' is \"http2\"; accepted: framed or http1\n"},
	{HEAD FIXED ", \"factors\": {\"http_parser\": [\"copy\"]}}",
	 "2:67: 'http_parser' is \"copy\"; accepted: views or owned\n"},
	{HEAD FIXED ", \"factors\": {\"path\": [\"/x\", \"x\"]}}",
	 "2:66: 'path' is \"x\"; accepted: a path, which begins with '/' and has at most 128 "
	 "printable characters, without blanks and '#'\n"},
	{HEAD FIXED ", \"factors\": {\"path\": [\"/a b\"]}}",
	 "2:60: 'path' is \"/a b\"; accepted: a path, which begins with '/' and has at most 128 "
	 "printable characters, without blanks and '#'\n"},
	{HEAD "\"fixed\": {\"stack\": \"epoll@loopback\", \"connections\": 1.0}}",
	 "2:53: 'connections' is 1.0, but a whole number from 1 to 65536 is accepted\n"},
	{HEAD "\"fixed\": {\"stack\": \"epoll@loopback\", \"connections\": -1}}",
	 "2:53: 'connections' is -1, but a whole number from 1 to 65536 is accepted\n"},
	/* Contradictions. */
	{HEAD "\"fixed\": {\"stack\": \"epoll@loopback\", \"depth\": 1},\n\"factors\": {\"depth\": "
	      "[1]}}",
	 "3:13: 'depth' is set here and in \"fixed\" in line 2; it may stand in one\n"},
	{HEAD FIXED ", \"factors\": {\"depth\": [1]}, \"excludes\": [{\"depth\": 2}]}",
	 "2:89: 'depth' never has this level, so this excludes nothing\n"},
	{HEAD FIXED ", \"excludes\": [{\"depth\": 2}]}",
	 "2:53: 'depth' is not varied, so nothing can be excluded by it\n"},
	{HEAD FIXED ", \"excludes\": [{}]}",
	 "2:52: an exclude must be an object with at least one factor, scenario or variant\n"},
	/* Handlers that name what a result could not hold. */
	{HEAD FIXED ", \"factors\": {\"handler\": [\"spin:5\", \"static:/srv\"]}}",
	 "2:73: 'handler' is \"static:/srv\"; accepted: respond, respond:BYTES, echo, spin:US, "
	 "proxy or cache, these two also with options, as in cache:;ttl=60s\n"},
	{HEAD FIXED ", \"factors\": {\"handler\": [\"proxy:127.0.0.1:80\"]}}",
	 "2:63: 'handler' is \"proxy:127.0.0.1:80\"; accepted: respond, respond:BYTES, echo, "
	 "spin:US, proxy or cache, these two also with options, as in cache:;ttl=60s\n"},
	{HEAD FIXED ", \"factors\": {\"handler\": [\"cache:;ttl=60s\", \"cache:;ttl=soon\"]}}",
	 "2:81: 'handler' is \"cache:;ttl=soon\": ttl wants a time, e.g. 60s, not 'soon'; "
	 "accepted: "
	 "respond, respond:BYTES, echo, spin:US, proxy or cache, these two also with options, as "
	 "in "
	 "cache:;ttl=60s\n"},
	/* An upstream. */
	{HEAD FIXED ", \"upstream\": []}",
	 "2:51: 'upstream' is []; accepted: an object, like {\"handler\": \"respond\", "
	 "\"response_bytes\": 1024, \"workers\": 1}\n"},
	{HEAD FIXED ", \"upstream\": {\"worker\": 1}}",
	 "2:52: unknown key 'worker'; did you mean 'workers'?\n"},
	{HEAD FIXED ", \"upstream\": {\"workers\": \"all\"}}",
	 "2:63: 'workers' is \"all\"; accepted: a number\n"},
	{HEAD FIXED ", \"upstream\": {\"response_bytes\": -1}}",
	 "2:70: 'response_bytes' is -1, but a whole number from 0 to 16777196 is accepted, or one "
	 "with its unit, like \"16KiB\"\n"},
	{HEAD FIXED ", \"upstream\": {}, \"hosts\": {\"server\": {\"address\": \"10.0.0.1\"}}}",
	 "2:39: 'upstream' is for servers on this host, and the experiment has 'hosts'; leave out "
	 "one of them\n"},
	/* All at once. */
	{HEAD FIXED ", \"runs\": 0, \"order\": 7,\n \"sed\": 1}",
	 "3:2: unknown key 'sed'; did you mean 'seed'?\n"
	 "2:47: 'runs' is 0; accepted: a whole number from 1 to 1000\n"
	 "2:59: 'order' is 7; accepted: \"rotate\", \"abba\", \"balanced\", \"random\" or "
	 "\"random(SEED)\"\n"},
};

static void names_every_fault(void)
{
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		rig_expect_problems(bad[i].text, NULL, bad[i].expected);
}

static void names_what_cannot_be_read(void)
{
	char here[PATH_MAX], tried[PATH_MAX + 64];
	char path[64] = "/tmp/weir-experiment-fifo-XXXXXX";
	struct experiment *experiment;
	struct problems problems = {0};

	CU_ASSERT_EQUAL(experiment_read("/nonexistent", NULL, &experiment, &problems), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "/nonexistent: No such file or directory;"));
	/* From where a relative path was taken. */
	CU_ASSERT_FATAL(getcwd(here, sizeof(here)) != NULL);
	snprintf(tried, sizeof(tried), "No such file or directory (%s/nonexistent);", here);
	problems = (struct problems){0};
	CU_ASSERT_EQUAL(experiment_read("nonexistent", NULL, &experiment, &problems), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, tried));
	problems = (struct problems){0};
	CU_ASSERT_EQUAL(experiment_read("/tmp", NULL, &experiment, &problems), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "/tmp/experiment.json"));
	/* Nothing may be waited for: a device, or a FIFO that nobody writes to. */
	CU_ASSERT_FATAL(mkdtemp(path) != NULL);
	strcat(path, "/experiment.json");
	CU_ASSERT_FATAL(mkfifo(path, 0600) == 0);
	problems = (struct problems){0};
	CU_ASSERT_EQUAL(experiment_read(path, NULL, &experiment, &problems), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "not a regular file"));
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

static void refuses_a_file_without_bounds(void)
{
	size_t bytes = DOCUMENT_BYTES_MAX + 1;
	char *text = malloc(bytes + 1);
	struct problems problems;

	CU_ASSERT_FATAL(text != NULL);
	memset(text, ' ', bytes);
	text[bytes] = '\0';
	CU_ASSERT_PTR_NULL(rig_read_changed(text, NULL, &problems));
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "larger than 1048576 bytes"));
	/* Nesting deeper than the parser follows is an error like any other. */
	memset(text, '[', bytes - 2);
	text[bytes - 2] = '\0';
	CU_ASSERT_PTR_NULL(rig_read_changed(text, NULL, &problems));
	CU_ASSERT_EQUAL(problems.count, 1);
	free(text);
}

static void reads_what_is_right(void)
{
	static const char text[] =
		HEAD "\"fixed\": {\"stack\": \"epoll@loopback\", \"connections\": 4},\n"
		     "\"factors\": {\"delivery\": [\"immediate\", \"flush-at:512\"], \"depth\": "
		     "[1, 8]},\n"
		     "\"excludes\": [{\"delivery\": \"flush-at:512\", \"depth\": 1}],\n"
		     "\"runs\": 2, \"order\": \"random\", \"seed\": 7, \"warmup\": \"0s\", "
		     "\"duration\": \"1.5s\"}";
	struct experiment *experiment = rig_read(text);

	CU_ASSERT_STRING_EQUAL(experiment->name, "x");
	CU_ASSERT_STRING_EQUAL(experiment->question, "");
	CU_ASSERT_EQUAL(experiment->fixed.of[SETTING_CONNECTIONS].number, 4);
	CU_ASSERT_EQUAL(experiment->fixed.of[SETTING_REQUEST_BYTES].number, 256);
	CU_ASSERT_EQUAL(experiment->axis_count, 2);
	CU_ASSERT_STRING_EQUAL(LEVEL(experiment, 0, 1).word, "flush-at:512");
	CU_ASSERT_EQUAL(experiment->exclude_count, 1);
	CU_ASSERT_EQUAL(experiment->order.kind, ORDER_RANDOM);
	CU_ASSERT_EQUAL(experiment->order.seed, 7);
	CU_ASSERT_EQUAL(experiment->warmup_ns, 0);
	CU_ASSERT_EQUAL(experiment->duration_ns, 1500000000);
	CU_ASSERT_STRING_EQUAL(experiment->text, text);
	experiment_free(experiment);
}

static void overrides_go_where_they_belong(void)
{
	static const char text[] =
		HEAD FIXED ", \"factors\": {\"depth\": [1, 8]}, \"excludes\": [{\"depth\": 8}]}";
	static const struct experiment_changes overrides = {
		.overrides = {"depth=32", "duration=200ms", "connections=2", "runs=5"},
		.override_count = 4};
	static const struct experiment_changes wrong = {.overrides = {"depth=many", "conections=2"},
							.override_count = 2};
	struct problems problems;
	struct experiment *experiment = rig_read_changed(text, &overrides, &problems);

	CU_ASSERT_FATAL(experiment != NULL);
	CU_ASSERT_EQUAL(experiment->axes[0].count, 1);
	CU_ASSERT_EQUAL(LEVEL(experiment, 0, 0).number, 32);
	CU_ASSERT_EQUAL(experiment->duration_ns, 200000000);
	CU_ASSERT_EQUAL(experiment->fixed.of[SETTING_CONNECTIONS].number, 2);
	CU_ASSERT_EQUAL(experiment->runs, 5);
	experiment_free(experiment);
	rig_expect_problems(
		text, &wrong,
		"--set conections=2: unknown key 'conections'; did you mean 'connections'?\n"
		"--set depth=many: 'depth' is \"many\", but a whole number from 1 to 1024 is "
		"accepted\n");
}

static void what_cannot_be_set_is_said(void)
{
	static const char text[] = HEAD FIXED ", \"factors\": {\"depth\": [1, 8]}}";
	static const struct experiment_changes keys = {
		.overrides = {"name=foo", "excludes=[]", "variants={}", "profiles=all", "run=3",
			      "durations=1s", "galaxy=1", "delivery=none"},
		.override_count = 8};
	static const struct experiment_changes lists = {
		.overrides = {"depth=1,8", "delivery=[coalesce, immediate]",
			      "stack=epoll@loopback,uring@loopback"},
		.override_count = 3};
	static const struct experiment_changes words = {
		.overrides = {"stack=epoll@loopback,nodelay=off", "depth=[8]"},
		.override_count = 2};
	struct problems problems;
	struct experiment *experiment = rig_read_changed(text, &words, &problems);

	CU_ASSERT_FATAL(experiment != NULL);
	experiment_free(experiment);
	rig_expect_problems(
		text, &keys,
		"--set name=foo: 'name' cannot be set from here: write it in the file\n"
		"--set excludes=[]: 'excludes' cannot be set from here: write it in the "
		"file\n"
		"--set variants={}: 'variants' cannot be set from here; give --variant "
		"NAME=COMMIT\n"
		"--set profiles=all: 'profiles' cannot be set from here; give --profile "
		"A,B\n"
		"--set run=3: unknown key 'run'; did you mean 'runs'?\n"
		"--set durations=1s: unknown key 'durations'; did you mean 'duration'?\n"
		"--set galaxy=1: unknown key 'galaxy'\n"
		"--set delivery=none: 'delivery' is \"none\"; accepted: immediate, coalesce "
		"or flush-at:N (N from 1 to 32KiB, like 2048 or 2KiB)\n");
	rig_expect_problems(
		text, &lists,
		"--set depth=1,8: a list is JSON, with quotes: 'depth=[1,8]'\n"
		"--set delivery=[coalesce, immediate]: a list is JSON, with quotes: "
		"'delivery=[\"coalesce\",\"immediate\"]'\n"
		"--set stack=epoll@loopback,uring@loopback: a list is JSON, with quotes: "
		"'stack=[\"epoll@loopback\",\"uring@loopback\"]'\n");
}

static void a_device_that_is_left_out_is_written(void)
{
	static const char text[] =
		HEAD "\"fixed\": {\"client_stack\": \"epoll,nodelay=off\"}, \"factors\": "
		     "{\"stack\": [\"epoll\", \"uring@unix\"]}, \"excludes\": [{\"stack\": "
		     "\"epoll\"}]}";
	static const char twice[] =
		HEAD "\"factors\": {\"stack\": [\"epoll\", \"epoll@loopback\"]}}";
	struct experiment *experiment = rig_read(text);
	struct problems problems;

	CU_ASSERT_STRING_EQUAL(LEVEL(experiment, 0, 0).word, "epoll@loopback");
	CU_ASSERT_STRING_EQUAL(LEVEL(experiment, 0, 1).word, "uring@unix");
	CU_ASSERT_STRING_EQUAL(experiment->fixed.of[SETTING_CLIENT_STACK].word,
			       "epoll@loopback,nodelay=off");
	CU_ASSERT_EQUAL(experiment->exclude_count, 1);
	CU_ASSERT_STRING_EQUAL(experiment->text, text);
	experiment_free(experiment);
	CU_ASSERT_PTR_NULL(rig_read_changed(twice, NULL, &problems));
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, "has this level twice"));
}

static void composes_from_text(void)
{
	static const char text[] = HEAD FIXED ", \"order\": \"abba\"}";
	struct problems problems = {0};
	struct experiment *experiment;

	CU_ASSERT_EQUAL_FATAL(experiment_compose("weir x", text, &experiment, &problems), 0);
	CU_ASSERT_EQUAL(experiment->order.kind, ORDER_ABBA);
	CU_ASSERT_STRING_EQUAL(order_name(experiment->order.kind), "abba");
	CU_ASSERT_STRING_EQUAL(experiment->text, text);
	CU_ASSERT_EQUAL(experiment->text_bytes, strlen(text));
	experiment_free(experiment);
	CU_ASSERT_EQUAL(
		experiment_compose("weir x", HEAD FIXED ", \"runs\": 0}", &experiment, &problems),
		-EINVAL);
	CU_ASSERT_STRING_EQUAL(
		problems.text,
		"weir x:2:47: 'runs' is 0; accepted: a whole number from 1 to 1000\n");
}

static const char *fixed_text(const struct experiment *experiment, const char *key)
{
	const json_t *fixed = json_object_get(experiment->json, "fixed");

	return json_string_value(json_object_get(fixed, key));
}

static void a_list_makes_a_factor(void)
{
	static const char text[] =
		HEAD "\"fixed\": {\"stack\": \"epoll@loopback\", \"connections\": 4},\n"
		     "\"factors\": {\"depth\": [1, 8]}}";
	static const struct experiment_changes overrides = {
		.overrides = {"depth=[2, 4, 6]", "stack=[\"epoll@loopback\", \"epoll@unix\"]",
			      "wait=[\"block\",\"spin\"]"},
		.override_count = 3};
	static const struct experiment_changes wrong = {
		.overrides = {"depth=3", "depth=[2, 2]", "runs=[1]"}, .override_count = 3};
	struct problems problems;
	struct experiment *experiment = rig_read_changed(text, &overrides, &problems);

	CU_ASSERT_FATAL(experiment != NULL);
	CU_ASSERT_EQUAL_FATAL(experiment->axis_count, 3);
	CU_ASSERT_EQUAL(experiment->axes[0].count, 3);
	CU_ASSERT_EQUAL(LEVEL(experiment, 0, 2).number, 6);
	CU_ASSERT_EQUAL(experiment->axes[1].setting, SETTING_STACK);
	CU_ASSERT_STRING_EQUAL(LEVEL(experiment, 1, 1).word, "epoll@unix");
	CU_ASSERT_PTR_NULL(fixed_text(experiment, "stack"));
	CU_ASSERT_EQUAL(experiment->axes[2].setting, SETTING_WAIT);
	experiment_free(experiment);
	/* of a key given twice the last counts, and is the one to blame */
	rig_expect_problems(
		text, &wrong,
		"--set depth=[2, 2]: 'depth' has this level twice\n"
		"--set runs=[1]: 'runs' is [1]; accepted: a whole number from 1 to 1000\n");
}

/* Wherever a size stands in words, whoever reads what was in effect finds its number. */
static void sizes_may_have_units(void)
{
	static const char text[] =
		HEAD "\"fixed\": {\"stack\": \"epoll@loopback\", \"response_bytes\": \"1KiB\"},\n"
		     "\"factors\": {\"request_bytes\": [64, \"16KiB\"]}, "
		     "\"excludes\": [{\"request_bytes\": \"16KiB\"}]}";
	struct experiment *experiment = rig_read(text);
	const json_t *levels;

	CU_ASSERT_EQUAL(experiment->fixed.of[SETTING_RESPONSE_BYTES].number, 1024);
	CU_ASSERT_EQUAL(LEVEL(experiment, 0, 1).number, 16384);
	CU_ASSERT_EQUAL(experiment->excludes[0].cell.of[SETTING_REQUEST_BYTES].number, 16384);
	CU_ASSERT_PTR_NULL(fixed_text(experiment, "response_bytes"));
	levels = json_object_get(json_object_get(experiment->json, "factors"), "request_bytes");
	CU_ASSERT_EQUAL(json_integer_value(json_array_get(levels, 1)), 16384);
	CU_ASSERT_STRING_EQUAL(experiment->text, text);
	experiment_free(experiment);
}

static const struct suite_test tests[] = {
	{"every fault is named with its place and what is accepted", names_every_fault},
	{"a file that cannot be read is named, and nothing is waited for",
	 names_what_cannot_be_read},
	{"a file or nesting without bounds is refused", refuses_a_file_without_bounds},
	{"what is right is read, and the rest has its defaults", reads_what_is_right},
	{"the device of a stack that has a default may be left out",
	 a_device_that_is_left_out_is_written},
	{"a description can be composed by a program, and is judged the same", composes_from_text},
	{"an override replaces a factor, a plain key or a fixed value",
	 overrides_go_where_they_belong},
	{"what --set cannot set, and a list that is not JSON, is refused with what to write",
	 what_cannot_be_set_is_said},
	{"an override that is a list makes a factor of these levels", a_list_makes_a_factor},
	{"a size may be written with its unit and is kept as a number", sizes_may_have_units},
};

SUITE_MAIN("run experiment", tests)
