#include "apps/agent/agent.h"

#include "apps/common/exit.h"
#include "apps/common/file.h"
#include "apps/common/json.h"
#include "apps/common/tree.h"
#include "apps/common/port.h"
#include "apps/provenance/host.h"
#include "apps/provenance/sha256.h"
#include "apps/provenance/topology_wire.h"
#include "apps/run/store/lock.h"
#include "apps/run/others.h"
#include "dataplane/transport/addr.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static void answer(json_t *object)
{
	json_print_line(stdout, "", object);
}

static void refuse(const char *why)
{
	answer(json_pack("{sb ss}", "ok", 0, "error", why));
}

/* Who we are, and the CPUs there. */
static void answer_hello(void)
{
	struct topology *topology = calloc(1, sizeof(*topology));
	char digest[SHA256_HEX_BYTES] = "";
	uint64_t ignored;

	if (!topology || topology_read(topology) < 0 ||
	    sha256_file("/proc/self/exe", &ignored, digest) < 0)
		refuse("cannot read the own program or which CPUs there are");
	else
		answer(json_pack("{sb ss so}", "ok", 1, "sha256", digest, "topology",
				 topology_wire_make(topology)));
	free(topology);
}

static void answer_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	answer(json_pack("{sb sI}", "ok", 1, "realtime_ns",
			 (json_int_t)now.tv_sec * 1000000000 + now.tv_nsec));
}

/* Whether a server could listen there. */
static void answer_listen(const char *endpoint)
{
	struct tp_error error;
	struct tp_addr addr;
	char text[sizeof(error.text) + 64];
	int code;

	if (!endpoint || tp_addr_parse(endpoint, &addr) < 0) {
		refuse("the endpoint is not understood");
		return;
	}
	code = port_check(&addr, &error);
	snprintf(text, sizeof(text), "%s%s", code < 0 ? error.text : "",
		 code == -EADDRNOTAVAIL ? PORT_NOT_OWN : "");
	if (code < 0)
		refuse(text);
	else
		answer(json_pack("{sb}", "ok", 1));
}

/*
 * Takes the lock that runs here take, for as long as this process lives. One that an earlier keeper
 * of the same run still holds, whose connection is gone, is the run's all the same.
 */
static void answer_lock(const char *run_id)
{
	struct tp_error error;
	char what[128];

	if (!run_id) {
		refuse("a lock is for a run");
		return;
	}
	snprintf(what, sizeof(what), "a part of run %.60s on another host", run_id);
	if (lock_take(lock_default_path(), what, &error) < 0 && !strstr(error.text, what))
		refuse(error.text);
	else
		answer(json_pack("{sb}", "ok", 1));
}

static void answer_busy(void)
{
	struct interrupt none = {.fd = -1};
	struct others others = {0};

	others_look(&others, &none);
	answer(json_pack("{sb so}", "ok", 1, "busy", others_to_json(&others)));
}

/* A file of the folder, by its way within. */
static void answer_fetch(const char *name)
{
	struct tp_error error;
	size_t bytes;
	char *data;

	if (!name || name[0] == '/' || strstr(name, "..")) {
		refuse("no such file is given away");
		return;
	}
	if (file_read(name, AGENT_FILE_BYTES_MAX, &data, &bytes, &error) < 0) {
		refuse(error.text);
		return;
	}
	answer(json_pack("{sb sI}", "ok", 1, "bytes", (json_int_t)bytes));
	fwrite(data, 1, bytes, stdout);
	fflush(stdout);
	free(data);
}

/* A line that wants no answer is a sign of life. */
static void respond(const char *line)
{
	json_t *request = json_loads(line, 0, NULL);
	const char *what = json_string_value(json_object_get(request, "do"));
	const char *argument = json_string_value(json_object_get(request, "with"));

	if (!what)
		refuse("the request is not understood; is the runner of another version?");
	else if (strcmp(what, "hello") == 0)
		answer_hello();
	else if (strcmp(what, "clock") == 0)
		answer_clock();
	else if (strcmp(what, "host") == 0)
		answer(json_pack("{sb so}", "ok", 1, "facts", host_facts()));
	else if (strcmp(what, "listen") == 0)
		answer_listen(argument);
	else if (strcmp(what, "lock") == 0)
		answer_lock(argument);
	else if (strcmp(what, "busy") == 0)
		answer_busy();
	else if (strcmp(what, "fetch") == 0)
		answer_fetch(argument);
	else if (strcmp(what, "beat") != 0)
		refuse("no such request");
	json_decref(request);
}

/*
 * Takes the folder, which nobody has held before. The lock's descriptor, or -1 with the reason on
 * stderr.
 */
static int hold(const char *folder)
{
	int lock;

	if (!agent_is_own_folder(folder)) {
		fprintf(stderr,
			"weir agent: %s is not held, for it would be removed at the end: it is no "
			"folder of a run, made for this very program\n",
			folder);
		return -1;
	}
	lock = chdir(folder) < 0
		       ? -1
		       : open("lock", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
		return lock;
	fprintf(stderr, "weir agent: cannot hold %s: %s\n", folder, strerror(errno));
	if (lock >= 0)
		close(lock);
	return -1;
}

int agent_keep(const char *folder)
{
	struct agent_lines *lines = calloc(1, sizeof(*lines));
	int lock = lines ? hold(folder) : -1;
	char *line;

	if (lock < 0) {
		free(lines);
		return EXIT_USAGE;
	}
	/* the connection's end must not end this before the folder is gone */
	signal(SIGHUP, SIG_IGN);
	agent_sweep(folder);
	while (agent_next_line(lines, -1, AGENT_KEEP_SILENCE_NS, &line) > 0)
		respond(line);
	tree_remove_busy(folder);
	close(lock);
	free(lines);
	return EXIT_PASS;
}
