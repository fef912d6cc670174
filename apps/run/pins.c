#include "apps/run/pins.h"

#include <errno.h>

static void take(struct cpus *to, const struct cpus *from, unsigned first, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		to->cpu[to->count++] = from->cpu[first + i];
}

/* One CPU of each core. */
static struct cpus cores_of(const struct topology *topology)
{
	struct cpus cores = {.count = 0};

	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (topology_is_first_of_core(topology, i))
			cores.cpu[cores.count++] = topology->cpus.cpu[i];
	return cores;
}

/* The NUMA nodes of these CPUs, each once. */
static void list_nodes(const struct topology *topology, const struct cpus *cpus,
		       struct cpus *nodes_out)
{
	nodes_out->count = 0;
	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (cpus_have(cpus, topology->cpus.cpu[i]) &&
		    !cpus_have(nodes_out, (unsigned)topology->node[i]))
			nodes_out->cpu[nodes_out->count++] = (uint16_t)topology->node[i];
}

int pins_choose(const struct topology *topology, const struct pins_wish *wish,
		struct pins *pins_out, struct tp_error *error)
{
	unsigned server_workers = wish->server_workers;
	unsigned client_workers = wish->client_workers ? wish->client_workers : server_workers;
	unsigned needed = server_workers + client_workers;
	struct cpus from = cores_of(topology);
	struct pins pins = {.degraded = NULL};
	unsigned first = 1;

	if (topology->cpus.count < needed)
		return tp_fail(
			error, -ENOSPC,
			"%u server and %u client workers need %u CPUs, but this process may use %u",
			server_workers, client_workers, needed, topology->cpus.count);
	if (from.count < needed) {
		from = topology->cpus;
		pins.degraded = "server and client share physical cores, and none is left for the "
				"operating system";
	} else if (from.count == needed) {
		pins.degraded = "no core is left for the operating system";
	}
	if (pins.degraded)
		first = 0;
	take(&pins.server, &from, first, server_workers);
	take(&pins.client, &from, first + server_workers, client_workers);
	take(&pins.reserved, &from, 0, first);
	list_nodes(topology, &pins.server, &pins.server_nodes);
	list_nodes(topology, &pins.client, &pins.client_nodes);
	*pins_out = pins;
	return 0;
}

void pins_reserve(const struct topology *topology, struct cpus *reserved_out)
{
	struct cpus cores = cores_of(topology);

	reserved_out->count = 0;
	if (cores.count > 2)
		take(reserved_out, &cores, 0, 1);
}

unsigned pins_server_most(const struct topology *topology, bool across_nodes)
{
	if (across_nodes && topology->nodes < 2)
		return 0;
	return topology->cores > 2 ? (topology->cores - 1) / 2 : 0;
}

json_t *pins_to_json(const struct pins *pins)
{
	return json_pack("{so so so so}", "server_cpus", pins_cpus_to_json(&pins->server),
			 "client_cpus", pins_cpus_to_json(&pins->client), "server_nodes",
			 pins_cpus_to_json(&pins->server_nodes), "client_nodes",
			 pins_cpus_to_json(&pins->client_nodes));
}

json_t *pins_cpus_to_json(const struct cpus *cpus)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < cpus->count; i++)
		json_array_append_new(list, json_integer(cpus->cpu[i]));
	return list;
}
