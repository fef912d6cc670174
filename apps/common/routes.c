#include "apps/common/routes.h"

#include "dataplane/core/nearest.h"
#include "dataplane/handlers/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {"path", "match", "method", "handler"};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

/* By the index of keys: whether a route has to have it. */
static const bool is_needed[KEYS] = {true, false, false, true};

static const char path_usage[] = "a path that begins with '/' and has no blank, '?' or '#', of at "
				 "most 255 bytes";

_Static_assert(ROUTE_PATH_BYTES == 256, "path_usage tells the bound");

/* Says that the value at the steps is wrong: false, or true if this fault is passed over. */
static bool fail(struct flag_fault *fault, unsigned step_count, const char *text)
{
	if (fault->skip > 0) {
		fault->skip--;
		return true;
	}
	fault->step_count = step_count;
	snprintf(fault->text, sizeof(fault->text), "%s", text);
	return false;
}

static bool fail_value(struct flag_fault *fault, unsigned step_count, const char *name,
		       const json_t *value, const char *accepted)
{
	char *given = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	char text[sizeof(fault->text)];

	snprintf(text, sizeof(text), "'%s' of a route is %.60s; accepted: %s", name,
		 given ? given : "(unprintable)", accepted);
	free(given);
	return fail(fault, step_count, text);
}

/* --- one route -------------------------------------------------------------------------------- */

/* Whether the object has the key, or one that is a slip for it and is told as such. */
static bool has_key(const json_t *object, unsigned wanted)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		if (nearest_of(key, keys, KEYS) == keys[wanted])
			return true;
	}
	return false;
}

static bool find_missing(const json_t *object, struct flag_fault *fault)
{
	char text[sizeof(fault->text)];

	for (unsigned i = 0; i < KEYS; i++) {
		if (!is_needed[i] || has_key(object, i))
			continue;
		snprintf(text, sizeof(text),
			 "'%s' of a route is missing; a route has at least path and handler",
			 keys[i]);
		if (!fail(fault, 1, text))
			return false;
	}
	return true;
}

static bool refuse_key(const char *key, struct flag_fault *fault)
{
	char text[sizeof(fault->text)], ask[NEAREST_TEXT];

	snprintf(fault->key, sizeof(fault->key), "%s", key);
	fault->steps[1] = (struct place_step){.key = fault->key};
	snprintf(text, sizeof(text),
		 "unknown key '%.60s'; %sa route has path, match, method and handler", key,
		 nearest_ask(key, keys, KEYS, "", ask));
	if (fail(fault, 2, text))
		return true;
	fault->at_key = true;
	return false;
}

static bool read_path(const json_t *value, struct route *route, struct flag_fault *fault)
{
	const char *path = json_string_value(value);

	if (!path || path[0] != '/' || strlen(path) >= ROUTE_PATH_BYTES || strpbrk(path, " \t?#"))
		return fail_value(fault, 2, "path", value, path_usage);
	route->path = path;
	return true;
}

static bool read_match(const json_t *value, struct route *route, struct flag_fault *fault)
{
	const char *match = json_string_value(value);

	if (!match || (strcmp(match, "exact") != 0 && strcmp(match, "prefix") != 0))
		return fail_value(fault, 2, "match", value, "\"exact\" or \"prefix\"");
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

	if (!json_is_array(value) || json_array_size(value) == 0)
		return fail_value(fault, 2, "method", value, accepted);
	json_array_foreach(value, i, name)
	{
		uint32_t bit = method_bit(json_string_value(name));

		fault->steps[2] = (struct place_step){.index = i};
		if (bit == 0 || (route->methods & bit))
			return fail_value(fault, 3, "method", name, accepted);
		route->methods |= bit;
	}
	return true;
}

static bool read_handler(const json_t *value, struct route *route, struct flag_fault *fault)
{
	struct tp_error error;

	if (!json_is_string(value))
		return fail_value(fault, 2, "handler", value, spec_usage);
	if (spec_judge_text(json_string_value(value), &error) < 0)
		return fail(fault, 2, error.text);
	route->handler = json_string_value(value);
	return true;
}

/* The value of a key, by the key's name. */
static bool read_key(const char *key, const json_t *value, struct route *route,
		     struct flag_fault *fault)
{
	bool (*const readers[KEYS])(const json_t *, struct route *, struct flag_fault *) = {
		read_path, read_match, read_methods, read_handler};

	for (unsigned i = 0; i < KEYS; i++) {
		if (strcmp(keys[i], key) != 0)
			continue;
		fault->steps[1] = (struct place_step){.key = keys[i]};
		return readers[i](value, route, fault);
	}
	return refuse_key(key, fault);
}

/* What is wrong is told in the order in which it stands there. */
static bool read_route(const json_t *object, struct route *route, struct flag_fault *fault)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return fail(fault, 1, "a route is an object {\"path\": ..., \"handler\": ...}");
	if (!find_missing(object, fault))
		return false;
	json_object_foreach((json_t *)object, key, value)
	{
		if (!read_key(key, value, route, fault))
			return false;
	}
	return true;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* The table, with stand-ins for the handlers. 0, or negative errno with `error` filled. */
static int make_table(const struct routes *routes, struct handler stand_ins[ROUTES_MAX],
		      struct route_table **table_out, struct tp_error *error)
{
	struct handler *handlers[ROUTES_MAX];

	for (unsigned i = 0; i < routes->count; i++)
		handlers[i] = &stand_ins[i];
	return route_table_create(routes->table, handlers, routes->count, table_out, error);
}

/* Adds a route to those before it, if it goes together with them. */
static bool add_route(struct routes *routes, const struct route *route, struct flag_fault *fault)
{
	struct handler stand_ins[ROUTES_MAX] = {{0}};
	struct route_table *table;
	struct tp_error error;

	routes->table[routes->count++] = *route;
	if (make_table(routes, stand_ins, &table, &error) == 0) {
		route_table_destroy(table);
		return true;
	}
	routes->count--;
	return fail(fault, 1, error.text);
}

static bool read_routes(const json_t *array, struct routes *routes, struct flag_fault *fault)
{
	static const char accepted[] =
		"accepted: a list of 1 to 64 routes, like [{\"path\": \"/\", "
		"\"handler\": \"respond\"}]";
	const json_t *object;
	size_t i;

	_Static_assert(ROUTES_MAX == 64, "the message tells the bound");
	if (!json_is_array(array) || json_array_size(array) == 0 ||
	    json_array_size(array) > ROUTES_MAX)
		return fail(fault, 0, accepted);
	json_array_foreach(array, i, object)
	{
		unsigned skip = fault->skip;
		struct route route = {0};

		fault->steps[0] = (struct place_step){.index = i};
		if (!read_route(object, &route, fault))
			return false;
		if (fault->skip == skip && !add_route(routes, &route, fault))
			return false;
	}
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

static bool explain_routes(const char *text, struct flag_fault *fault)
{
	struct routes made = {.json = json_loads(text, JSON_REJECT_DUPLICATES, NULL)};
	bool is_wrong = !read_routes(made.json, &made, fault);

	json_decref(made.json);
	return is_wrong;
}

size_t routes_handler_path(const char *handler)
{
	const char *argument;
	const struct handler_ops *ops = spec_find(handler, &argument);

	if (!ops || !argument || ops->argument_is != HANDLER_PATH)
		return strlen(handler);
	return (size_t)(argument - handler);
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
