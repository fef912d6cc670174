#include "apps/run/sample/child.h"

#include "apps/agent/agent.h"
#include "apps/common/spawn.h"
#include "apps/run/plan/environment.h"
#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64 };

/* Between two signs of life to an agent. */
#define BEAT_NS (2 * CLOCK_SECOND_NS)

/* What the child does between fork and exec; says on stderr, which is the log, why it could not. */
static _Noreturn void become(const struct child_spec *spec, char *const *argv, int input,
			     const int out[2], const int err[2], pid_t parent)
{
	spawn_settle(parent, &(struct spawn_ends){input, out[1], err[1]});
	if (spec->env)
		environment_become(spec->env);
	if (chdir(spec->folder) == 0)
		execvp(spec->program, argv);
	dprintf(STDERR_FILENO, "cannot execute %s in %s: %s\n", spec->program, spec->folder,
		strerror(errno));
	_exit(127);
}

static void close_all(const int *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Forks; our ends of the pipes become the child's fds. */
static int launch(struct child *child, const struct child_spec *spec, char *const *argv)
{
	int fds[6] = {-1, -1, -1, -1, -1, -1}; /* in, out, err: read end, write end */
	pid_t parent = getpid();
	int code = 0;

	if ((spec->input && pipe2(fds, O_CLOEXEC) < 0) || pipe2(fds + 2, O_CLOEXEC) < 0 ||
	    pipe2(fds + 4, O_CLOEXEC) < 0)
		code = -errno;
	if (code == 0 && (child->pid = fork()) < 0)
		code = -errno;
	if (code < 0) {
		child->pid = 0;
		close_all(fds, 6);
		return code;
	}
	if (child->pid == 0)
		become(spec, argv, fds[0], fds + 2, fds + 4, parent);
	setpgid(child->pid, child->pid);
	close_all((const int[]){fds[0], fds[3], fds[5]}, 3);
	child->input = fds[1];
	child->fds[0] = fds[2];
	child->fds[1] = fds[4];
	fcntl(fds[2], F_SETFL, O_NONBLOCK);
	fcntl(fds[4], F_SETFL, O_NONBLOCK);
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	return 0;
}

/* Writes to the agent. That it may be gone shows in its end. */
static void tell(const struct child *child, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t done = write(child->input, text, left);

		if (done < 0 && errno != EINTR)
			return;
		if (done > 0) {
			text += done;
			left -= (size_t)done;
		}
	}
}

int child_start(struct child *child, const struct child_spec *spec, struct tp_error *error)
{
	char *argv[ARGUMENTS_MAX + 1] = {NULL};
	size_t count = json_array_size(spec->argv);
	int code;

	CHECK(count > 0 && count <= ARGUMENTS_MAX);
	for (size_t i = 0; i < count; i++)
		argv[i] = (char *)json_string_value(json_array_get(spec->argv, i));
	*child = (struct child){.name = spec->name,
				.pidfd = -1,
				.fds = {-1, -1},
				.input = -1,
				.far = spec->input != NULL};
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
	if (child->far) {
		child->beat_ns = clock_monotonic_ns();
		tell(child, spec->input);
		fcntl(child->input, F_SETFL, O_NONBLOCK);
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

/* Tells the agent from time to time that we live. */
static void beat(struct child *child)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (child->input < 0 || now_ns - child->beat_ns < BEAT_NS)
		return;
	child->beat_ns = now_ns;
	tell(child, "beat\n");
}

/* What the end of ssh says of the process there. */
static void judge_far_end(struct child *child)
{
	child->lost = !WIFEXITED(child->status) ||
		      !agent_wait_status(WEXITSTATUS(child->status), &child->status);
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
	if (child->far)
		judge_far_end(child);
}

void child_serve(struct child *child, const struct pollfd fds[CHILD_FDS])
{
	if (!child->pid)
		return;
	for (unsigned i = 0; i < CHILD_FDS - 1; i++)
		if (fds[i].revents)
			drain(child, i);
	if (!child->ended)
		beat(child);
	while (!child->ended &&
	       waitpid(child->pid, &child->status, WNOHANG | WUNTRACED | WCONTINUED) == child->pid)
		take_status(child);
}

/* Has the agent send a signal. */
static void order(const struct child *child, const char *whom, int signal_number)
{
	char text[32];

	snprintf(text, sizeof(text), "%s %d\n", whom, signal_number);
	tell(child, text);
}

void child_signal(const struct child *child, int signal_number)
{
	if (!child->pid || child->ended)
		return;
	if (child->far)
		order(child, "kill", signal_number);
	else
		kill(-child->pid, signal_number);
}

void child_ask(const struct child *child, int signal_number)
{
	if (!child->pid || child->ended)
		return;
	if (child->far)
		order(child, "signal", signal_number);
	else
		kill(child->pid, signal_number);
}

void child_cut(const struct child *child)
{
	if (child->pid && !child->ended)
		kill(-child->pid, SIGKILL);
}

bool child_succeeded(const struct child *child)
{
	return child->ended && !child->lost && WIFEXITED(child->status) &&
	       WEXITSTATUS(child->status) == 0;
}

void child_describe_end(const struct child *child, char *text, size_t text_bytes)
{
	if (!child->ended)
		snprintf(text, text_bytes, "has not ended");
	else if (child->lost)
		snprintf(text, text_bytes, "was lost with the connection to its host");
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
	if (child->input >= 0)
		close(child->input);
	if (child->pidfd >= 0)
		close(child->pidfd);
	child->pid = 0;
	return log_close(&child->log);
}
