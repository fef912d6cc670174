#include "apps/run/hosts/hosts.h"

#include "apps/common/json.h"
#include "apps/run/store/differ.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What two clocks may be apart, beyond what is not known of it, before it is said aloud, ms. */
static const double clock_apart_ms = 50;

/* Facts that should be the same on every host. */
static const char *const compared[] = {"kernel",      "kernel_build", "os",	    "cpu_model",
				       "clocksource", "governor",     "smt_active", "architecture"};

enum { COMPARED = sizeof(compared) / sizeof(compared[0]) };

/* Whether two hosts do not have the same in a fact. */
static bool differs(const struct hosts *hosts, const char *fact)
{
	const json_t *first = json_object_get(hosts->server.facts, fact);
	const struct remote *remote;

	for (unsigned i = 1; (remote = hosts_nth(hosts, i)); i++) {
		const json_t *other = json_object_get(remote->facts, fact);

		if (first && other && !json_equal(first, other))
			return true;
	}
	return false;
}

/* {"server (...)": value, "client 1 (...)": value} */
static json_t *values_of(const struct hosts *hosts, const char *fact)
{
	json_t *values = json_object();
	const struct remote *remote;

	for (unsigned i = 0; (remote = hosts_nth(hosts, i)); i++) {
		json_t *value = json_object_get(remote->facts, fact);

		if (value)
			json_object_set(values, remote->name, value);
		else
			json_object_set_new(values, remote->name, json_null());
	}
	return values;
}

static json_t *differences_of(const struct hosts *hosts)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < COMPARED; i++)
		if (differs(hosts, compared[i]))
			json_array_append_new(list,
					      json_pack("{ss so}", "fact", compared[i], "values",
							values_of(hosts, compared[i])));
	return list;
}

static json_t *cpus_to_json(const struct remote *remote)
{
	char text[CPUS_TEXT_BYTES];

	return json_text(remote->topology ? cpus_print(&remote->topology->cpus, text) : NULL);
}

static json_t *remote_to_json(const struct remote *remote)
{
	json_t *object = json_pack("{ss ss? ss? ss?}", "name", remote->name, "ssh",
				   remote->wish->ssh.destination, "address", remote->wish->address,
				   "cpus", remote->wish->cpus);

	if (remote_is_far(remote)) {
		json_object_set_new(object, "folder", json_text(remote->folder));
		json_object_set_new(object, "program",
				    json_text(remote->was_there ? "was there" : "copied"));
		json_object_set_new(object, "cpus_there", cpus_to_json(remote));
	}
	if (remote->clock)
		json_object_set(object, "clock", remote->clock);
	else
		json_set_unknown(object, "clock",
				 "this host's own: the others are compared with it");
	json_object_set(object, "facts", remote->facts);
	return object;
}

json_t *hosts_to_json(const struct hosts *hosts)
{
	json_t *clients = json_array();

	for (unsigned i = 0; i < hosts->client_count; i++)
		json_array_append_new(clients, remote_to_json(&hosts->clients[i]));
	return json_pack("{ss ss so so sb so}", "schema", HOSTS_SCHEMA, "sha256",
			 hosts->programs[0].sha256, "server", remote_to_json(&hosts->server),
			 "clients", clients, "kernels_equal", !differs(hosts, "kernel"),
			 "differences", differences_of(hosts));
}

/* Adds what differs of one host, by its name. */
static void differ_one(const struct remote *remote, const json_t *was, json_t *differences)
{
	const json_t *facts = json_object_get(was, "facts");
	json_t *own, *one;
	size_t index;

	if (!remote->facts)
		return;
	own = json_array();
	differ_hosts(facts, remote->facts, own);
	json_array_foreach(own, index, one)
	{
		json_object_set_new(one, "what",
				    json_sprintf("%s of %s",
						 json_string_value(json_object_get(one, "what")),
						 remote->name));
		json_array_append(differences, one);
	}
	json_decref(own);
}

void hosts_differ(const struct hosts *hosts, const json_t *was, json_t *differences)
{
	const json_t *clients = json_object_get(was, "clients");

	differ_one(&hosts->server, json_object_get(was, "server"), differences);
	for (unsigned i = 0; i < hosts->client_count; i++)
		differ_one(&hosts->clients[i], json_array_get(clients, i), differences);
}

static bool is_disturbed(const struct remote *remote)
{
	return json_is_true(json_object_get(remote->busy, "disturbed"));
}

bool hosts_disturbed(const struct hosts *hosts)
{
	const struct remote *remote;

	for (unsigned i = 0; (remote = hosts_nth(hosts, i)); i++)
		if (is_disturbed(remote))
			return true;
	return false;
}

json_t *hosts_busy(const struct hosts *hosts)
{
	json_t *busy = json_object();
	const struct remote *remote;

	for (unsigned i = 0; (remote = hosts_nth(hosts, i)); i++)
		if (remote->busy)
			json_object_set(busy, remote->name, remote->busy);
	return busy;
}

void hosts_print_busy(const struct hosts *hosts, const char *program, FILE *to)
{
	const struct remote *remote;

	for (unsigned i = 0; (remote = hosts_nth(hosts, i)); i++) {
		const json_t *who = json_object_get(remote->busy, "who");
		const char *before = " (";
		size_t index;
		json_t *one;

		if (!is_disturbed(remote))
			continue;
		fprintf(to, "%s: others work on %s: %.2f CPUs", program, remote->name,
			json_number_value(json_object_get(remote->busy, "cpus")));
		json_array_foreach((json_t *)who, index, one)
		{
			fprintf(to, "%s%s, pid %lld, %.2f", before,
				json_string_value(json_object_get(one, "name")),
				(long long)json_integer_value(json_object_get(one, "pid")),
				json_number_value(json_object_get(one, "cpus")));
			before = "; ";
		}
		fprintf(to, "%s\n", json_array_size(who) ? ")" : "");
	}
}

json_t *hosts_stamp(const struct hosts *hosts)
{
	json_t *clients = json_array();

	for (unsigned i = 0; i < hosts->client_count; i++)
		json_array_append_new(clients, json_text(hosts->clients[i].name));
	return json_pack("{ss so sb}", "server", hosts->server.name, "clients", clients,
			 "kernels_equal", !differs(hosts, "kernel"));
}

static void print_difference(const struct hosts *hosts, const char *fact, FILE *to)
{
	const struct remote *remote;

	fprintf(to, "hosts differ: %s:", fact);
	for (unsigned i = 0; (remote = hosts_nth(hosts, i)); i++) {
		char *value = json_dumps(json_object_get(remote->facts, fact),
					 JSON_ENCODE_ANY | JSON_COMPACT);

		fprintf(to, "%s %s %.120s", i ? "," : "", remote->name, value ? value : "null");
		free(value);
	}
	fputc('\n', to);
}

static void print_clock(const struct remote *remote, FILE *to)
{
	double offset_ms = json_number_value(json_object_get(remote->clock, "offset_ms"));
	double error_ms = json_number_value(json_object_get(remote->clock, "uncertainty_ms"));

	if (remote->clock && fabs(offset_ms) > clock_apart_ms + error_ms)
		fprintf(to,
			"the clock of %s is %+.1f ms from this host's (+-%.1f ms): times in its "
			"files are its own\n",
			remote->name, offset_ms, error_ms);
}

void hosts_print(const struct hosts *hosts, FILE *to)
{
	const struct remote *remote;

	for (unsigned i = 0; i < COMPARED; i++)
		if (differs(hosts, compared[i]))
			print_difference(hosts, compared[i], to);
	for (unsigned i = 0; (remote = hosts_nth(hosts, i)); i++)
		print_clock(remote, to);
	fflush(to);
}
