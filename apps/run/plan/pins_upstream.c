#include "apps/run/plan/pins.h"

#include <errno.h>

static const char on_systems[] = "the upstream has a core that is the operating system's";
static const char on_clients[] =
	"the upstream shares the client's CPUs, for there is none to spare";

/* Whether nobody has the physical core of a CPU yet. */
static bool is_free(const struct topology *topology, const struct pins *pins, unsigned index)
{
	for (unsigned i = 0; i < topology->cpus.count; i++) {
		unsigned cpu = topology->cpus.cpu[i];

		if (topology->core[i] == topology->core[index] &&
		    (cpus_have(&pins->server, cpu) || cpus_have(&pins->client, cpu) ||
		     cpus_have(&pins->upstream, cpu)))
			return false;
	}
	return true;
}

/* How much a CPU is like the server's first. */
static unsigned likeness(const struct topology *topology, const struct pins *pins, unsigned index)
{
	unsigned server = 0;

	while (topology->cpus.cpu[server] != pins->server.cpu[0])
		server++;
	return 4u * (topology->node[index] == topology->node[server]) +
	       2u * (topology->kind[index] == topology->kind[server]) +
	       (topology->isolated[index] == topology->isolated[server]);
}

/* Adds the best free core, of those kept for the operating system only if `whole`. */
static bool add_free(const struct topology *topology, bool whole, struct pins *pins)
{
	unsigned best = 0, best_likeness = 0;
	bool found = false;

	for (unsigned i = 0; i < topology->cpus.count; i++) {
		unsigned like = likeness(topology, pins, i);

		if (!topology_is_first_of_core(topology, i) || !is_free(topology, pins, i) ||
		    (!whole && cpus_have(&pins->reserved, topology->cpus.cpu[i])) ||
		    (found && like <= best_likeness))
			continue;
		best = i;
		best_likeness = like;
		found = true;
	}
	if (found)
		pins->upstream.cpu[pins->upstream.count++] = topology->cpus.cpu[best];
	return found;
}

/* Takes from the operating system's cores those that the upstream has now. */
static void settle_reserved(const struct topology *topology, struct pins *pins)
{
	struct cpus kept = {.count = 0};

	for (unsigned i = 0; i < topology->cpus.count; i++)
		if (cpus_have(&pins->reserved, topology->cpus.cpu[i]) && is_free(topology, pins, i))
			kept.cpu[kept.count++] = topology->cpus.cpu[i];
	if (kept.count < pins->reserved.count)
		pins->upstream_degraded = on_systems;
	pins->reserved = kept;
}

int pins_add_upstream(const struct topology *topology, unsigned workers, struct pins *pins,
		      struct tp_error *error)
{
	pins->upstream.count = 0;
	pins->upstream_degraded = NULL;
	for (unsigned way = 0; way < 2; way++)
		while (pins->upstream.count < workers && add_free(topology, way == 1, pins))
			;
	if (pins->upstream.count == workers) {
		settle_reserved(topology, pins);
		return 0;
	}
	if (workers > pins->client.count)
		return tp_fail(error, -ENOSPC,
			       "an upstream of %u workers needs %u CPUs, and beside server and "
			       "client there are %u, or the client's %u to be shared; lower its "
			       "\"workers\"",
			       workers, workers, pins->upstream.count, pins->client.count);
	pins->upstream.count = 0;
	while (pins->upstream.count < workers) {
		pins->upstream.cpu[pins->upstream.count] = pins->client.cpu[pins->upstream.count];
		pins->upstream.count++;
	}
	pins->upstream_degraded = on_clients;
	return 0;
}

bool pins_upstream_shares(const struct pins *pins)
{
	return pins->upstream.count && cpus_have(&pins->client, pins->upstream.cpu[0]);
}
