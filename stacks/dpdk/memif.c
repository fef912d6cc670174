#include "stacks/dpdk/memif.h"

#include "dataplane/core/clock.h"
#include "dataplane/core/program.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	LISTEN_TRIES = 10, /* 2 ms apart: who has just bound the socket is about to listen on it */
};

static const struct timespec pause_2ms = {.tv_nsec = 2 * 1000 * 1000};

/*
 * Knocks at the socket and waits for the greeting: 0 if someone listens, who is then in `owner`; or
 * negative errno.
 */
static int knock(const char *path, struct ucred *owner)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t owner_bytes = sizeof(*owner);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int failure = 0;

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	*owner = (struct ucred){0};
	/* EAGAIN: its backlog is full, so it is alive */
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 && errno != EAGAIN)
		failure = -errno;
	else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, owner, &owner_bytes) < 0)
		owner->pid = 0;
	if (!failure)
		poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1,
		     MEMIF_GREETING_NS / CLOCK_MS_NS);
	close(fd);
	return failure;
}

/* The same; that nobody listens is believed only after a while. */
static int knock_patiently(const char *path, struct ucred *owner)
{
	int failure = knock(path, owner);

	for (unsigned i = 0; i < LISTEN_TRIES && failure == -ECONNREFUSED; i++) {
		nanosleep(&pause_2ms, NULL);
		failure = knock(path, owner);
	}
	return failure;
}

static int fail_in_use(const char *path, const struct ucred *owner, struct tp_error *error)
{
	char program[PROGRAM_NAME];

	if (owner->pid == 0)
		return tp_fail(
			error, -EADDRINUSE,
			"the memif socket %s is in use by another process; choose another path",
			path);
	return tp_fail(
		error, -EADDRINUSE,
		"the memif socket %s is in use by pid %d (%s); stop it or choose another path",
		path, (int)owner->pid, program_name(owner->pid, program));
}

/* A missing file is fine if its directory is there and can be written. */
static int check_directory(const char *path, struct tp_error *error)
{
	const char *slash = strrchr(path, '/');
	char directory[sizeof(((struct sockaddr_un *)0)->sun_path)] = ".";

	if (slash)
		snprintf(directory, sizeof(directory), "%.*s",
			 slash == path ? 1 : (int)(slash - path), path);
	if (access(directory, W_OK | X_OK) == 0)
		return 0;
	return tp_fail(error, -errno, "the memif socket %s cannot be made in %s: %s", path,
		       directory, strerror(errno));
}

int memif_claim(const char *path, struct tp_error *error)
{
	struct ucred owner;
	struct stat status;
	int failure;

	if (lstat(path, &status) < 0)
		return errno == ENOENT
			       ? check_directory(path, error)
			       : tp_fail(error, -errno, "the memif socket %s cannot be made: %s",
					 path, strerror(errno));
	if (!S_ISSOCK(status.st_mode))
		return tp_fail(error, -EEXIST, "%s exists and is no socket; choose another path",
			       path);
	failure = knock_patiently(path, &owner);
	/*
	 * our own: the driver keeps a socket while any device of this process uses it, and refuses
	 * a second server
	 */
	if (failure == 0 && owner.pid == getpid())
		return 0;
	if (failure == 0)
		return fail_in_use(path, &owner, error);
	if (failure == -EPROTOTYPE)
		return tp_fail(error, -EADDRINUSE,
			       "%s is a socket of another kind and in use; choose another path",
			       path);
	if (failure != -ECONNREFUSED)
		return tp_fail(error, failure, "the memif socket %s cannot be looked at: %s", path,
			       strerror(-failure));
	if (unlink(path) < 0)
		return tp_fail(error, -errno, "the stale memif socket %s cannot be removed: %s",
			       path, strerror(errno));
	return 0;
}

int memif_fail_taken(const char *path, struct tp_error *error)
{
	struct ucred owner = {0};
	int failure = knock_patiently(path, &owner);

	if (failure == 0 && owner.pid == getpid())
		return tp_fail(error, -EADDRINUSE,
			       "the memif socket %s is in use by this process itself", path);
	return fail_in_use(path, &owner, error);
}

int memif_await(const char *path, struct tp_error *error)
{
	uint64_t deadline_ns = clock_monotonic_ns() + MEMIF_WAIT_NS;
	struct stat status;

	while (stat(path, &status) < 0) {
		if (errno != ENOENT || clock_monotonic_ns() > deadline_ns)
			return tp_fail(error, -errno,
				       "no memif server is at %s (%s): start the server first",
				       path, strerror(errno));
		nanosleep(&pause_2ms, NULL);
	}
	if (!S_ISSOCK(status.st_mode))
		return tp_fail(error, -ENOTSOCK,
			       "%s is no socket: give the path of a memif server's", path);
	return 0;
}
