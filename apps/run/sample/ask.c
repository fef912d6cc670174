#include "apps/run/sample/ask.h"

#include "apps/run/sample/child.h"
#include "apps/run/sample/readiness.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long each step may take. */
#define READY_NS (20 * CLOCK_SECOND_NS)
#define ANSWER_NS (20 * CLOCK_SECOND_NS)
#define STOP_NS (8 * CLOCK_SECOND_NS)
#define KILL_NS (5 * CLOCK_SECOND_NS)

/* Requests of each digest, and how many at a time: enough that answers are written together. */
#define REQUESTS "32"
#define DEPTH "8"

enum { POLL_MS_MAX = 100 };

enum role { UPSTREAM, SERVER, CLIENT, ROLES };

static const char *const names[ROLES] = {"upstream", "server", "client"};

static const char *const children[ROLES] = {"the upstream", "the server", "the client"};

/* A server that is being asked. */
struct asking {
	const struct plan_sample *sample;
	struct interrupt *interrupt;
	struct child child[ROLES]; /* the upstream is not started where the plan has none */
	bool ready[ROLES];
	char nonce[READINESS_NONCE_BYTES];
	struct answer *answer;
};

/* Of a server that is being started: no two are at once. */
static void on_server_line(void *user, const char *line)
{
	struct asking *asking = user;
	enum role role = asking->child[SERVER].pid ? SERVER : UPSTREAM;

	if (strncmp(line, "ready ", 6) == 0 &&
	    readiness_accept(line + 6, asking->nonce, asking->child[role].pid))
		asking->ready[role] = true;
}

static void on_client_line(void *user, const char *line)
{
	struct asking *asking = user;

	sscanf(line, "digest %64[0-9a-f] %llu", asking->answer->hex, &asking->answer->bytes);
}

/* Waits for something to happen to any process, and takes it in. */
static void step(struct asking *asking)
{
	enum { FDS = ROLES * CHILD_FDS + 1 };
	struct pollfd fds[FDS];

	for (unsigned i = 0; i < FDS; i++)
		fds[i] = (struct pollfd){.fd = -1};
	for (unsigned i = 0; i < ROLES; i++)
		if (asking->child[i].pid)
			child_fill(&asking->child[i], fds + (size_t)CHILD_FDS * i);
	fds[FDS - 1] = (struct pollfd){.fd = asking->interrupt->fd, .events = POLLIN};
	poll(fds, FDS, POLL_MS_MAX);
	for (unsigned i = 0; i < ROLES; i++)
		child_serve(&asking->child[i], fds + (size_t)CHILD_FDS * i);
	interrupt_check(asking->interrupt);
}

/* Goes on until `*done` says so, or one of the other ends that there are. */
static void await(struct asking *asking, const bool *done, uint64_t within_ns)
{
	uint64_t deadline_ns = clock_monotonic_ns() + within_ns;

	while (!*done && !asking->child[UPSTREAM].ended && !asking->child[SERVER].ended &&
	       !asking->interrupt->signal_number && clock_monotonic_ns() < deadline_ns)
		step(asking);
}

static void end_child(struct asking *asking, enum role role, int signal_number, uint64_t within_ns)
{
	struct child *child = &asking->child[role];
	uint64_t deadline_ns = clock_monotonic_ns() + within_ns;

	child_signal(child, signal_number);
	while (child->pid && !child->ended && clock_monotonic_ns() < deadline_ns)
		step(asking);
}

static void end_server(struct asking *asking, enum role role)
{
	end_child(asking, role, SIGTERM, STOP_NS);
	end_child(asking, role, SIGKILL, KILL_NS);
}

/* Notes why there is no digest, with a child's last words. */
static void fail(struct asking *asking, enum role role, const char *what)
{
	const struct child *child = &asking->child[role];
	char end[128], quote[600];

	child_describe_end(child, end, sizeof(end));
	log_quote(&child->log, quote, sizeof(quote));
	snprintf(asking->answer->failure, sizeof(asking->answer->failure), "%s %s %s%s%s",
		 child->name, end, what, quote[0] ? ": " : "", quote);
}

/* A load's arguments without those of its windows and files, which a digest has no use for. */
static json_t *digest_argv(const json_t *client_argv)
{
	static const char *const dropped[] = {"--connections", "--depth", "--refill",  "--warmup",
					      "--duration",    "--json",  "--metrics", "--hgrm"};
	json_t *argv = json_array();
	size_t count = json_array_size(client_argv);

	for (size_t i = 0; i < count; i++) {
		const char *word = json_string_value(json_array_get(client_argv, i));
		bool drop = false;

		for (unsigned k = 0; k < sizeof(dropped) / sizeof(dropped[0]); k++)
			drop |= strcmp(word, dropped[k]) == 0;
		if (drop)
			i++; /* and its value */
		else
			json_array_append_new(argv, json_string(word));
	}
	json_array_append_new(argv, json_string("--depth"));
	json_array_append_new(argv, json_string(DEPTH));
	json_array_append_new(argv, json_string("--digest"));
	json_array_append_new(argv, json_string(REQUESTS));
	return argv;
}

/* What a role is started with; a new reference. */
static json_t *argv_of(const struct plan_sample *sample, enum role role)
{
	if (role == CLIENT)
		return digest_argv(sample->client_argv);
	return json_incref(role == SERVER ? sample->server_argv : sample->upstream_argv);
}

/* 0, or negative errno with the failure noted. */
static int start(struct asking *asking, enum role role, struct directory *directory,
		 const char *prefix)
{
	char path[PATH_MAX], log_name[ASK_PREFIX_BYTES + 16];
	struct tp_error error;
	json_t *env = readiness_env(asking->sample->env, asking->nonce);
	json_t *argv = argv_of(asking->sample, role);
	struct child_spec spec = {
		.name = children[role],
		.program = role == SERVER ? asking->sample->cell->program->path : "/proc/self/exe",
		.argv = argv,
		.env = env,
		.folder = directory->partial,
		.log_path = path,
		.on_line = role == CLIENT ? on_client_line : on_server_line,
		.user = asking,
	};
	int code;

	snprintf(log_name, sizeof(log_name), "%s.%s.log", prefix, names[role]);
	directory_file(directory, log_name, path);
	code = child_start(&asking->child[role], &spec, &error);
	if (directory_is_its_own(code))
		directory_fail(directory, code, log_name);
	if (code < 0)
		snprintf(asking->answer->failure, sizeof(asking->answer->failure), "%s",
			 error.text);
	json_decref(argv);
	json_decref(env);
	return code;
}

static void close_child(struct child *child, struct directory *directory)
{
	int code = child->pid && child->ended ? child_close(child) : 0;

	if (code < 0)
		directory_fail(directory, code, "a child's log");
}

/* Starts a server and waits until it is ready; else why it is not has been noted. */
static bool raise_server(struct asking *asking, enum role role, struct directory *directory,
			 const char *prefix)
{
	if (start(asking, role, directory, prefix) < 0)
		return false;
	await(asking, &asking->ready[role], READY_NS);
	if (!asking->ready[role])
		fail(asking, role, "before it was ready");
	return asking->ready[role];
}

static void converse(struct asking *asking, struct directory *directory, const char *prefix)
{
	const struct child *client = &asking->child[CLIENT];

	if (asking->sample->upstream_argv && !raise_server(asking, UPSTREAM, directory, prefix))
		return;
	if (!raise_server(asking, SERVER, directory, prefix) ||
	    start(asking, CLIENT, directory, prefix) < 0)
		return;
	await(asking, &client->ended, ANSWER_NS);
	if (asking->answer->hex[0] && client->ended)
		return;
	for (enum role role = UPSTREAM; role < CLIENT; role++)
		if (asking->child[role].ended) {
			fail(asking, role, "while it was asked");
			return;
		}
	fail(asking, CLIENT, "without a digest");
}

/* What its last words say against a client that gave a digest all the same. */
static void judge(struct asking *asking, struct directory *directory)
{
	struct answer *answer = asking->answer;

	if (!asking->child[CLIENT].ended || !answer->hex[0]) {
		answer->hex[0] = '\0';
		directory_check_room(directory); /* without which neither could say anything */
		return;
	}
	answer->verified = child_succeeded(&asking->child[CLIENT]);
	if (!answer->verified)
		log_quote(&asking->child[CLIENT].log, answer->failure, sizeof(answer->failure));
}

int ask_server(const struct plan_sample *sample, struct directory *directory,
	       struct interrupt *interrupt, const char *prefix, struct answer *answer_out)
{
	struct asking *asking = calloc(1, sizeof(*asking));

	if (!asking)
		return -ENOMEM;
	*answer_out = (struct answer){.bytes = 0};
	asking->sample = sample;
	asking->interrupt = interrupt;
	asking->answer = answer_out;
	readiness_make_nonce(asking->nonce);
	converse(asking, directory, prefix);
	judge(asking, directory);
	end_child(asking, CLIENT, SIGKILL, KILL_NS);
	end_server(asking, SERVER);
	end_server(asking, UPSTREAM);
	for (enum role role = UPSTREAM; role < ROLES; role++)
		close_child(&asking->child[role], directory);
	free(asking);
	return interrupt->signal_number ? -EINTR : directory->failed;
}
