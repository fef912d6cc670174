#include "apps/common/port.h"

#include "dataplane/transport/addr.h"
#include "dataplane/transport/holder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Somebody on this host answers at once; a packet filter that drops must not hold us up. */
enum { ANSWER_MS = 200 };

union any_address {
	struct sockaddr any;
	struct sockaddr_in ip4;
	struct sockaddr_in6 ip6;
};

/* The address as the kernel takes it; its size. */
static socklen_t fill(const struct tp_addr *addr, union any_address *address)
{
	memset(address, 0, sizeof(*address));
	if (addr->family == TP_IPV6) {
		address->ip6.sin6_family = AF_INET6;
		address->ip6.sin6_port = htons(addr->port);
		address->ip6.sin6_scope_id = addr->interface;
		memcpy(&address->ip6.sin6_addr, addr->ip6, sizeof(addr->ip6));
		return sizeof(address->ip6);
	}
	address->ip4.sin_family = AF_INET;
	address->ip4.sin_port = htons(addr->port);
	address->ip4.sin_addr.s_addr = htonl(addr->ip);
	return sizeof(address->ip4);
}

static int open_socket(const union any_address *address)
{
	return socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Whether a connection is accepted there. */
static bool answers(const union any_address *address, socklen_t bytes)
{
	int fd = open_socket(address), code = 0;
	socklen_t code_bytes = sizeof(code);
	bool accepted = false;

	if (fd < 0)
		return false;
	if (connect(fd, &address->any, bytes) == 0)
		accepted = true;
	else if (errno == EINPROGRESS)
		accepted = poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, ANSWER_MS) == 1 &&
			   getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &code_bytes) == 0 &&
			   code == 0;
	close(fd);
	return accepted;
}

/* Binds for itself alone, or beside connections that wait for their end. 0 or negative errno. */
static int try_bind(const union any_address *address, socklen_t bytes, bool beside_old)
{
	int fd = open_socket(address), on = 1, code;

	if (fd < 0)
		return -errno;
	if (address->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (beside_old)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	code = bind(fd, &address->any, bytes) < 0 ? -errno : 0;
	close(fd);
	return code;
}

static int refuse(const struct tp_addr *addr, int code, struct tp_error *error)
{
	char text[TP_ADDR_TEXT];
	struct holder holder;

	tp_addr_print(addr, text);
	if (code == -EACCES)
		return tp_fail(error, code,
			       "%s: ports below 1024 take privilege; take a higher one", text);
	if (code != -EADDRINUSE)
		return tp_fail(error, code, "%s cannot be had: %s", text, strerror(-code));
	if (holder_find(addr, &holder) == 0)
		return tp_fail(error, code,
			       "%s is held by %s (pid %d); stop that or take another port", text,
			       holder.program, (int)holder.pid);
	return tp_fail(error, code,
		       "%s is held by a process that cannot be found from here (another user's, "
		       "or bound without listening); take another port",
		       text);
}

int port_check(const struct tp_addr *addr, struct tp_error *error)
{
	union any_address address;
	socklen_t bytes = fill(addr, &address);
	struct holder holder;
	int code = answers(&address, bytes) ? -EADDRINUSE : try_bind(&address, bytes, false);

	if (code == -EADDRINUSE && holder_find(addr, &holder) < 0 && !answers(&address, bytes))
		code = try_bind(&address, bytes, true);
	return code < 0 ? refuse(addr, code, error) : 0;
}
