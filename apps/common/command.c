#include "apps/common/command.h"

#include "apps/common/spawn.h"
#include "apps/common/warden.h"
#include "dataplane/core/check.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static_assert(COMMAND_INPUT_BYTES <= 4096, "a pipe holds the input while nobody reads it yet");

/* How long a warden may take that is asked to end its work. */
enum { STOP_MS = WARDEN_GRACE_MS + 5 * 1000 };

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

/*
 * Leaves a warden here and returns in a process below it. What asks the warden to end the work, the
 * death of the parent among it, is blocked first, so that none is lost.
 */
static void leave_warden(pid_t parent, int report)
{
	sigset_t blocked;

	setpgid(0, 0);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	warden_stay(report);
}

/* What the child does between fork and exec; tells the parent through `report` why it could not. */
static _Noreturn void become(const struct command *command, const struct spawn_ends *ends,
			     bool watched, pid_t parent, int report)
{
	int code;

	if (watched) {
		leave_warden(parent, report);
		parent = getppid();
	}
	spawn_settle(parent, ends);
	if (!command->folder || chdir(command->folder) == 0)
		execvpe(command->argv[0], (char *const *)command->argv,
			command->env ? command->env : environ);
	code = errno;
	if (write(report, &code, sizeof(code)) != sizeof(code))
		_exit(126);
	_exit(127);
}

/* Starts it with these ends, perhaps below a warden; the process id or a negative errno. */
static pid_t start(const struct command *command, const struct spawn_ends *ends, bool watched)
{
	pid_t parent = getpid(), pid;
	int report[2], code = 0;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		become(command, ends, watched, parent, report[1]);
	code = pid < 0 ? errno : 0;
	close(report[1]);
	/* ends without a word as soon as the program runs */
	if (pid > 0 && read(report[0], &code, sizeof(code)) == sizeof(code))
		waitpid(pid, NULL, 0);
	close(report[0]);
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

/* Runs it to its end; what it says on stderr is kept. */
static int run_with(const struct command *command, int in, int out, char said[COMMAND_SAID_BYTES])
{
	int err[2], status = 0, code;
	pid_t pid;

	if (pipe2(err, O_CLOEXEC) < 0)
		return -errno;
	pid = start(command, &(struct spawn_ends){in, out, err[1]}, false);
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

/* Puts the reason into words where the program had none. */
static int explain(int code, char said[COMMAND_SAID_BYTES])
{
	if (code < 0 && code != -EIO)
		snprintf(said, COMMAND_SAID_BYTES, "%s", strerror(-code));
	return code;
}

/* Runs it with nothing to read. */
static int run_into(const struct command *command, int out, char said[COMMAND_SAID_BYTES])
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC), code;

	said[0] = '\0';
	if (in < 0)
		return explain(-errno, said);
	code = run_with(command, in, out, said);
	close(in);
	return explain(code, said);
}

int command_run(const char *const *argv, const char *input, char said_out[COMMAND_SAID_BYTES])
{
	const struct command command = {.argv = argv};
	int in = hold(input), code = in, out = -1;

	said_out[0] = '\0';
	if (in >= 0) {
		out = open("/dev/null", O_WRONLY | O_CLOEXEC);
		code = out < 0 ? -errno : run_with(&command, in, out, said_out);
		close(in);
	}
	if (out >= 0)
		close(out);
	return explain(code, said_out);
}

/* Takes what was written to the file; -EFBIG if there is no room for it. */
static int take(int fd, char *output, size_t room)
{
	ssize_t got = pread(fd, output, room, 0);

	if (got < 0)
		return -errno;
	if ((size_t)got == room)
		return -EFBIG;
	output[got] = '\0';
	return 0;
}

int command_read(const struct command *command, char *output, size_t room,
		 char said_out[COMMAND_SAID_BYTES])
{
	int fd = memfd_create("command", MFD_CLOEXEC), code;

	output[0] = '\0';
	if (fd < 0)
		return explain(-errno, said_out);
	code = run_into(command, fd, said_out);
	if (code == 0)
		code = explain(take(fd, output, room), said_out);
	if (code < 0)
		output[0] = '\0';
	close(fd);
	return code;
}

int command_write(const struct command *command, const char *path,
		  char said_out[COMMAND_SAID_BYTES])
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), code;

	if (fd < 0)
		return explain(-errno, said_out);
	code = run_into(command, fd, said_out);
	close(fd);
	return code;
}

/* Whether it ended within the time; -1 waits for as long as it takes, or for a word to stop. */
static bool ends_within(int pidfd, int stop_fd, int timeout_ms)
{
	struct pollfd fds[] = {{.fd = pidfd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};

	while (poll(fds, 2, timeout_ms) < 0 && errno == EINTR)
		;
	return fds[0].revents != 0;
}

/* Waits for a warden; -EINTR if it had to end the work. */
static int attend(pid_t pid, int stop_fd, int *status_out)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), code = 0, awaited;

	if (pidfd >= 0 && !ends_within(pidfd, stop_fd, -1)) {
		code = -EINTR;
		kill(pid, SIGTERM);
		if (!ends_within(pidfd, -1, STOP_MS))
			kill(pid, SIGKILL);
	}
	awaited = await(pid, status_out);
	if (pidfd >= 0)
		close(pidfd);
	return code < 0 ? code : awaited;
}

int command_work(const struct command *command, const char *log_path, int stop_fd,
		 char said_out[COMMAND_SAID_BYTES])
{
	int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC), status = 0, code;
	pid_t pid = -errno;

	said_out[0] = '\0';
	if (log >= 0 && in >= 0)
		pid = start(command, &(struct spawn_ends){in, log, log}, true);
	code = pid < 0 ? pid : attend(pid, stop_fd, &status);
	if (in >= 0)
		close(in);
	if (log >= 0)
		close(log);
	return explain(code < 0 ? code : judge(status, said_out), said_out);
}
