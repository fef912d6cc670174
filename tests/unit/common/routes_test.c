#include "apps/common/pipeline_flags.h"
#include "apps/common/routes.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <string.h>

static struct routes routes;
static const struct flag row = {.name = "routes", .kind = &flag_routes, .value = &routes};

/* A path's handler, with "none" for NULL. */
static const char *find(const char *path, enum http1_method method)
{
	const char *handler = routes_find(&routes, path, method);

	return handler ? handler : "none";
}

static void routes_lead_to_handlers(void)
{
	static const char text[] =
		"[{\"path\": \"/\", \"match\": \"prefix\", \"handler\": \"respond:1\"},"
		" {\"path\": \"/a\", \"handler\": \"respond:2\"},"
		" {\"path\": \"/a\", \"method\": [\"POST\", \"PUT\"], \"handler\": \"echo\"},"
		" {\"path\": \"/b\", \"method\": [\"GET\"], \"handler\": \"respond:3\"}]";

	CU_ASSERT_EQUAL(flag_routes.parse(&row, text), 0);
	CU_ASSERT_EQUAL(routes.count, 4);
	CU_ASSERT_STRING_EQUAL(find("/", HTTP1_GET), "respond:1");
	CU_ASSERT_STRING_EQUAL(find("/else/where", HTTP1_DELETE), "respond:1");
	CU_ASSERT_STRING_EQUAL(find("/a", HTTP1_GET), "respond:2");
	CU_ASSERT_STRING_EQUAL(find("/a", HTTP1_PUT), "echo");
	CU_ASSERT_STRING_EQUAL(find("/b", HTTP1_GET), "respond:3");
	routes_fini(&routes);
	routes = (struct routes){.count = 0};
}

/* A table that is refused leaves the one before in its place. */
static void a_later_table_takes_the_place_of_an_earlier(void)
{
	CU_ASSERT_EQUAL(flag_routes.parse(&row, "[{\"path\": \"/a\", \"handler\": \"echo\"}]"), 0);
	CU_ASSERT_EQUAL(flag_routes.parse(&row, "[{\"path\": \"/b\"}]"), -EINVAL);
	CU_ASSERT_STRING_EQUAL(find("/a", HTTP1_GET), "echo");
	CU_ASSERT_EQUAL(flag_routes.parse(&row, "[{\"path\": \"/b\", \"handler\": \"echo\"}]"), 0);
	CU_ASSERT_STRING_EQUAL(find("/a", HTTP1_GET), "none");
	CU_ASSERT_STRING_EQUAL(find("/b", HTTP1_GET), "echo");
	routes_fini(&routes);
	routes = (struct routes){.count = 0};
}

/* The faults of a text are told one by one, in their order, and then no more. */
static void every_fault_is_told(void)
{
	static const char text[] =
		"[{\"path\": \"/a\", \"handler\": \"echo\"},"
		" {\"path\": 7, \"match\": \"no\", \"handler\": \"nobody\"},"
		" {\"path\": \"/b\", \"handler\": \"respond\", \"x\": 1, \"y\": 2},"
		" 8,"
		" {\"path\": \"/a\", \"handler\": \"respond\"}]";
	static const struct {
		unsigned route;
		bool at_key;
		const char *says;
	} rows[] = {
		{1, false, "'path' of a route"},
		{1, false, "'match' of a route"},
		{1, false, "'nobody' is no handler"},
		{2, true, "unknown key 'x'"},
		{2, true, "unknown key 'y'"},
		{3, false, "a route is an object"},
		{4, false, "the route '/a': it is there twice"},
	};
	enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

	CU_ASSERT_EQUAL(flag_routes.parse(&row, text), -EINVAL);
	for (unsigned i = 0; i < ROWS; i++) {
		struct flag_fault fault = {.skip = i};

		CU_ASSERT_TRUE(flag_routes.explain(text, &fault));
		CU_ASSERT_EQUAL(fault.steps[0].index, rows[i].route);
		CU_ASSERT_EQUAL(fault.at_key, rows[i].at_key);
		CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, rows[i].says));
	}
	CU_ASSERT_FALSE(flag_routes.explain(text, &(struct flag_fault){.skip = ROWS}));
}

/* A key that is mistyped is one mistake and not two. */
static void mistyped_key_is_not_missing_besides(void)
{
	static const char text[] = "[{\"path\": \"/\", \"handlr\": \"echo\"}]";
	struct flag_fault fault = {.skip = 0};

	CU_ASSERT_TRUE(flag_routes.explain(text, &fault));
	CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "did you mean 'handler'?"));
	CU_ASSERT_FALSE(flag_routes.explain(text, &(struct flag_fault){.skip = 1}));
}

/* Only who serves from it needs it, and a higher layer may say otherwise. */
static void folder_of_a_handler_need_not_be_there(void)
{
	static const char text[] = "[{\"path\": \"/\", \"handler\": \"static:/nonexistent\"}]";
	const char *handler = NULL;
	const struct flag one = {.name = "handler", .kind = &flag_handler, .value = &handler};

	CU_ASSERT_EQUAL(flag_routes.parse(&row, text), 0);
	CU_ASSERT_EQUAL(flag_handler.parse(&one, "static:/nonexistent"), 0);
	CU_ASSERT_EQUAL(flag_handler.parse(&one, "static"), -EINVAL);
	CU_ASSERT_STRING_EQUAL(handler, "static:/nonexistent");
	routes_fini(&routes);
	routes = (struct routes){.count = 0};
}

#define ROUTE(keys) "[{" keys ", \"handler\": \"echo\"}]"

/* What is wrong, and the steps that lead there. */
static void a_fault_is_at_its_place(void)
{
	static const struct {
		const char *text;
		const char *says;
		unsigned step_count;
		const char *key; /* of the second step */
	} rows[] = {
		{"nothing", "a list of 1 to 64 routes", 0, NULL},
		{"{}", "a list of 1 to 64 routes", 0, NULL},
		{"[7]", "a route is an object", 1, NULL},
		{"[{\"pth\": 1, \"handler\": \"echo\"}]", "unknown key 'pth'; did you mean 'path'?",
		 2, "pth"},
		{ROUTE("\"path\": 1"), "'path' of a route is 1; accepted", 2, "path"},
		{ROUTE("\"path\": \"/a b\""), "is \"/a b\"; accepted: a path", 2, "path"},
		{ROUTE("\"path\": \"/a?b\""), "has no blank, '?'", 2, "path"},
		{ROUTE("\"path\": \"/\", \"match\": 1"), "\"exact\" or \"prefix\"", 2, "match"},
		{ROUTE("\"path\": \"/\", \"method\": \"GET\""), "a list of methods", 2, "method"},
		{ROUTE("\"path\": \"/\", \"method\": []"), "a list of methods", 2, "method"},
		{ROUTE("\"path\": \"/\", \"method\": [\"GET\", \"GET\"]"), "each once", 3,
		 "method"},
		{"[{\"path\": \"/\"}]", "'handler' of a route is missing", 1, NULL},
		{"[{\"handler\": \"no\"}]", "'path' of a route is missing", 1, NULL},
		{"[{\"path\": \"/\", \"handler\": 7}]", "'handler' of a route is 7", 2, "handler"},
		{"[{\"handler\": \"no\", \"path\": 1}]", "'no' is no handler", 2, "handler"},
		{"[{\"path\": \"/\", \"handler\": \"no\"}]", "'no' is no handler", 2, "handler"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct flag_fault fault = {.skip = 0};

		CU_ASSERT_EQUAL(flag_routes.parse(&row, rows[i].text), -EINVAL);
		CU_ASSERT_TRUE(flag_routes.explain(rows[i].text, &fault));
		CU_ASSERT_EQUAL(fault.step_count, rows[i].step_count);
		if (rows[i].key)
			CU_ASSERT_STRING_EQUAL(fault.steps[1].key, rows[i].key);
		if (!strstr(fault.text, rows[i].says)) {
			printf("# wanted '%s' in '%s'\n", rows[i].says, fault.text);
			CU_FAIL("a message does not say what is wrong");
		}
	}
	CU_ASSERT_EQUAL(routes.count, 0);
}

static void a_path_has_a_bound(void)
{
	char path[ROUTE_PATH_BYTES + 1], text[ROUTE_PATH_BYTES + 64];

	memset(path, '/', ROUTE_PATH_BYTES);
	path[ROUTE_PATH_BYTES] = '\0';
	snprintf(text, sizeof(text), "[{\"path\": \"%s\", \"handler\": \"echo\"}]", path);
	CU_ASSERT_EQUAL(flag_routes.parse(&row, text), -EINVAL);
	snprintf(text, sizeof(text), "[{\"path\": \"%s\", \"handler\": \"echo\"}]", path + 1);
	CU_ASSERT_EQUAL(flag_routes.parse(&row, text), 0);
	routes_fini(&routes);
	routes = (struct routes){.count = 0};
}

/* Of each handler, that of a directory's alone. */
static void directories_lead_on_from_the_folder(void)
{
	json_t *array = json_loads("[{\"handler\": \"static:www\"}, {\"handler\": \"static:/www\"},"
				   " {\"handler\": \"respond:5\"}, {\"handler\": 7}, 8]",
				   0, NULL);
	json_t *located = flag_routes.locate(array, "/srv");
	json_t *wanted = json_loads("[{\"handler\": \"static:/srv/www\"},"
				    " {\"handler\": \"static:/www\"}, {\"handler\": \"respond:5\"},"
				    " {\"handler\": 7}, 8]",
				    0, NULL);
	json_t *handler = json_string("static:www"), *one = flag_handler.locate(handler, "sub");

	CU_ASSERT_TRUE(json_equal(located, wanted));
	CU_ASSERT_STRING_EQUAL(json_string_value(one), "static:sub/www");
	json_decref(array);
	json_decref(located);
	json_decref(wanted);
	json_decref(handler);
	json_decref(one);
}

static const struct suite_test tests[] = {
	{"routes lead to handlers", routes_lead_to_handlers},
	{"a later table takes the place of an earlier",
	 a_later_table_takes_the_place_of_an_earlier},
	{"every fault is told, in its order", every_fault_is_told},
	{"a mistyped key is not missing besides", mistyped_key_is_not_missing_besides},
	{"the folder of a handler need not be there yet", folder_of_a_handler_need_not_be_there},
	{"a fault is at its place", a_fault_is_at_its_place},
	{"a path has a bound", a_path_has_a_bound},
	{"directories lead on from the folder", directories_lead_on_from_the_folder},
};

SUITE_MAIN("routes", tests)
