#include "apps/run/sample/sample.h"

#include "apps/run/sample/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One client, or as many as the hosts say, each with its own argument list and place for files. */
static void describe_clients(struct session *session)
{
	const struct plan_sample *sample = session->sample;
	const struct setting_value *of = sample->cell->cell.of;
	unsigned workers = of[SETTING_CLIENT_WORKERS].number;

	session->client_count = session->hosts ? session->hosts->client_count : 1;
	for (unsigned i = 0; i < session->client_count; i++) {
		struct session_client *client = &session->clients[i];

		client->session = session;
		client->index = i;
		if (session->client_count == 1)
			strcpy(client->name, "the client");
		else
			snprintf(client->name, sizeof(client->name), "client %u", i + 1);
		hosts_client_prefix(session->hosts, i, client->prefix);
		client->cpus = sample->cell->pins.client;
		if (session->hosts)
			hosts_client_cpus(session->hosts, i, of[SETTING_WORKERS].number, workers,
					  &client->cpus);
		client->argv = session->hosts
				       ? hosts_client_argv(session->hosts, i, sample->client_argv,
							   workers, &client->cpus)
				       : json_incref(sample->client_argv);
	}
}

/* The sample's folder, and in it those of several clients. */
static int make_folders(struct session *session)
{
	char name[SESSION_NAME_BYTES];
	int code = directory_folder(session->directory, session->sample->folder);

	for (unsigned i = 0; code == 0 && session->client_count > 1 && i < session->client_count;
	     i++) {
		snprintf(name, sizeof(name), "%s/clients/%u", session->sample->folder, i + 1);
		code = directory_folder(session->directory, name);
	}
	return code;
}

/* Whether every host is there, reached again if it was lost before. */
static bool reach_hosts(struct session *session)
{
	struct tp_error error;

	if (!session->hosts || hosts_revive(session->hosts, session->interrupt, &error) == 0)
		return true;
	if (!session->interrupt->signal_number) {
		session_invalidate(session, "host lost: %s", error.text);
	}
	return false;
}

/* Closes a child's log; a full disk there is the directory's failure. */
static void close_child(struct child *child, struct directory *directory)
{
	int code = 0;

	if (child->pid && child->ended)
		code = child_close(child);
	if (code < 0)
		directory_fail(directory, code, "a child's log");
}

/* The server may have died before it removed the socket it listened on. */
static void remove_socket(const struct plan_sample *sample)
{
	bool has_socket = link_has_socket(sample->cell->link);
	size_t index;
	json_t *argument;

	json_array_foreach(sample->server_argv, index, argument)
	{
		const char *path = has_socket ? strchr(json_string_value(argument), ':') : NULL;
		char file[PATH_MAX];

		if (!path || path[1] != '/')
			continue;
		snprintf(file, sizeof(file), "%.*s", (int)strcspn(path + 1, ","), path + 1);
		unlink(file);
	}
}

/* Starts, leads and ends the processes, and closes what they said. */
static void measure(struct session *session, uint64_t window_ns)
{
	if (make_folders(session) == 0 && reach_hosts(session)) {
		session_carry_out(session, window_ns);
		session_fetch(session);
	}
	for (unsigned i = 0; i < session->client_count; i++)
		close_child(&session->clients[i].child, session->directory);
	close_child(&session->server.child, session->directory);
	close_child(&session->upstream.child, session->directory);
	remove_socket(session->sample);
}

/*
 * A host that is lost in every sample will not come back. 0, or -EHOSTDOWN said in the directory.
 */
static int judge_hosts(struct session *session)
{
	const struct remote *remote;

	if (!session->hosts)
		return 0;
	hosts_end_sample(session->hosts, session->start_ns != 0);
	remote = hosts_given_up(session->hosts);
	if (!remote)
		return 0;
	return tp_fail(&session->directory->error, -EHOSTDOWN,
		       "host %s was lost in %d samples in a row", remote->name, HOSTS_LOSSES_MAX);
}

static void server_fini(struct session_server *server)
{
	for (unsigned i = 0; i < SESSION_SNAPSHOTS; i++)
		free(server->snapshots[i]);
	free(server->ready);
}

static void session_free(struct session *session)
{
	server_fini(&session->server);
	server_fini(&session->upstream);
	for (unsigned i = 0; i < session->client_count; i++)
		json_decref(session->clients[i].argv);
	json_decref(session->reasons);
	free(session);
}

int sample_run(const struct plan_sample *sample, const struct experiment *experiment,
	       struct directory *directory, struct interrupt *interrupt, struct hosts *hosts,
	       json_t **result_out)
{
	struct session *session = calloc(1, sizeof(*session));
	char started_at[32], name[SESSION_NAME_BYTES];
	time_t now = time(NULL);
	struct tm utc;
	int code;

	if (!session)
		return -ENOMEM;
	session->sample = sample;
	session->directory = directory;
	session->interrupt = interrupt;
	session->hosts = hosts;
	session->reasons = json_array();
	session->server.session = session->upstream.session = session;
	describe_clients(session);
	readiness_make_nonce(session->nonce);
	strftime(started_at, sizeof(started_at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	measure(session, experiment->warmup_ns + experiment->duration_ns);
	if (!interrupt->signal_number) {
		session_write_warmup(session);
		*result_out = session_make_result(session, experiment->duration_ns, started_at);
		snprintf(name, sizeof(name), "%s/result.json", sample->folder);
		directory_write_json(directory, name, *result_out);
	}
	code = directory->failed ? directory->failed : judge_hosts(session);
	session_free(session);
	return interrupt->signal_number ? -EINTR : code;
}
