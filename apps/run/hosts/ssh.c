#include "apps/run/hosts/ssh.h"

#include "apps/common/spawn.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 100 };

/* A lost host is noticed after so many seconds times so many. */
static const char *const options[] = {
	"BatchMode=yes",	 "ConnectTimeout=8",	    "ConnectionAttempts=1",
	"ServerAliveInterval=3", "ServerAliveCountMax=4",   "ControlMaster=no",
	"ControlPath=none",	 "ClearAllForwardings=yes", "LogLevel=ERROR",
	"PermitLocalCommand=no",
};

static void add(struct ssh_argv *argv, const char *flag, const char *value)
{
	argv->of[argv->count++] = flag;
	if (value)
		argv->of[argv->count++] = value;
}

void ssh_argv_make(const struct ssh_target *target, const char *command, struct ssh_argv *argv_out)
{
	*argv_out = (struct ssh_argv){.count = 0};
	add(argv_out, "ssh", NULL);
	add(argv_out, "-T", NULL);
	add(argv_out, "-a", NULL);
	add(argv_out, "-x", NULL);
	if (target->config)
		add(argv_out, "-F", target->config);
	for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		add(argv_out, "-o", options[i]);
	if (target->port) {
		snprintf(argv_out->port, sizeof(argv_out->port), "%u", target->port);
		add(argv_out, "-p", argv_out->port);
	}
	if (target->identity)
		add(argv_out, "-i", target->identity);
	add(argv_out, target->destination, "--");
	add(argv_out, command, NULL);
}

/* Between fork and exec. */
static _Noreturn void become(char *const *argv, int in, int out, int err, pid_t parent)
{
	spawn_settle(parent, &(struct spawn_ends){in, out, err});
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "cannot start ssh: %s; apt-get install openssh-client\n",
		strerror(errno));
	_exit(SSH_FAILED);
}

static void close_all(const int *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

int ssh_start(const struct ssh_target *target, const char *command, int input_fd, struct ssh *ssh,
	      struct tp_error *error)
{
	int fds[6] = {-1, -1, -1, -1, -1, -1}; /* in, out, err: read end, write end */
	struct ssh_argv argv;
	pid_t parent = getpid();
	int code;

	ssh_argv_make(target, command, &argv);
	if ((input_fd < 0 && pipe2(fds, O_CLOEXEC) < 0) || pipe2(fds + 2, O_CLOEXEC) < 0 ||
	    pipe2(fds + 4, O_CLOEXEC) < 0) {
		code = -errno;
		close_all(fds, 6);
		return tp_fail(error, code, "cannot make pipes to ssh: %s", strerror(-code));
	}
	*ssh = (struct ssh){.pid = fork(), .in = fds[1], .out = fds[2], .err = fds[4]};
	if (ssh->pid == 0)
		become((char *const *)argv.of, input_fd < 0 ? fds[0] : input_fd, fds[3], fds[5],
		       parent);
	if (ssh->pid < 0) {
		code = -errno;
		ssh->pid = 0;
		close_all(fds, 6);
		return tp_fail(error, code, "cannot start ssh: %s", strerror(-code));
	}
	close_all((const int[]){fds[0], fds[3], fds[5]}, 3);
	fcntl(ssh->out, F_SETFL, O_NONBLOCK);
	fcntl(ssh->err, F_SETFL, O_NONBLOCK);
	return 0;
}

/* Keeps the end of what it says, on one line. */
static void listen_to_errors(struct ssh *ssh)
{
	char data[SSH_SAID_BYTES / 2];
	ssize_t got;

	while (ssh->err >= 0 && (got = read(ssh->err, data, sizeof(data) - 1)) > 0) {
		size_t used = strlen(ssh->said), over;

		while (got > 0 && (data[got - 1] == '\n' || data[got - 1] == '\r'))
			got--;
		data[got] = '\0';
		for (char *at = data; *at; at++)
			if ((unsigned char)*at < ' ')
				*at = *at == '\r' ? ' ' : ';';
		over = used + (size_t)got + 3 > sizeof(ssh->said) ? sizeof(ssh->said) / 2 : 0;
		over = over < used ? over : used;
		memmove(ssh->said, ssh->said + over, used - over + 1);
		used -= over;
		snprintf(ssh->said + used, sizeof(ssh->said) - used, "%s%s", used ? "; " : "",
			 data);
	}
}

/* Waits for output, errors or a signal. 0, or -ETIMEDOUT, -EINTR. */
static int wait_for_news(struct ssh *ssh, uint64_t deadline_ns, struct interrupt *interrupt)
{
	struct pollfd fds[3] = {{.fd = ssh->out, .events = POLLIN},
				{.fd = ssh->err, .events = POLLIN},
				{.fd = interrupt ? interrupt->fd : -1, .events = POLLIN}};

	if (clock_monotonic_ns() >= deadline_ns)
		return -ETIMEDOUT;
	poll(fds, 3, POLL_MS);
	if (interrupt && interrupt_check(interrupt))
		return -EINTR;
	listen_to_errors(ssh);
	return 0;
}

ssize_t ssh_read(struct ssh *ssh, char *data, size_t bytes, bool line, uint64_t deadline_ns,
		 struct interrupt *interrupt)
{
	size_t used = 0;

	while (used < bytes) {
		ssize_t got = read(ssh->out, data + used, line ? 1 : bytes - used);
		int code;

		if (got > 0) {
			used += (size_t)got;
			if (line && data[used - 1] == '\n') {
				data[used - 1] = '\0';
				break;
			}
			continue;
		}
		if (got == 0)
			break;
		code = wait_for_news(ssh, deadline_ns, interrupt);
		if (code < 0)
			return code;
	}
	return (ssize_t)used;
}

int ssh_write(const struct ssh *ssh, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t done = ssh->in >= 0 ? write(ssh->in, text, left) : -1;

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return ssh->in >= 0 ? -errno : -EPIPE;
		text += done;
		left -= (size_t)done;
	}
	return 0;
}

int ssh_close(struct ssh *ssh, uint64_t deadline_ns, struct interrupt *interrupt)
{
	int status = 0, code = 0;
	char ignored[512];

	if (!ssh->pid)
		return 0;
	if (ssh->in >= 0)
		close(ssh->in);
	while (waitpid(ssh->pid, &status, WNOHANG) == 0) {
		while (read(ssh->out, ignored, sizeof(ignored)) > 0)
			;
		if (code == 0)
			code = wait_for_news(ssh, deadline_ns, interrupt);
		if (code < 0)
			kill(-ssh->pid, SIGKILL);
		else
			usleep(2000);
	}
	listen_to_errors(ssh);
	close(ssh->out);
	close(ssh->err);
	ssh->pid = 0;
	if (code < 0)
		return code;
	return WIFEXITED(status) ? WEXITSTATUS(status) : SSH_FAILED;
}

int ssh_run(const struct ssh_target *target, const char *command, int input_fd, char *out,
	    size_t out_bytes, uint64_t within_ns, struct interrupt *interrupt,
	    char said[SSH_SAID_BYTES])
{
	uint64_t deadline_ns = clock_monotonic_ns() + within_ns;
	struct tp_error error;
	struct ssh ssh;
	ssize_t got;
	int code = ssh_start(target, command, input_fd, &ssh, &error);

	if (code < 0) {
		snprintf(said, SSH_SAID_BYTES, "%.*s", SSH_SAID_BYTES - 1, error.text);
		return code;
	}
	if (ssh.in >= 0)
		close(ssh.in);
	ssh.in = -1;
	got = ssh_read(&ssh, out, out_bytes - 1, false, deadline_ns, interrupt);
	out[got > 0 ? got : 0] = '\0';
	code = ssh_close(&ssh, deadline_ns, interrupt);
	memcpy(said, ssh.said, sizeof(ssh.said));
	return code;
}
