#include "apps/run/sample/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { LOCK_POLL_MS = 200 };

int interrupt_open(struct interrupt *interrupt)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return -errno;
	interrupt->signal_number = 0;
	interrupt->fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	return interrupt->fd < 0 ? -errno : 0;
}

int interrupt_check(struct interrupt *interrupt)
{
	struct signalfd_siginfo info;

	while (read(interrupt->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (!interrupt->signal_number)
			interrupt->signal_number = (int)info.ssi_signo;
	return interrupt->signal_number;
}

int interrupt_lock(struct interrupt *interrupt, int fd)
{
	struct pollfd signals = {.fd = interrupt->fd, .events = POLLIN};

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		poll(&signals, 1, LOCK_POLL_MS);
		if (interrupt_check(interrupt))
			return -EINTR;
	}
	return 0;
}
