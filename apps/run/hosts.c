#include "apps/run/hosts.h"

#include "apps/provenance/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *host, const char *key)
{
	return json_string_value(json_object_get(host, key));
}

static void read_wish(const json_t *host, struct remote_wish *wish)
{
	*wish = (struct remote_wish){
		.ssh = {.destination = text_of(host, "ssh"),
			.port = (unsigned)json_integer_value(json_object_get(host, "port")),
			.identity = text_of(host, "identity"),
			.config = text_of(host, "config")},
		.address = text_of(host, "address"),
		.weir = text_of(host, "weir"),
		.parent = text_of(host, "folder") ? text_of(host, "folder") : "/tmp",
		.cpus = text_of(host, "cpus"),
		.workers = (unsigned)json_integer_value(json_object_get(host, "workers")),
	};
	if (wish->cpus)
		cpus_parse(wish->cpus, &wish->cpus_wanted);
}

static void name_remote(struct remote *remote, const struct remote_wish *wish, const char *role)
{
	const char *destination = wish->ssh.destination;

	remote->wish = wish;
	snprintf(remote->name, sizeof(remote->name), "%.20s (%.100s)", role,
		 destination ? destination : "this host");
}

struct hosts *hosts_create(const json_t *json)
{
	struct hosts *hosts = json ? calloc(1, sizeof(*hosts)) : NULL;
	const json_t *clients = json_object_get(json, "clients");
	char role[32];

	if (!hosts)
		return NULL;
	read_wish(json_object_get(json, "server"), &hosts->server_wish);
	name_remote(&hosts->server, &hosts->server_wish, "server");
	hosts->client_count = clients ? (unsigned)json_array_size(clients) : 1;
	for (unsigned i = 0; i < hosts->client_count; i++) {
		read_wish(json_array_get(clients, i), &hosts->client_wishes[i]);
		snprintf(role, sizeof(role), hosts->client_count > 1 ? "client %u" : "client",
			 i + 1);
		name_remote(&hosts->clients[i], &hosts->client_wishes[i], role);
	}
	return hosts;
}

/* The server's host is 0, the clients' follow; NULL behind the last. */
static struct remote *nth(struct hosts *hosts, unsigned index)
{
	if (index == 0)
		return &hosts->server;
	return index <= hosts->client_count ? &hosts->clients[index - 1] : NULL;
}

const struct remote *hosts_nth(const struct hosts *hosts, unsigned index)
{
	return nth((struct hosts *)hosts, index);
}

int hosts_open(struct hosts *hosts, const char *run_id, const struct program *programs,
	       unsigned program_count, uint16_t port, struct interrupt *interrupt,
	       struct tp_error *error)
{
	struct remote *remote;
	char endpoint[64];
	int code;

	hosts->run_id = run_id;
	hosts->programs = programs;
	hosts->program_count = program_count;
	for (unsigned i = 0; (remote = nth(hosts, i)); i++) {
		code = 0;
		if (remote_is_far(remote))
			code = remote_open(remote, run_id, programs, program_count, interrupt,
					   error);
		else
			remote->facts = host_facts();
		if (code < 0)
			return code;
	}
	snprintf(endpoint, sizeof(endpoint), "%s:%u", hosts->server_wish.address, port);
	if (!remote_is_far(&hosts->server))
		return 0;
	return remote_check_listen(&hosts->server, endpoint, interrupt, error);
}

void hosts_destroy(struct hosts *hosts)
{
	struct remote *remote;

	if (!hosts)
		return;
	for (unsigned i = 0; (remote = nth(hosts, i)); i++)
		remote_fini(remote);
	free(hosts);
}

const char *hosts_address(const struct hosts *hosts)
{
	return hosts->server_wish.address;
}

/* One CPU a worker, of those that the remote has. */
static int choose_cpus(const struct remote *remote, unsigned workers, bool from_the_end,
		       struct cpus *cpus_out, struct tp_error *error)
{
	const struct cpus *from = &remote->wish->cpus_wanted;
	struct cpus here;
	unsigned first = 0;

	if (from->count == 0)
		from = remote->cores.count >= workers ? &remote->cores : &remote->cpus;
	if (from->count == 0) { /* not asked yet, or this host */
		if (cpus_allowed(&here) < 0 || remote_is_far(remote)) {
			here.count = workers;
			for (unsigned i = 0; i < workers; i++)
				here.cpu[i] = (uint16_t)i;
		}
		from = &here;
	}
	if (from->count < workers)
		return tp_fail(error, -ENOSPC, "%s has %u CPUs for %u workers", remote->name,
			       from->count, workers);
	if (from_the_end && !remote->wish->cpus)
		first = from->count - workers;
	else if (!remote->wish->cpus && from->count > workers)
		first = 1; /* the first core is left to the operating system */
	cpus_out->count = workers;
	memcpy(cpus_out->cpu, from->cpu + first, workers * sizeof(from->cpu[0]));
	return 0;
}

static unsigned workers_of(const struct hosts *hosts, unsigned client, unsigned workers)
{
	unsigned own = hosts->client_wishes[client].workers;

	return own ? own : workers;
}

int hosts_pins(const struct hosts *hosts, unsigned workers, unsigned client_workers,
	       struct pins *pins_out, struct tp_error *error)
{
	struct pins pins = {.degraded = NULL};
	struct cpus ignored;
	int code = choose_cpus(&hosts->server, workers, false, &pins.server, error);

	if (code == 0)
		code = choose_cpus(&hosts->clients[0], workers_of(hosts, 0, client_workers), true,
				   &pins.client, error);
	for (unsigned i = 1; code == 0 && i < hosts->client_count; i++)
		code = choose_cpus(&hosts->clients[i], workers_of(hosts, i, client_workers), true,
				   &ignored, error);
	if (code == 0)
		*pins_out = pins;
	return code;
}

unsigned hosts_client_workers(const struct hosts *hosts, unsigned workers)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < hosts->client_count; i++)
		sum += workers_of(hosts, i, workers);
	return sum;
}

const char *hosts_client_prefix(const struct hosts *hosts, unsigned index, char prefix[32])
{
	prefix[0] = '\0';
	if (hosts && hosts->client_count > 1)
		snprintf(prefix, 32, "clients/%u/", index + 1);
	return prefix;
}

/* "DIR/client.json" becomes "DIR/clients/2/client.json". */
static json_t *own_file(const struct hosts *hosts, unsigned index, const char *path)
{
	const char *name = strrchr(path, '/');
	char prefix[32];

	name = name ? name + 1 : path;
	return json_sprintf("%.*s%s%s", (int)(name - path), path,
			    hosts_client_prefix(hosts, index, prefix), name);
}

/* The client's own value of a flag, or NULL where it has the same as all. */
static json_t *own_value(const struct hosts *hosts, unsigned index, const char *flag,
			 const char *value, unsigned workers)
{
	unsigned own = workers_of(hosts, index, workers), all = (unsigned)strtoul(value, NULL, 10);
	unsigned count = hosts->client_count;
	char text[CPUS_TEXT_BYTES];
	struct tp_error ignored;
	struct cpus cpus;

	if (strcmp(flag, "--json") == 0 || strcmp(flag, "--metrics") == 0 ||
	    strcmp(flag, "--hgrm") == 0)
		return own_file(hosts, index, value);
	if (strcmp(flag, "--workers") == 0)
		return json_sprintf("%u", own);
	if (strcmp(flag, "--connections") == 0)
		return json_sprintf("%u", all / count + (index < all % count));
	if (strcmp(flag, "--cpus") == 0 &&
	    choose_cpus(&hosts->clients[index], own, true, &cpus, &ignored) == 0)
		return json_string(cpus_print(&cpus, text));
	return NULL;
}

json_t *hosts_client_argv(const struct hosts *hosts, unsigned index, const json_t *argv,
			  unsigned workers)
{
	json_t *own = json_copy((json_t *)argv);

	for (size_t i = 1; i < json_array_size(own); i++) {
		json_t *value =
			own_value(hosts, index, json_string_value(json_array_get(own, i - 1)),
				  json_string_value(json_array_get(own, i)), workers);

		if (value)
			json_array_set_new(own, i, value);
	}
	if (hosts->client_count > 1)
		json_array_append_new(own, json_string("--hold"));
	return own;
}

int hosts_revive(struct hosts *hosts, struct interrupt *interrupt, struct tp_error *error)
{
	struct remote *remote;

	for (unsigned i = 0; (remote = nth(hosts, i)); i++) {
		int code;

		if (!remote_is_far(remote) || remote_lives(remote, interrupt))
			continue;
		remote_close(remote);
		code = remote_open(remote, hosts->run_id, hosts->programs, hosts->program_count,
				   interrupt, error);
		if (code < 0) {
			remote->lost++;
			return code;
		}
	}
	return 0;
}

void hosts_keep(struct hosts *hosts)
{
	struct remote *remote;

	for (unsigned i = 0; (remote = nth(hosts, i)); i++)
		remote->lost = 0;
}

const struct remote *hosts_given_up(const struct hosts *hosts)
{
	const struct remote *remote;

	for (unsigned i = 0; (remote = hosts_nth(hosts, i)); i++)
		if (remote->lost >= HOSTS_LOSSES_MAX)
			return remote;
	return NULL;
}

void hosts_beat(struct hosts *hosts)
{
	struct remote *remote;

	for (unsigned i = 0; (remote = nth(hosts, i)); i++)
		remote_beat(remote);
}
