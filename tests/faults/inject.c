#include "tests/faults/inject.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* X(result, name, parameters): what the linker sends here, and what it was. */
#define WRAPPED(X)                                                                     \
	X(int, accept4, (int, struct sockaddr *, socklen_t *, int))                    \
	X(ssize_t, recv, (int, void *, size_t, int))                                   \
	X(ssize_t, readv, (int, const struct iovec *, int))                            \
	X(ssize_t, send, (int, const void *, size_t, int))                             \
	X(ssize_t, sendmsg, (int, const struct msghdr *, int))                         \
	X(int, epoll_create1, (int))                                                   \
	X(int, epoll_ctl, (int, int, int, struct epoll_event *))                       \
	X(int, epoll_wait, (int, struct epoll_event *, int, int))                      \
	X(int, epoll_pwait2,                                                           \
	  (int, struct epoll_event *, int, const struct timespec *, const sigset_t *)) \
	X(int, socket, (int, int, int))                                                \
	X(int, connect, (int, const struct sockaddr *, socklen_t))                     \
	X(int, setsockopt, (int, int, int, const void *, socklen_t))                   \
	X(int, shutdown, (int, int))                                                   \
	X(int, close, (int))

#define X(result, name, parameters)      \
	result __real_##name parameters; \
	result __wrap_##name parameters;
WRAPPED(X)
#undef X

enum { WATCHED_MAX = 4096 };

/* What is watched by epoll, to give a new edge. */
struct watch {
	int epoll_fd; /* 0: not watched */
	struct epoll_event event;
};

static struct watch watches[WATCHED_MAX];
static struct inject_fault armed;
static uint64_t counts[INJECT_CALL_COUNT];
static uint64_t struck;

void inject_arm(const struct inject_fault *fault)
{
	armed = *fault;
	memset(counts, 0, sizeof(counts));
	memset(watches, 0, sizeof(watches));
	struck = 0;
}

uint64_t inject_disarm(void)
{
	armed.nth = 0;
	return struck;
}

bool inject_strikes(enum inject_call call)
{
	uint64_t number = ++counts[call];
	bool hit = call == armed.call && armed.nth > 0 && number >= armed.nth &&
		   (number == armed.nth ||
		    (armed.every > 0 && (number - armed.nth) % armed.every == 0));

	struck += hit;
	return hit;
}

int inject_error(void)
{
	return armed.error;
}

const char *inject_call_name(enum inject_call call)
{
	static const char *const names[] = {
#define X(name, meaning) #name,
		INJECT_CALLS(X)
#undef X
	};

	return names[call];
}

enum inject_call inject_call_of(const char *name)
{
	enum inject_call call = 0;

	while (call < INJECT_CALL_COUNT && strcmp(inject_call_name(call), name) != 0)
		call++;
	return call;
}

/* --- how calls fail --- */

/* Setting what is watched again reports what is ready, like a new edge. */
static void renew_edge(int fd)
{
	struct watch *watch = &watches[(unsigned)fd % WATCHED_MAX];

	if (watch->epoll_fd > 0)
		__real_epoll_ctl(watch->epoll_fd, EPOLL_CTL_MOD, fd, &watch->event);
}

/* Kills the connection for real, as far as both ends can see. */
static void disconnect(int fd)
{
	struct sockaddr nowhere = {.sa_family = AF_UNSPEC};

	__real_connect(fd, &nowhere, sizeof(nowhere));
}

void inject_harm(int fd)
{
	switch (armed.error) {
	case EAGAIN:
	case EINTR:
		renew_edge(fd);
		break;
	case ECONNRESET:
	case EPIPE:
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENOTCONN:
		disconnect(fd);
		break;
	default:
		break;
	}
}

static int fail(int fd)
{
	inject_harm(fd);
	errno = armed.error;
	return -1;
}

/* --- the calls --- */

int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *bytes, int flags)
{
	return inject_strikes(INJECT_accept) ? (renew_edge(fd), errno = armed.error, -1)
					     : __real_accept4(fd, addr, bytes, flags);
}

ssize_t __wrap_recv(int fd, void *to, size_t bytes, int flags)
{
	ssize_t result;

	if (!inject_strikes(INJECT_recv))
		return __real_recv(fd, to, bytes, flags);
	if (armed.error)
		return fail(fd);
	result = __real_recv(fd, to, 1, flags);
	renew_edge(fd);
	return result;
}

ssize_t __wrap_readv(int fd, const struct iovec *pieces, int count)
{
	ssize_t result;

	if (!inject_strikes(INJECT_recv))
		return __real_readv(fd, pieces, count);
	if (armed.error)
		return fail(fd);
	result = __real_recv(fd, pieces[0].iov_base, 1, 0);
	renew_edge(fd);
	return result;
}

ssize_t __wrap_send(int fd, const void *from, size_t bytes, int flags)
{
	ssize_t result;

	if (!inject_strikes(INJECT_send))
		return __real_send(fd, from, bytes, flags);
	if (armed.error)
		return fail(fd);
	result = __real_send(fd, from, 1, flags);
	renew_edge(fd);
	return result;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	ssize_t result;

	if (!inject_strikes(INJECT_send))
		return __real_sendmsg(fd, message, flags);
	if (armed.error)
		return fail(fd);
	result = __real_send(fd, message->msg_iov[0].iov_base, 1, flags);
	renew_edge(fd);
	return result;
}

int __wrap_epoll_create1(int flags)
{
	return inject_strikes(INJECT_epoll_create) ? fail(-1) : __real_epoll_create1(flags);
}

int __wrap_epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
	if (inject_strikes(INJECT_epoll_ctl))
		return fail(fd);
	if (event)
		watches[(unsigned)fd % WATCHED_MAX] = (struct watch){epoll_fd, *event};
	return __real_epoll_ctl(epoll_fd, operation, fd, event);
}

int __wrap_epoll_wait(int epoll_fd, struct epoll_event *events, int room, int wait_ms)
{
	if (inject_strikes(INJECT_epoll_wait))
		return fail(epoll_fd);
	return __real_epoll_wait(epoll_fd, events, room, wait_ms);
}

int __wrap_epoll_pwait2(int epoll_fd, struct epoll_event *events, int room,
			const struct timespec *wait, const sigset_t *signals)
{
	if (inject_strikes(INJECT_epoll_pwait2))
		return fail(epoll_fd);
	return __real_epoll_pwait2(epoll_fd, events, room, wait, signals);
}

int __wrap_socket(int domain, int type, int protocol)
{
	return inject_strikes(INJECT_socket) ? fail(0) : __real_socket(domain, type, protocol);
}

int __wrap_connect(int fd, const struct sockaddr *addr, socklen_t bytes)
{
	if (!inject_strikes(INJECT_connect))
		return __real_connect(fd, addr, bytes);
	errno = armed.error;
	return -1;
}

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
	if (option != SO_LINGER && inject_strikes(INJECT_setsockopt))
		return fail(fd);
	return __real_setsockopt(fd, level, option, value, bytes);
}

int __wrap_shutdown(int fd, int how)
{
	return inject_strikes(INJECT_shutdown) ? fail(fd) : __real_shutdown(fd, how);
}

/* Whatever close answers, the descriptor is gone. */
int __wrap_close(int fd)
{
	int result = __real_close(fd);

	if (fd >= 0)
		watches[(unsigned)fd % WATCHED_MAX].epoll_fd = 0;
	if (inject_strikes(INJECT_close)) {
		errno = armed.error;
		return -1;
	}
	return result;
}
