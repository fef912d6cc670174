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

int pins_choose(const struct topology *topology, unsigned server_workers, unsigned client_workers,
		struct pins *pins_out, struct tp_error *error)
{
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
	*pins_out = pins;
	return 0;
}

json_t *pins_cpus_to_json(const struct cpus *cpus)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < cpus->count; i++)
		json_array_append_new(list, json_integer(cpus->cpu[i]));
	return list;
}
