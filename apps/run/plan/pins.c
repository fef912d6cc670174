#include "apps/run/plan/pins.h"

#include <errno.h>

/* What falls short, from bad to worse; the texts say it. */
enum locality {
	LOCALITY_AS_ASKED,
	LOCALITY_SPREAD,
	LOCALITY_ONE_NODE,
	LOCALITY_NO_ROOM,
	LOCALITY_COUNT
};
enum shortage { SHORT_OF_NOTHING, SHORT_OF_RESERVE, SHORT_OF_CORES, SHORTAGE_COUNT };

#define NONE_RESERVED "no core is left for the operating system"
#define SHARED "workers share physical cores, and " NONE_RESERVED
#define MIXED "the cores are of different kinds"
#define TEXTS_BEHIND(locality)                                                                 \
	{                                                                                      \
		{locality, locality "; " MIXED},                                               \
			{locality "; " NONE_RESERVED, locality "; " NONE_RESERVED "; " MIXED}, \
		{                                                                              \
			locality "; " SHARED, locality "; " SHARED "; " MIXED                  \
		}                                                                              \
	}

/* By locality, shortage, and whether kinds are mixed. */
static const char *const texts[LOCALITY_COUNT][SHORTAGE_COUNT][2] = {
	[LOCALITY_AS_ASKED] = {{NULL, MIXED},
			       {NONE_RESERVED, NONE_RESERVED "; " MIXED},
			       {SHARED, SHARED "; " MIXED}},
	[LOCALITY_SPREAD] =
		TEXTS_BEHIND("no NUMA node has room for both sides, so they spread over several"),
	[LOCALITY_ONE_NODE] = TEXTS_BEHIND(
		"server and client share a NUMA node: two were asked for, and there is only one"),
	[LOCALITY_NO_ROOM] = TEXTS_BEHIND(
		"no two NUMA nodes have room, so server and client are not on one each"),
};

/* What a choice may draw on: one step down from what should be. */
struct step {
	bool whole;    /* the operating system's cores as well */
	bool siblings; /* every CPU of a core */
	bool spread;   /* cores of all nodes together; not for sides on different nodes */
	bool mixed;    /* cores of all kinds together */
};

static const struct step steps[] = {
	{0},
	{.whole = true},
	{.spread = true},
	{.whole = true, .spread = true},
	{.mixed = true},
	{.mixed = true, .whole = true},
	{.mixed = true, .spread = true},
	{.mixed = true, .whole = true, .spread = true},
	{.siblings = true, .whole = true},
	{.siblings = true, .whole = true, .spread = true},
	{.siblings = true, .whole = true, .mixed = true},
	{.siblings = true, .whole = true, .mixed = true, .spread = true},
};

enum { ANY = -1 };

/* A set to draw from. */
struct source {
	struct step step;
	int node; /* or ANY */
	int kind; /* or ANY */
	bool isolated_only;
	bool uneven; /* a server of more than half beside a client of what is left */
};

/*
 * The physical core of a node that the operating system keeps: the first that is not isolated, or
 * if all are, the first.
 */
static int reserved_core(const struct topology *topology, int node)
{
	int first = -1;

	for (unsigned i = 0; i < topology->cpus.count; i++) {
		if (topology->node[i] != node)
			continue;
		if (!topology->isolated[i])
			return topology->core[i];
		if (first < 0)
			first = topology->core[i];
	}
	return first;
}

static bool is_reserved(const struct topology *topology, unsigned index)
{
	return topology->core[index] == reserved_core(topology, topology->node[index]);
}

static bool may_draw(const struct topology *topology, const struct source *source, unsigned index)
{
	return (source->node == ANY || topology->node[index] == source->node) &&
	       (source->kind == ANY || topology->kind[index] == source->kind) &&
	       (!source->isolated_only || topology->isolated[index]) &&
	       (source->step.whole || !is_reserved(topology, index));
}

/* Adds the CPUs of the core that `first` stands for: one, or with `siblings` all. */
static void add_core(const struct topology *topology, unsigned first, bool siblings,
		     struct cpus *cpus)
{
	for (unsigned i = first; i < topology->cpus.count; i++) {
		if (topology->core[i] != topology->core[first])
			continue;
		cpus->cpu[cpus->count++] = topology->cpus.cpu[i];
		if (!siblings)
			return;
	}
}

/* The next number above `above` in a list; ANY behind the last. */
static int next_node(const struct topology *topology, int above)
{
	int next = ANY;

	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (topology->node[i] > above && (next == ANY || topology->node[i] < next))
			next = topology->node[i];
	return next;
}

int pins_next_kind(const struct topology *topology, int above)
{
	int next = ANY;

	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (topology->kind[i] > above && (next == ANY || topology->kind[i] < next))
			next = topology->kind[i];
	return next;
}

/* The source's CPUs of one node and one kind, core by core. */
static void add_cores(const struct topology *topology, const struct source *source,
		      struct cpus *cpus)
{
	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (may_draw(topology, source, i) && topology_is_first_of_core(topology, i))
			add_core(topology, i, source->step.siblings, cpus);
}

/* The source's CPUs, the fastest first, each kind node by node. */
static void draw(const struct topology *topology, const struct source *from, struct cpus *cpus_out)
{
	struct source source = *from;

	cpus_out->count = 0;
	for (int kind = pins_next_kind(topology, ANY); kind != ANY;
	     kind = pins_next_kind(topology, kind))
		for (int node = next_node(topology, ANY); node != ANY;
		     node = next_node(topology, node)) {
			source.kind = kind;
			source.node = node;
			if ((from->kind == ANY || from->kind == kind) &&
			    (from->node == ANY || from->node == node))
				add_cores(topology, &source, cpus_out);
		}
}

static void take(struct cpus *to, const struct cpus *from, unsigned first, unsigned count)
{
	to->count = 0;
	for (unsigned i = 0; i < count; i++)
		to->cpu[to->count++] = from->cpu[first + i];
}

/*
 * Both sides from one set: the server from its first half and the client from its second, so that a
 * client stays where it is when the server grows. Beyond its half a server goes only beside a
 * client of a given size, or if `uneven`.
 */
static bool split(const struct cpus *from, const struct pins_wish *wish, bool uneven,
		  struct pins *pins)
{
	unsigned half = from->count / 2, server = wish->server_workers;
	unsigned first = server > half ? server : half;
	unsigned left = from->count > first ? from->count - first : 0;
	unsigned client = wish->client_workers ? wish->client_workers : left;

	if (wish->alone) {
		if (server <= from->count)
			take(&pins->server, from, 0, server);
		pins->client.count = 0;
		return server <= from->count;
	}
	if (server + client > from->count || client == 0)
		return false;
	if (wish->client_workers == 0 && server > half && !uneven)
		return false;
	take(&pins->server, from, 0, server);
	take(&pins->client, from, client > left ? from->count - client : first, client);
	return true;
}

/* Each side from a set of its own. */
static bool part(const struct cpus *server, const struct cpus *client, const struct pins_wish *wish,
		 struct pins *pins)
{
	unsigned workers = wish->client_workers ? wish->client_workers : client->count;

	if (wish->server_workers > server->count || workers > client->count || workers == 0)
		return false;
	take(&pins->server, server, 0, wish->server_workers);
	take(&pins->client, client, 0, workers);
	return true;
}

/* Both sides on one node, or spread. */
static bool place_together(const struct topology *topology, const struct pins_wish *wish,
			   struct source source, struct pins *pins)
{
	struct cpus cpus;

	source.node = ANY;
	if (source.step.spread) {
		draw(topology, &source, &cpus);
		return split(&cpus, wish, source.uneven, pins);
	}
	while ((source.node = next_node(topology, source.node)) != ANY) {
		draw(topology, &source, &cpus);
		if (split(&cpus, wish, source.uneven, pins))
			return true;
	}
	return false;
}

/* The server on one node, the client on another: the first two that have room. */
static bool place_across(const struct topology *topology, const struct pins_wish *wish,
			 struct source source, struct pins *pins)
{
	struct source other = source;
	struct cpus server, client;

	if (source.step.spread)
		return false;
	source.node = ANY;
	while ((source.node = next_node(topology, source.node)) != ANY) {
		draw(topology, &source, &server);
		other.node = ANY;
		while ((other.node = next_node(topology, other.node)) != ANY) {
			draw(topology, &other, &client);
			if (other.node != source.node && part(&server, &client, wish, pins))
				return true;
		}
	}
	return false;
}

static bool place(const struct topology *topology, const struct pins_wish *wish,
		  const struct source *source, struct pins *pins)
{
	return wish->across_nodes ? place_across(topology, wish, *source, pins)
				  : place_together(topology, wish, *source, pins);
}

/* One kind after the other, the fastest first; or all together. */
static bool try_kinds(const struct topology *topology, const struct pins_wish *wish,
		      struct source source, struct pins *pins)
{
	source.kind = wish->kind ? *wish->kind : ANY;
	if (wish->kind)
		return !source.step.mixed && place(topology, wish, &source, pins);
	if (source.step.mixed)
		return place(topology, wish, &source, pins);
	while ((source.kind = pins_next_kind(topology, source.kind)) != ANY)
		if (place(topology, wish, &source, pins))
			return true;
	return false;
}

/* A step: isolated cores before others. */
static bool try_step(const struct topology *topology, const struct pins_wish *wish,
		     const struct step *step, struct pins *pins)
{
	for (unsigned way = 0; way < (wish->even ? 2 : 4); way++) {
		struct source source = {
			.step = *step, .isolated_only = way % 2 == 0, .uneven = way >= 2};

		if (try_kinds(topology, wish, source, pins))
			return true;
	}
	return false;
}

/* From what should be to what can be. */
static bool try_steps(const struct topology *topology, const struct pins_wish *wish,
		      struct pins *pins)
{
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (try_step(topology, wish, &steps[i], pins))
			return true;
	return false;
}

static bool is_pinned(const struct topology *topology, const struct pins *pins, unsigned index)
{
	return cpus_have(&pins->server, topology->cpus.cpu[index]) ||
	       cpus_have(&pins->client, topology->cpus.cpu[index]);
}

/* How many pinned CPUs have the value that CPU `index` has. */
static unsigned count_like(const struct topology *topology, const struct pins *pins,
			   const int *values, unsigned index)
{
	unsigned count = 0;

	for (unsigned i = 0; i < topology->cpus.count; i++)
		count += values[i] == values[index] && is_pinned(topology, pins, i);
	return count;
}

uint64_t pins_kinds(const struct topology *topology, const struct pins *pins)
{
	uint64_t kinds = 0;

	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (is_pinned(topology, pins, i))
			kinds |= 1ull << (topology->kind[i] & 63);
	return kinds;
}

static enum shortage judge_shortage(const struct topology *topology, const struct pins *pins)
{
	enum shortage shortage = SHORT_OF_NOTHING;

	for (unsigned i = 0; i < topology->cpus.count; i++) {
		if (!is_pinned(topology, pins, i))
			continue;
		if (count_like(topology, pins, topology->core, i) > 1)
			return SHORT_OF_CORES;
		if (is_reserved(topology, i))
			shortage = SHORT_OF_RESERVE;
	}
	return shortage;
}

static enum locality judge_locality(const struct topology *topology, const struct pins_wish *wish,
				    const struct pins *pins)
{
	unsigned nodes = pins->server_nodes.count;

	for (unsigned i = 0; i < pins->client_nodes.count; i++)
		nodes += !cpus_have(&pins->server_nodes, pins->client_nodes.cpu[i]);
	if (!wish->across_nodes)
		return nodes == 1 ? LOCALITY_AS_ASKED : LOCALITY_SPREAD;
	if (nodes == pins->server_nodes.count + pins->client_nodes.count && nodes == 2)
		return LOCALITY_AS_ASKED;
	return next_node(topology, next_node(topology, ANY)) == ANY ? LOCALITY_ONE_NODE
								    : LOCALITY_NO_ROOM;
}

void pins_list_nodes(const struct topology *topology, const struct cpus *cpus,
		     struct cpus *nodes_out)
{
	nodes_out->count = 0;
	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (cpus_have(cpus, topology->cpus.cpu[i]) &&
		    !cpus_have(nodes_out, (unsigned)topology->node[i]))
			nodes_out->cpu[nodes_out->count++] = (uint16_t)topology->node[i];
}

/* What follows from the CPUs that are chosen. */
static void complete(const struct topology *topology, const struct pins_wish *wish,
		     struct pins *pins)
{
	uint64_t kinds;

	pins_list_nodes(topology, &pins->server, &pins->server_nodes);
	pins_list_nodes(topology, &pins->client, &pins->client_nodes);
	pins->reserved.count = 0;
	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (is_reserved(topology, i) && count_like(topology, pins, topology->core, i) == 0)
			pins->reserved.cpu[pins->reserved.count++] = topology->cpus.cpu[i];
	kinds = pins_kinds(topology, pins);
	pins->degraded = texts[judge_locality(topology, wish, pins)][judge_shortage(topology, pins)]
			      [(kinds & (kinds - 1)) != 0];
}

int pins_choose(const struct topology *topology, const struct pins_wish *wish,
		struct pins *pins_out, struct tp_error *error)
{
	unsigned least = wish->alone ? 0 : 1;
	unsigned client_workers = wish->client_workers ? wish->client_workers : least;
	unsigned needed = wish->server_workers + client_workers;
	struct pins_wish anywhere = *wish;
	struct pins pins = {.upstream_degraded = NULL};

	anywhere.across_nodes = false;
	if (!try_steps(topology, wish, &pins) && !try_steps(topology, &anywhere, &pins))
		return tp_fail(
			error, -ENOSPC,
			"%u server and %u client workers need %u CPUs, but this process may use %u",
			wish->server_workers, client_workers, needed, topology->cpus.count);
	complete(topology, wish, &pins);
	*pins_out = pins;
	return 0;
}

void pins_reserve(const struct topology *topology, struct cpus *reserved_out)
{
	reserved_out->count = 0;
	if (pins_server_most(topology, false) == 0 && pins_server_most(topology, true) == 0)
		return;
	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (is_reserved(topology, i))
			reserved_out->cpu[reserved_out->count++] = topology->cpus.cpu[i];
}

/* Likewise of one kind. */
static unsigned server_most_of(const struct topology *topology, bool across_nodes, int kind)
{
	struct source source = {.node = ANY, .kind = kind};
	struct cpus cpus;
	unsigned most = 0, with_room = 0;

	while ((source.node = next_node(topology, source.node)) != ANY) {
		unsigned count;

		draw(topology, &source, &cpus);
		count = across_nodes ? cpus.count : cpus.count / 2;
		most = count > most ? count : most;
		with_room += cpus.count > 0;
	}
	return across_nodes && with_room < 2 ? 0 : most;
}

unsigned pins_server_most(const struct topology *topology, bool across_nodes)
{
	unsigned most = 0;

	for (int kind = pins_next_kind(topology, ANY); kind != ANY;
	     kind = pins_next_kind(topology, kind)) {
		unsigned count = server_most_of(topology, across_nodes, kind);

		most = count > most ? count : most;
	}
	return most;
}

json_t *pins_to_json(const struct pins *pins)
{
	json_t *json = json_pack("{so so so so}", "server_cpus", cpus_to_numbers(&pins->server),
				 "client_cpus", cpus_to_numbers(&pins->client), "server_nodes",
				 cpus_to_numbers(&pins->server_nodes), "client_nodes",
				 cpus_to_numbers(&pins->client_nodes));

	if (pins->upstream.count)
		json_object_set_new(json, "upstream_cpus", cpus_to_numbers(&pins->upstream));
	return json;
}
