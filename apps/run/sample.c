#include "apps/run/sample.h"

#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/run/child.h"
#include "apps/run/readiness.h"
#include "apps/run/result.h"
#include "apps/run/warmup.h"
#include "apps/serve/serve.h"
#include "dataplane/core/clock.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long each step may take beyond what the plan gives it. */
#define READY_NS (20 * CLOCK_SECOND_NS)
#define CLIENT_GRACE_NS (30 * CLOCK_SECOND_NS)
#define AFTER_DEATH_NS (3 * CLOCK_SECOND_NS)
#define SNAPSHOT_NS (3 * CLOCK_SECOND_NS)
#define STOP_NS (SERVE_DRAIN_NS + 3 * CLOCK_SECOND_NS)
#define KILL_NS (5 * CLOCK_SECOND_NS)

static_assert(STOP_NS >= SERVE_DRAIN_NS + CLOCK_SECOND_NS, "a server that drains is not killed");

enum {
	SNAPSHOTS = WATCH_WINDOWS, /* as the measured window begins, and as it ends */
	POLL_MS_MAX = 200,
	CLIENT_JSON_BYTES_MAX = 64 * 1024 * 1024,
	METRICS_BYTES_MAX = 64 * 1024 * 1024,
};

/* A sample being carried out. */
struct session {
	const struct plan_sample *sample;
	struct interrupt *interrupt;
	struct child server;
	struct child client;
	json_t *reasons;	    /* why the sample is invalid */
	char *ready;		    /* the JSON behind the server's line, or NULL */
	char *snapshots[SNAPSHOTS]; /* likewise */
	unsigned snapshot_count;
	bool snapshots_lack; /* one asked for never came, so which the others are is not known */
	struct watch watch;  /* read as the snapshots are asked for */
	char nonce[READINESS_NONCE_BYTES];
	char phase[16]; /* the client's last */
	uint64_t start_ns;
	uint64_t ready_ns;
	bool server_blamed; /* for its end, already */
};

__attribute__((format(printf, 2, 3))) static void invalidate(struct session *session,
							     const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_array_append_new(session->reasons, json_text(text));
}

/* The text behind `word` and a blank, or NULL. */
static const char *behind_word(const char *line, const char *word)
{
	size_t bytes = strlen(word);

	return strncmp(line, word, bytes) == 0 && line[bytes] == ' ' ? line + bytes + 1 : NULL;
}

static void on_server_line(void *user, const char *line)
{
	struct session *session = user;
	const char *json;

	if ((json = behind_word(line, "ready")) && !session->ready &&
	    readiness_accept(json, session->nonce, session->server.pid)) {
		session->ready = strdup(json);
		session->ready_ns = clock_monotonic_ns();
	} else if ((json = behind_word(line, "snapshot")) && session->snapshot_count < SNAPSHOTS) {
		session->snapshots[session->snapshot_count++] = strdup(json);
	}
}

/*
 * The client's window begins or ends: now the server's accounts are wanted. Their own process only,
 * not its group.
 */
static void on_client_line(void *user, const char *line)
{
	struct session *session = user;
	const char *phase = behind_word(line, "phase");

	if (!phase)
		return;
	snprintf(session->phase, sizeof(session->phase), "%s", phase);
	if (strcmp(phase, "measure") != 0 && strcmp(phase, "drain") != 0)
		return;
	if (!session->server.ended)
		kill(session->server.pid, SIGUSR1);
	watch_window(&session->watch, session->server.pid, session->client.pid,
		     &session->sample->cell->pins);
}

/* Waits at most until `deadline_ns` for something to happen, and takes it in. */
static void step(struct session *session, uint64_t deadline_ns)
{
	struct pollfd fds[2 * CHILD_FDS + 1];
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t left_ms = deadline_ns > now_ns ? (deadline_ns - now_ns) / CLOCK_MS_NS + 1 : 0;

	for (unsigned i = 0; i < 2 * CHILD_FDS + 1; i++)
		fds[i] = (struct pollfd){.fd = -1};
	if (session->server.pid)
		child_fill(&session->server, fds);
	if (session->client.pid)
		child_fill(&session->client, fds + CHILD_FDS);
	fds[2 * CHILD_FDS] = (struct pollfd){.fd = session->interrupt->fd, .events = POLLIN};
	poll(fds, 2 * CHILD_FDS + 1, left_ms < POLL_MS_MAX ? (int)left_ms : POLL_MS_MAX);
	child_serve(&session->server, fds);
	child_serve(&session->client, fds + CHILD_FDS);
	interrupt_check(session->interrupt);
}

static bool is_over(uint64_t deadline_ns)
{
	return clock_monotonic_ns() >= deadline_ns;
}

/* Says how a child ended before its time, with its last words. */
static void blame(struct session *session, const struct child *child, const char *when)
{
	char end[128], quote[700];

	child_describe_end(child, end, sizeof(end));
	log_quote(&child->log, quote, sizeof(quote));
	session->server_blamed |= child == &session->server;
	invalidate(session, "%s %s %s%s%s", child->name, end, when, quote[0] ? ": " : "", quote);
}

static int start(struct session *session, struct child *child, struct directory *directory,
		 bool server)
{
	char path[PATH_MAX], log_name[SETTING_TEXT_BYTES + 64];
	json_t *env = readiness_env(session->sample->env, session->nonce);
	struct tp_error error;
	struct child_spec spec = {
		.name = server ? "the server" : "the client",
		.program = server ? session->sample->cell->program->path : "/proc/self/exe",
		.argv = server ? session->sample->server_argv : session->sample->client_argv,
		.env = env,
		.folder = directory->partial,
		.log_path = path,
		.on_line = server ? on_server_line : on_client_line,
		.user = session,
	};
	int code;

	snprintf(log_name, sizeof(log_name), "%s/%s.log", session->sample->folder,
		 server ? "server" : "client");
	directory_file(directory, log_name, path);
	code = child_start(child, &spec, &error);
	json_decref(env);
	if (code == -ENOSPC || code == -EDQUOT || code == -EROFS || code == -EIO)
		directory_fail(directory, code, log_name);
	if (code < 0)
		invalidate(session, "%s", error.text);
	return code;
}

/* Waits for the ready line; tells a server that never came up from one that died. */
static bool await_ready(struct session *session)
{
	uint64_t deadline_ns = session->start_ns + READY_NS;

	while (!session->ready && !session->server.ended && !is_over(deadline_ns) &&
	       !session->interrupt->signal_number)
		step(session, deadline_ns);
	if (session->ready)
		return true;
	if (session->server.ended)
		blame(session, &session->server, "before it was ready");
	else if (!session->interrupt->signal_number)
		blame(session, &session->server, "but gave no ready line within 20 s");
	return false;
}

static const char *in_phase(const struct session *session, const char *whose, char text[64])
{
	snprintf(text, 64, "in %s phase `%s`", whose, session->phase[0] ? session->phase : "start");
	return text;
}

/*
 * Lets the client do its work. If the server dies, the client gets a little time to say what it
 * saw.
 */
static void await_client(struct session *session, uint64_t window_ns)
{
	uint64_t deadline_ns = clock_monotonic_ns() + window_ns + CLIENT_GRACE_NS;
	char when[64];

	while (!session->client.ended && !is_over(deadline_ns) &&
	       !session->interrupt->signal_number) {
		step(session, deadline_ns);
		if (!session->server.ended || session->server_blamed)
			continue;
		deadline_ns = clock_monotonic_ns() + AFTER_DEATH_NS;
		blame(session, &session->server, in_phase(session, "the client's", when));
	}
	if (session->interrupt->signal_number)
		return;
	if (!session->client.ended)
		blame(session, &session->client,
		      session->server_blamed ? "after the server's death"
					     : "in the time it was given");
	else if (!child_succeeded(&session->client))
		blame(session, &session->client, in_phase(session, "its", when));
}

/* The last snapshot asked for may still be on its way when the client has ended. */
static void await_snapshots(struct session *session)
{
	uint64_t deadline_ns = clock_monotonic_ns() + SNAPSHOT_NS;
	unsigned asked = session->watch.count;
	char quote[700];

	while (session->snapshot_count < asked && !session->server.ended && !is_over(deadline_ns) &&
	       !session->interrupt->signal_number)
		step(session, deadline_ns);
	session->snapshots_lack = session->snapshot_count < asked && !session->server.ended;
	if (!session->snapshots_lack)
		return;
	log_quote(&session->server.log, quote, sizeof(quote));
	invalidate(session, "the server gave %u of %u snapshots%s%s", session->snapshot_count,
		   asked, quote[0] ? ": " : "", quote);
}

/* Signals a child and waits for its end, at most so long. */
static bool end_child(struct session *session, struct child *child, int signal_number,
		      uint64_t within_ns)
{
	uint64_t deadline_ns = clock_monotonic_ns() + within_ns;

	child_signal(child, signal_number);
	while (child->pid && !child->ended && !is_over(deadline_ns))
		step(session, deadline_ns);
	return !child->pid || child->ended;
}

/* Tells the server to stop, unless it has died. */
static void stop_server(struct session *session)
{
	bool died = session->server.ended;

	if (!session->server.pid || session->server_blamed)
		return;
	if (!end_child(session, &session->server, SIGTERM, STOP_NS))
		invalidate(session,
			   "the server did not stop within %llu s of SIGTERM and was killed",
			   (unsigned long long)(STOP_NS / CLOCK_SECOND_NS));
	else if (died || (!child_succeeded(&session->server) && !session->interrupt->signal_number))
		blame(session, &session->server,
		      died ? "before it was told to stop" : "when told to stop");
}

/* Nothing of a sample is left running after this. */
static void end_all(struct session *session)
{
	end_child(session, &session->client, SIGKILL, KILL_NS);
	stop_server(session);
	end_child(session, &session->server, SIGKILL, KILL_NS);
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

/* A child that somebody stopped and set going again measured the pause as well. */
static void judge_stops(struct session *session, const struct child *child)
{
	if (child->stopped && !session->interrupt->signal_number)
		invalidate(session, "%s was stopped by a signal while the sample ran", child->name);
}

static void carry_out(struct session *session, struct directory *directory, uint64_t window_ns)
{
	session->start_ns = clock_monotonic_ns();
	watch_start(&session->watch);
	if (start(session, &session->server, directory, true) == 0 && await_ready(session) &&
	    start(session, &session->client, directory, false) == 0) {
		watch_aside(&session->watch, &session->sample->cell->pins);
		await_client(session, window_ns);
		await_snapshots(session);
		judge_stops(session, &session->server);
		judge_stops(session, &session->client);
		if (json_array_size(session->reasons) > 0)
			directory_check_room(directory);
	}
	end_all(session);
	watch_end(&session->watch);
}

static json_t *parse_line(const char *text)
{
	return text ? json_loads(text, 0, NULL) : NULL;
}

/* A file of the sample's folder, at most so large, for the caller to free; or NULL. */
static char *read_file(const struct session *session, const struct directory *directory,
		       const char *name, size_t max_bytes, size_t *bytes_out)
{
	char path[PATH_MAX], within[SETTING_TEXT_BYTES + 64];
	struct tp_error ignored;
	char *text;

	snprintf(within, sizeof(within), "%s/%s", session->sample->folder, name);
	if (file_read(directory_file(directory, within, path), max_bytes, &text, bytes_out,
		      &ignored) < 0)
		return NULL;
	return text;
}

/* What the client wrote, or NULL. */
static json_t *read_client_json(const struct session *session, const struct directory *directory)
{
	json_t *json = NULL;
	size_t bytes;
	char *text = read_file(session, directory, "client.json", CLIENT_JSON_BYTES_MAX, &bytes);

	if (text)
		json = json_loadb(text, bytes, 0, NULL);
	free(text);
	return json;
}

/* Writes warmup.log, once the client's log is closed. */
static void write_warmup(const struct session *session, struct directory *directory)
{
	char name[SETTING_TEXT_BYTES + 64];
	size_t bytes = 0;
	char *log = read_file(session, directory, "client.log", 2 * LOG_BYTES_MAX, &bytes);
	char *metrics = read_file(session, directory, "metrics.jsonl", METRICS_BYTES_MAX, &bytes);
	char *text = warmup_make(log, metrics, &bytes);

	snprintf(name, sizeof(name), "%s/warmup.log", session->sample->folder);
	if (text)
		directory_write(directory, name, text, bytes);
	free(text);
	free(metrics);
	free(log);
}

static json_t *make_result(struct session *session, const struct directory *directory,
			   uint64_t duration_ns, const char *started_at)
{
	struct result_parts parts = {
		.sample = session->sample,
		.reasons = session->reasons,
		.started_at = started_at,
		.duration_s = (double)duration_ns / 1e9,
		.ready_ms = session->ready_ns
				    ? (double)(session->ready_ns - session->start_ns) / 1e6
				    : -1,
		.ready = parse_line(session->ready),
		.before = parse_line(session->snapshots_lack ? NULL : session->snapshots[0]),
		.after = parse_line(session->snapshots_lack ? NULL : session->snapshots[1]),
		.client = read_client_json(session, directory),
		.watch = &session->watch,
	};
	json_t *result = result_make(&parts);

	json_decref(parts.ready);
	json_decref(parts.before);
	json_decref(parts.after);
	json_decref(parts.client);
	return result;
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

int sample_run(const struct plan_sample *sample, const struct experiment *experiment,
	       struct directory *directory, struct interrupt *interrupt, json_t **result_out)
{
	struct session *session = calloc(1, sizeof(*session));
	char started_at[32], name[SETTING_TEXT_BYTES + 64];
	time_t now = time(NULL);
	struct tm utc;

	if (!session)
		return -ENOMEM;
	session->sample = sample;
	session->interrupt = interrupt;
	session->reasons = json_array();
	readiness_make_nonce(session->nonce);
	strftime(started_at, sizeof(started_at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	if (directory_folder(directory, sample->folder) == 0)
		carry_out(session, directory, experiment->warmup_ns + experiment->duration_ns);
	close_child(&session->client, directory);
	close_child(&session->server, directory);
	remove_socket(sample);
	if (!interrupt->signal_number) {
		write_warmup(session, directory);
		*result_out = make_result(session, directory, experiment->duration_ns, started_at);
		snprintf(name, sizeof(name), "%s/result.json", sample->folder);
		directory_write_json(directory, name, *result_out);
	}
	for (unsigned i = 0; i < SNAPSHOTS; i++)
		free(session->snapshots[i]);
	free(session->ready);
	json_decref(session->reasons);
	free(session);
	return interrupt->signal_number ? -EINTR : directory->failed;
}
