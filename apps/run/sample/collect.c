#include "apps/run/sample/session.h"

#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/load/load.h"
#include "apps/run/hosts/clients.h"
#include "apps/run/result/result.h"
#include "apps/run/sample/warmup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CLIENT_JSON_BYTES_MAX = 64 * 1024 * 1024,
	METRICS_BYTES_MAX = 64 * 1024 * 1024,
};

/* Several clients that measured together for less than this share of their time say nothing. */
static const double common_share_least = 0.9;

/* What `weir load` leaves. */
static const char *const client_files[] = {"client.json", "metrics.jsonl", "latency.hgrm"};

enum { CLIENT_FILES = sizeof(client_files) / sizeof(client_files[0]) };

static void fetch_of(struct session *session, struct session_client *client, struct remote *remote)
{
	char within[SESSION_NAME_BYTES], path[PATH_MAX];
	struct tp_error error;

	for (unsigned i = 0; i < CLIENT_FILES && remote->keeper.pid; i++) {
		int code;

		snprintf(within, sizeof(within), "%s/%s%s", session->sample->folder, client->prefix,
			 client_files[i]);
		code = remote_fetch(remote, within,
				    directory_file(session->directory, within, path),
				    session->interrupt, &error);
		if (code == -ENOSPC || code == -EDQUOT || code == -EROFS)
			directory_fail(session->directory, code, within);
		else if (code < 0 && child_succeeded(&client->child))
			session_invalidate(session, "%s", error.text);
	}
	if (remote->keeper.pid || session->interrupt->signal_number)
		return;
	hosts_lose(remote);
	session_invalidate(session, "host %s lost as its files were fetched", remote->name);
}

void session_fetch(struct session *session)
{
	for (unsigned i = 0; i < session->client_count; i++) {
		struct session_client *client = &session->clients[i];
		struct remote *remote = session_host_of(session, &client->child);

		if (remote && client->child.pid && client->child.ended && !client->child.lost)
			fetch_of(session, client, remote);
	}
}

static json_t *parse_line(const char *text)
{
	return text ? json_loads(text, 0, NULL) : NULL;
}

static json_t *parse_snapshot(const struct session_server *server, unsigned index)
{
	return parse_line(server->snapshots_lack ? NULL : server->snapshots[index]);
}

/* A file of the sample's folder, at most so large, for the caller to free; or NULL. */
static char *read_file(const struct session *session, const char *prefix, const char *name,
		       size_t max_bytes, size_t *bytes_out)
{
	char path[PATH_MAX], within[SESSION_NAME_BYTES];
	struct tp_error ignored;
	char *text;

	snprintf(within, sizeof(within), "%s/%s%s", session->sample->folder, prefix, name);
	if (file_read(directory_file(session->directory, within, path), max_bytes, &text, bytes_out,
		      &ignored) < 0)
		return NULL;
	return text;
}

/* What one client wrote, or NULL. */
static json_t *read_client_json(const struct session *session, const struct session_client *client)
{
	json_t *json = NULL;
	size_t bytes;
	char *text =
		read_file(session, client->prefix, "client.json", CLIENT_JSON_BYTES_MAX, &bytes);

	if (text)
		json = json_loadb(text, bytes, 0, NULL);
	free(text);
	return json;
}

/* Of several clients the first one's. */
void session_write_warmup(const struct session *session)
{
	const char *prefix = session->clients[0].prefix;
	char name[SESSION_NAME_BYTES];
	size_t bytes = 0;
	char *log = read_file(session, prefix, "client.log", 2 * LOG_BYTES_MAX, &bytes);
	char *metrics = read_file(session, prefix, "metrics.jsonl", METRICS_BYTES_MAX, &bytes);
	char *text = warmup_make(log, metrics, &bytes);

	snprintf(name, sizeof(name), "%s/warmup.log", session->sample->folder);
	if (text)
		directory_write(session->directory, name, text, bytes);
	free(text);
	free(metrics);
	free(log);
}

/* Writes what all clients together saw where a single one would have put it. */
static void write_merged(const struct session *session, const json_t *merged,
			 const struct histogram *service)
{
	char name[SESSION_NAME_BYTES], path[PATH_MAX];
	struct tp_error error;
	int code;

	snprintf(name, sizeof(name), "%s/client.json", session->sample->folder);
	directory_write_json(session->directory, name, merged);
	snprintf(name, sizeof(name), "%s/latency.hgrm", session->sample->folder);
	if (session->directory->failed)
		return;
	code = load_write_hgrm(directory_file(session->directory, name, path), service, &error);
	if (code < 0)
		directory_fail(session->directory, code, name);
}

/* Whether they measured together for long enough. */
static void judge_windows(struct session *session, const json_t *merged)
{
	const json_t *windows = json_object_get(merged, "windows");
	double share = json_number_value(json_object_get(windows, "common_share"));

	if (share < common_share_least)
		session_invalidate(session,
				   "the clients measured together for %.0f %% of their time only",
				   share * 100);
}

/* One object from all clients, which are moved to `clients`; NULL if one is missing. */
static json_t *merge_clients(struct session *session, json_t *clients[HOSTS_CLIENTS_MAX])
{
	json_t *merged = NULL;
	struct histogram *service = malloc(sizeof(*service));
	struct clients_window windows[HOSTS_CLIENTS_MAX];
	bool whole = service != NULL;

	for (unsigned i = 0; i < session->client_count; i++) {
		const struct session_client *client = &session->clients[i];

		clients[i] = read_client_json(session, client);
		windows[i] = (struct clients_window){client->measure_ns, client->drain_ns};
		whole &= clients[i] != NULL && client->measure_ns && client->drain_ns;
	}
	if (whole)
		merged = clients_merge(clients, windows, session->client_count, service);
	if (merged) {
		write_merged(session, merged, service);
		judge_windows(session, merged);
	}
	free(service);
	return merged;
}

/* Each client's own figures, beside the merged ones. */
static json_t *list_clients(const struct session *session, const json_t *merged)
{
	static const char *const kept[] = {"completed",	 "failed", "elapsed_s", "effective_rps",
					   "latency_us", "cpus",   "binding"};
	json_t *list = json_array(), *one;
	size_t index;

	json_array_foreach(json_object_get(merged, "clients"), index, one)
	{
		json_t *brief = json_pack("{ss}", "host", session->hosts->clients[index].name);

		for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			json_object_set(brief, kept[i], json_object_get(one, kept[i]));
		json_object_set_new(brief, "client", result_client(one));
		json_object_set(brief, "busy_share",
				json_object_get(json_object_get(one, "client"), "busy_share"));
		json_array_append_new(list, brief);
	}
	return list;
}

static bool any_far(const struct hosts *hosts)
{
	const struct remote *remote;

	for (unsigned i = 0; (remote = hosts_nth(hosts, i)); i++)
		if (remote_is_far(remote))
			return true;
	return false;
}

/* Where it ran, and what is not known for that. */
static void add_hosts(const struct session *session, json_t *result, const json_t *client)
{
	static const char *const busy[] = {"other_busy_cpus", "other_busy_cpus_unmeasured"};

	if (!session->hosts)
		return;
	json_object_set_new(result, "hosts", hosts_stamp(session->hosts));
	for (unsigned i = 0; i < 2; i++)
		if (any_far(session->hosts))
			json_set_unknown(result, busy[i],
					 "server or client ran on another host, whose processes "
					 "are not seen from here");
		else if (session->client_count > 1)
			json_set_unknown(result, busy[i],
					 "several clients ran here, of which the first alone was "
					 "watched");
	if (session->client_count == 1)
		return;
	json_object_set_new(result, "clients", list_clients(session, client));
	if (client)
		json_object_set(result, "windows", json_object_get(client, "windows"));
	else
		json_set_unknown(result, "windows", "not every client left its client.json");
}

json_t *session_make_result(struct session *session, uint64_t duration_ns, const char *started_at)
{
	const struct session_server *server = &session->server;
	bool several = session->client_count > 1;
	json_t *each[HOSTS_CLIENTS_MAX] = {NULL};
	struct result_client clients[HOSTS_CLIENTS_MAX];
	json_t *client = several ? merge_clients(session, each)
				 : read_client_json(session, &session->clients[0]);
	struct result_parts parts = {
		.sample = session->sample,
		.reasons = session->reasons,
		.started_at = started_at,
		.duration_s = (double)duration_ns / 1e9,
		.ready_ms =
			server->ready_ns ? (double)(server->ready_ns - server->start_ns) / 1e6 : -1,
		.ready = parse_line(server->ready),
		.before = parse_snapshot(server, 0),
		.after = parse_snapshot(server, 1),
		.upstream_before = parse_snapshot(&session->upstream, 0),
		.upstream_after = parse_snapshot(&session->upstream, 1),
		.client = client,
		.clients = several ? clients : NULL,
		.client_count = several ? session->client_count : 0,
		.watch = &session->watch,
	};
	json_t *result;

	for (unsigned i = 0; i < parts.client_count; i++)
		clients[i] = (struct result_client){session->clients[i].name,
						    &session->clients[i].cpus, each[i]};
	result = result_make(&parts);
	for (unsigned i = 0; i < parts.client_count; i++)
		json_decref(each[i]);
	add_hosts(session, result, client);
	json_decref(parts.ready);
	json_decref(parts.before);
	json_decref(parts.after);
	json_decref(parts.upstream_before);
	json_decref(parts.upstream_after);
	json_decref(parts.client);
	return result;
}
