#include "apps/run/sample/session.h"

#include "apps/common/json.h"
#include "apps/serve/serve.h"
#include "dataplane/core/clock.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long each step may take beyond what the plan gives it. */
#define READY_NS (20 * CLOCK_SECOND_NS)
#define CLIENT_GRACE_NS (30 * CLOCK_SECOND_NS)
#define AFTER_DEATH_NS (3 * CLOCK_SECOND_NS)
#define SNAPSHOT_NS (3 * CLOCK_SECOND_NS)
#define STOP_NS (SERVE_DRAIN_NS + 3 * CLOCK_SECOND_NS)
#define KILL_NS (5 * CLOCK_SECOND_NS)

/* Between two signs of life to the hosts. */
#define BEAT_NS (5 * CLOCK_SECOND_NS)

static_assert(STOP_NS >= SERVE_DRAIN_NS + CLOCK_SECOND_NS, "a server that drains is not killed");

enum {
	POLL_MS_MAX = 200,
	CHILDREN = 2 + HOSTS_CLIENTS_MAX, /* server, upstream, clients */
	FDS = CHILD_FDS * CHILDREN + 1,
};

void session_invalidate(struct session *session, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_array_append_new(session->reasons, json_text(text));
}

struct remote *session_host_of(const struct session *session, const struct child *child)
{
	struct remote *remote = session->hosts ? &session->hosts->server : NULL;

	for (unsigned i = 0; session->hosts && i < session->client_count; i++)
		if (child == &session->clients[i].child)
			remote = &session->hosts->clients[i];
	return remote && remote_is_far(remote) ? remote : NULL;
}

/* The text behind `word` and a blank, or NULL. */
static const char *behind_word(const char *line, const char *word)
{
	size_t bytes = strlen(word);

	return strncmp(line, word, bytes) == 0 && line[bytes] == ' ' ? line + bytes + 1 : NULL;
}

static void on_server_line(void *user, const char *line)
{
	struct session_server *server = user;
	pid_t pid = server->child.far ? 0 : server->child.pid;
	const char *json;

	if ((json = behind_word(line, "ready")) && !server->ready &&
	    readiness_accept(json, server->session->nonce, pid)) {
		server->ready = strdup(json);
		server->ready_ns = clock_monotonic_ns();
	} else if ((json = behind_word(line, "snapshot")) &&
		   server->snapshot_count < SESSION_SNAPSHOTS) {
		server->snapshots[server->snapshot_count++] = strdup(json);
	}
}

/* How many clients are held, measure or have measured. */
static unsigned count_held(const struct session *session)
{
	unsigned count = 0;

	for (unsigned i = 0; i < session->client_count; i++)
		count += session->clients[i].is_held;
	return count;
}

static unsigned count_measuring(const struct session *session)
{
	unsigned count = 0;

	for (unsigned i = 0; i < session->client_count; i++)
		count += session->clients[i].measure_ns != 0;
	return count;
}

/* The pins of those processes that run on this host. */
static struct pins near_pins(const struct session *session)
{
	struct pins pins = session->sample->cell->pins;

	if (session_host_of(session, &session->server.child))
		pins.server.count = 0;
	pins.client.count = 0;
	for (unsigned i = 0; i < session->client_count; i++) {
		const struct cpus *cpus = &session->clients[i].cpus;

		for (unsigned k = 0; k < cpus->count && pins.client.count < CPUS_MAX &&
				     !session_host_of(session, &session->clients[i].child);
		     k++)
			pins.client.cpu[pins.client.count++] = cpus->cpu[k];
	}
	return pins;
}

/* Asks server and upstream for their accounts; these processes only, not their groups. */
static void ask_accounts(struct session *session)
{
	const struct activity_pids pids = {session->server.child.pid, session->clients[0].child.pid,
					   session->upstream.child.pid};
	struct pins near = near_pins(session);

	child_ask(&session->server.child, SIGUSR1);
	child_ask(&session->upstream.child, SIGUSR1);
	watch_window(&session->watch, &pids, &near);
}

/*
 * The clients' common window begins when the last of them begins to measure, and ends when the
 * first ends: then the server's accounts are wanted. They leave their hold together.
 */
static void on_client_line(void *user, const char *line)
{
	struct session_client *client = user;
	struct session *session = client->session;
	const char *phase = behind_word(line, "phase");

	if (!phase)
		return;
	if (strcmp(phase, "done") == 0)
		return; /* said by one that failed, too: what it was in matters */
	snprintf(client->phase, sizeof(client->phase), "%s", phase);
	if (strcmp(phase, "connected") == 0) {
		client->is_held = true;
		for (unsigned i = 0;
		     i < session->client_count && count_held(session) == session->client_count; i++)
			child_ask(&session->clients[i].child, SIGUSR1);
	} else if (strcmp(phase, "measure") == 0) {
		client->measure_ns = clock_monotonic_ns();
		if (count_measuring(session) == session->client_count)
			ask_accounts(session);
	} else if (strcmp(phase, "drain") == 0) {
		client->drain_ns = clock_monotonic_ns();
		if (session->watch.count == 1)
			ask_accounts(session);
	}
}

/* All that a session starts; returns their number. */
static unsigned list_children(struct session *session, struct child *children[CHILDREN])
{
	unsigned count = 0;

	children[count++] = &session->server.child;
	children[count++] = &session->upstream.child;
	for (unsigned i = 0; i < session->client_count; i++)
		children[count++] = &session->clients[i].child;
	return count;
}

/* Waits at most until `deadline_ns` for something to happen, and takes it in. */
static void step(struct session *session, uint64_t deadline_ns)
{
	struct child *children[CHILDREN];
	unsigned count = list_children(session, children);
	struct pollfd fds[FDS];
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t left_ms = deadline_ns > now_ns ? (deadline_ns - now_ns) / CLOCK_MS_NS + 1 : 0;

	for (unsigned i = 0; i < FDS; i++)
		fds[i] = (struct pollfd){.fd = -1};
	fds[0] = (struct pollfd){.fd = session->interrupt->fd, .events = POLLIN};
	for (unsigned i = 0; i < count; i++)
		if (children[i]->pid)
			child_fill(children[i], fds + 1 + (size_t)CHILD_FDS * i);
	poll(fds, FDS, left_ms < POLL_MS_MAX ? (int)left_ms : POLL_MS_MAX);
	for (unsigned i = 0; i < count; i++)
		child_serve(children[i], fds + 1 + (size_t)CHILD_FDS * i);
	if (session->hosts && now_ns - session->beat_ns > BEAT_NS) {
		session->beat_ns = now_ns;
		hosts_beat(session->hosts);
	}
	interrupt_check(session->interrupt);
}

static bool is_over(uint64_t deadline_ns)
{
	return clock_monotonic_ns() >= deadline_ns;
}

/* Says how a child ended before its time, with its last words. */
static void blame(struct session *session, const struct child *child, const char *when)
{
	struct remote *remote = session_host_of(session, child);
	char end[128], quote[700];

	child_describe_end(child, end, sizeof(end));
	log_quote(&child->log, quote, sizeof(quote));
	session->server.blamed |= child == &session->server.child;
	session->upstream.blamed |= child == &session->upstream.child;
	if (child->lost && remote) {
		hosts_lose(remote);
		session_invalidate(session, "host %s lost %s%s%s", remote->name, when,
				   quote[0] ? ": " : "", quote);
	} else {
		session_invalidate(session, "%s %s %s%s%s", child->name, end, when,
				   quote[0] ? ": " : "", quote);
	}
}

/* Starts a process on another host, by way of ssh and an agent. */
static int start_far(struct session *session, struct child *child, struct child_spec *spec,
		     const struct program *program, const char *prefix, struct tp_error *error)
{
	const struct remote *remote = session_host_of(session, child);
	const struct program *keeper = &session->hosts->programs[0];
	char within[SESSION_NAME_BYTES];
	char *input;
	json_t *argv;
	int code;

	snprintf(within, sizeof(within), "%s/%s", session->sample->folder, prefix);
	within[strlen(within) - 1] = '\0'; /* a folder's name ends without a slash */
	input = remote_request(remote, program, spec->argv, spec->env, within);
	argv = remote_argv(remote, keeper);
	spec->program = "ssh";
	spec->argv = argv;
	spec->env = NULL;
	spec->input = input;
	code = input ? child_start(child, spec, error)
		     : tp_fail(error, -ENOMEM, "no memory to start %s", spec->name);
	json_decref(argv);
	free(input);
	return code;
}

/* Starts one process, here or there; `prefix` stands before its files in the sample's folder. */
static int start(struct session *session, struct child *child, struct child_spec *spec,
		 const struct program *program, const char *prefix, const char *log_name)
{
	char path[PATH_MAX], within[SESSION_NAME_BYTES];
	json_t *env = readiness_env(session->sample->env, session->nonce);
	struct tp_error error;
	int code;

	snprintf(within, sizeof(within), "%s/%s%s", session->sample->folder, prefix, log_name);
	directory_file(session->directory, within, path);
	spec->folder = session->directory->partial;
	spec->log_path = path;
	spec->env = env;
	if (session_host_of(session, child))
		code = start_far(session, child, spec, program, prefix, &error);
	else
		code = child_start(child, spec, &error);
	json_decref(env);
	if (directory_is_its_own(code))
		directory_fail(session->directory, code, log_name);
	if (code < 0)
		session_invalidate(session, "%s", error.text);
	return code;
}

static int start_server(struct session *session)
{
	const struct program *program = session->sample->cell->program;
	struct child_spec spec = {.name = "the server",
				  .program = program->path,
				  .argv = session->sample->server_argv,
				  .on_line = on_server_line,
				  .user = &session->server};

	session->server.start_ns = clock_monotonic_ns();
	return start(session, &session->server.child, &spec, program, "", "server.log");
}

/* The upstream, like the client, is always the runner's own program. */
static int start_upstream(struct session *session)
{
	struct child_spec spec = {.name = "the upstream",
				  .program = "/proc/self/exe",
				  .argv = session->sample->upstream_argv,
				  .on_line = on_server_line,
				  .user = &session->upstream};

	session->upstream.start_ns = clock_monotonic_ns();
	return start(session, &session->upstream.child, &spec, NULL, "", "upstream.log");
}

/* The client is always the runner's own program. */
static int start_client(struct session *session, struct session_client *client)
{
	const struct program *own = session->hosts ? &session->hosts->programs[0] : NULL;
	struct child_spec spec = {.name = client->name,
				  .program = "/proc/self/exe",
				  .argv = client->argv,
				  .on_line = on_client_line,
				  .user = client};

	return start(session, &client->child, &spec, own, client->prefix, "client.log");
}

static int start_clients(struct session *session)
{
	int code = 0;

	for (unsigned i = 0; code == 0 && i < session->client_count; i++)
		code = start_client(session, &session->clients[i]);
	return code;
}

/* Waits for the ready line; tells a server that never came up from one that died. */
static bool await_ready(struct session_server *server)
{
	struct session *session = server->session;
	uint64_t deadline_ns = server->start_ns + READY_NS;

	while (!server->ready && !server->child.ended && !is_over(deadline_ns) &&
	       !session->interrupt->signal_number)
		step(session, deadline_ns);
	if (server->ready)
		return true;
	if (server->child.ended)
		blame(session, &server->child, "before it was ready");
	else if (!session->interrupt->signal_number)
		blame(session, &server->child, "but gave no ready line within 20 s");
	return false;
}

/* The upstream, if there is one, and then the server that passes requests on to it. */
static bool raise_servers(struct session *session)
{
	if (session->sample->upstream_argv &&
	    (start_upstream(session) < 0 || !await_ready(&session->upstream)))
		return false;
	return start_server(session) == 0 && await_ready(&session->server);
}

static const char *in_phase(const struct session_client *client, const char *whose, char text[64])
{
	snprintf(text, 64, "in %s phase `%s`", whose, client->phase[0] ? client->phase : "start");
	return text;
}

static bool all_ended(const struct session *session)
{
	for (unsigned i = 0; i < session->client_count; i++)
		if (!session->clients[i].child.ended)
			return false;
	return true;
}

static bool any_failed(const struct session *session)
{
	for (unsigned i = 0; i < session->client_count; i++)
		if (session->clients[i].child.ended && !child_succeeded(&session->clients[i].child))
			return true;
	return false;
}

/* Says of each client what it did not do; those that another's failure cut short are not blamed. */
static void judge_clients(struct session *session, bool cut_short)
{
	char when[64];

	for (unsigned i = 0; i < session->client_count; i++) {
		struct session_client *client = &session->clients[i];

		if (client->child.ended && !child_succeeded(&client->child))
			blame(session, &client->child, in_phase(client, "its", when));
		else if (!client->child.ended && session->server.blamed)
			blame(session, &client->child, "after the server's death");
		else if (!client->child.ended && session->upstream.blamed)
			blame(session, &client->child, "after the upstream's death");
		else if (!client->child.ended && !cut_short)
			blame(session, &client->child, "in the time it was given");
	}
}

/* Whether the server or the upstream has died and was not blamed for it; then it is. */
static bool blame_dead(struct session *session)
{
	struct session_server *const servers[] = {&session->server, &session->upstream};
	bool found = false;
	char when[64];

	for (unsigned i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		if (!servers[i]->child.ended || servers[i]->blamed)
			continue;
		blame(session, &servers[i]->child,
		      in_phase(&session->clients[0], "the client's", when));
		found = true;
	}
	return found;
}

/*
 * Lets the clients do their work. If the server or one of them dies, the others get a little time
 * to say what they saw.
 */
static void await_clients(struct session *session, uint64_t window_ns)
{
	uint64_t deadline_ns = clock_monotonic_ns() + window_ns + CLIENT_GRACE_NS;
	bool cut_short = false;

	while (!all_ended(session) && !is_over(deadline_ns) && !session->interrupt->signal_number) {
		step(session, deadline_ns);
		if (blame_dead(session)) {
			deadline_ns = clock_monotonic_ns() + AFTER_DEATH_NS;
		} else if (!session->server.blamed && !session->upstream.blamed && !cut_short &&
			   any_failed(session)) {
			deadline_ns = clock_monotonic_ns() + AFTER_DEATH_NS;
			cut_short = true;
		}
	}
	if (!session->interrupt->signal_number)
		judge_clients(session, cut_short);
}

/* The last snapshot asked for may still be on its way when the client has ended. */
static void await_snapshots(struct session_server *server)
{
	struct session *session = server->session;
	uint64_t deadline_ns = clock_monotonic_ns() + SNAPSHOT_NS;
	unsigned asked = server->child.pid ? session->watch.count : 0;
	char quote[700];

	while (server->snapshot_count < asked && !server->child.ended && !is_over(deadline_ns) &&
	       !session->interrupt->signal_number)
		step(session, deadline_ns);
	server->snapshots_lack = server->snapshot_count < asked && !server->child.ended;
	if (!server->snapshots_lack)
		return;
	log_quote(&server->child.log, quote, sizeof(quote));
	session_invalidate(session, "%s gave %u of %u snapshots%s%s", server->child.name,
			   server->snapshot_count, asked, quote[0] ? ": " : "", quote);
}

/* Waits for a child's end, at most so long. */
static bool await_end(struct session *session, const struct child *child, uint64_t within_ns)
{
	uint64_t deadline_ns = clock_monotonic_ns() + within_ns;

	while (child->pid && !child->ended && !is_over(deadline_ns))
		step(session, deadline_ns);
	return !child->pid || child->ended;
}

/* Kills it; if it is far and no answer comes, the connection is cut, and its agent kills it. */
static void kill_child(struct session *session, const struct child *child)
{
	child_signal(child, SIGKILL);
	if (await_end(session, child, KILL_NS))
		return;
	child_cut(child);
	await_end(session, child, KILL_NS);
}

/* Tells a server to stop, unless it has died. */
static void stop_server(struct session_server *server)
{
	struct session *session = server->session;
	struct child *child = &server->child;
	bool died = child->ended;

	if (!child->pid || server->blamed)
		return;
	child_signal(child, SIGTERM);
	if (!await_end(session, child, STOP_NS))
		session_invalidate(session,
				   "%s did not stop within %llu s of SIGTERM and was killed",
				   child->name, (unsigned long long)(STOP_NS / CLOCK_SECOND_NS));
	else if (died || (!child_succeeded(child) && !session->interrupt->signal_number))
		blame(session, child, died ? "before it was told to stop" : "when told to stop");
}

/* Nothing of a sample is left running after this. */
static void end_all(struct session *session)
{
	for (unsigned i = 0; i < session->client_count; i++)
		kill_child(session, &session->clients[i].child);
	stop_server(&session->server);
	kill_child(session, &session->server.child);
	stop_server(&session->upstream);
	kill_child(session, &session->upstream.child);
}

/* A child that somebody stopped and set going again measured the pause as well. */
static void judge_stops(struct session *session, const struct child *child)
{
	if (child->stopped && !session->interrupt->signal_number)
		session_invalidate(session, "%s was stopped by a signal while the sample ran",
				   child->name);
}

/* All processes run: lets them, and judges what became of them. */
static void lead(struct session *session, uint64_t window_ns)
{
	struct child *children[CHILDREN];
	unsigned count = list_children(session, children);
	struct pins near = near_pins(session);

	watch_aside(&session->watch, &near);
	await_clients(session, window_ns);
	await_snapshots(&session->server);
	await_snapshots(&session->upstream);
	for (unsigned i = 0; i < count; i++)
		judge_stops(session, children[i]);
	if (json_array_size(session->reasons) > 0)
		directory_check_room(session->directory);
}

void session_carry_out(struct session *session, uint64_t window_ns)
{
	session->start_ns = clock_monotonic_ns();
	watch_start(&session->watch);
	if (raise_servers(session) && start_clients(session) == 0)
		lead(session, window_ns);
	end_all(session);
	watch_end(&session->watch);
}
