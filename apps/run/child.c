#include "apps/run/child.h"

#include "apps/run/environment.h"
#include "dataplane/core/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64 };

/* What the child does between fork and exec; says on stderr, which is the log, why it could not. */
static _Noreturn void become(const struct child_spec *spec, char *const *argv, const int out[2],
			     const int err[2], pid_t parent)
{
	sigset_t none;
	int null;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	null = open("/dev/null", O_RDONLY);
	dup2(null, STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	dup2(err[1], STDERR_FILENO);
	environment_become(spec->env);
	if (chdir(spec->folder) == 0)
		execv(spec->program, argv);
	dprintf(STDERR_FILENO, "cannot execute %s in %s: %s\n", spec->program, spec->folder,
		strerror(errno));
	_exit(127);
}

static void close_pair(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Forks; the pipes' read ends become the child's fds. */
static int launch(struct child *child, const struct child_spec *spec, char *const *argv)
{
	pid_t parent = getpid();
	int out[2], err[2], code;

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(err, O_CLOEXEC) < 0) {
		code = -errno;
		close_pair(out);
		return code;
	}
	child->pid = fork();
	if (child->pid == 0)
		become(spec, argv, out, err, parent);
	if (child->pid < 0) {
		code = -errno;
		child->pid = 0;
		close_pair(out);
		close_pair(err);
		return code;
	}
	setpgid(child->pid, child->pid);
	close(out[1]);
	close(err[1]);
	child->fds[0] = out[0];
	child->fds[1] = err[0];
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	return 0;
}

int child_start(struct child *child, const struct child_spec *spec, struct tp_error *error)
{
	char *argv[ARGUMENTS_MAX + 1] = {NULL};
	size_t count = json_array_size(spec->argv);
	int code;

	CHECK(count > 0 && count <= ARGUMENTS_MAX);
	for (size_t i = 0; i < count; i++)
		argv[i] = (char *)json_string_value(json_array_get(spec->argv, i));
	*child = (struct child){.name = spec->name, .pidfd = -1, .fds = {-1, -1}};
	code = log_open(&child->log, spec->log_path);
	if (code < 0)
		return tp_fail(error, code, "cannot write %.300s: %s", spec->log_path,
			       strerror(-code));
	child->streams[0] = (struct log_stream){
		.log = &child->log, .on_line = spec->on_line, .user = spec->user};
	child->streams[1] = (struct log_stream){.log = &child->log, .remembered = true};
	code = launch(child, spec, argv);
	if (code < 0) {
		log_close(&child->log);
		return tp_fail(error, code, "cannot start %s: %s", spec->name, strerror(-code));
	}
	return 0;
}

void child_fill(const struct child *child, struct pollfd fds[CHILD_FDS])
{
	fds[0] = (struct pollfd){.fd = child->fds[0], .events = POLLIN};
	fds[1] = (struct pollfd){.fd = child->fds[1], .events = POLLIN};
	fds[2] = (struct pollfd){.fd = child->ended ? -1 : child->pidfd, .events = POLLIN};
}

/* Reads what one pipe holds, but no more than a child can say in the meantime. */
static void drain(struct child *child, unsigned index)
{
	char data[16 * 1024];

	for (unsigned reads = 0; child->fds[index] >= 0 && reads < 64; reads++) {
		ssize_t got = read(child->fds[index], data, sizeof(data));

		if (got > 0) {
			log_stream_feed(&child->streams[index], data, (size_t)got);
		} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
			close(child->fds[index]);
			child->fds[index] = -1;
		} else if (errno == EAGAIN) {
			return;
		}
	}
}

/* What waitpid told of: an end, or that the child was stopped, or that it goes on. */
static void take_status(struct child *child)
{
	child->ended = WIFEXITED(child->status) || WIFSIGNALED(child->status);
	child->stopped |= !child->ended;
	if (!child->ended)
		return;
	drain(child, 0);
	drain(child, 1);
}

void child_serve(struct child *child, const struct pollfd fds[CHILD_FDS])
{
	if (!child->pid)
		return;
	for (unsigned i = 0; i < CHILD_FDS - 1; i++)
		if (fds[i].revents)
			drain(child, i);
	while (!child->ended &&
	       waitpid(child->pid, &child->status, WNOHANG | WUNTRACED | WCONTINUED) == child->pid)
		take_status(child);
}

void child_signal(const struct child *child, int signal_number)
{
	if (child->pid && !child->ended)
		kill(-child->pid, signal_number);
}

bool child_succeeded(const struct child *child)
{
	return child->ended && WIFEXITED(child->status) && WEXITSTATUS(child->status) == 0;
}

void child_describe_end(const struct child *child, char *text, size_t text_bytes)
{
	if (!child->ended)
		snprintf(text, text_bytes, "has not ended");
	else if (WIFSIGNALED(child->status))
		snprintf(text, text_bytes, "was killed by signal %d (%s)", WTERMSIG(child->status),
			 strsignal(WTERMSIG(child->status)));
	else
		snprintf(text, text_bytes, "ended with status %d", WEXITSTATUS(child->status));
}

int child_close(struct child *child)
{
	if (!child->pid)
		return 0;
	CHECK(child->ended);
	for (unsigned i = 0; i < CHILD_FDS - 1; i++)
		if (child->fds[i] >= 0)
			close(child->fds[i]);
	if (child->pidfd >= 0)
		close(child->pidfd);
	child->pid = 0;
	return log_close(&child->log);
}
