#include "apps/agent/agent.h"

#include "apps/common/spawn.h"
#include "apps/common/tree.h"
#include "apps/run/plan/environment.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64 };

/* The end of the process that ends in any case takes no longer than this, ms. */
enum { REAP_MS = 10000 };

struct request {
	json_t *json;
	const char *program;
	const char *folder; /* where it runs */
	const char *make;   /* a folder in it that is made first; or NULL */
	const json_t *env;
	char *argv[ARGUMENTS_MAX + 1];
};

/* Reads the first line. False if it is not what it should be. */
static bool read_request(const char *line, struct request *request)
{
	const json_t *argv;
	size_t index;
	json_t *argument;

	request->json = json_loads(line, 0, NULL);
	request->program = json_string_value(json_object_get(request->json, "program"));
	request->folder = json_string_value(json_object_get(request->json, "folder"));
	request->make = json_string_value(json_object_get(request->json, "make"));
	request->env = json_object_get(request->json, "env");
	argv = json_object_get(request->json, "argv");
	if (!request->program || !request->folder || !json_is_object(request->env) ||
	    json_array_size(argv) == 0 || json_array_size(argv) > ARGUMENTS_MAX)
		return false;
	json_array_foreach((json_t *)argv, index, argument)
	{
		if (!json_is_string(argument))
			return false;
		request->argv[index] = (char *)json_string_value(argument);
	}
	return true;
}

/* Between fork and exec; the process dies if the agent does. */
static _Noreturn void become(const struct request *request, pid_t parent)
{
	spawn_settle(parent, &(struct spawn_ends){-1, -1, -1});
	environment_become(request->env);
	execv(request->program, request->argv);
	dprintf(STDERR_FILENO, "cannot execute %s: %s\n", request->program, strerror(errno));
	_exit(127);
}

/* Makes its folder and starts it. Its process id, or -1 with the reason on stderr. */
static pid_t start(const struct request *request)
{
	pid_t parent = getpid(), pid;
	int code = chdir(request->folder) < 0 ? -errno : 0;

	if (code == 0 && request->make)
		code = tree_make(request->make, 0700);
	if (code < 0) {
		fprintf(stderr, "weir agent: cannot work in %s: %s\n", request->folder,
			strerror(-code));
		return -1;
	}
	pid = fork();
	if (pid == 0)
		become(request, parent);
	if (pid < 0)
		fprintf(stderr, "weir agent: cannot start a process: %s\n", strerror(errno));
	else
		setpgid(pid, pid);
	return pid;
}

static void obey(const char *line, pid_t pid)
{
	int number = 0;

	if (sscanf(line, "signal %d", &number) == 1 && number > 0)
		kill(pid, number);
	else if (sscanf(line, "kill %d", &number) == 1 && number > 0)
		kill(-pid, number);
}

/* Waits for the end of a process that was killed. */
static void reap(pid_t pid)
{
	for (unsigned waited_ms = 0; waited_ms < REAP_MS; waited_ms += 10) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return;
		usleep(10 * 1000);
	}
}

/* Passes orders on until the process ends or the runner is gone; the exit status. */
static int attend(struct agent_lines *lines, pid_t pid)
{
	int status, pidfd = (int)syscall(SYS_pidfd_open, pid, 0), got;
	char *line;

	if (pidfd < 0) {
		fprintf(stderr, "weir agent: cannot watch a process: %s\n", strerror(errno));
		kill(-pid, SIGKILL);
		reap(pid);
		return AGENT_REFUSED;
	}
	while ((got = agent_next_line(lines, pidfd, AGENT_RUN_SILENCE_NS, &line)) > 0)
		obey(line, pid);
	/* and what it started in turn, before its number can be another's */
	kill(-pid, SIGKILL);
	if (got == 0 && waitpid(pid, &status, 0) == pid)
		return agent_status_of(status);
	reap(pid);
	return AGENT_ORPHANED;
}

int agent_run(void)
{
	struct agent_lines *lines = calloc(1, sizeof(*lines));
	struct request request = {.json = NULL};
	int status = AGENT_REFUSED;
	char *line;
	pid_t pid;

	if (lines && agent_next_line(lines, -1, AGENT_RUN_SILENCE_NS, &line) > 0) {
		if (!read_request(line, &request))
			fprintf(stderr, "weir agent: the request is not understood; is the runner "
					"of another version?\n");
		else if ((pid = start(&request)) > 0)
			status = attend(lines, pid);
	}
	json_decref(request.json);
	free(lines);
	return status;
}
