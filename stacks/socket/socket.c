#include "stacks/socket/socket.h"

#include "stacks/socket/holder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int socket_device_check(const char *stack, const char *device, struct tp_error *error)
{
	if (!device || !*device || strcmp(device, "loopback") == 0)
		return 0;
	return tp_fail(error, -EINVAL,
		       "the stack '%s' has no device '%s': use '%s' or '%s@loopback', the kernel's "
		       "routes choose the interface",
		       stack, device, stack, stack);
}

static struct sockaddr_in kernel_address(const struct tp_addr *addr)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(addr->ip),
		.sin_port = htons(addr->port),
	};
}

/* A non-blocking TCP socket, or a negative errno. */
static int make_socket(uint64_t *calls)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);

	++*calls;
	return fd < 0 ? -errno : fd;
}

static int set_on(int fd, int level, int option, uint64_t *calls)
{
	int on = 1;

	++*calls;
	return setsockopt(fd, level, option, &on, sizeof(on)) < 0 ? -errno : 0;
}

static void close_counted(int fd, uint64_t *calls)
{
	close(fd);
	++*calls;
}

/* --- listening --- */

static int fail_occupied(const struct tp_addr *addr, struct tp_error *error)
{
	char text[TP_ADDR_TEXT];
	struct holder holder;

	tp_addr_print(addr, text);
	if (holder_find(addr, &holder) == 0)
		return tp_fail(
			error, -EADDRINUSE,
			"cannot listen on %s: %s (pid %d) holds it; stop that or take another port",
			text, holder.program, (int)holder.pid);
	return tp_fail(
		error, -EADDRINUSE,
		"cannot listen on %s: it is in use, by a process that cannot be found from here "
		"(another user's, or bound without listening); take another port",
		text);
}

static int fail_listen(const struct tp_addr *addr, int code, struct tp_error *error)
{
	char text[TP_ADDR_TEXT];
	const char *advice = "";

	if (code == -EADDRINUSE)
		return fail_occupied(addr, error);
	if (code == -EADDRNOTAVAIL)
		advice = ": no interface here has that address";
	else if (code == -EACCES)
		advice = ": ports below 1024 need privilege, take a higher one";
	else if (code == -EMFILE)
		advice = ": raise the limit of open files (ulimit -n)";
	return tp_fail(error, code, "cannot listen on %s: %s%s", tp_addr_print(addr, text),
		       strerror(-code), advice);
}

/* Binds a new socket, with SO_REUSEPORT if `share`; the descriptor or a negative errno. */
static int bind_socket(const struct tp_addr *addr, bool share, uint64_t *calls)
{
	struct sockaddr_in address = kernel_address(addr);
	int fd = make_socket(calls);
	int code;

	if (fd < 0)
		return fd;
	/* Connections of an earlier run in TIME-WAIT are no reason to refuse. */
	code = set_on(fd, SOL_SOCKET, SO_REUSEADDR, calls);
	if (code == 0 && share)
		code = set_on(fd, SOL_SOCKET, SO_REUSEPORT, calls);
	if (code == 0) {
		code = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
		++*calls;
	}
	if (code == 0)
		return fd;
	close_counted(fd, calls);
	return code;
}

/*
 * Whether an address that will be shared is free, or held by this very process. SO_REUSEPORT alone
 * would let a second program of the same user join in and take half the connections. Workers that
 * test and take it at the same moment do not disturb each other: while nobody listens, sockets with
 * SO_REUSEADDR may be bound side by side.
 */
static int check_exclusive(const struct tp_addr *addr, uint64_t *calls)
{
	int fd = bind_socket(addr, false, calls);
	struct holder holder;

	if (fd == -EADDRINUSE && holder_find(addr, &holder) == 0 && holder.pid == getpid())
		return 0;
	if (fd < 0)
		return fd;
	close_counted(fd, calls);
	return 0;
}

static int bind_and_listen(const struct tp_addr *addr, bool share, uint64_t *calls)
{
	int code = share ? check_exclusive(addr, calls) : 0;
	int fd = code == 0 ? bind_socket(addr, share, calls) : code;

	if (fd < 0)
		return fd;
	/* Accepted sockets inherit it, which spares a call for each. */
	code = set_on(fd, IPPROTO_TCP, TCP_NODELAY, calls);
	if (code == 0) {
		code = listen(fd, SOMAXCONN) < 0 ? -errno : 0;
		++*calls;
	}
	if (code == 0)
		return fd;
	close_counted(fd, calls);
	return code;
}

int socket_listen(const struct tp_addr *addr, bool share, uint64_t *calls, struct tp_error *error)
{
	int fd = bind_and_listen(addr, share, calls);

	return fd < 0 ? fail_listen(addr, fd, error) : fd;
}

/* --- connecting --- */

static int fail_connect(const struct tp_addr *addr, int code, struct tp_error *error)
{
	char text[TP_ADDR_TEXT];
	const char *advice = "";

	if (code == -EMFILE || code == -ENFILE)
		advice = ": raise the limit of open files (ulimit -n) or open fewer connections";
	else if (code == -EADDRNOTAVAIL)
		advice = ": no local port is left, open fewer connections or wait for old ones to "
			 "expire";
	return tp_fail(error, code, "cannot connect to %s: %s%s", tp_addr_print(addr, text),
		       strerror(-code), advice);
}

/* Starts connecting; 0, or the errno if it ended at once. */
static int start_connecting(int fd, const struct tp_addr *addr, uint64_t *calls)
{
	struct sockaddr_in address = kernel_address(addr);

	++*calls;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 || errno == EINPROGRESS)
		return 0;
	return errno;
}

int socket_connect(const struct tp_addr *addr, int *verdict_out, uint64_t *calls,
		   struct tp_error *error)
{
	int fd = make_socket(calls);
	int verdict = 0, code;

	if (fd < 0)
		return fail_connect(addr, fd, error);
	code = set_on(fd, IPPROTO_TCP, TCP_NODELAY, calls);
	if (code == 0)
		verdict = start_connecting(fd, addr, calls);
	/* what has no reason of its own is not the network's answer but this host's trouble */
	if (verdict && socket_reason(verdict) == TP_FAILED)
		code = -verdict;
	if (code < 0) {
		close_counted(fd, calls);
		return fail_connect(addr, code, error);
	}
	*verdict_out = verdict;
	return fd;
}

/* --- turn --- */

void socket_reset(int fd, uint64_t *calls)
{
	struct linger at_once = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
	*calls += 2;
}

int socket_error(int fd, uint64_t *calls)
{
	int error_number = 0;
	socklen_t bytes = sizeof(error_number);

	++*calls;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error_number, &bytes) < 0)
		return errno;
	return error_number;
}

enum tp_reason socket_reason(int error_number)
{
	switch (error_number) {
	case ECONNREFUSED:
		return TP_REFUSED;
	case ECONNRESET:
	case ECONNABORTED:
	case EPIPE:
		return TP_RESET;
	case ETIMEDOUT:
		return TP_TIMEOUT;
	case EHOSTUNREACH:
	case EHOSTDOWN:
	case ENETUNREACH:
		return TP_UNREACHABLE;
	case ENETDOWN:
		return TP_LINK_DOWN;
	default:
		return TP_FAILED;
	}
}

enum socket_accept socket_accept_verdict(int error_number)
{
	switch (error_number) {
	case EAGAIN:
		return SOCKET_ACCEPT_DRAINED;
	/* Errors already pending on the new connection, which accept(2) passes on, and a signal. */
	case EINTR:
	case ECONNABORTED:
	case EPROTO:
	case ENOPROTOOPT:
	case EHOSTDOWN:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ENETDOWN:
	case ENONET:
	case EPERM: /* a firewall rule */
		return SOCKET_ACCEPT_NEXT;
	default:
		return SOCKET_ACCEPT_PAUSE;
	}
}
