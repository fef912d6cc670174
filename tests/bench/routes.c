#include "tests/bench/routes.h"

#include "dataplane/core/check.h"
#include "dataplane/pipeline/handler.h"
#include "dataplane/pipeline/route.h"

static struct route_table *table;

void bench_routes_open(void)
{
	static const struct route routes[] = {
		{.path = "/", .methods = 1 << HTTP1_GET},
		{.path = "/health", .methods = 1 << HTTP1_GET},
		{.path = "/metrics", .methods = 1 << HTTP1_GET},
		{.path = "/api/todos", .methods = 1 << HTTP1_GET | 1 << HTTP1_POST},
		{.path = "/api/todos", .prefix = true},
		{.path = "/api/users", .methods = 1 << HTTP1_GET | 1 << HTTP1_POST},
		{.path = "/api/users", .prefix = true},
		{.path = "/api", .prefix = true, .methods = 1 << HTTP1_OPTIONS},
		{.path = "/static", .prefix = true},
		{.path = "/favicon.ico"},
	};
	enum { COUNT = sizeof(routes) / sizeof(routes[0]) };
	static struct handler answerer;
	struct handler *handlers[COUNT];
	struct tp_error error;

	if (table)
		return;
	for (unsigned i = 0; i < COUNT; i++)
		handlers[i] = &answerer;
	CHECK(route_table_create(routes, handlers, COUNT, &table, &error) == 0);
}

bool bench_route(const char *path, size_t bytes)
{
	struct span span = {(const uint8_t *)path, bytes};
	uint32_t methods;
	unsigned code;

	return route_find(table, span, HTTP1_GET, &code, &methods) != NULL;
}
