/* What both sides of a sample say of TLS: how it was told to them, and what they negotiated. */
#include "apps/common/json.h"
#include "apps/run/result/result.h"

#include <string.h>

/* Adds the connections of one client to those of the others, name by name. */
static void add_negotiated(json_t *sum, const json_t *client)
{
	const json_t *negotiated = json_object_get(json_object_get(client, "tls"), "negotiated");
	const char *name;
	json_t *conns;

	json_object_foreach((json_t *)negotiated, name, conns)
		json_object_set_new(sum, name,
				    json_integer(json_integer_value(json_object_get(sum, name)) +
						 json_integer_value(conns)));
}

/* What all clients negotiated together; NULL if any of them does not say. A new reference. */
static json_t *clients_negotiated(const struct result_parts *parts)
{
	const struct result_client single = {.json = parts->client};
	const struct result_client *clients = parts->client_count ? parts->clients : &single;
	unsigned count = parts->client_count ? parts->client_count : 1;
	json_t *sum = json_object();

	for (unsigned i = 0; i < count; i++) {
		if (!json_object_get(json_object_get(clients[i].json, "tls"), "negotiated")) {
			json_decref(sum);
			return NULL;
		}
		add_negotiated(sum, clients[i].json);
	}
	return sum;
}

/* What a side was told, with what it negotiated (taken over; NULL: it does not say). */
static void set_side(json_t *tls, const char *side, const json_t *told, json_t *negotiated)
{
	json_t *object;
	char lacking[64];

	snprintf(lacking, sizeof(lacking), "the %s did not say", side);
	if (!told) {
		json_set_unknown(tls, side, lacking);
		json_decref(negotiated);
		return;
	}
	object = json_copy((json_t *)told);
	if (negotiated)
		json_object_set_new(object, "negotiated", negotiated);
	else
		json_set_unknown(object, "negotiated", lacking);
	json_object_set_new(tls, side, object);
}

/*
 * The server counts since its start, so it must know every kind that the clients count, and may
 * know more. A side that found no row for a kind knows nothing certain.
 */
static void judge(const json_t *server, const json_t *client, json_t *reasons)
{
	const char *name;
	char text[240];
	json_t *conns;

	if (json_object_size(client) == 0 && json_array_size(reasons) == 0)
		json_array_append_new(reasons,
				      json_text("TLS was on, and no handshake of the client's was "
						"completed: its log says why"));
	if (json_object_get(server, "other") || json_object_get(client, "other"))
		return;
	json_object_foreach((json_t *)client, name, conns)
	{
		if (json_object_get(server, name))
			continue;
		snprintf(text, sizeof(text), "the client negotiated %.150s, the server did not",
			 name);
		json_array_append_new(reasons, json_text(text));
	}
}

json_t *result_tls(const struct result_parts *parts)
{
	json_t *server = json_object_get(parts->after, "tls_negotiated");
	json_t *client = clients_negotiated(parts);
	json_t *tls = json_object();

	if (server && client)
		judge(server, client, parts->reasons);
	set_side(tls, "server", json_object_get(parts->ready, "tls"), json_incref(server));
	set_side(tls, "client", json_object_get(parts->client, "tls"), client);
	return tls;
}
