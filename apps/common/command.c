#include "apps/common/command.h"

#include "dataplane/core/check.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static_assert(COMMAND_INPUT_BYTES <= 4096, "a pipe holds the input while nobody reads it yet");

static void close_pair(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* A pipe that holds the input and ends behind it: its read end, or a negative errno. */
static int hold(const char *input)
{
	size_t bytes = strlen(input);
	int fds[2], code = 0;

	CHECK(bytes < COMMAND_INPUT_BYTES);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	if (write(fds[1], input, bytes) != (ssize_t)bytes)
		code = errno ? -errno : -EIO;
	close(fds[1]);
	if (code == 0)
		return fds[0];
	close(fds[0]);
	return code;
}

/* Starts it with these as stdin and stderr; its process id or a negative errno. */
static pid_t start(const char *const *argv, int in, int err)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int code;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	code = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return code ? -code : pid;
}

/* Keeps the beginning of what comes until the other end is closed. */
static void listen_to(int fd, char said[COMMAND_SAID_BYTES])
{
	char data[512];
	size_t kept = 0;
	ssize_t got;

	while ((got = read(fd, data, sizeof(data))) > 0 || (got < 0 && errno == EINTR)) {
		size_t room = COMMAND_SAID_BYTES - 1 - kept;
		size_t more = got < 0 ? 0 : (size_t)got < room ? (size_t)got : room;

		memcpy(said + kept, data, more);
		kept += more;
	}
	said[kept] = '\0';
}

/* Makes one line of what was said. */
static void join_lines(char said[COMMAND_SAID_BYTES])
{
	char text[COMMAND_SAID_BYTES];
	size_t bytes = 0;

	for (char *rest = said, *line; (line = strsep(&rest, "\n"));)
		if (*line && bytes < sizeof(text))
			bytes += (size_t)snprintf(text + bytes, sizeof(text) - bytes, "%s%s",
						  bytes ? "; " : "", line);
	memcpy(said, text, bytes ? sizeof(text) : 0);
	if (bytes == 0)
		said[0] = '\0';
}

static int judge(int status, char said[COMMAND_SAID_BYTES])
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	join_lines(said);
	if (said[0])
		return -EIO;
	if (WIFSIGNALED(status))
		snprintf(said, COMMAND_SAID_BYTES, "ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(said, COMMAND_SAID_BYTES, "ended with status %d", WEXITSTATUS(status));
	return -EIO;
}

/* Waits for it; its wait status, or a negative errno. */
static int await(pid_t pid, int *status_out)
{
	while (waitpid(pid, status_out, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int run_with(const char *const *argv, int in, char said[COMMAND_SAID_BYTES])
{
	int err[2], status = 0, code;
	pid_t pid;

	if (pipe2(err, O_CLOEXEC) < 0)
		return -errno;
	pid = start(argv, in, err[1]);
	if (pid < 0) {
		close_pair(err);
		return pid;
	}
	close(err[1]);
	listen_to(err[0], said);
	close(err[0]);
	code = await(pid, &status);
	return code < 0 ? code : judge(status, said);
}

int command_run(const char *const *argv, const char *input, char said_out[COMMAND_SAID_BYTES])
{
	int in = hold(input), code = in;

	said_out[0] = '\0';
	if (in >= 0) {
		code = run_with(argv, in, said_out);
		close(in);
	}
	if (code < 0 && code != -EIO)
		snprintf(said_out, COMMAND_SAID_BYTES, "%s", strerror(-code));
	return code;
}
