#include "dataplane/pipeline/route.h"
#include "dataplane/pipeline/handler.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { GET = 1 << HTTP1_GET, POST = 1 << HTTP1_POST, PUT = 1 << HTTP1_PUT };

static struct handler handlers[ROUTES_MAX + 1];
static struct tp_error error;

static int make(const struct route *routes, unsigned count, struct route_table **table_out)
{
	struct handler *pointers[ROUTES_MAX + 1];

	for (unsigned i = 0; i < count; i++)
		pointers[i] = &handlers[i];
	return route_table_create(routes, pointers, count, table_out, &error);
}

/* The index of the route that a path leads to, or minus the code that refuses it. */
static int find(const struct route_table *table, const char *path, enum http1_method method,
		uint32_t *allow_out)
{
	struct span span = {(const uint8_t *)path, strlen(path)};
	unsigned code;
	struct handler *handler = route_find(table, span, method, &code, allow_out);

	return handler ? (int)(handler - handlers) : -(int)code;
}

static void expect(const struct route_table *table, const char *path, enum http1_method method,
		   int wanted)
{
	uint32_t allow;
	int got = find(table, path, method, &allow);

	CU_ASSERT_EQUAL(got, wanted);
	if (got != wanted)
		printf("# %s: %d, wanted %d\n", path, got, wanted);
}

static void best_path_wins(void)
{
	static const struct route routes[] = {
		{.path = "/", .prefix = true},
		{.path = "/a", .prefix = true},
		{.path = "/a/b", .prefix = true},
		{.path = "/a"},
		{.path = "/a/b/c"},
		{.path = "/slash/", .prefix = true},
		{.path = "/end/"},
	};
	struct route_table *table;

	CU_ASSERT_EQUAL_FATAL(make(routes, 7, &table), 0);
	expect(table, "/", HTTP1_GET, 0);
	expect(table, "/x", HTTP1_GET, 0);
	expect(table, "/ab", HTTP1_GET, 0); /* a prefix ends at a '/' */
	expect(table, "/a", HTTP1_GET, 3);
	expect(table, "/a/", HTTP1_GET, 1);
	expect(table, "/a/x/b", HTTP1_GET, 1);
	expect(table, "/a/b", HTTP1_GET, 2);
	expect(table, "/a/bb", HTTP1_GET, 1);
	expect(table, "/a/b/c", HTTP1_GET, 4);
	expect(table, "/a/b/c/", HTTP1_GET, 2);
	expect(table, "/slash", HTTP1_GET, 5);
	expect(table, "/slash/x", HTTP1_GET, 5);
	expect(table, "/end/", HTTP1_GET, 6);
	expect(table, "/end", HTTP1_GET, 0);
	CU_ASSERT_PTR_NULL(route_only(table));
	route_table_destroy(table);
}

static void methods_decide_among_equals(void)
{
	static const struct route routes[] = {
		{.path = "/both"},
		{.path = "/both", .methods = POST},
		{.path = "/read", .methods = GET},
		{.path = "/dir", .prefix = true, .methods = PUT},
	};
	struct route_table *table;
	uint32_t allow = 0;

	CU_ASSERT_EQUAL_FATAL(make(routes, 4, &table), 0);
	expect(table, "/both", HTTP1_GET, 0);
	expect(table, "/both", HTTP1_POST, 1);
	expect(table, "/both", HTTP1_TRACE, -405);
	expect(table, "/read", HTTP1_GET, 2);
	expect(table, "/dir/x", HTTP1_PUT, 3);
	expect(table, "/none", HTTP1_GET, -404);
	expect(table, "/", HTTP1_GET, -404);
	expect(table, "", HTTP1_GET, -404);
	CU_ASSERT_EQUAL(find(table, "/read", HTTP1_POST, &allow), -405);
	CU_ASSERT_EQUAL(allow, GET);
	CU_ASSERT_EQUAL(find(table, "/dir", HTTP1_GET, &allow), -405);
	CU_ASSERT_EQUAL(allow, PUT);
	CU_ASSERT_EQUAL(route_methods(table), (1u << HTTP1_TRACE) - 1);
	route_table_destroy(table);
}

static void shorter_path_takes_what_a_longer_does_not(void)
{
	static const struct route routes[] = {
		{.path = "/", .prefix = true, .methods = GET | POST},
		{.path = "/upload", .methods = POST},
	};
	struct route_table *table;
	uint32_t allow = 0;

	CU_ASSERT_EQUAL_FATAL(make(routes, 2, &table), 0);
	expect(table, "/upload", HTTP1_POST, 1);
	expect(table, "/upload", HTTP1_GET, 0);
	CU_ASSERT_EQUAL(find(table, "/upload", HTTP1_PUT, &allow), -405);
	CU_ASSERT_EQUAL(allow, GET | POST);
	route_table_destroy(table);
}

static void full_table_finds_every_path(void)
{
	static char paths[ROUTES_MAX][32];
	struct route routes[ROUTES_MAX];
	struct route_table *table;

	for (unsigned i = 0; i < ROUTES_MAX; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/%u/%u", i * 7919, i);
		routes[i] = (struct route){.path = paths[i], .prefix = i % 2};
	}
	CU_ASSERT_EQUAL_FATAL(make(routes, ROUTES_MAX, &table), 0);
	for (unsigned i = 0; i < ROUTES_MAX; i++)
		expect(table, paths[i], HTTP1_GET, (int)i);
	expect(table, "/7919/2", HTTP1_GET, -404);
	route_table_destroy(table);
}

static void only_route_is_known(void)
{
	static const struct route all = {.path = "/", .prefix = true}, exact = {.path = "/"},
				  get = {.path = "/", .prefix = true, .methods = GET};
	struct route_table *table;

	CU_ASSERT_EQUAL_FATAL(make(&all, 1, &table), 0);
	CU_ASSERT_PTR_EQUAL(route_only(table), &handlers[0]);
	route_table_destroy(table);
	CU_ASSERT_EQUAL_FATAL(make(&exact, 1, &table), 0);
	CU_ASSERT_PTR_NULL(route_only(table));
	route_table_destroy(table);
	CU_ASSERT_EQUAL_FATAL(make(&get, 1, &table), 0);
	CU_ASSERT_PTR_NULL(route_only(table));
	route_table_destroy(table);
}

static void longest_paths_are_found(void)
{
	char path[ROUTE_PATH_BYTES + 8];
	struct route route = {.path = path};
	struct route_table *table = NULL;

	memset(path, '/', sizeof(path));
	path[ROUTE_PATH_BYTES] = '\0';
	CU_ASSERT_EQUAL_FATAL(make(&route, 1, &table), 0);
	expect(table, path, HTTP1_GET, 0);
	path[ROUTE_PATH_BYTES] = '/';
	path[ROUTE_PATH_BYTES + 1] = '\0';
	expect(table, path, HTTP1_GET, -404);
	route_table_destroy(table);
	CU_ASSERT_EQUAL(make(&route, 1, &table), -EINVAL);
}

static void wrong_routes_are_refused(void)
{
	static const struct route wrong[][2] = {
		{{.path = "a"}, {.path = "/"}},
		{{.path = ""}, {.path = "/"}},
		{{.path = "/a"}, {.path = "/a"}},
		{{.path = "/a", .prefix = true}, {.path = "/a/", .prefix = true}},
		{{.path = "/a", .methods = GET | PUT}, {.path = "/a", .methods = PUT}},
		{{.path = "/a", .methods = 1 << HTTP1_TRACE}, {.path = "/"}},
		{{.path = "/a", .methods = 1u << 31}, {.path = "/"}},
	};
	static const struct route many[ROUTES_MAX + 1];
	struct route_table *table = NULL;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(make(wrong[i], 2, &table), -EINVAL);
	CU_ASSERT_EQUAL(make(many, ROUTES_MAX + 1, &table), -EINVAL);
	CU_ASSERT_PTR_NULL(table);
}

static const struct suite_test tests[] = {
	{"an exact path wins over a prefix and a longer prefix over a shorter", best_path_wins},
	{"a route that names the method wins, and the others are allowed",
	 methods_decide_among_equals},
	{"a shorter path takes the methods that a longer does not",
	 shorter_path_takes_what_a_longer_does_not},
	{"a full table finds every path", full_table_finds_every_path},
	{"the only route is known as such", only_route_is_known},
	{"the longest path is found, and none longer", longest_paths_are_found},
	{"wrong routes are refused", wrong_routes_are_refused},
};

SUITE_MAIN("route", tests)
