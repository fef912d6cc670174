#include "dataplane/handlers/handler.h"
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
		CU_ASSERT_EQUAL(handler_check(good[i], &error), 0);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(handler_check(wrong[i], &error), -EINVAL);
	for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		CU_ASSERT_EQUAL(handler_check(unknown[i], &error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, handler_usage));
}

static void response_bytes_are_the_specs_or_the_servers(void)
{
	struct handler_config config = {.response_bytes = 64};
	struct handler *handler;

	CU_ASSERT_EQUAL_FATAL(handler_create("respond", &config, &handler, &error), 0);
	CU_ASSERT_EQUAL(handler->response_bytes, 64);
	CU_ASSERT_EQUAL(handler->answers, ANSWERS_ALIKE);
	handler->ops->destroy(handler);
	CU_ASSERT_EQUAL_FATAL(handler_create("respond:1KiB", &config, &handler, &error), 0);
	CU_ASSERT_EQUAL(handler->response_bytes, 1024);
	handler->ops->destroy(handler);
	CU_ASSERT_EQUAL_FATAL(handler_create("spin:5", &config, &handler, &error), 0);
	CU_ASSERT_EQUAL(handler->answers, ANSWERS_ITS_OWN); /* each takes its time */
	handler->ops->destroy(handler);
	CU_ASSERT_EQUAL(handler_create("nothing", &config, &handler, &error), -ENOENT);
}

static void who_passes_on_has_an_upstream_of_its_own_or_the_servers(void)
{
	struct handler_config config = {.response_bytes = 64};
	struct handler *handler;

	CU_ASSERT_EQUAL(handler_create("proxy", &config, &handler, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "'proxy' has no upstream"));
	config.upstream = "nowhere";
	CU_ASSERT_EQUAL(handler_create("cache", &config, &handler, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "'nowhere' is no upstream"));
	CU_ASSERT_EQUAL(handler_create("cache:here", &config, &handler, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "'here' is no upstream"));
}

static const struct suite_test tests[] = {
	{"a handler's spec is judged", specs_are_judged},
	{"response bytes are the spec's own or the server's",
	 response_bytes_are_the_specs_or_the_servers},
	{"who passes requests on has an upstream of its own or the server's",
	 who_passes_on_has_an_upstream_of_its_own_or_the_servers},
};

SUITE_MAIN("handler", tests)
