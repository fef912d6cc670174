#include "apps/run/hosts/remote.h"

#include "apps/agent/agent.h"
#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/provenance/topology_wire.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Longest time of each step. */
#define COMMAND_NS (20 * CLOCK_SECOND_NS)
#define COPY_NS (300 * CLOCK_SECOND_NS)
#define ANSWER_NS (30 * CLOCK_SECOND_NS)
#define FETCH_NS (120 * CLOCK_SECOND_NS)
#define CLOSE_NS (10 * CLOCK_SECOND_NS)

enum {
	ANSWER_BYTES = 256 * 1024,
	COMMAND_BYTES = 2048,
	OUTPUT_BYTES = 4096,
	DIGEST_LETTERS = 16, /* of a program's digest in its name there */
};

bool remote_is_far(const struct remote *remote)
{
	return remote->wish->ssh.destination != NULL;
}

/* Whether both are told in the same words how to get there. */
static bool is_same_target(const struct ssh_target *a, const struct ssh_target *b)
{
	return a->destination && b->destination && strcmp(a->destination, b->destination) == 0 &&
	       a->port == b->port && !a->config == !b->config &&
	       (!a->config || strcmp(a->config, b->config) == 0);
}

bool remote_is_same_machine(const struct remote *a, const struct remote *b)
{
	const json_t *first = json_object_get(a->facts, "boot_id");
	const json_t *second = json_object_get(b->facts, "boot_id");

	if (!remote_is_far(a) && !remote_is_far(b))
		return true;
	if (json_is_string(first) && json_is_string(second))
		return json_equal(first, second);
	return is_same_target(&a->wish->ssh, &b->wish->ssh);
}

const char *remote_program(const struct remote *remote, const struct program *program,
			   char path[REMOTE_PATH_BYTES])
{
	snprintf(path, REMOTE_PATH_BYTES, "%s/weir-%.*s", remote->folder, DIGEST_LETTERS,
		 program->sha256);
	return path;
}

/* What a command there said, as a failure. */
static int fail_command(const struct remote *remote, int status, const char *what, const char *said,
			struct tp_error *error)
{
	if (status == -EINTR)
		return tp_fail(error, -EINTR, "%s: interrupted", remote->name);
	if (status == -ETIMEDOUT)
		return tp_fail(error, -ETIMEDOUT, "%s: %s took too long%s%s", remote->name, what,
			       said[0] ? ": " : "", said);
	if (status == SSH_FAILED)
		return tp_fail(error, -EHOSTUNREACH,
			       "%s cannot be reached: %s; `ssh -o BatchMode=yes %s true` must work "
			       "without a question",
			       remote->name, said[0] ? said : "ssh did not say why",
			       remote->wish->ssh.destination);
	return tp_fail(error, -EIO, "%s: %s failed (status %d): %s", remote->name, what, status,
		       said[0] ? said : "nothing was said");
}

/* Compares the machines and makes the folder, whose name nobody can have guessed. */
static int make_folder(struct remote *remote, const char *run_id, struct interrupt *interrupt,
		       struct tp_error *error)
{
	char command[COMMAND_BYTES], out[OUTPUT_BYTES], said[SSH_SAID_BYTES];
	char system[65], release[REMOTE_NAME_BYTES], machine[65];
	struct utsname here;
	uint64_t random;
	int status;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return tp_fail(error, -EIO, "no random bytes for the name of a folder");
	snprintf(remote->folder, sizeof(remote->folder), "%.150s/%s%s-%08x", remote->wish->parent,
		 AGENT_FOLDER_PREFIX, run_id, (unsigned)random);
	snprintf(command, sizeof(command), "uname -srm && mkdir -m 700 %s", remote->folder);
	status = ssh_run(&remote->wish->ssh, command, -1, out, sizeof(out), COMMAND_NS, interrupt,
			 said);
	if (status != 0) {
		remote->folder[0] = '\0';
		return fail_command(remote, status, "making a folder", said, error);
	}
	uname(&here);
	if (sscanf(out, "%64s %127s %64s", system, release, machine) != 3)
		return tp_fail(error, -EIO, "%s: `uname -srm` says %.100s", remote->name, out);
	snprintf(remote->kernel, sizeof(remote->kernel), "%s", release);
	if (strcmp(system, here.sysname) == 0 && strcmp(machine, here.machine) == 0)
		return 0;
	return tp_fail(error, -ENOEXEC,
		       "%s is %s on %s, this host %s on %s: the program of the run cannot run "
		       "there; have all hosts of one kind",
		       remote->name, system, machine, here.sysname, here.machine);
}

/* The digest of the program that the experiment says is there must be that of ours. */
static int compare_weir(const struct remote *remote, const struct program *program,
			struct interrupt *interrupt, struct tp_error *error)
{
	char command[COMMAND_BYTES], out[OUTPUT_BYTES], said[SSH_SAID_BYTES];
	int status;

	snprintf(command, sizeof(command), "sha256sum %.1000s", remote->wish->weir);
	status = ssh_run(&remote->wish->ssh, command, -1, out, sizeof(out), COMMAND_NS, interrupt,
			 said);
	if (status != 0)
		return fail_command(remote, status, command, said, error);
	if (strncmp(out, program->sha256, strlen(program->sha256)) == 0)
		return 0;
	return tp_fail(error, -EINVAL,
		       "%s: %.200s there has the digest %.16s..., this runner's program %.16s...: "
		       "they differ; leave \"weir\" out to have it copied, or install the same "
		       "there",
		       remote->name, remote->wish->weir, out, program->sha256);
}

/* Brings one program there under a name of its digest's, and checks it where it has arrived. */
static int put(struct remote *remote, const struct program *program, bool is_there,
	       struct interrupt *interrupt, struct tp_error *error)
{
	char command[COMMAND_BYTES], path[REMOTE_PATH_BYTES], out[OUTPUT_BYTES];
	char said[SSH_SAID_BYTES];
	const char *folder = remote->folder;
	int fd = is_there ? open("/dev/null", O_RDONLY | O_CLOEXEC)
			  : open(program->path, O_RDONLY | O_CLOEXEC);
	int status;

	if (fd < 0)
		return tp_fail(error, -errno, "cannot read the program %.200s: %s", program->path,
			       strerror(errno));
	snprintf(command, sizeof(command),
		 "sh -c 'umask 077 && cat %s >%s/weir.partial && "
		 "echo \"%s  %s/weir.partial\" | sha256sum -c >/dev/null && "
		 "chmod 700 %s/weir.partial && mv -f %s/weir.partial %s'",
		 is_there ? remote->wish->weir : "-", folder, program->sha256, folder, folder,
		 folder, remote_program(remote, program, path));
	status = ssh_run(&remote->wish->ssh, command, fd, out, sizeof(out), COPY_NS, interrupt,
			 said);
	close(fd);
	if (status == 0)
		return 0;
	return fail_command(remote, status, "copying the program", said, error);
}

static int put_all(struct remote *remote, const struct program *programs, unsigned count,
		   struct interrupt *interrupt, struct tp_error *error)
{
	remote->was_there = remote->wish->weir != NULL;
	if (remote->was_there && compare_weir(remote, &programs[0], interrupt, error) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < count; i++) {
		bool is_there =
			remote->was_there && strcmp(programs[i].sha256, programs[0].sha256) == 0;
		int code = put(remote, &programs[i], is_there, interrupt, error);

		if (code < 0)
			return code;
		if (remote->on_step)
			remote->on_step(remote->user);
	}
	return 0;
}

/* What libraries the program lacks there, or what it said when it would not start. */
static int explain_start(const struct remote *remote, const struct program *program, int status,
			 struct interrupt *interrupt, struct tp_error *error)
{
	char command[COMMAND_BYTES], path[REMOTE_PATH_BYTES], out[OUTPUT_BYTES];
	char said[SSH_SAID_BYTES], first[SSH_SAID_BYTES];
	size_t used = 0;

	snprintf(first, sizeof(first), "%s", remote->keeper.said);
	snprintf(command, sizeof(command), "ldd %s", remote_program(remote, program, path));
	ssh_run(&remote->wish->ssh, command, -1, out, sizeof(out), COMMAND_NS, interrupt, said);
	said[0] = '\0';
	for (char *rest = out, *line; (line = strsep(&rest, "\n"));)
		if (strstr(line, "not found") && used < sizeof(said))
			used += (size_t)snprintf(said + used, sizeof(said) - used, "%s%.*s",
						 used ? ", " : "", (int)strcspn(line + 1, " "),
						 line + 1);
	if (used)
		return tp_fail(error, -ELIBACC,
			       "%s: the copied program cannot run there, these libraries are "
			       "missing: %s; install there what `weir` needs here "
			       "(docs/dependencies.md)",
			       remote->name, said);
	return fail_command(remote, status, "starting the copied program", first, error);
}

/* Whatever it may still say would be taken for the answer to something else. */
static void give_up_keeper(struct remote *remote)
{
	ssh_close(&remote->keeper, clock_monotonic_ns(), NULL);
}

/* Asks the keeper. A new reference to its answer; or NULL with `error` filled. */
static json_t *ask(struct remote *remote, const char *what, const char *with,
		   struct interrupt *interrupt, struct tp_error *error)
{
	json_t *request = json_pack("{ss ss*}", "do", what, "with", with);
	char *text = json_dumps(request, JSON_COMPACT), *line = malloc(ANSWER_BYTES);
	json_t *answer = NULL;
	ssize_t got = -ENOMEM;

	if (text && line && ssh_write(&remote->keeper, text) == 0 &&
	    ssh_write(&remote->keeper, "\n") == 0)
		got = ssh_read(&remote->keeper, line, ANSWER_BYTES, true,
			       clock_monotonic_ns() + ANSWER_NS, interrupt);
	if (got > 0)
		answer = json_loads(line, 0, NULL);
	free(text);
	free(line);
	json_decref(request);
	if (json_is_true(json_object_get(answer, "ok")))
		return answer;
	if (answer)
		tp_fail(error, -EIO, "%s: %s", remote->name,
			json_string_value(json_object_get(answer, "error")));
	else
		tp_fail(error, got == -EINTR ? -EINTR : -EHOSTUNREACH, "%s does not answer%s%s",
			remote->name, remote->keeper.said[0] ? ": " : "", remote->keeper.said);
	if (!answer && strcmp(what, "hello") != 0)
		give_up_keeper(remote);
	json_decref(answer);
	return NULL;
}

/* Keeps what the keeper says of the CPUs there. 0 or negative errno. */
static int read_topology(struct remote *remote, const json_t *wire)
{
	if (!remote->topology)
		remote->topology = calloc(1, sizeof(*remote->topology));
	return remote->topology ? topology_wire_read(wire, remote->topology) : -ENOMEM;
}

/* Starts the keeper and hears that it is the program that was meant. */
static int start_keeper(struct remote *remote, const struct program *program,
			struct interrupt *interrupt, struct tp_error *error)
{
	char command[COMMAND_BYTES], path[REMOTE_PATH_BYTES];
	json_t *hello;
	const char *digest;
	int code;

	snprintf(command, sizeof(command), "%s agent keep %s",
		 remote_program(remote, program, path), remote->folder);
	code = ssh_start(&remote->wish->ssh, command, -1, &remote->keeper, error);
	if (code < 0)
		return code;
	hello = ask(remote, "hello", NULL, interrupt, error);
	if (!hello) {
		code = ssh_close(&remote->keeper, clock_monotonic_ns() + CLOSE_NS, interrupt);
		if (code <= 0) /* it ran, but did not answer in time */
			return -EHOSTUNREACH;
		return explain_start(remote, program, code, interrupt, error);
	}
	digest = json_string_value(json_object_get(hello, "sha256"));
	code = digest && strcmp(digest, program->sha256) == 0
		       ? read_topology(remote, json_object_get(hello, "topology"))
		       : -EINVAL;
	json_decref(hello);
	if (code == 0)
		return 0;
	return tp_fail(error, code, "%s: what runs there is not the program that was copied",
		       remote->name);
}

static int64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * How far the clock there is ahead of ours. The answer was made at some time between question and
 * answer here, so half of the shortest round bounds the error (Cristian 1989).
 */
static int compare_clocks(struct remote *remote, struct interrupt *interrupt,
			  struct tp_error *error)
{
	int64_t best_ns = INT64_MAX, offset_ns = 0;

	for (unsigned i = 0; i < REMOTE_CLOCK_ROUNDS; i++) {
		int64_t before_ns = realtime_ns(), after_ns;
		json_t *answer = ask(remote, "clock", NULL, interrupt, error);

		if (!answer)
			return -EIO;
		after_ns = realtime_ns();
		if (after_ns - before_ns < best_ns) {
			best_ns = after_ns - before_ns;
			offset_ns = json_integer_value(json_object_get(answer, "realtime_ns")) -
				    (before_ns + after_ns) / 2;
		}
		json_decref(answer);
	}
	json_decref(remote->clock);
	remote->clock =
		json_pack("{sf sf si}", "offset_ms", (double)offset_ns / 1e6, "uncertainty_ms",
			  (double)best_ns / 2e6, "rounds", (int)REMOTE_CLOCK_ROUNDS);
	return 0;
}

static int read_facts(struct remote *remote, struct interrupt *interrupt, struct tp_error *error)
{
	json_t *answer = ask(remote, "host", NULL, interrupt, error);

	if (!answer)
		return -EIO;
	json_decref(remote->facts);
	remote->facts = json_incref(json_object_get(answer, "facts"));
	json_decref(answer);
	return 0;
}

char *remote_request(const struct remote *remote, const struct program *program, const json_t *argv,
		     const json_t *env, const char *make)
{
	char path[REMOTE_PATH_BYTES];
	json_t *request = json_pack("{ss ss ss sO sO}", "program",
				    remote_program(remote, program, path), "folder", remote->folder,
				    "make", make, "argv", (json_t *)argv, "env", (json_t *)env);
	char *text = json_dumps(request, JSON_COMPACT);
	char *line = NULL;

	if (text && asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	json_decref(request);
	return line;
}

json_t *remote_argv(const struct remote *remote, const struct program *keeper)
{
	char command[COMMAND_BYTES], path[REMOTE_PATH_BYTES];
	struct ssh_argv argv;
	json_t *list = json_array();

	snprintf(command, sizeof(command), "%s agent run", remote_program(remote, keeper, path));
	ssh_argv_make(&remote->wish->ssh, command, &argv);
	for (unsigned i = 0; i < argv.count; i++)
		json_array_append_new(list, json_text(argv.of[i]));
	return list;
}

/* What there is of a folder that no keeper holds yet. */
static void remove_folder(struct remote *remote, struct interrupt *interrupt)
{
	char command[COMMAND_BYTES], out[OUTPUT_BYTES], said[SSH_SAID_BYTES];

	if (!remote->folder[0])
		return;
	snprintf(command, sizeof(command), "rm -r -f %s", remote->folder);
	ssh_run(&remote->wish->ssh, command, -1, out, sizeof(out), COMMAND_NS, interrupt, said);
}

int remote_open(struct remote *remote, const char *run_id, const struct program *programs,
		unsigned program_count, struct interrupt *interrupt, struct tp_error *error)
{
	int code = make_folder(remote, run_id, interrupt, error);

	if (code == 0)
		code = put_all(remote, programs, program_count, interrupt, error);
	if (code == 0)
		code = start_keeper(remote, &programs[0], interrupt, error);
	if (code == 0)
		code = compare_clocks(remote, interrupt, error);
	if (code == 0)
		code = read_facts(remote, interrupt, error);
	if (code == 0)
		return 0;
	if (remote->keeper.pid)
		ssh_close(&remote->keeper, clock_monotonic_ns() + CLOSE_NS, NULL);
	else
		remove_folder(remote, NULL);
	remote->folder[0] = '\0';
	return code;
}

bool remote_lives(struct remote *remote, struct interrupt *interrupt)
{
	struct tp_error ignored;
	json_t *answer =
		remote->keeper.pid ? ask(remote, "clock", NULL, interrupt, &ignored) : NULL;
	bool lives = answer != NULL;

	json_decref(answer);
	return lives;
}

void remote_beat(struct remote *remote)
{
	if (remote->keeper.pid)
		ssh_write(&remote->keeper, "{\"do\":\"beat\"}\n");
}

int remote_check_listen(struct remote *remote, const char *endpoint, struct interrupt *interrupt,
			struct tp_error *error)
{
	struct tp_error why;
	json_t *answer = ask(remote, "listen", endpoint, interrupt, &why);

	json_decref(answer);
	if (answer)
		return 0;
	return tp_fail(error, -EADDRNOTAVAIL, "a server cannot listen on %s: %.400s", endpoint,
		       why.text);
}

int remote_lock(struct remote *remote, const char *run_id, struct interrupt *interrupt,
		struct tp_error *error)
{
	json_t *answer = ask(remote, "lock", run_id, interrupt, error);

	json_decref(answer);
	remote->holds_lock = answer != NULL;
	return answer ? 0 : -EBUSY;
}

int remote_look(struct remote *remote, struct interrupt *interrupt, struct tp_error *error)
{
	json_t *answer = ask(remote, "busy", NULL, interrupt, error);

	if (!answer)
		return -EHOSTUNREACH;
	json_decref(remote->busy);
	remote->busy = json_incref(json_object_get(answer, "busy"));
	json_decref(answer);
	return 0;
}

int remote_fetch(struct remote *remote, const char *name, const char *path,
		 struct interrupt *interrupt, struct tp_error *error)
{
	json_t *answer = ask(remote, "fetch", name, interrupt, error);
	size_t bytes = (size_t)json_integer_value(json_object_get(answer, "bytes"));
	ssize_t got = -ENOMEM;
	char *data;
	int code;

	if (!answer)
		return -EIO;
	json_decref(answer);
	data = bytes <= AGENT_FILE_BYTES_MAX ? malloc(bytes + 1) : NULL;
	if (data)
		got = ssh_read(&remote->keeper, data, bytes, false, clock_monotonic_ns() + FETCH_NS,
			       interrupt);
	if (got == (ssize_t)bytes) {
		code = file_write(path, data, bytes, error);
	} else {
		code = tp_fail(error, -EHOSTUNREACH, "%s: %.200s did not arrive whole",
			       remote->name, name);
		give_up_keeper(remote);
	}
	free(data);
	return code;
}

void remote_close(struct remote *remote)
{
	if (remote->keeper.pid)
		ssh_close(&remote->keeper, clock_monotonic_ns() + CLOSE_NS, NULL);
	remote->folder[0] = '\0';
}

void remote_fini(struct remote *remote)
{
	remote_close(remote);
	json_decref(remote->facts);
	json_decref(remote->clock);
	json_decref(remote->busy);
	free(remote->topology);
	*remote = (struct remote){.wish = remote->wish};
}
