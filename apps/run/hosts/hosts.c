#include "apps/run/hosts/hosts.h"

#include "apps/common/port.h"
#include "apps/provenance/fact.h"
#include "apps/provenance/host.h"
#include "apps/run/hosts/hosts_pins.h"
#include "dataplane/transport/addr.h"

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

/* What runs on this host, as far as it is one of the hosts. 0 or negative errno. */
static int open_near(struct remote *remote, struct tp_error *error)
{
	int code;

	remote->facts = host_facts();
	remote->topology = calloc(1, sizeof(*remote->topology));
	code = remote->topology ? topology_read(remote->topology) : -ENOMEM;
	return code < 0 ? tp_fail(error, code, "%s: cannot read which CPUs there are: %s",
				  remote->name, strerror(-code))
			: 0;
}

static int open_far(struct hosts *hosts, struct remote *remote, struct interrupt *interrupt,
		    struct tp_error *error)
{
	return remote_open(remote, hosts->run_id, hosts->programs, hosts->program_count, interrupt,
			   error);
}

static void beat_all(void *user)
{
	hosts_beat(user);
}

/*
 * Whether `index` stands for a machine that is not this one, and no host before it does: each
 * machine is locked and looked at once.
 */
static bool is_other_machine(const struct hosts *hosts, unsigned index)
{
	const struct remote *remote = hosts_nth(hosts, index);
	const char *boot_id = text_of(remote->facts, "boot_id");

	if (!remote_is_far(remote) || (boot_id && strcmp(boot_id, hosts->boot_id) == 0))
		return false;
	for (unsigned i = 0; i < index; i++)
		if (remote_is_same_machine(hosts_nth(hosts, i), remote))
			return false;
	return true;
}

/* No other run on any machine that this one measures on. 0 or negative errno. */
static int lock_machines(struct hosts *hosts, struct interrupt *interrupt, struct tp_error *error)
{
	struct remote *remote;
	int code = 0;

	for (unsigned i = 0; code == 0 && (remote = nth(hosts, i)); i++)
		if (is_other_machine(hosts, i))
			code = remote_lock(remote, hosts->run_id, interrupt, error);
	return code;
}

/* Whether the server could listen at its address. */
static int check_listen(struct hosts *hosts, uint16_t port, struct interrupt *interrupt,
			struct tp_error *error)
{
	struct tp_error why;
	struct tp_addr addr;
	char endpoint[64];
	int code;

	snprintf(endpoint, sizeof(endpoint), "%s:%u", hosts->server_wish.address, port);
	if (remote_is_far(&hosts->server))
		return remote_check_listen(&hosts->server, endpoint, interrupt, error);
	if (tp_addr_parse(endpoint, &addr) < 0)
		return tp_fail(error, -EINVAL, "%s is no endpoint", endpoint);
	code = port_check(&addr, &why);
	return code < 0 ? tp_fail(error, code, "a server cannot listen on %s: %.400s%s", endpoint,
				  why.text, code == -EADDRNOTAVAIL ? PORT_NOT_OWN : "")
			: 0;
}

int hosts_open(struct hosts *hosts, const char *run_id, const struct program *programs,
	       unsigned program_count, uint16_t port, struct interrupt *interrupt,
	       struct tp_error *error)
{
	struct remote *remote;
	int code = 0;

	hosts->run_id = run_id;
	hosts->programs = programs;
	hosts->program_count = program_count;
	if (fact_read_line("/proc/sys/kernel/random/boot_id", hosts->boot_id,
			   sizeof(hosts->boot_id)) < 0)
		hosts->boot_id[0] = '\0';
	for (unsigned i = 0; code == 0 && (remote = nth(hosts, i)); i++) {
		remote->on_step = beat_all;
		remote->user = hosts;
		code = remote_is_far(remote) ? open_far(hosts, remote, interrupt, error)
					     : open_near(remote, error);
		hosts_beat(hosts);
	}
	if (code == 0)
		code = lock_machines(hosts, interrupt, error);
	if (code == 0)
		code = check_listen(hosts, port, interrupt, error);
	return code;
}

int hosts_look(struct hosts *hosts, struct interrupt *interrupt, struct tp_error *error)
{
	struct remote *remote;
	int code = 0;

	for (unsigned i = 0; code == 0 && (remote = nth(hosts, i)); i++)
		if (is_other_machine(hosts, i))
			code = remote_look(remote, interrupt, error);
	return code;
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

static unsigned workers_of(const struct hosts *hosts, unsigned client, unsigned workers)
{
	unsigned own = hosts->client_wishes[client].workers;

	return own ? own : workers;
}

int hosts_pins(const struct hosts *hosts, const struct topology *here, unsigned workers,
	       unsigned client_workers, struct pins *pins_out, struct tp_error *error)
{
	struct hosts_pins *pins = malloc(sizeof(*pins));
	int code = pins ? hosts_pins_choose(hosts, here, workers, client_workers, pins, error)
			: tp_fail(error, -ENOMEM, "no memory to choose CPUs");

	if (code == 0)
		*pins_out = pins->first;
	free(pins);
	return code;
}

int hosts_client_cpus(const struct hosts *hosts, unsigned index, unsigned workers,
		      unsigned client_workers, struct cpus *cpus_out)
{
	struct hosts_pins *pins = malloc(sizeof(*pins));
	struct tp_error ignored;
	int code = pins ? hosts_pins_choose(hosts, NULL, workers, client_workers, pins, &ignored)
			: -ENOMEM;

	if (code == 0)
		*cpus_out = pins->clients[index];
	free(pins);
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
			 const char *value, unsigned workers, const struct cpus *cpus)
{
	unsigned own = workers_of(hosts, index, workers), all = (unsigned)strtoul(value, NULL, 10);
	unsigned count = hosts->client_count;
	char text[CPUS_TEXT_BYTES];

	if (strcmp(flag, "--json") == 0 || strcmp(flag, "--metrics") == 0 ||
	    strcmp(flag, "--hgrm") == 0)
		return own_file(hosts, index, value);
	if (strcmp(flag, "--workers") == 0)
		return json_sprintf("%u", own);
	if (strcmp(flag, "--connections") == 0)
		return json_sprintf("%u", all / count + (index < all % count));
	if (strcmp(flag, "--cpus") == 0)
		return json_string(cpus_print(cpus, text));
	return NULL;
}

json_t *hosts_client_argv(const struct hosts *hosts, unsigned index, const json_t *argv,
			  unsigned workers, const struct cpus *cpus)
{
	json_t *own = json_copy((json_t *)argv);

	for (size_t i = 1; i < json_array_size(own); i++) {
		json_t *value =
			own_value(hosts, index, json_string_value(json_array_get(own, i - 1)),
				  json_string_value(json_array_get(own, i)), workers, cpus);

		if (value)
			json_array_set_new(own, i, value);
	}
	if (hosts->client_count > 1)
		json_array_append_new(own, json_string("--hold"));
	return own;
}

/* Opens a lost host anew, with the lock that was held through it. */
static int reopen(struct hosts *hosts, struct remote *remote, struct interrupt *interrupt,
		  struct tp_error *error)
{
	int code;

	remote_close(remote);
	code = open_far(hosts, remote, interrupt, error);
	if (code == 0 && remote->holds_lock)
		code = remote_lock(remote, hosts->run_id, interrupt, error);
	return code;
}

int hosts_revive(struct hosts *hosts, struct interrupt *interrupt, struct tp_error *error)
{
	struct remote *remote;

	for (unsigned i = 0; (remote = nth(hosts, i)); i++) {
		int code = 0;

		if (remote_is_far(remote) && !remote_lives(remote, interrupt))
			code = reopen(hosts, remote, interrupt, error);
		hosts_beat(hosts);
		if (code < 0) {
			hosts_lose(remote);
			return code;
		}
	}
	return 0;
}

void hosts_lose(struct remote *remote)
{
	if (!remote->lost_already)
		remote->lost++;
	remote->lost_already = true;
}

void hosts_end_sample(struct hosts *hosts, bool carried_out)
{
	struct remote *remote;

	for (unsigned i = 0; (remote = nth(hosts, i)); i++) {
		if (carried_out && !remote->lost_already)
			remote->lost = 0;
		remote->lost_already = false;
	}
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
