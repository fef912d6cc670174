#include "apps/run/plan/plan.h"
#include "dataplane/core/hugepages.h"
#include "stacks/registry.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct experiment *read_text(const char *text)
{
	char path[] = "/tmp/weir-plan-XXXXXX";
	struct problems problems = {0};
	struct experiment *experiment = NULL;
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	CU_ASSERT_EQUAL_FATAL(experiment_read(path, NULL, &experiment, &problems), 0);
	unlink(path);
	return experiment;
}

/* A host of two cores. */
static struct topology two_cores = {
	.cpus = {.count = 2, .cpu = {0, 1}}, .core = {0, 1}, .cores = 2};
static const struct plan_ground ground = {&two_cores, "/tmp/ground", 20000};

static struct plan *make(const struct experiment *experiment)
{
	struct problems problems = {0};
	struct plan *plan = NULL;

	CU_ASSERT_EQUAL_FATAL(plan_make(experiment, &ground, &plan, &problems), 0);
	return plan;
}

#define HEAD                                                               \
	"{\"schema\": \"weir.experiment/1\", \"name\": \"x\", \"fixed\": " \
	"{\"stack\": \"epoll@loopback\", \"connections\": 4},"

static void spans_the_grid_without_what_is_excluded(void)
{
	struct experiment *experiment = read_text(
		HEAD
		"\"factors\": {\"delivery\": [\"immediate\", \"flush-at:512\"], \"depth\": [1, 8, "
		"32]},"
		"\"excludes\": [{\"delivery\": \"flush-at:512\", \"depth\": 1}, {\"depth\": 32}]}");
	static const char *const variants[] = {"immediate.d1", "immediate.d8", "flush-at-512.d8"};
	struct plan *plan = make(experiment);

	CU_ASSERT_EQUAL_FATAL(plan->cell_count, 3);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_STRING_EQUAL(plan->cells[i].variant, variants[i]);
	CU_ASSERT_EQUAL(plan_variant_width(plan), strlen(variants[2]));
	CU_ASSERT_EQUAL(plan->sample_count, 3);
	plan_free(plan);
	experiment_free(experiment);
}

static void every_cell_once_a_run(void)
{
	struct experiment *experiment =
		read_text(HEAD "\"factors\": {\"depth\": [1, 8, 32]}, \"runs\": 4}");
	struct plan *plan = make(experiment);

	CU_ASSERT_EQUAL_FATAL(plan->sample_count, 12);
	for (unsigned run = 1; run <= 4; run++) {
		unsigned seen = 0;

		for (unsigned i = 0; i < 12; i++)
			if (plan->samples[i].run == run)
				seen |= 1u << (plan->samples[i].cell - plan->cells);
		CU_ASSERT_EQUAL(seen, 7);
	}
	CU_ASSERT_STRING_EQUAL(plan->samples[0].id, "s0001");
	CU_ASSERT_STRING_EQUAL(plan->samples[11].id, "s0012");
	CU_ASSERT_EQUAL(plan->samples[11].order_index, 11);
	CU_ASSERT_STRING_EQUAL(plan->samples[0].folder, "samples/s0001-d1");
	CU_ASSERT_STRING_EQUAL(plan->samples[3].cell->variant, "d8");
	plan_free(plan);
	experiment_free(experiment);
}

/* The arguments joined by blanks. */
static void expect_argv(const json_t *argv, const char *expected)
{
	char text[1024] = "";
	size_t index;
	json_t *argument;

	json_array_foreach((json_t *)argv, index, argument)
	{
		strcat(text, index ? " " : "");
		strcat(text, json_string_value(argument));
	}
	CU_ASSERT_STRING_EQUAL(text, expected);
	if (strcmp(text, expected) != 0)
		printf("# expected: %s\n# got:      %s\n", expected, text);
}

static void says_all_to_both_sides(void)
{
	struct experiment *experiment = read_text(
		HEAD "\"factors\": {\"depth\": [8]}, \"warmup\": \"0.5s\", \"duration\": \"2s\"}");
	struct plan *plan = make(experiment);

	expect_argv(plan->samples[0].server_argv, "weir serve --stack epoll@loopback --workers 1 "
						  "--cpus 0 --wait block --hugepages auto "
						  "--handler respond --response-bytes 64 --listen "
						  "127.0.0.1:20000 --delivery immediate "
						  "--conn-max 1024");
	expect_argv(
		plan->samples[0].client_argv,
		"weir load --stack epoll@loopback --workers 1 --cpus 1 --wait block --hugepages "
		"auto "
		"--handler respond --response-bytes 64 --connect 127.0.0.1:20000 --connections 4 "
		"--depth 8 --request-bytes 256 --refill window --warmup 0.5s --duration 2s "
		"--json samples/s0001-d8/client.json --metrics samples/s0001-d8/metrics.jsonl "
		"--hgrm samples/s0001-d8/latency.hgrm");
	CU_ASSERT_PTR_NOT_NULL(plan->degraded);
	plan_free(plan);
	experiment_free(experiment);
}

static void says_the_environment(void)
{
	struct experiment *experiment = read_text(HEAD "\"factors\": {\"depth\": [8]}}");
	const json_t *env;
	struct plan *plan;
	json_t *json;

	setenv("LC_ALL", "de_DE", 1);
	setenv("MALLOC_ARENA_MAX", "1", 1);
	setenv("SOME_SECRET", "word", 1);
	plan = make(experiment);
	json = plan_to_json(plan);
	env = json_object_get(json_array_get(json_object_get(json, "samples"), 0), "env");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(env, "LC_ALL")), "C");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(env, "MALLOC_ARENA_MAX")), "1");
	CU_ASSERT_PTR_NULL(json_object_get(env, "SOME_SECRET"));
	json_decref(json);
	plan_free(plan);
	experiment_free(experiment);
}

/* Enough for both sides or for neither; a stack without a use for them is not asked. */
static void hugepages_are_shared_or_left(void)
{
	static const char text[] = "{\"schema\": \"weir.experiment/1\", \"name\": \"x\", "
				   "\"fixed\": {\"stack\": \"dpdk@memif\"}}";
	struct plan_ground rich = ground, poor = ground;
	struct problems problems = {0};
	struct experiment *experiment = read_text(text);
	struct stack_choice choice;
	struct tp_error error;
	struct plan *plan;

	if (stack_find("dpdk@memif", &choice, &error) < 0) {
		suite_skip("%s", error.text);
		experiment_free(experiment);
		return;
	}
	rich.hugepages_free_mib = 2 * HUGEPAGES_PROCESS_MIB;
	poor.hugepages_free_mib = 2 * HUGEPAGES_PROCESS_MIB - 1;
	CU_ASSERT_EQUAL_FATAL(plan_make(experiment, &rich, &plan, &problems), 0);
	CU_ASSERT_STRING_EQUAL(plan->cells[0].cell.of[SETTING_HUGEPAGES].word, "yes");
	plan_free(plan);
	CU_ASSERT_EQUAL_FATAL(plan_make(experiment, &poor, &plan, &problems), 0);
	CU_ASSERT_STRING_EQUAL(plan->cells[0].cell.of[SETTING_HUGEPAGES].word, "no");
	CU_ASSERT_STRING_EQUAL(plan->cells[0].variant, "dpdk@memif");
	plan_free(plan);
	experiment_free(experiment);
}

static void an_echo_answers_with_the_request(void)
{
	struct experiment *experiment =
		read_text(HEAD "\"factors\": {\"request_bytes\": [100], \"handler\": [\"echo\"]}}");
	struct plan *plan = make(experiment);

	CU_ASSERT_EQUAL(plan->cells[0].cell.of[SETTING_RESPONSE_BYTES].number, 100);
	CU_ASSERT_STRING_EQUAL(plan->cells[0].variant, "q100.echo");
	plan_free(plan);
	experiment_free(experiment);
}

static void expect_refusal_on(const struct plan_ground *on, const char *text, const char *expected)
{
	struct experiment *experiment = read_text(text);
	struct problems problems = {0};
	struct plan *plan = NULL;

	CU_ASSERT(plan_make(experiment, on, &plan, &problems) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, expected));
	CU_ASSERT_EQUAL(problems.count, 1);
	experiment_free(experiment);
}

static void expect_refusal(const char *text, const char *expected)
{
	expect_refusal_on(&ground, text, expected);
}

#define DPDK(setting)                                           \
	"{\"schema\": \"weir.experiment/1\", \"name\": \"x\", " \
	"\"fixed\": {\"stack\": \"dpdk@memif\", \"connections\": 4, " setting "}}"

static void refuses_what_the_stack_cannot(void)
{
	static struct topology four_cores = {
		.cpus = {.count = 4, .cpu = {0, 1, 2, 3}}, .core = {0, 1, 2, 3}, .cores = 4};
	struct plan_ground rich = {.topology = &four_cores,
				   .socket_folder = "/tmp/ground",
				   .port = 20000,
				   .hugepages_free_mib = 2 * HUGEPAGES_PROCESS_MIB};
	struct plan_ground poor = rich;
	struct experiment *experiment;
	struct problems problems = {0};
	struct stack_choice choice;
	struct tp_error error;
	struct plan *plan;

	if (stack_find("dpdk@memif", &choice, &error) < 0) {
		suite_skip("%s", error.text);
		return;
	}
	poor.hugepages_free_mib--;
	expect_refusal_on(&rich, DPDK("\"workers\": 2"), "at most 1 worker in a process, not 2");
	expect_refusal_on(&poor, DPDK("\"hugepages\": \"yes\""), "but 127 MiB of the 128 MiB");
	experiment = read_text(DPDK("\"hugepages\": \"yes\", \"wait\": \"block\""));
	CU_ASSERT_EQUAL_FATAL(plan_make(experiment, &rich, &plan, &problems), 0);
	plan_free(plan);
	experiment_free(experiment);
}

/* 1,200 cells in the grid and 9 runs; only what is left of them counts. */
#define MANY(excludes)                                                                         \
	HEAD "\"runs\": 9, \"factors\": {\"depth\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "         \
	     "\"request_bytes\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], \"response_bytes\": [1, 2, " \
	     "3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}, \"excludes\": [" excludes "]}"

static void what_is_excluded_does_not_count(void)
{
	struct experiment *experiment = read_text(MANY("{\"depth\": 1}"));
	struct plan *plan = make(experiment);

	CU_ASSERT_EQUAL(plan->sample_count, 1080 * 9);
	plan_free(plan);
	experiment_free(experiment);
	expect_refusal(MANY(""), "1200 cells in 9 runs are more than 9999 samples");
}

static const struct plan_ground on_veth = {.topology = &two_cores,
					   .socket_folder = "/tmp/ground",
					   .port = 20000,
					   .run_id = "77",
					   .elsewhere = true};

/* Expects that the sample's argument lists hold these words in a row. */
static void expect_words(const json_t *argv, const char *words)
{
	char text[1024] = "";
	size_t index;
	json_t *argument;

	json_array_foreach((json_t *)argv, index, argument)
	{
		strcat(text, json_string_value(argument));
		strcat(text, " ");
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(text, words));
	if (!strstr(text, words))
		printf("# expected: ... %s ...\n# got:      %s\n", words, text);
}

#define ON(stack, rest)                                         \
	"{\"schema\": \"weir.experiment/1\", \"name\": \"x\", " \
	"\"fixed\": {\"stack\": \"" stack "\"}" rest "}"

static void each_link_has_its_device_and_place(void)
{
	static const struct {
		const char *text;
		const char *stack;
		const char *listen;
	} links[] = {
		{ON("epoll@loopback", ""), "--stack epoll@loopback --", "127.0.0.1:20000 "},
		{ON("epoll@unix", ""), "--stack epoll --", "unix:/tmp/ground/s0001.sock "},
		{ON("epoll@veth", ""), "--stack epoll@veth:77-s0001 --", "10.78.0.1:20000 "},
	};
	struct problems problems = {0};
	struct plan *plan;

	for (unsigned i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		struct experiment *experiment = read_text(links[i].text);
		char listen[64], connect[64];

		snprintf(listen, sizeof(listen), "--listen %s", links[i].listen);
		snprintf(connect, sizeof(connect), "--connect %s", links[i].listen);
		CU_ASSERT_EQUAL_FATAL(plan_make(experiment, &on_veth, &plan, &problems), 0);
		expect_words(plan->samples[0].server_argv, links[i].stack);
		expect_words(plan->samples[0].client_argv, links[i].stack);
		expect_words(plan->samples[0].server_argv, listen);
		expect_words(plan->samples[0].client_argv, connect);
		plan_free(plan);
		experiment_free(experiment);
	}
}

/* Options stand behind the sample's own suffix. */
static void options_stay_behind_the_device(void)
{
	static const struct link_place place = {"/tmp/ground", "77", "s0002", 1};
	char text[LINK_SPEC_BYTES];

	CU_ASSERT_STRING_EQUAL(link_print_spec("uring@veth,sqpoll=on", &place, text),
			       "uring@veth:77-s0002,sqpoll=on");
	CU_ASSERT_STRING_EQUAL(link_print_spec("dpdk@memif,a=b", &place, text),
			       "dpdk@memif:/tmp/ground/s0002.sock,a=b");
	CU_ASSERT_STRING_EQUAL(link_print_spec("uring@unix,a=b", &place, text), "uring,a=b");
	CU_ASSERT_PTR_NULL(link_find("uring@unixx"));
	CU_ASSERT_PTR_NULL(link_find("dpdk"));
	CU_ASSERT_PTR_EQUAL(link_find("uring"), link_find("uring@loopback"));
	CU_ASSERT_STRING_EQUAL(link_print_spec("uring,sqpoll=on", &place, text),
			       "uring@loopback,sqpoll=on");
	CU_ASSERT_FALSE(link_complete("uring@loopback", text));
	CU_ASSERT_FALSE(link_complete("dpdk", text));
}

static void an_option_that_a_stack_has_not_is_refused(void)
{
	expect_refusal(ON("epoll@loopback,no-such-option=1", ""), "no-such-option");
}

static void a_client_may_differ_from_its_server(void)
{
	struct experiment *experiment =
		read_text(ON("epoll@loopback", ", \"factors\": {\"wait\": [\"block\", \"spin\"], "
					       "\"client_wait\": [\"spin\", \"same\"]}, "
					       "\"excludes\": [{\"wait\": \"spin\", "
					       "\"client_wait\": \"same\"}]"));
	struct plan *plan = make(experiment);

	CU_ASSERT_EQUAL_FATAL(plan->sample_count, 3);
	CU_ASSERT_STRING_EQUAL(plan->cells[0].variant, "block.client-spin");
	expect_words(plan->samples[0].server_argv, "--wait block");
	expect_words(plan->samples[0].client_argv, "--wait spin");
	expect_words(plan->samples[1].client_argv, "--wait block");
	expect_words(plan->samples[2].client_argv, "--wait spin");
	CU_ASSERT_STRING_EQUAL(plan->cells[1].cell.of[SETTING_CLIENT_WAIT].word, "block");
	CU_ASSERT_STRING_EQUAL(plan->cells[1].cell.of[SETTING_CLIENT_STACK].word, "epoll@loopback");
	plan_free(plan);
	experiment_free(experiment);
	expect_refusal(ON("epoll@loopback", ", \"factors\": {\"client_stack\": [\"epoll@unix\"]}"),
		       "a client of epoll@unix connects over unix and cannot reach a server of "
		       "epoll@loopback, which is on loopback");
}

static void waits_are_written_in_one_way(void)
{
	struct experiment *experiment =
		read_text(ON("epoll@loopback", ", \"factors\": {\"wait\": [\"adaptive\"], "
					       "\"client_wait\": [\"adaptive:1500ns\", \"same\", "
					       "\"adaptive:0.02ms\"]}"));
	struct plan *plan = make(experiment);

	CU_ASSERT_STRING_EQUAL(plan->cells[0].variant, "adaptive-50us.client-adaptive-1500ns");
	CU_ASSERT_STRING_EQUAL(plan->cells[0].cell.of[SETTING_WAIT].word, "adaptive:50us");
	CU_ASSERT_STRING_EQUAL(plan->cells[1].cell.of[SETTING_CLIENT_WAIT].word, "adaptive:50us");
	expect_words(plan->samples[1].server_argv, "--wait adaptive:50us");
	expect_words(plan->samples[1].client_argv, "--wait adaptive:50us");
	expect_words(plan->samples[2].client_argv, "--wait adaptive:20us");
	plan_free(plan);
	experiment_free(experiment);
	expect_refusal(ON("epoll@loopback",
			  ", \"factors\": {\"wait\": [\"adaptive\", \"adaptive:50us\"]}"),
		       "adaptive-50us: two cells would have this name");
}

/* On two cores the server's worker is on CPU 0 and the client's on CPU 1. */
static void a_polling_thread_keeps_off_the_other_side(void)
{
	static const char apart[] = ON("uring@loopback,sqpoll=on,sqpoll-cpu=2",
				       ", \"factors\": {\"client_stack\": [\"epoll@loopback\", "
				       "\"uring@loopback,sqpoll=on,sqpoll-cpu=3\"]}");
	static const char *const shared[] = {
		ON("uring@loopback,sqpoll=on,sqpoll-cpu=1",
		   ", \"factors\": {\"client_stack\": [\"epoll@loopback\"]}"),
		ON("epoll@loopback", ", \"factors\": {\"client_stack\": "
				     "[\"uring@loopback,sqpoll=on,sqpoll-cpu=0\"]}"),
		ON("uring@loopback,sqpoll=on,sqpoll-cpu=0", ""),
		ON("uring@loopback,sqpoll=on,sqpoll-cpu=2", ""),
	};
	static const char *const said[] = {"would share CPU 1", "would share CPU 0",
					   "would share CPU 0", "would share CPU 2"};
	struct experiment *experiment;
	struct stack_choice choice;
	struct tp_error error;

	if (stack_find("uring@loopback", &choice, &error) < 0) {
		suite_skip("%s", error.text);
		return;
	}
	for (unsigned i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		expect_refusal(shared[i], said[i]);
	experiment = read_text(apart);
	plan_free(make(experiment));
	experiment_free(experiment);
	experiment = read_text(ON("uring@loopback,sqpoll-cpu=1", "")); /* nobody polls */
	plan_free(make(experiment));
	experiment_free(experiment);
}

static void a_bare_server_has_neither_handler_nor_delivery(void)
{
	struct stack_choice choice;
	struct experiment *experiment;
	struct tp_error error;
	struct plan *plan;
	json_t *cell;

	CU_ASSERT_EQUAL_FATAL(stack_find("epoll@loopback", &choice, &error), 0);
	expect_refusal(ON("epoll@loopback", ", \"factors\": {\"bare\": [true], "
					    "\"handler\": [\"echo\"]}"),
		       "bare-on.echo: a bare server answers with a fixed size");
	if (!choice.stack->bare) {
		expect_refusal(ON("epoll@loopback", ", \"factors\": {\"bare\": [true]}"),
			       "the stack 'epoll' has no bare echo");
		return;
	}
	experiment = read_text(ON("epoll@loopback", ", \"factors\": {\"bare\": [true]}"));
	plan = make(experiment);
	expect_words(plan->samples[0].server_argv, "--bare --request-bytes 256 --conn-max");
	cell = cell_to_json(&plan->cells[0].cell);
	CU_ASSERT(json_is_null(json_object_get(cell, "delivery")));
	CU_ASSERT(json_is_string(json_object_get(cell, "delivery_reason")));
	json_decref(cell);
	plan_free(plan);
	experiment_free(experiment);
}

static void a_bare_server_has_no_longer_bodies_than_a_chunk(void)
{
	struct stack_choice choice;
	struct experiment *experiment;
	struct tp_error error;

	CU_ASSERT_EQUAL_FATAL(stack_find("epoll@loopback", &choice, &error), 0);
	if (!choice.stack->bare) {
		suite_skip("the stack 'epoll' has no bare echo");
		return;
	}
	expect_refusal(
		ON("epoll@loopback", ", \"factors\": {\"bare\": [true], "
				     "\"response_bytes\": [16361]}"),
		"\"response_bytes\" is 16361, but a bare server takes and gives bodies of at "
		"most 16360 bytes");
	expect_refusal(ON("epoll@loopback", ", \"factors\": {\"bare\": [true], "
					    "\"request_bytes\": [\"32KiB\"]}"),
		       "\"request_bytes\" is 32768, but a bare server");
	experiment = read_text(ON("epoll@loopback", ", \"factors\": {\"bare\": [true, false], "
						    "\"request_bytes\": [16360], "
						    "\"response_bytes\": [16360]}"));
	plan_free(make(experiment));
	experiment_free(experiment);
}

/* What differs in signs only would be two cells in one folder. */
static void names_are_short_and_their_own(void)
{
	struct plan_cell cells[3] = {{.variant = "a-b-c"}, {.variant = "b"}, {.variant = "c"}};
	struct plan plan = {.cells = cells, .cell_count = 3};
	char text[SETTING_TEXT_BYTES], longest[SETTING_TEXT_BYTES];
	struct setting_value value = {.word = longest};

	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	CU_ASSERT(setting_label(SETTING_STACK, value, text));
	CU_ASSERT_FALSE(setting_label(SETTING_CLIENT_STACK, value, text));
	CU_ASSERT_PTR_NULL(plan_find_twin(&plan));
	strcpy(cells[2].variant, "a-b-c");
	CU_ASSERT_STRING_EQUAL(plan_find_twin(&plan), "a-b-c");
}

static void refuses_what_cannot_be_measured(void)
{
	expect_refusal(
		HEAD "\"factors\": {\"depth\": [1], \"workers\": [2]}}",
		"d1.w2: 2 server and 2 client workers need 4 CPUs, but this process may use 2");
	expect_refusal(HEAD "\"factors\": {\"depth\": [1]}, \"excludes\": [{\"depth\": 1}]}",
		       "every cell is excluded");
	expect_refusal(
		HEAD "\"factors\": {\"depth\": [1024], \"request_bytes\": [16777196]}}",
		"d1024.q16777196: a window of depth 1024 of 16777196-byte requests is larger");
}

static void cells_that_come_to_the_same_are_refused(void)
{
	expect_refusal(HEAD "\"factors\": {\"client_stack\": [\"same\", \"epoll@loopback\"]}}",
		       "client-same and client-epoll@loopback are one cell");
	expect_refusal(HEAD "\"factors\": {\"delivery\": [\"immediate\", \"coalesce\"], "
			    "\"bare\": [false, true]}}",
		       "immediate.bare-on and coalesce.bare-on are one cell");
	expect_refusal(HEAD "\"factors\": {\"hugepages\": [\"yes\", \"no\"]}}",
		       "huge-yes and huge-no are one cell");
}

static const struct suite_test tests[] = {
	{"two cells that come to the same are refused by name",
	 cells_that_come_to_the_same_are_refused},
	{"factors span a grid without what is excluded", spans_the_grid_without_what_is_excluded},
	{"every cell is measured once a run", every_cell_once_a_run},
	{"both sides are told everything", says_all_to_both_sides},
	{"a sample's environment is chosen and said, the runner's secrets are not",
	 says_the_environment},
	{"hugepages are for both sides or for neither", hugepages_are_shared_or_left},
	{"an echo's response is as long as its request", an_echo_answers_with_the_request},
	{"what cannot be measured here is refused before anything runs",
	 refuses_what_cannot_be_measured},
	{"what the stack cannot do on this host is refused before anything runs",
	 refuses_what_the_stack_cannot},
	{"each link has its device, suffix and place", each_link_has_its_device_and_place},
	{"a stack's options stand behind device and suffix", options_stay_behind_the_device},
	{"an option that a stack has not is refused", an_option_that_a_stack_has_not_is_refused},
	{"a client may wait otherwise than its server, and use another stack on the same kind of "
	 "link",
	 a_client_may_differ_from_its_server},
	{"a wait is written in one way, and two ways are no two cells",
	 waits_are_written_in_one_way},
	{"a kernel's thread that polls for one side keeps off the other's CPUs",
	 a_polling_thread_keeps_off_the_other_side},
	{"a bare server has no handler and no delivery policy",
	 a_bare_server_has_neither_handler_nor_delivery},
	{"a bare server has no longer bodies than a chunk holds",
	 a_bare_server_has_no_longer_bodies_than_a_chunk},
	{"a cell's name is not cut and no other's", names_are_short_and_their_own},
	{"excluded cells do not count against the limit", what_is_excluded_does_not_count},
};

SUITE_MAIN("run plan", tests)
