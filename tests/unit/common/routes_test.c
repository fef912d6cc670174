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
	struct tp_error error;

	CU_ASSERT_EQUAL(flag_routes.parse(&row, text), 0);
	CU_ASSERT_EQUAL(routes.count, 4);
	CU_ASSERT_EQUAL(routes_judge(&routes, &error), 0);
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

static void two_routes_for_the_same_do_not_go_together(void)
{
	static const char text[] = "[{\"path\": \"/a\", \"handler\": \"echo\"},"
				   " {\"path\": \"/a\", \"handler\": \"respond\"}]";
	struct tp_error error = {""};

	CU_ASSERT_EQUAL(flag_routes.parse(&row, text), 0);
	CU_ASSERT_EQUAL(routes_judge(&routes, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "/a"));
	CU_ASSERT_PTR_NULL(routes_find(&routes, "/a", HTTP1_GET));
	routes_fini(&routes);
	routes = (struct routes){.count = 0};
}

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
		{"[{\"pth\": 1}]", "unknown key 'pth'; did you mean 'path'?", 2, "pth"},
		{"[{\"path\": 1}]", "'path' of a route is not accepted", 2, "path"},
		{"[{\"path\": \"/a b\"}]", "has no blank", 2, "path"},
		{"[{\"path\": \"/a?b\"}]", "has no blank, '?'", 2, "path"},
		{"[{\"path\": \"/\", \"match\": 1}]", "\"exact\" or \"prefix\"", 2, "match"},
		{"[{\"path\": \"/\", \"method\": \"GET\"}]", "a list of methods", 2, "method"},
		{"[{\"path\": \"/\", \"method\": []}]", "a list of methods", 2, "method"},
		{"[{\"path\": \"/\", \"method\": [\"GET\", \"GET\"]}]", "each once", 3, "method"},
		{"[{\"path\": \"/\"}]", "'handler' of a route is not accepted", 2, "handler"},
		{"[{\"path\": \"/\", \"handler\": \"no\"}]", "'no' is no handler", 2, "handler"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct flag_fault fault = {.step_count = 99};

		CU_ASSERT_EQUAL(flag_routes.parse(&row, rows[i].text), -EINVAL);
		flag_routes.explain(rows[i].text, &fault);
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
	{"two routes for the same do not go together", two_routes_for_the_same_do_not_go_together},
	{"a fault is at its place", a_fault_is_at_its_place},
	{"a path has a bound", a_path_has_a_bound},
	{"directories lead on from the folder", directories_lead_on_from_the_folder},
};

SUITE_MAIN("routes", tests)
