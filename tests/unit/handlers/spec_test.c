#include "dataplane/handlers/spec.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

static struct tp_error error;

static void specs_are_judged(void)
{
	static const char *const good[] = {
		"respond", "respond:0", "respond:16KiB", "echo",
		"spin:1",  "proxy",	"cache",	 "proxy:127.0.0.1:80"};
	static const char *const wrong[] = {"respond:", "respond:x", "respond:99999999999",
					    "echo:1",	"spin",	     "spin:0",
					    "spin:-1",	"spin:1us"};
	static const char *const unknown[] = {"", ":", "Respond", "respondx", "ech"};

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CU_ASSERT_EQUAL(spec_judge(good[i], &error), 0);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(spec_judge(wrong[i], &error), -EINVAL);
	for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		CU_ASSERT_EQUAL(spec_judge(unknown[i], &error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, spec_usage));
}

/* A folder's text is judged alone, and with the folder. */
static void text_is_judged_by_itself(void)
{
	CU_ASSERT_EQUAL(spec_judge_text("static:/nonexistent", &error), 0);
	CU_ASSERT_EQUAL(spec_judge("static:/nonexistent", &error), -EINVAL);
	CU_ASSERT_EQUAL(spec_judge_text("static", &error), -EINVAL);
	CU_ASSERT_EQUAL(spec_judge_text("respond:x", &error), -EINVAL);
	CU_ASSERT_EQUAL(spec_judge_text("respondx", &error), -ENOENT);
}

static void ops_are_found_by_the_whole_name(void)
{
	const char *argument = "";

	CU_ASSERT_PTR_NULL(spec_find("respondx:5", &argument));
	CU_ASSERT_PTR_NULL(spec_find("respon", &argument));
	CU_ASSERT_EQUAL(spec_find("echo", &argument)->answers, HANDLER_ANSWERS_ECHO);
	CU_ASSERT_PTR_NULL(argument);
	CU_ASSERT_EQUAL(spec_find("proxy:a:b", &argument)->answers, HANDLER_ANSWERS_ANY);
	CU_ASSERT_STRING_EQUAL(argument, "a:b");
	CU_ASSERT_EQUAL(spec_fill_bytes("respond", 64), 64);
	CU_ASSERT_EQUAL(spec_fill_bytes("respond:1KiB", 64), 1024);
	CU_ASSERT_EQUAL(spec_fill_bytes("spin:7", 64), 64);
}

static void options_may_stand_without_an_upstream(void)
{
	CU_ASSERT_EQUAL(spec_judge("cache:;ttl=1s;bytes=1MiB", &error), 0);
	CU_ASSERT_EQUAL(spec_judge("proxy:;connect=1s", &error), 0);
	CU_ASSERT_EQUAL(spec_judge("proxy:;ttl=1s", &error), -EINVAL);
	CU_ASSERT_EQUAL(spec_judge("proxy:;", &error), -EINVAL);
	CU_ASSERT_EQUAL(spec_judge("echo:;ttl=1s", &error), -EINVAL);
	CU_ASSERT_TRUE(spec_wants_upstream("proxy"));
	CU_ASSERT_TRUE(spec_wants_upstream("cache:;ttl=1s"));
	CU_ASSERT_FALSE(spec_wants_upstream("cache:127.0.0.1:80;ttl=1s"));
	CU_ASSERT_FALSE(spec_wants_upstream("echo"));
	CU_ASSERT_FALSE(spec_wants_upstream("nothing"));
}

static void conns_that_are_kept_are_counted_once_a_handler(void)
{
	static const struct route routes[] = {
		{.path = "/a", .handler = "proxy"},
		{.path = "/b", .handler = "respond"},
		{.path = "/c", .handler = "proxy"},
		{.path = "/d", .handler = "cache:127.0.0.1:1,127.0.0.1:2;connections=5"},
		{.path = "/e", .handler = "proxy:;connections=7"}};

	CU_ASSERT_EQUAL(spec_count_conns(routes, 1, "127.0.0.1:1"), 64);
	CU_ASSERT_EQUAL(spec_count_conns(routes, 5, "127.0.0.1:1"), 64 + 2 * 5 + 7);
	CU_ASSERT_EQUAL(spec_count_conns(routes, 5, NULL), 2 * 5);
	CU_ASSERT_EQUAL(spec_count_conns(routes + 1, 1, "127.0.0.1:1"), 0);
}

/* With so many more than they need, all clients find room. */
static void clients_have_half_in_any_case(void)
{
	CU_ASSERT_EQUAL(handler_clients(1024, 0), 1024);
	CU_ASSERT_EQUAL(handler_clients(1024, 64), 960);
	CU_ASSERT_EQUAL(handler_clients(9, 100), 5);
	for (uint32_t clients = 1; clients < 20; clients++)
		for (uint32_t kept = 0; kept < 50; kept++)
			CU_ASSERT_TRUE(handler_clients(clients + kept, kept) >= clients);
}

static void response_bytes_are_the_specs_or_the_servers(void)
{
	struct handler_config config = {.response_bytes = 64};
	struct handler *handler;

	CU_ASSERT_EQUAL_FATAL(spec_create("respond", &config, &handler, &error), 0);
	CU_ASSERT_EQUAL(handler->response_bytes, 64);
	CU_ASSERT_EQUAL(handler->answers, ANSWERS_ALIKE);
	handler->ops->destroy(handler);
	CU_ASSERT_EQUAL_FATAL(spec_create("respond:1KiB", &config, &handler, &error), 0);
	CU_ASSERT_EQUAL(handler->response_bytes, 1024);
	handler->ops->destroy(handler);
	CU_ASSERT_EQUAL_FATAL(spec_create("spin:5", &config, &handler, &error), 0);
	CU_ASSERT_EQUAL(handler->answers, ANSWERS_ITS_OWN); /* each takes its time */
	handler->ops->destroy(handler);
	CU_ASSERT_EQUAL(spec_create("nothing", &config, &handler, &error), -ENOENT);
}

static void who_passes_on_has_an_upstream_of_its_own_or_the_servers(void)
{
	struct handler_config config = {.response_bytes = 64};
	struct handler *handler;

	CU_ASSERT_EQUAL(spec_create("proxy", &config, &handler, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "'proxy' has no upstream"));
	config.upstream = "nowhere";
	CU_ASSERT_EQUAL(spec_create("cache", &config, &handler, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "'nowhere' is no upstream"));
	CU_ASSERT_EQUAL(spec_create("cache:;ttl=1s", &config, &handler, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "'nowhere' is no upstream"));
	CU_ASSERT_EQUAL(spec_create("cache:here", &config, &handler, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "'here' is no upstream"));
}

static const struct suite_test tests[] = {
	{"a handler's spec is judged", specs_are_judged},
	{"a text is judged by itself, or with the folder that it names", text_is_judged_by_itself},
	{"ops are found by the whole name, and say what a client can expect",
	 ops_are_found_by_the_whole_name},
	{"options may stand without an upstream", options_may_stand_without_an_upstream},
	{"connections that are kept are counted once a handler",
	 conns_that_are_kept_are_counted_once_a_handler},
	{"clients have half of the connections in any case", clients_have_half_in_any_case},
	{"response bytes are the spec's own or the server's",
	 response_bytes_are_the_specs_or_the_servers},
	{"who passes requests on has an upstream of its own or the server's",
	 who_passes_on_has_an_upstream_of_its_own_or_the_servers},
};

SUITE_MAIN("handler", tests)
