#include "apps/run/hosts/hosts_pins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROLES_MAX = 1 + HOSTS_CLIENTS_MAX };

static const char clients_share[] =
	"clients share CPUs of one machine, as the experiment names them";
static const char cores_shared[] =
	"server and clients of one machine share physical cores: beside the CPUs that the "
	"experiment names too few are left";

/* A choice as it is made; role 0 is the server's, the clients' follow. */
struct choice {
	const struct hosts *hosts;
	const struct topology *here;
	unsigned workers[ROLES_MAX];
	unsigned count;
	struct hosts_pins *pins;
	struct tp_error *error;
};

/* The roles of one machine, and how many workers have no CPU yet. */
struct machine {
	const struct topology *topology;
	unsigned roles[ROLES_MAX];
	unsigned count;
	unsigned server_workers;
	unsigned client_workers;
};

static struct cpus *cpus_of(const struct choice *choice, unsigned role)
{
	return role == 0 ? &choice->pins->first.server : &choice->pins->clients[role - 1];
}

static const struct topology *topology_of(const struct choice *choice, unsigned role)
{
	const struct remote *remote = hosts_nth(choice->hosts, role);

	return remote->topology || remote_is_far(remote) ? remote->topology : choice->here;
}

/* The CPUs that the experiment names for a role. 0 or -ENOSPC. */
static int take_named(const struct choice *choice, unsigned role)
{
	const struct remote *remote = hosts_nth(choice->hosts, role);
	const struct cpus *named = &remote->wish->cpus_wanted;
	unsigned workers = choice->workers[role];

	if (named->count == 0)
		return 0;
	if (named->count < workers)
		return tp_fail(choice->error, -ENOSPC, "%s has %u CPUs for %u workers",
			       remote->name, named->count, workers);
	cpus_of(choice, role)->count = workers;
	memcpy(cpus_of(choice, role)->cpu, named->cpu, workers * sizeof(named->cpu[0]));
	return 0;
}

/* A CPU that both have, or -1. */
static int common_cpu(const struct cpus *a, const struct cpus *b)
{
	for (unsigned i = 0; i < a->count; i++)
		if (cpus_have(b, a->cpu[i]))
			return a->cpu[i];
	return -1;
}

/* What two roles of a machine have in common by the experiment's own words. 0 or -EINVAL. */
static int judge_named(const struct choice *choice, const struct machine *machine)
{
	for (unsigned i = 0; i < machine->count; i++)
		for (unsigned k = 0; k < i; k++) {
			unsigned role = machine->roles[i], other = machine->roles[k];
			int cpu = common_cpu(cpus_of(choice, other), cpus_of(choice, role));

			if (cpu < 0)
				continue;
			if (other == 0)
				return tp_fail(choice->error, -EINVAL,
					       "%s and %s are one machine, and both are to use its "
					       "CPU %d: name other CPUs, or leave \"cpus\" out",
					       hosts_nth(choice->hosts, other)->name,
					       hosts_nth(choice->hosts, role)->name, cpu);
			choice->pins->first.degraded = clients_share;
		}
	return 0;
}

/* Whether the CPU at `index`, or if `whole` a sibling of its core, has a worker by name. */
static bool is_named(const struct choice *choice, const struct machine *machine, unsigned index,
		     bool whole)
{
	const struct topology *topology = machine->topology;

	for (unsigned i = 0; i < topology->cpus.count; i++) {
		if (whole ? topology->core[i] != topology->core[index] : i != index)
			continue;
		for (unsigned k = 0; k < machine->count; k++)
			if (cpus_have(cpus_of(choice, machine->roles[k]), topology->cpus.cpu[i]))
				return true;
	}
	return false;
}

/* The machine without what is named. */
static void copy_rest(const struct choice *choice, const struct machine *machine, bool whole,
		      struct topology *rest)
{
	const struct topology *from = machine->topology;

	memset(rest, 0, sizeof(*rest));
	for (unsigned i = 0; i < from->cpus.count; i++) {
		unsigned to = rest->cpus.count;

		if (is_named(choice, machine, i, whole))
			continue;
		rest->cpus.cpu[to] = from->cpus.cpu[i];
		rest->core[to] = from->core[i];
		rest->package[to] = from->package[i];
		rest->node[to] = from->node[i];
		rest->kind[to] = from->kind[i];
		rest->isolated[to] = from->isolated[i];
		rest->cpus.count++;
	}
}

/* Deals the chosen CPUs out to the roles that have none. */
static void deal(const struct choice *choice, const struct machine *machine,
		 const struct pins *chosen)
{
	const struct cpus *for_clients =
		machine->server_workers ? &chosen->client : &chosen->server;
	unsigned used = 0;

	for (unsigned i = 0; i < machine->count; i++) {
		unsigned role = machine->roles[i];
		struct cpus *cpus = cpus_of(choice, role);

		if (cpus->count)
			continue;
		if (role == 0) {
			*cpus = chosen->server;
			continue;
		}
		cpus->count = choice->workers[role];
		memcpy(cpus->cpu, for_clients->cpu + used, cpus->count * sizeof(cpus->cpu[0]));
		used += cpus->count;
	}
}

static int refuse(const struct choice *choice, const struct machine *machine)
{
	const struct remote *remote = hosts_nth(choice->hosts, machine->roles[0]);
	unsigned workers = 0;

	for (unsigned i = 0; i < machine->count; i++)
		workers += choice->workers[machine->roles[i]];
	if (machine->count == 1)
		return tp_fail(choice->error, -ENOSPC, "%s has %u CPUs for %u workers",
			       remote->name, machine->topology->cpus.count, workers);
	return tp_fail(choice->error, -ENOSPC,
		       "%s and %u more of the hosts are one machine, which has %u CPUs for %u "
		       "workers; take fewer, or another machine",
		       remote->name, machine->count - 1, machine->topology->cpus.count, workers);
}

/* Chooses for the roles of a machine for which nothing is named. 0, -ENOSPC or -ENOMEM. */
static int choose_rest(const struct choice *choice, const struct machine *machine)
{
	unsigned server = machine->server_workers, client = machine->client_workers;
	bool alone = server == 0 || client == 0, shares_cores = false;
	struct pins_wish wish = {.server_workers = server ? server : client,
				 .client_workers = alone ? 0 : client,
				 .alone = alone};
	struct topology *rest = malloc(sizeof(*rest));
	struct tp_error ignored;
	struct pins pins;
	int code;

	if (!rest)
		return tp_fail(choice->error, -ENOMEM, "no memory to choose CPUs");
	copy_rest(choice, machine, true, rest);
	code = pins_choose(rest, &wish, &pins, &ignored);
	if (code < 0) {
		shares_cores = true;
		copy_rest(choice, machine, false, rest);
		code = pins_choose(rest, &wish, &pins, &ignored);
	}
	free(rest);
	if (code < 0)
		return refuse(choice, machine);
	deal(choice, machine, &pins);
	if (shares_cores)
		choice->pins->first.degraded = cores_shared;
	else if (pins.degraded && !choice->pins->first.degraded)
		choice->pins->first.degraded = pins.degraded;
	if (machine->count == choice->count)
		choice->pins->first.reserved = pins.reserved;
	return 0;
}

static bool knows_all(const struct choice *choice)
{
	for (unsigned role = 0; role < choice->count; role++)
		if (!topology_of(choice, role))
			return false;
	return true;
}

/* The machine of `role`, if none before it is on the same. */
static bool find_machine(const struct choice *choice, unsigned role, struct machine *machine_out)
{
	struct machine machine = {.topology = topology_of(choice, role)};

	for (unsigned other = 0; other < choice->count; other++) {
		if (other != role && !remote_is_same_machine(hosts_nth(choice->hosts, other),
							     hosts_nth(choice->hosts, role)))
			continue;
		if (other < role)
			return false;
		machine.roles[machine.count++] = other;
		if (cpus_of(choice, other)->count)
			continue;
		if (other == 0)
			machine.server_workers = choice->workers[0];
		else
			machine.client_workers += choice->workers[other];
	}
	*machine_out = machine;
	return true;
}

static int choose(const struct choice *choice)
{
	struct machine machine;
	int code = 0;

	for (unsigned role = 0; code == 0 && role < choice->count; role++)
		code = take_named(choice, role);
	if (code < 0 || !knows_all(choice))
		return code;
	for (unsigned role = 0; code == 0 && role < choice->count; role++) {
		if (!find_machine(choice, role, &machine))
			continue;
		code = judge_named(choice, &machine);
		if (code == 0 && machine.server_workers + machine.client_workers > 0)
			code = choose_rest(choice, &machine);
	}
	return code;
}

int hosts_pins_choose(const struct hosts *hosts, const struct topology *here, unsigned workers,
		      unsigned client_workers, struct hosts_pins *pins_out, struct tp_error *error)
{
	struct choice choice = {.hosts = hosts,
				.here = here,
				.workers = {workers},
				.count = 1 + hosts->client_count,
				.pins = pins_out,
				.error = error};
	struct pins *first = &pins_out->first;
	int code;

	for (unsigned role = 1; role < choice.count; role++) {
		unsigned own = hosts->client_wishes[role - 1].workers;

		choice.workers[role] = own ? own : client_workers;
	}
	memset(pins_out, 0, sizeof(*pins_out));
	code = choose(&choice);
	if (code < 0)
		return code;
	first->client = pins_out->clients[0];
	if (topology_of(&choice, 0))
		pins_list_nodes(topology_of(&choice, 0), &first->server, &first->server_nodes);
	if (topology_of(&choice, 1))
		pins_list_nodes(topology_of(&choice, 1), &first->client, &first->client_nodes);
	return 0;
}
