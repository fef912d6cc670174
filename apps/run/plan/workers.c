#include "apps/run/plan/workers.h"

#include "apps/common/stack.h"

unsigned workers_server_most(const struct topology *topology, bool across_nodes)
{
	unsigned most = pins_server_most(topology, across_nodes);

	if (most == 0)
		most = topology->cpus.count / 2;
	return most ? most : 1;
}

static unsigned least_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* What "all" comes to on a side that could have `workers`. */
static unsigned cap(unsigned workers, unsigned connections, unsigned side_max)
{
	workers = least_of(least_of(workers, connections), STACK_WORKERS_MAX);
	return side_max ? least_of(workers, side_max) : workers;
}

static void set_number(struct setting_value *value, unsigned number)
{
	*value = (struct setting_value){.number = number};
}

int workers_choose(struct cell *cell, const struct topology *topology,
		   const struct workers_bounds *bounds, struct pins *pins_out,
		   struct tp_error *error)
{
	struct setting_value *server = &cell->of[SETTING_WORKERS];
	struct setting_value *client = &cell->of[SETTING_CLIENT_WORKERS];
	unsigned connections = cell->of[SETTING_CONNECTIONS].number, most;
	struct pins_wish wish = {.across_nodes =
					 setting_says(cell->of[SETTING_PLACEMENT], "across-nodes"),
				 .kind = bounds->kind,
				 .even = bounds->even};
	int code;

	if (setting_says(*server, "all"))
		set_number(server, cap(workers_server_most(topology, wish.across_nodes),
				       connections, bounds->server_max));
	if (setting_says(*client, "same"))
		*client = *server;
	wish.server_workers = server->number;
	wish.client_workers = client->number;
	code = pins_choose(topology, &wish, pins_out, error);
	if (code < 0 || !setting_says(*client, "all"))
		return code;
	most = cap(pins_out->client.count, connections, bounds->client_max);
	set_number(client, most);
	wish.client_workers = most;
	return most == pins_out->client.count ? 0 : pins_choose(topology, &wish, pins_out, error);
}
