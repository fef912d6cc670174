#include "apps/common/routes.h"

#include "dataplane/core/nearest.h"
#include "dataplane/handlers/handler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const keys[] = {"path", "match", "method", "handler"};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

static const char path_usage[] = "a path that begins with '/' and has no blank, '?' or '#', of at "
				 "most 255 bytes";

_Static_assert(ROUTE_PATH_BYTES == 256, "path_usage tells the bound");

/* Says that the value at the steps is wrong; false. */
static bool fail(struct flag_fault *fault, unsigned step_count, const char *text)
{
	fault->step_count = step_count;
	snprintf(fault->text, sizeof(fault->text), "%s", text);
	return false;
}

static bool fail_value(struct flag_fault *fault, unsigned step_count, const char *name,
		       const char *accepted)
{
	char text[sizeof(fault->text)];

	snprintf(text, sizeof(text), "'%s' of a route is not accepted; accepted: %s", name,
		 accepted);
	return fail(fault, step_count, text);
}

/* --- one route -------------------------------------------------------------------------------- */

static bool read_keys(const json_t *object, struct flag_fault *fault)
{
	char text[sizeof(fault->text)], ask[NEAREST_TEXT];
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		bool known = false;

		for (unsigned i = 0; i < KEYS; i++)
			known |= strcmp(keys[i], key) == 0;
		if (known)
			continue;
		snprintf(fault->key, sizeof(fault->key), "%s", key);
		fault->steps[1] = (struct place_step){.key = fault->key};
		fault->at_key = true;
		snprintf(text, sizeof(text),
			 "unknown key '%.60s'; %sa route has path, match, method and handler", key,
			 nearest_ask(key, keys, KEYS, "", ask));
		return fail(fault, 2, text);
	}
	return true;
}

static bool read_path(const json_t *value, struct route *route, struct flag_fault *fault)
{
	const char *path = json_string_value(value);

	if (!path || path[0] != '/' || strlen(path) >= ROUTE_PATH_BYTES || strpbrk(path, " \t?#"))
		return fail_value(fault, 2, "path", path_usage);
	route->path = path;
	return true;
}

static bool read_match(const json_t *value, struct route *route, struct flag_fault *fault)
{
	const char *match = value ? json_string_value(value) : "exact";

	if (!match || (strcmp(match, "exact") != 0 && strcmp(match, "prefix") != 0))
		return fail_value(fault, 2, "match", "\"exact\" or \"prefix\"");
	route->prefix = strcmp(match, "prefix") == 0;
	return true;
}

/* The bit of a method by its name; 0 if there is none. */
static uint32_t method_bit(const char *name)
{
	for (unsigned i = 0; name && i < HTTP1_METHOD_COUNT; i++)
		if (strcmp(http1_method_name(i), name) == 0)
			return 1u << i;
	return 0;
}

static bool read_methods(const json_t *value, struct route *route, struct flag_fault *fault)
{
	static const char accepted[] = "a list of methods, each once, like [\"GET\", \"HEAD\"]";
	const json_t *name;
	size_t i;

	route->methods = 0;
	if (!value)
		return true;
	if (!json_is_array(value) || json_array_size(value) == 0)
		return fail_value(fault, 2, "method", accepted);
	json_array_foreach(value, i, name)
	{
		uint32_t bit = method_bit(json_string_value(name));

		fault->steps[2] = (struct place_step){.index = i};
		if (bit == 0 || (route->methods & bit))
			return fail_value(fault, 3, "method", accepted);
		route->methods |= bit;
	}
	return true;
}

static bool read_handler(const json_t *value, struct route *route, struct flag_fault *fault)
{
	struct tp_error error;

	if (!json_is_string(value))
		return fail_value(fault, 2, "handler", handler_usage);
	if (handler_check(json_string_value(value), &error) < 0)
		return fail(fault, 2, error.text);
	route->handler = json_string_value(value);
	return true;
}

static bool read_route(const json_t *object, struct route *route, struct flag_fault *fault)
{
	bool (*const readers[KEYS])(const json_t *, struct route *, struct flag_fault *) = {
		read_path, read_match, read_methods, read_handler};

	if (!json_is_object(object))
		return fail(fault, 1, "a route is an object {\"path\": ..., \"handler\": ...}");
	if (!read_keys(object, fault))
		return false;
	for (unsigned i = 0; i < KEYS; i++) {
		fault->steps[1] = (struct place_step){.key = keys[i]};
		if (!readers[i](json_object_get(object, keys[i]), route, fault))
			return false;
	}
	return true;
}

/* --- all of them ------------------------------------------------------------------------------ */

static bool read_routes(const json_t *array, struct routes *routes, struct flag_fault *fault)
{
	static const char accepted[] = "a list of 1 to 64 routes, like [{\"path\": \"/\", "
				       "\"handler\": \"respond\"}]";
	const json_t *object;
	size_t i;

	_Static_assert(ROUTES_MAX == 64, "the message tells the bound");
	if (!json_is_array(array) || json_array_size(array) == 0 ||
	    json_array_size(array) > ROUTES_MAX)
		return fail_value(fault, 0, "routes", accepted);
	json_array_foreach(array, i, object)
	{
		fault->steps[0] = (struct place_step){.index = i};
		if (!read_route(object, &routes->table[i], fault))
			return false;
	}
	routes->count = (unsigned)json_array_size(array);
	return true;
}

static int parse_routes(const struct flag *flag, const char *text)
{
	struct routes *routes = flag->value;
	struct flag_fault fault = {.step_count = 0};
	struct routes made = {.json = json_loads(text, JSON_REJECT_DUPLICATES, NULL)};

	if (!read_routes(made.json, &made, &fault)) {
		json_decref(made.json);
		return -EINVAL;
	}
	json_decref(routes->json);
	*routes = made;
	return 0;
}

static void explain_routes(const char *text, struct flag_fault *fault_out)
{
	struct routes made = {.json = json_loads(text, JSON_REJECT_DUPLICATES, NULL)};

	*fault_out = (struct flag_fault){.step_count = 0};
	read_routes(made.json, &made, fault_out);
	json_decref(made.json);
}

size_t routes_handler_path(const char *handler)
{
	static const char with_path[] = "static:";
	size_t bytes = sizeof(with_path) - 1;

	return strncmp(handler, with_path, bytes) == 0 ? bytes : strlen(handler);
}

static json_t *locate_routes(const json_t *array, const char *folder)
{
	json_t *located = json_deep_copy(array), *route;
	size_t i;

	json_array_foreach(located, i, route)
	{
		const char *handler = json_string_value(json_object_get(route, "handler"));

		if (handler)
			json_object_set_new(
				route, "handler",
				flags_locate(handler, routes_handler_path(handler), folder));
	}
	return located;
}

const struct flag_kind flag_routes = {.metavar = "JSON",
				      .accepts = "a list of routes",
				      .json = true,
				      .parse = parse_routes,
				      .explain = explain_routes,
				      .locate = locate_routes};

/* The table, with stand-ins for the handlers. 0, or negative errno with `error` filled. */
static int make_table(const struct routes *routes, struct handler stand_ins[ROUTES_MAX],
		      struct route_table **table_out, struct tp_error *error)
{
	struct handler *handlers[ROUTES_MAX];

	for (unsigned i = 0; i < routes->count; i++)
		handlers[i] = &stand_ins[i];
	return route_table_create(routes->table, handlers, routes->count, table_out, error);
}

int routes_judge(const struct routes *routes, struct tp_error *error)
{
	struct handler stand_ins[ROUTES_MAX] = {{0}};
	struct route_table *table;
	int rc = make_table(routes, stand_ins, &table, error);

	if (rc == 0)
		route_table_destroy(table);
	return rc;
}

const char *routes_find(const struct routes *routes, const char *path, enum http1_method method)
{
	struct span span = {(const uint8_t *)path, strlen(path)};
	struct handler stand_ins[ROUTES_MAX] = {{0}};
	const struct handler *found;
	struct route_table *table;
	struct tp_error error;
	unsigned code;
	uint32_t allow;

	if (make_table(routes, stand_ins, &table, &error) < 0)
		return NULL;
	found = route_find(table, span, method, &code, &allow);
	route_table_destroy(table);
	return found ? routes->table[found - stand_ins].handler : NULL;
}

void routes_fini(struct routes *routes)
{
	json_decref(routes->json);
}
