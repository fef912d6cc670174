#include "dataplane/transport/holder.h"
#include "stacks/socket/local.h"
#include "stacks/socket/rota.h"
#include "stacks/socket/socket.h"
#include "stacks/socket/steer.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum { CHECKS_MAX = 8 }; /* of whether an address is free, while nobody is found that has it */

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
	else if (code == -EAFNOSUPPORT)
		advice = ": this host has no such addresses";
	else if (code == -EPERM)
		advice = ": busy-poll needs CAP_NET_ADMIN, leave it out or run with privilege";
	return tp_fail(error, code, "cannot listen on %s: %s%s", tp_addr_print(addr, text),
		       strerror(-code), advice);
}

static int set_on(int fd, int level, int option, uint64_t *calls)
{
	int on = 1;

	++*calls;
	return setsockopt(fd, level, option, &on, sizeof(on)) < 0 ? -errno : 0;
}

/* Binds a new socket, with SO_REUSEPORT if `share`; the descriptor or a negative errno. */
static int bind_socket(const struct tp_addr *addr, bool share, uint64_t *calls)
{
	struct sockaddr_storage storage;
	socklen_t bytes = socket_address(addr, &storage);
	int fd = socket_make(addr, calls);
	int code;

	if (fd < 0)
		return fd;
	/* Connections of an earlier run in TIME-WAIT are no reason to refuse. */
	code = set_on(fd, SOL_SOCKET, SO_REUSEADDR, calls);
	if (code == 0 && share)
		code = set_on(fd, SOL_SOCKET, SO_REUSEPORT, calls);
	/* [::] and 0.0.0.0 are two addresses, whatever the host's default says */
	if (code == 0 && addr->family == TP_IPV6)
		code = set_on(fd, IPPROTO_IPV6, IPV6_V6ONLY, calls);
	if (code == 0) {
		code = bind(fd, (struct sockaddr *)&storage, bytes) < 0 ? -errno : 0;
		++*calls;
	}
	if (code == 0)
		return fd;
	socket_shut(fd, calls);
	return code;
}

/*
 * Whether an address that will be shared is free, or held by this very process. SO_REUSEPORT alone
 * would let a second program of the same user join in and take half the connections. Workers that
 * test and take it at the same moment do not disturb each other: while nobody listens, sockets with
 * SO_REUSEADDR may be bound side by side.
 *
 * The holder may be gone before it is looked for, and the kernel's table may skip a socket while
 * others come and go. So who finds none tries again before it believes in a stranger.
 */
static int check_exclusive(const struct tp_addr *addr, uint64_t *calls)
{
	struct holder holder;
	int fd = -EADDRINUSE;

	for (unsigned i = 0; i < CHECKS_MAX && fd == -EADDRINUSE; i++) {
		fd = bind_socket(addr, false, calls);
		if (fd == -EADDRINUSE && holder_find(addr, &holder) == 0)
			return holder.pid == getpid() ? 0 : fd;
	}
	if (fd < 0)
		return fd;
	socket_shut(fd, calls);
	return 0;
}

static int bind_and_listen(const struct tp_addr *addr, const struct socket_settings *settings,
			   uint64_t *calls)
{
	bool share = settings->workers > 1;
	int code = share ? check_exclusive(addr, calls) : 0;
	int fd = code == 0 ? bind_socket(addr, share, calls) : code;

	if (fd < 0)
		return fd;
	/* Accepted sockets inherit them, which spares a call for each. */
	code = socket_set_options(fd, addr, settings, calls);
	if (code == 0) {
		code = listen(fd, SOMAXCONN) < 0 ? -errno : 0;
		++*calls;
	}
	if (code == 0) {
		steer_listener(fd, addr, settings, calls);
		return fd;
	}
	socket_shut(fd, calls);
	return code;
}

int socket_listen(const struct tp_addr *addr, const struct socket_settings *settings,
		  uint64_t *calls, struct tp_error *error)
{
	int fd;

	if (addr->family == TP_UNIX)
		return local_listen(addr, settings, calls, error);
	fd = bind_and_listen(addr, settings, calls);
	return fd < 0 ? fail_listen(addr, fd, error) : fd;
}

void socket_unlisten(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
		     uint64_t *calls)
{
	if (addr->family == TP_UNIX && settings->worker == 0)
		local_remove(fd, addr, calls);
	if (addr->family != TP_UNIX && settings->steer == SOCKET_STEER_TURN)
		rota_leave(addr, settings, calls);
	socket_shut(fd, calls);
}

bool socket_in_turn(const struct tp_addr *addr, const struct socket_settings *settings)
{
	return addr->family != TP_UNIX && rota_has(addr, settings);
}
