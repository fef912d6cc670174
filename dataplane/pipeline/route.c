#include "dataplane/pipeline/route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SLOTS = 4 * ROUTES_MAX,		      /* a power of two; never more than half full */
	METHODS_ALL = (1 << HTTP1_TRACE) - 1, /* TRACE and CONNECT are nobody's */
	METHODS_KNOWN = (1 << HTTP1_METHOD_COUNT) - 1,
	BOUNDARIES_MAX = 32, /* of a path, at which prefixes are looked for */
};

_Static_assert(HTTP1_TRACE < HTTP1_CONNECT && HTTP1_CONNECT == HTTP1_METHOD_COUNT - 1,
	       "every method before TRACE can be routed");

/* The routes of one path, exact or prefix. */
struct node {
	const char *path; /* NULL: a free slot */
	uint32_t path_bytes;
	uint32_t hash;
	bool prefix;
	uint32_t methods;
	uint32_t named; /* of them, those that a route names */
	bool takes_all; /* a route names none */
	struct handler *handlers[HTTP1_METHOD_COUNT];
};

struct route_table {
	struct handler *only;
	uint32_t methods;	/* of all */
	uint32_t longest_bytes; /* of a path */
	struct node slots[SLOTS];
	char paths[ROUTES_MAX][ROUTE_PATH_BYTES + 1];
};

/* --- finding --- */

/* FNV-1a, a byte on. */
static uint32_t hash_step(uint32_t hash, uint8_t byte)
{
	return (hash ^ byte) * 16777619u;
}

static const uint32_t hash_begin = 2166136261u;

static unsigned slot_of(uint32_t hash, bool prefix)
{
	return (hash ^ hash >> 16 ^ prefix) & (SLOTS - 1);
}

/* The node of a path, or the slot for it. */
static unsigned find_slot(const struct route_table *table, const uint8_t *path, uint32_t path_bytes,
			  uint32_t hash, bool prefix)
{
	unsigned slot = slot_of(hash, prefix);

	for (;;) {
		const struct node *node = &table->slots[slot];

		if (!node->path ||
		    (node->hash == hash && node->prefix == prefix &&
		     node->path_bytes == path_bytes && memcmp(node->path, path, path_bytes) == 0))
			return slot;
		slot = (slot + 1) & (SLOTS - 1);
	}
}

static const struct node *find_node(const struct route_table *table, const uint8_t *path,
				    uint32_t path_bytes, uint32_t hash, bool prefix)
{
	const struct node *node = &table->slots[find_slot(table, path, path_bytes, hash, prefix)];

	return node->path ? node : NULL;
}

/* Adds a node to those that match, the best last. */
static unsigned add(const struct node **nodes, unsigned count, const struct node *node)
{
	if (node)
		nodes[count++] = node;
	return count;
}

/* All nodes that match a path, the best last; their number. */
static unsigned find_nodes(const struct route_table *table, struct span path,
			   const struct node *nodes[BOUNDARIES_MAX + 2])
{
	uint32_t hash = hash_begin, bytes = 0;
	unsigned count = 0, boundaries = 0;

	while (bytes < path.bytes && bytes <= table->longest_bytes) {
		if (path.base[bytes] == '/' && boundaries++ < BOUNDARIES_MAX)
			count = add(nodes, count, find_node(table, path.base, bytes, hash, true));
		hash = hash_step(hash, path.base[bytes++]);
	}
	if (bytes < path.bytes)
		return count;
	if (boundaries < BOUNDARIES_MAX)
		count = add(nodes, count, find_node(table, path.base, bytes, hash, true));
	return add(nodes, count, find_node(table, path.base, bytes, hash, false));
}

struct handler *route_find(const struct route_table *table, struct span path,
			   enum http1_method method, unsigned *code_out, uint32_t *allow_out)
{
	const struct node *nodes[BOUNDARIES_MAX + 2];
	unsigned count = find_nodes(table, path, nodes);
	uint32_t allow = 0;

	for (unsigned i = count; i-- > 0;) {
		if (nodes[i]->methods >> method & 1)
			return nodes[i]->handlers[method];
		allow |= nodes[i]->methods;
	}
	*code_out = allow ? 405 : 404;
	*allow_out = allow;
	return NULL;
}

struct handler *route_only(const struct route_table *table)
{
	return table->only;
}

uint32_t route_methods(const struct route_table *table)
{
	return table->methods;
}

/* --- building --- */

/* What is wrong with a route by itself; NULL if nothing is. */
static const char *judge(const struct route *route)
{
	if (route->path[0] != '/')
		return "a path begins with '/'";
	if (strlen(route->path) > ROUTE_PATH_BYTES)
		return "the path is too long";
	if (route->methods & ~(uint32_t)METHODS_KNOWN)
		return "there is no such method";
	if (route->methods & ~(uint32_t)METHODS_ALL)
		return "TRACE and CONNECT have no handlers";
	return NULL;
}

/* The bytes of a path that count: a prefix matches at a '/', so one at its end says nothing. */
static uint32_t path_bytes_of(const struct route *route)
{
	uint32_t bytes = (uint32_t)strlen(route->path);

	return bytes - (route->prefix && route->path[bytes - 1] == '/');
}

static struct node *claim_node(struct route_table *table, const struct route *route, char *copy)
{
	uint32_t bytes = path_bytes_of(route), hash = hash_begin;
	struct node *node;

	memcpy(copy, route->path, bytes);
	for (uint32_t i = 0; i < bytes; i++)
		hash = hash_step(hash, (uint8_t)copy[i]);
	node = &table->slots[find_slot(table, (const uint8_t *)copy, bytes, hash, route->prefix)];
	if (node->path)
		return node;
	*node = (struct node){
		.path = copy, .path_bytes = bytes, .hash = hash, .prefix = route->prefix};
	if (bytes > table->longest_bytes)
		table->longest_bytes = bytes;
	return node;
}

/* Enters a route. False if it is there already for one of its methods. */
static bool enter(struct node *node, const struct route *route, struct handler *handler)
{
	bool twice = route->methods ? (node->named & route->methods) != 0 : node->takes_all;
	uint32_t methods = route->methods ? route->methods : METHODS_ALL & ~node->named;

	for (unsigned i = 0; i < HTTP1_METHOD_COUNT; i++)
		if (methods >> i & 1)
			node->handlers[i] = handler;
	node->methods |= methods;
	node->named |= route->methods;
	node->takes_all |= route->methods == 0;
	return !twice;
}

static int fill(struct route_table *table, const struct route *routes,
		struct handler *const *handlers, unsigned count, struct tp_error *error)
{
	for (unsigned i = 0; i < count; i++) {
		const char *wrong = judge(&routes[i]);
		struct node *node;

		if (!wrong) {
			node = claim_node(table, &routes[i], table->paths[i]);
			if (!enter(node, &routes[i], handlers[i]))
				wrong = "it is there twice for the same method";
			table->methods |= node->methods;
		}
		if (wrong)
			return tp_fail(error, -EINVAL, "the route '%s': %s", routes[i].path, wrong);
	}
	return 0;
}

int route_table_create(const struct route *routes, struct handler *const *handlers, unsigned count,
		       struct route_table **table_out, struct tp_error *error)
{
	struct route_table *table;
	int rc;

	if (count > ROUTES_MAX)
		return tp_fail(error, -EINVAL, "%u routes; there may be %d", count, ROUTES_MAX);
	table = calloc(1, sizeof(*table));
	if (!table)
		return tp_fail(error, -ENOMEM, "no memory for %u routes", count);
	rc = fill(table, routes, handlers, count, error);
	if (rc < 0) {
		free(table);
		return rc;
	}
	if (count == 1 && routes[0].prefix && path_bytes_of(&routes[0]) == 0 && !routes[0].methods)
		table->only = handlers[0];
	*table_out = table;
	return 0;
}

void route_table_destroy(struct route_table *table)
{
	free(table);
}
