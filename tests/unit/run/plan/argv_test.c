#include "apps/run/plan/plan.h"
#include "dataplane/core/limits.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct topology two_cores = {
	.cpus = {.count = 2, .cpu = {0, 1}}, .core = {0, 1}, .cores = 2};
static const struct plan_ground ground = {.elsewhere = true,
					  .topology = &two_cores,
					  .socket_folder = "/tmp/ground",
					  .port = 20000,
					  .upstream_port = 20001};

static struct experiment *compose(const char *text)
{
	struct problems problems = {0};
	struct experiment *experiment = NULL;

	if (experiment_compose("x", text, &experiment, &problems) < 0)
		printf("# %s", problems.text);
	CU_ASSERT_FATAL(experiment != NULL);
	return experiment;
}

static struct plan *make(const struct experiment *experiment)
{
	struct problems problems = {0};
	struct plan *plan = NULL;

	if (plan_make(experiment, &ground, &plan, &problems) < 0)
		printf("# %s", problems.text);
	CU_ASSERT_FATAL(plan != NULL);
	return plan;
}

/* The arguments with a blank behind each; owned by the caller. */
static char *join(const json_t *argv)
{
	char *text = calloc(1, 4096);
	size_t index;
	json_t *argument;

	CU_ASSERT_FATAL(text != NULL);
	json_array_foreach((json_t *)argv, index, argument)
	{
		strcat(text, json_string_value(argument));
		strcat(text, " ");
	}
	return text;
}

/* Expects words in a row among the arguments, or with `there` false nowhere. */
static void expect(const json_t *argv, const char *words, bool there)
{
	char *text = join(argv);

	CU_ASSERT_EQUAL(strstr(text, words) != NULL, there);
	if ((strstr(text, words) != NULL) != there)
		printf("# %s: ... %s ...\n# got: %s\n", there ? "expected" : "unexpected", words,
		       text);
	free(text);
}

#define EXPERIMENT(fixed, rest)                                 \
	"{\"schema\": \"weir.experiment/1\", \"name\": \"x\", " \
	"\"fixed\": {\"stack\": \"epoll@loopback\"" fixed "}" rest "}"

static void http_is_said_to_both_sides_and_its_path_to_the_client(void)
{
	struct experiment *experiment =
		compose(EXPERIMENT(", \"protocol\": \"http1\", \"path\": \"/a/b.txt\"",
				   ", \"factors\": {\"http_parser\": [\"views\", \"owned\"]}"));
	struct plan *plan = make(experiment);

	expect(plan->samples[0].server_argv, "--protocol http1 ", true);
	expect(plan->samples[0].server_argv, "--http-parser", false);
	expect(plan->samples[0].server_argv, "--path", false);
	expect(plan->samples[0].client_argv, "--protocol http1 --path /a/b.txt ", true);
	expect(plan->samples[1].server_argv, "--protocol http1 --http-parser owned ", true);
	expect(plan->samples[1].client_argv, "--http-parser", false);
	plan_free(plan);
	experiment_free(experiment);
}

static void tls_is_said_to_both_sides_and_its_certificate_trusted(void)
{
	struct experiment *experiment =
		compose(EXPERIMENT("", ", \"factors\": {\"tls\": [false, true]}"));
	struct plan *plan = make(experiment);

	expect(plan->samples[0].server_argv, "--tls", false);
	expect(plan->samples[0].client_argv, "--tls", false);
	expect(plan->samples[1].server_argv, "--tls ", true);
	expect(plan->samples[1].server_argv, "--tls-insecure", false);
	expect(plan->samples[1].client_argv, "--tls --tls-insecure ", true);
	CU_ASSERT_STRING_EQUAL(plan->cells[1].variant, "tls-on");
	plan_free(plan);
	experiment_free(experiment);
}

/* What was written before there was another protocol is repeated word for word. */
static void framed_without_tls_is_not_spoken_of(void)
{
	struct experiment *experiment = compose(EXPERIMENT("", ""));
	struct plan *plan = make(experiment);
	json_t *cell = plan_cell_to_json(&plan->cells[0]);

	expect(plan->samples[0].server_argv, "--protocol", false);
	expect(plan->samples[0].client_argv, "--protocol", false);
	expect(plan->samples[0].client_argv, "--path", false);
	CU_ASSERT_PTR_NULL(json_object_get(cell, "path"));
	CU_ASSERT_PTR_NULL(json_object_get(cell, "http_parser"));
	json_decref(cell);
	plan_free(plan);
	experiment_free(experiment);
}

static void settings_of_http_are_in_the_cell_where_it_is_spoken(void)
{
	struct experiment *experiment = compose(EXPERIMENT(
		", \"protocol\": \"http1\"", ", \"factors\": {\"path\": [\"/\", \"/a/b\"]}"));
	struct plan *plan = make(experiment);
	json_t *cell = plan_cell_to_json(&plan->cells[1]);

	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(cell, "path")), "/a/b");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(cell, "http_parser")), "views");
	CU_ASSERT_STRING_EQUAL(plan->cells[0].variant, "at-");
	CU_ASSERT_STRING_EQUAL(plan->cells[1].variant, "at-a-b");
	json_decref(cell);
	plan_free(plan);
	experiment_free(experiment);
}

static void an_upstream_is_said_to_the_server_and_declared(void)
{
	struct experiment *experiment =
		compose(EXPERIMENT(", \"protocol\": \"http1\", \"handler\": \"proxy\"",
				   ", \"upstream\": {\"response_bytes\": \"1KiB\"}"));
	struct plan *plan = make(experiment);
	json_t *json = plan_to_json(plan);
	const json_t *sample = json_array_get(json_object_get(json, "samples"), 0);

	expect(plan->samples[0].server_argv, "--upstream 127.0.0.1:20001 ", true);
	expect(plan->samples[0].client_argv, "--upstream", false);
	expect(json_object_get(sample, "upstream_argv"),
	       "weir serve --stack epoll@loopback --workers 1 --cpus 1 --wait block --handler "
	       "respond --response-bytes 1024 --listen 127.0.0.1:20001 --protocol http1 --delivery "
	       "immediate ",
	       true);
	CU_ASSERT_EQUAL(
		json_integer_value(json_array_get(json_object_get(sample, "upstream_cpus"), 0)), 1);
	CU_ASSERT_STRING_EQUAL(plan->degraded,
			       "no core is left for the operating system; the upstream shares the "
			       "client's CPUs, for there is none to spare");
	json_decref(json);
	plan_free(plan);
	experiment_free(experiment);
}

static void what_is_answered_is_said_to_the_server_and_expected_of_it(void)
{
	struct experiment *experiment = compose(
		EXPERIMENT(", \"protocol\": \"http1\", \"request_bytes\": 10",
			   ", \"factors\": {\"handler\": [\"respond:1KiB\", \"echo\", \"proxy\"]}, "
			   "\"upstream\": {}"));
	struct plan *plan = make(experiment);

	expect(plan->samples[0].server_argv, "--handler respond:1KiB --response-bytes 1024 ", true);
	expect(plan->samples[0].client_argv, "--handler respond --response-bytes 1024 ", true);
	expect(plan->samples[1].client_argv, "--handler echo --response-bytes 10 ", true);
	expect(plan->samples[2].server_argv, "--handler proxy --response-bytes 64 ", true);
	expect(plan->samples[2].client_argv, "--handler respond --response-bytes 64 ", true);
	CU_ASSERT_STRING_EQUAL(plan->cells[0].variant, "respond-1KiB");
	plan_free(plan);
	experiment_free(experiment);
}

static void options_of_a_handler_are_said_to_the_server_alone(void)
{
	struct experiment *experiment =
		compose(EXPERIMENT(", \"protocol\": \"http1\"",
				   ", \"factors\": {\"handler\": [\"cache\", \"cache:;ttl=60s\", "
				   "\"proxy:;connections=4\"]}, \"upstream\": {}"));
	struct plan *plan = make(experiment);

	expect(plan->samples[0].server_argv, "--handler cache --response-bytes 64 ", true);
	expect(plan->samples[1].server_argv, "--handler cache:;ttl=60s --response-bytes 64 ", true);
	expect(plan->samples[1].client_argv, "--handler respond --response-bytes 64 ", true);
	expect(plan->samples[2].server_argv, "--handler proxy:;connections=4 ", true);
	CU_ASSERT_STRING_EQUAL(plan->cells[1].variant, "cache--ttl-60s");
	plan_free(plan);
	experiment_free(experiment);
}

/* A worker has room for all clients beside what its handler keeps. */
static void what_handlers_keep_is_room_beside_the_clients(void)
{
	struct experiment *experiment = compose(EXPERIMENT(
		", \"protocol\": \"http1\"",
		", \"factors\": {\"connections\": [4, 1000, 2000], \"handler\": [\"respond\", "
		"\"proxy\", \"cache\"]}, \"upstream\": {}"));
	struct plan *plan = make(experiment);
	unsigned seen = 0;

	for (unsigned i = 0; i < plan->sample_count; i++) {
		const struct plan_cell *cell = plan->samples[i].cell;
		unsigned connections = cell->cell.of[SETTING_CONNECTIONS].number;
		const char *handler = cell->cell.of[SETTING_HANDLER].word;
		unsigned kept = strcmp(handler, "respond") == 0 ? 0 : LIMIT_UPSTREAM_CONNS;
		char words[64];

		snprintf(words, sizeof(words), "--conn-max %u ",
			 (connections > 1024 ? connections : 1024) + kept);
		expect(plan->samples[i].server_argv, words, true);
		/* and only who passes requests on is told where to */
		expect(plan->samples[i].server_argv, "--upstream", kept > 0);
		seen++;
	}
	CU_ASSERT_EQUAL(seen, 9);
	plan_free(plan);
	experiment_free(experiment);
}

static const struct {
	const char *text;
	const char *expected;
} refused[] = {
	{EXPERIMENT(", \"path\": \"/x\"", ""),
	 "\"path\" is `/x`, which means something with HTTP alone; set \"protocol\" to \"http1\", "
	 "or exclude it"},
	{EXPERIMENT("", ", \"factors\": {\"http_parser\": [\"owned\"]}"),
	 "\"http_parser\" is `owned`, which means something with HTTP alone"},
	{EXPERIMENT(", \"bare\": true, \"protocol\": \"http1\"", ""),
	 "an experiment's bare server speaks framed without TLS alone; set \"bare\" to false, or "
	 "exclude it"},
	{EXPERIMENT(", \"bare\": true, \"tls\": true", ""),
	 "an experiment's bare server speaks framed without TLS alone"},
	{EXPERIMENT(", \"handler\": \"proxy\"", ", \"upstream\": {}"),
	 "the handler `proxy` is for HTTP alone; set \"protocol\" to \"http1\", or exclude it"},
	{EXPERIMENT(", \"handler\": \"cache\", \"protocol\": \"http1\"", ""),
	 "the handler `cache` passes requests on, and the experiment has no \"upstream\"; give "
	 "one, or exclude it"},
	{"{\"schema\": \"weir.experiment/1\", \"name\": \"x\", \"fixed\": {\"stack\": "
	 "\"epoll@veth\"}, \"upstream\": {}}",
	 "an upstream is on the loopback, which a server of epoll@veth does not reach; set "
	 "\"stack\" to one on loopback or unix, or exclude it"},
};

static void what_a_protocol_has_not_is_refused_with_what_to_do(void)
{
	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct experiment *experiment = compose(refused[i].text);
		struct problems problems = {0};
		struct plan *plan = NULL;

		CU_ASSERT(plan_make(experiment, &ground, &plan, &problems) < 0);
		CU_ASSERT_EQUAL(problems.count, 1);
		if (problems.count != 1)
			printf("# %s\n", problems.text);
		CU_ASSERT_PTR_NOT_NULL(strstr(problems.text, refused[i].expected));
		if (!strstr(problems.text, refused[i].expected))
			printf("# %s", problems.text);
		experiment_free(experiment);
	}
}

/* What this host lacks for so many is said as well. */
static void more_clients_than_handlers_leave_room_for_are_refused(void)
{
	struct experiment *experiment = compose(EXPERIMENT(
		", \"protocol\": \"http1\", \"connections\": 65500, \"handler\": \"cache\"",
		", \"upstream\": {}"));
	struct problems problems = {0};
	struct plan *plan = NULL;

	CU_ASSERT(plan_make(experiment, &ground, &plan, &problems) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems.text,
				      "of the 65536 connections that a worker can have its "
				      "handlers keep 64 for their upstreams, and 65500 clients are "
				      "more than are left; lower \"connections\", or exclude it"));
	experiment_free(experiment);
}

static const struct suite_test tests[] = {
	{"HTTP is said to both sides, its path to the client, its parser to the server",
	 http_is_said_to_both_sides_and_its_path_to_the_client},
	{"TLS is said to both sides, and the client trusts the certificate made at start",
	 tls_is_said_to_both_sides_and_its_certificate_trusted},
	{"framed without TLS needs no words and has no settings of HTTP",
	 framed_without_tls_is_not_spoken_of},
	{"settings of HTTP are in the cell where it is spoken",
	 settings_of_http_are_in_the_cell_where_it_is_spoken},
	{"what is answered is said to the server, and its bytes are expected of it",
	 what_is_answered_is_said_to_the_server_and_expected_of_it},
	{"options of a handler are said to the server alone",
	 options_of_a_handler_are_said_to_the_server_alone},
	{"an upstream is said to the server, and declared with its arguments and CPUs",
	 an_upstream_is_said_to_the_server_and_declared},
	{"what handlers keep for upstreams is room beside that of the clients",
	 what_handlers_keep_is_room_beside_the_clients},
	{"more clients than handlers leave room for are refused",
	 more_clients_than_handlers_leave_room_for_are_refused},
	{"what a protocol has not is refused with what to do",
	 what_a_protocol_has_not_is_refused_with_what_to_do},
};

SUITE_MAIN("run argv", tests)
