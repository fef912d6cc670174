#include "apps/run/hosts/hosts.h"

#include "apps/common/stack.h"
#include "apps/common/place.h"
#include "dataplane/core/nearest.h"
#include "dataplane/transport/addr.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 4, TEXT_MAX = 120 };

/* Signs that no shell takes for anything else. */
static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/+-";

struct judge {
	const char *path;
	const char *text;
	struct problems *problems;
	struct place_step steps[STEPS_MAX]; /* the way to what is judged */
	unsigned count;
};

__attribute__((format(printf, 3, 4))) static void complain(const struct judge *judge, bool at_key,
							   const char *format, ...)
{
	struct place place = place_find(judge->text, judge->steps, judge->count, at_key);
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	problems_add(judge->problems, "%s:%u:%u: %s", judge->path, place.line, place.column, text);
}

static bool is_destination(const char *text)
{
	return text[0] && text[0] != '-' && strlen(text) <= TEXT_MAX &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			    "._@:-[]%+") == strlen(text);
}

static bool is_file(const char *text)
{
	return text[0] == '/' && strlen(text) < FILENAME_MAX;
}

static bool is_address(const char *text)
{
	char endpoint[TEXT_MAX + 8];
	struct tp_addr ignored;

	snprintf(endpoint, sizeof(endpoint), "%.*s:1", TEXT_MAX, text);
	return strspn(text, "0123456789.") == strlen(text) &&
	       tp_addr_parse(endpoint, &ignored) == 0;
}

static bool is_path_there(const char *text)
{
	return text[0] == '/' && strspn(text, safe) == strlen(text) && strlen(text) <= TEXT_MAX;
}

static bool is_cpus(const char *text)
{
	struct cpus ignored;

	return cpus_parse(text, &ignored) == 0;
}

/* What a host may say of itself. */
static const struct key {
	const char *name;
	bool server, client; /* of which */
	bool (*is)(const char *text);
	json_int_t most; /* without `is`: a number from 1 */
	const char *accepted;
} keys[] = {
	{"ssh", true, true, is_destination, 0, "\"user@host\" as ssh knows it"},
	{"port", true, true, NULL, 65535, "a port, 1 to 65535"},
	{"identity", true, true, is_file, 0, "the private key's file, an absolute path here"},
	{"config", true, true, is_file, 0, "a configuration for ssh -F, an absolute path here"},
	{"address", true, false, is_address, 0, "an IPv4 address of the server's host"},
	{"cpus", true, true, is_cpus, 0, "CPUs there, like \"2-5\""},
	{"workers", false, true, NULL, STACK_WORKERS_MAX, "1 to 64 workers of this client"},
	{"weir", true, true, is_path_there, 0,
	 "an absolute path there, of letters, digits and ._/+-"},
	{"folder", true, true, is_path_there, 0,
	 "an absolute path there, of letters, digits and ._/+-"},
};

enum { KEY_COUNT = sizeof(keys) / sizeof(keys[0]) };

static const struct key *find_key(const char *name, bool server)
{
	for (unsigned i = 0; i < KEY_COUNT; i++)
		if (strcmp(keys[i].name, name) == 0 && (server ? keys[i].server : keys[i].client))
			return &keys[i];
	return NULL;
}

static void complain_unknown(const struct judge *judge, const char *name, bool server)
{
	const char *names[KEY_COUNT];
	char ask[NEAREST_TEXT];
	unsigned count = 0;

	for (unsigned i = 0; i < KEY_COUNT; i++)
		if (server ? keys[i].server : keys[i].client)
			names[count++] = keys[i].name;
	nearest_ask(name, names, count, "", ask);
	if (ask[0])
		ask[strlen(ask) - 1] = '\0'; /* ends the line */
	complain(judge, true, "unknown key '%.60s' of a %s's host%s%s", name,
		 server ? "server" : "client", ask[0] ? "; " : "", ask);
}

static bool is_accepted(const struct key *key, const json_t *value)
{
	if (key->is)
		return json_is_string(value) && key->is(json_string_value(value));
	return json_is_integer(value) && json_integer_value(value) >= 1 &&
	       json_integer_value(value) <= key->most;
}

static void judge_member(struct judge *judge, const char *name, const json_t *value, bool server)
{
	const struct key *key = find_key(name, server);
	char *given;

	judge->steps[judge->count++] = (struct place_step){.key = name};
	if (!key) {
		complain_unknown(judge, name, server);
	} else if (!is_accepted(key, value)) {
		given = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		complain(judge, false, "'%s' is %.80s; accepted: %s", name, given ? given : "?",
			 key->accepted);
		free(given);
	}
	judge->count--;
}

static void judge_host(struct judge *judge, const json_t *host, bool server)
{
	const char *name;
	json_t *value;

	if (!json_is_object(host)) {
		complain(judge, false,
			 "a host is expected: an object like {\"ssh\": \"user@host\"}");
		return;
	}
	json_object_foreach((json_t *)host, name, value)
	{
		judge_member(judge, name, value, server);
	}
	if (server && !json_object_get(host, "address"))
		complain(judge, false,
			 "'address' is missing: the IPv4 address at which clients on other hosts "
			 "reach the server");
	if (json_object_get(host, "ssh"))
		return;
	for (unsigned i = 0; i < KEY_COUNT; i++)
		if (json_object_get(host, keys[i].name) && strcmp(keys[i].name, "address") != 0 &&
		    strcmp(keys[i].name, "cpus") != 0 && strcmp(keys[i].name, "workers") != 0)
			complain(judge, false,
				 "'%s' without 'ssh': it says how another host is reached",
				 keys[i].name);
}

static void judge_clients(struct judge *judge, const json_t *clients)
{
	size_t index;
	json_t *client;

	judge->steps[judge->count++] = (struct place_step){.key = "clients"};
	if (!json_is_array(clients) || json_array_size(clients) < 1 ||
	    json_array_size(clients) > HOSTS_CLIENTS_MAX) {
		complain(judge, false, "'clients' is to be a list of 1 to %d hosts",
			 HOSTS_CLIENTS_MAX);
	} else {
		json_array_foreach((json_t *)clients, index, client)
		{
			judge->steps[judge->count++] = (struct place_step){NULL, index};
			judge_host(judge, client, false);
			judge->count--;
		}
	}
	judge->count--;
}

void hosts_judge(const json_t *json, const char *path, const char *text, struct problems *problems)
{
	struct judge judge = {.path = path,
			      .text = text,
			      .problems = problems,
			      .steps = {{.key = "hosts"}},
			      .count = 1};
	const json_t *server = json_object_get(json, "server");
	const char *name;
	json_t *value;

	if (!json)
		return;
	if (!json_is_object(json) || !server) {
		complain(&judge, false,
			 "'hosts' is to be {\"server\": {\"address\": IP, ...}, \"clients\": "
			 "[{...}]}");
		return;
	}
	json_object_foreach((json_t *)json, name, value)
	{
		judge.steps[judge.count] = (struct place_step){.key = name};
		if (strcmp(name, "server") != 0 && strcmp(name, "clients") != 0) {
			judge.count++;
			complain(&judge, true, "unknown key '%.60s'; accepted: server, clients",
				 name);
			judge.count--;
		}
	}
	judge.steps[judge.count++] = (struct place_step){.key = "server"};
	judge_host(&judge, server, true);
	judge.count--;
	value = json_object_get(json, "clients");
	if (value)
		judge_clients(&judge, value);
}
