#include "stacks/socket/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const char *const socket_steer_names[] = {"hash", "port", "cpu", "turn", NULL};

struct socket_settings socket_settings_of(const struct tp_ops *ops, const struct tp_config *config)
{
	return (struct socket_settings){
		.send_buffer_bytes = (uint32_t)tp_option_of(ops, config, SOCKET_SEND_BUFFER),
		.recv_buffer_bytes = (uint32_t)tp_option_of(ops, config, SOCKET_RECV_BUFFER),
		.nodelay = tp_option_of(ops, config, SOCKET_NODELAY),
		.quickack = tp_option_of(ops, config, SOCKET_QUICKACK),
		.busy_poll_us = (uint32_t)(tp_option_of(ops, config, SOCKET_BUSY_POLL) / 1000),
		.congestion = (unsigned)tp_option_of(ops, config, SOCKET_CONGESTION),
		.steer = (enum socket_steer)tp_option_of(ops, config, SOCKET_STEER),
		.worker = config->worker,
		.workers = config->workers,
		.cpu = config->cpu,
	};
}

int socket_device_check(const char *stack, const char *device, struct tp_error *error)
{
	if (!device || !*device || strcmp(device, "loopback") == 0 || strcmp(device, "veth") == 0 ||
	    strncmp(device, "veth:", 5) == 0)
		return 0;
	if (strncmp(device, "unix", 4) == 0)
		return tp_fail(error, -EINVAL,
			       "the stack '%s' has no device '%s': a Unix socket is an endpoint, "
			       "not a device; use '%s' with --listen unix:/PATH and --connect "
			       "unix:/PATH",
			       stack, device, stack);
	return tp_fail(error, -EINVAL,
		       "the stack '%s' has no device '%s': use '%s' or '%s@loopback' (the kernel's "
		       "routes choose the interface) or '%s@veth'",
		       stack, device, stack, stack, stack);
}

int socket_check(const struct tp_ops *ops, const struct tp_config *config, struct tp_error *error)
{
	int code = socket_device_check(ops->name, config->device, error);

	if (code < 0)
		return code;
	return algorithm_check(ops->name, (unsigned)tp_option_of(ops, config, SOCKET_CONGESTION),
			       error);
}

socklen_t socket_address(const struct tp_addr *addr, struct sockaddr_storage *storage_out)
{
	struct sockaddr_un *local = (struct sockaddr_un *)storage_out;
	struct sockaddr_in6 *ip6 = (struct sockaddr_in6 *)storage_out;
	struct sockaddr_in *ip4 = (struct sockaddr_in *)storage_out;

	memset(storage_out, 0, sizeof(*storage_out));
	switch ((enum tp_family)addr->family) {
	case TP_UNIX:
		local->sun_family = AF_UNIX;
		memcpy(local->sun_path, addr->path, strlen(addr->path));
		return sizeof(*local);
	case TP_IPV6:
		ip6->sin6_family = AF_INET6;
		ip6->sin6_port = htons(addr->port);
		ip6->sin6_scope_id = addr->interface;
		memcpy(&ip6->sin6_addr, addr->ip6, sizeof(addr->ip6));
		return sizeof(*ip6);
	default:
		ip4->sin_family = AF_INET;
		ip4->sin_port = htons(addr->port);
		ip4->sin_addr.s_addr = htonl(addr->ip);
		return sizeof(*ip4);
	}
}

/* Sets an option to a number; 0 or a negative errno. */
static int set_number(int fd, int level, int option, int value, uint64_t *calls)
{
	++*calls;
	return setsockopt(fd, level, option, &value, sizeof(value)) < 0 ? -errno : 0;
}

int socket_make(const struct tp_addr *addr, uint64_t *calls)
{
	static const int domains[TP_FAMILY_COUNT] = {
		[TP_IPV4] = AF_INET, [TP_IPV6] = AF_INET6, [TP_UNIX] = AF_UNIX};
	int fd = socket(domains[addr->family], SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	++*calls;
	return fd < 0 ? -errno : fd;
}

int socket_set_options(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
		       uint64_t *calls)
{
	bool is_tcp = addr->family != TP_UNIX;
	int code = 0;

	if (is_tcp && settings->nodelay)
		code = set_number(fd, IPPROTO_TCP, TCP_NODELAY, 1, calls);
	if (code == 0 && settings->send_buffer_bytes)
		code = set_number(fd, SOL_SOCKET, SO_SNDBUF, (int)settings->send_buffer_bytes,
				  calls);
	if (code == 0 && settings->recv_buffer_bytes)
		code = set_number(fd, SOL_SOCKET, SO_RCVBUF, (int)settings->recv_buffer_bytes,
				  calls);
	if (code == 0 && is_tcp && settings->busy_poll_us)
		code = set_number(fd, SOL_SOCKET, SO_BUSY_POLL, (int)settings->busy_poll_us, calls);
	if (code == 0 && is_tcp)
		code = algorithm_set(fd, settings->congestion, calls);
	return code;
}

void socket_adopt(int fd, const struct tp_addr *addr, const struct socket_settings *settings,
		  uint64_t *calls)
{
	if (settings->quickack && addr->family != TP_UNIX)
		set_number(fd, IPPROTO_TCP, TCP_QUICKACK, 1, calls);
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
	else if (code == -EAGAIN && addr->family == TP_UNIX)
		return tp_fail(error, code,
			       "cannot connect to %s: the listener's queue is full; try again, or "
			       "raise net.core.somaxconn before it listens",
			       tp_addr_print(addr, text));
	else if (code == -EACCES && addr->family == TP_UNIX)
		advice = ": the socket's file or its folder does not let this user in";
	else if (code == -EPROTOTYPE)
		advice = ": that is no stream socket";
	else if (code == -EAFNOSUPPORT)
		advice = ": this host has no such addresses";
	return tp_fail(error, code, "cannot connect to %s: %s%s", tp_addr_print(addr, text),
		       strerror(-code), advice);
}

/*
 * Starts connecting; 0, or the errno if it ended at once. A Unix socket's file that is not there
 * means the same as a port without a listener.
 */
static int start_connecting(int fd, const struct tp_addr *addr, uint64_t *calls)
{
	struct sockaddr_storage storage;
	socklen_t bytes = socket_address(addr, &storage);

	++*calls;
	if (connect(fd, (struct sockaddr *)&storage, bytes) == 0 || errno == EINPROGRESS)
		return 0;
	return addr->family == TP_UNIX && errno == ENOENT ? ECONNREFUSED : errno;
}

/* Ends a connection that this host cannot begin. */
static int give_up(int fd, const struct tp_addr *addr, int code, uint64_t *calls,
		   struct tp_error *error)
{
	socket_shut(fd, calls);
	return fail_connect(addr, code, error);
}

static int fail_options(int fd, const struct tp_addr *addr, int code, uint64_t *calls,
			struct tp_error *error)
{
	char text[TP_ADDR_TEXT];

	if (code != -EPERM)
		return give_up(fd, addr, code, calls, error);
	socket_shut(fd, calls);
	return tp_fail(error, code,
		       "cannot connect to %s: busy-poll needs CAP_NET_ADMIN, leave it out or run "
		       "with privilege",
		       tp_addr_print(addr, text));
}

int socket_connect(const struct tp_addr *addr, const struct socket_settings *settings,
		   int *verdict_out, uint64_t *calls, struct tp_error *error)
{
	int fd = socket_make(addr, calls);
	int verdict, code;

	if (fd < 0)
		return fail_connect(addr, fd, error);
	code = socket_set_options(fd, addr, settings, calls);
	if (code < 0)
		return fail_options(fd, addr, code, calls, error);
	verdict = start_connecting(fd, addr, calls);
	/* what has no reason of its own is not the network's answer but this host's trouble */
	if (verdict && socket_reason(verdict) == TP_FAILED)
		return give_up(fd, addr, -verdict, calls, error);
	*verdict_out = verdict;
	return fd;
}

/* --- turn --- */

void socket_shut(int fd, uint64_t *calls)
{
	close(fd);
	++*calls;
}

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
