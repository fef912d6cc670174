/*
 * kernel_test: utcp against the TCP of this host's kernel, over a TAP device in a network namespace
 * of its own.
 *
 * One process plays both: it moves frames between the device and utcp, and drives non-blocking
 * kernel sockets. Frames may be dropped on the way, by a seed. Speaks IPv4, or IPv6 with PEER_IP6
 * in the environment. Needs root and /dev/net/tun, else the tests are skipped.
 */
#include "stacks/utcp/utcp.h"

#include "dataplane/core/clock.h"
#include "apps/sim/random.h"
#include "tests/support/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PORT = 7878,
	KERNEL_IP = 0x0a4d0001,
	OWN_IP = 0x0a4d0002,
	FRAME_ROOM = 2048,
	STREAM_BYTES = 3000000,
	PIECE_BYTES = 20000,
};

static const struct in6_addr kernel_ip6 = {{{0xfd, 0x77, [15] = 1}}};
static const struct in6_addr own_ip6 = {{{0xfd, 0x77, [15] = 2}}};

#define DEADLINE_NS (20ull * 1000 * 1000 * 1000)

static struct {
	int tap;
	struct utcp *utcp;
	struct random random;
	unsigned loss; /* thousandths, both ways */
	uint64_t deadline_ns;
} link_;

static uint8_t buffer[PIECE_BYTES];

static uint8_t stream_byte(uint32_t at)
{
	return (uint8_t)(at * 2654435761u >> 21);
}

static bool is_ip6(void)
{
	return getenv("PEER_IP6") != NULL;
}

/* An endpoint of the run's family, for the kernel and for utcp. */
struct endpoint {
	struct sockaddr_storage to;
	socklen_t bytes;
	struct utcp_addr addr;
};

static struct endpoint endpoint_of(bool own, uint16_t port)
{
	struct sockaddr_in *ip4;
	struct sockaddr_in6 *ip6;
	struct endpoint end = {.bytes = is_ip6() ? sizeof(*ip6) : sizeof(*ip4)};

	if (is_ip6()) {
		ip6 = (struct sockaddr_in6 *)&end.to;
		ip6->sin6_family = AF_INET6;
		ip6->sin6_port = htons(port);
		ip6->sin6_addr = own ? own_ip6 : kernel_ip6;
		end.addr = addr_of_ip6(ip6->sin6_addr.s6_addr);
	} else {
		ip4 = (struct sockaddr_in *)&end.to;
		ip4->sin_family = AF_INET;
		ip4->sin_port = htons(port);
		ip4->sin_addr.s_addr = htonl(own ? OWN_IP : KERNEL_IP);
		end.addr = addr_of_ip4(own ? OWN_IP : KERNEL_IP);
	}
	return end;
}

/* --- the link -------------------------------------------------------------------------------- */

/* The kernel makes an address usable some moments after it was given. */
static bool await_ip6(void)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = kernel_ip6};
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool done = false;

	for (unsigned ms = 0; ms < 1000 && !done; ms++) {
		done = bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
		if (!done)
			poll(NULL, 0, 1);
	}
	close(fd);
	return done;
}

/* Its IPv6 address, without duplicate address detection, which takes a second. */
static bool configure_ip6(const char *name)
{
	struct in6_ifreq request = {.ifr6_addr = kernel_ip6, .ifr6_prefixlen = 64};
	int control = socket(AF_INET6, SOCK_DGRAM, 0);
	int detection = open("/proc/sys/net/ipv6/conf/utcp0/accept_dad", O_WRONLY | O_CLOEXEC);
	bool done = control >= 0 && detection >= 0 && write(detection, "0", 1) == 1;

	request.ifr6_ifindex = (int)if_nametoindex(name);
	done = done && ioctl(control, SIOCSIFADDR, &request) == 0;
	close(control);
	close(detection);
	return done && await_ip6();
}

static bool configure(const char *name)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(KERNEL_IP)};
	struct ifreq request = {0};
	int control = socket(AF_INET, SOCK_DGRAM, 0);
	bool done;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	memcpy(&request.ifr_addr, &address, sizeof(address));
	done = ioctl(control, SIOCSIFADDR, &request) == 0;
	address.sin_addr.s_addr = htonl(0xffffff00);
	memcpy(&request.ifr_netmask, &address, sizeof(address));
	done = done && ioctl(control, SIOCSIFNETMASK, &request) == 0;
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	done = done && ioctl(control, SIOCSIFFLAGS, &request) == 0;
	close(control);
	return done;
}

/* Makes namespace, device and instance; false, with the test skipped, if this host does not let us.
 */
static bool open_link(unsigned loss)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	struct utcp_config config = {.mac = {2, 0, 0, 0, 7, 2},
				     .ip = OWN_IP,
				     .prefix_bits = 24,
				     .ip6 = addr_of_ip6(own_ip6.s6_addr),
				     .prefix6_bits = 64,
				     .mtu = 1500,
				     .conn_max = 16,
				     .recv_bytes = 65536,
				     .send_bytes = 65536,
				     .congestion = UTCP_CUBIC,
				     .secret = {5, 5}};

	if (unshare(CLONE_NEWNET) != 0) {
		suite_skip("no network namespace: %s", strerror(errno));
		return false;
	}
	link_.tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	snprintf(request.ifr_name, sizeof(request.ifr_name), "utcp0");
	if (link_.tap < 0 || ioctl(link_.tap, TUNSETIFF, &request) != 0 || !configure("utcp0") ||
	    !configure_ip6("utcp0")) {
		suite_skip("no TAP device: %s", strerror(errno));
		return false;
	}
	link_.loss = loss;
	link_.random.state = 1;
	link_.deadline_ns = clock_monotonic_ns() + DEADLINE_NS;
	CU_ASSERT_FATAL(utcp_create(&config, clock_monotonic_ns(), &link_.utcp) == 0);
	CU_ASSERT_FATAL(utcp_listen(link_.utcp, PORT) == 0);
	return true;
}

static void close_link(void)
{
	utcp_check(link_.utcp);
	utcp_destroy(link_.utcp);
	close(link_.tap);
}

/* Moves frames both ways, and time. False once the test takes too long. */
static bool move_frames(void)
{
	struct pollfd ready = {.fd = link_.tap, .events = POLLIN};
	uint64_t now = clock_monotonic_ns();
	uint8_t frame[FRAME_ROOM];
	ssize_t got;
	size_t bytes;

	while ((got = read(link_.tap, frame, sizeof(frame))) > 0)
		if (!random_chance(&link_.random, link_.loss))
			utcp_input(link_.utcp, frame, (size_t)got, now);
	utcp_advance(link_.utcp, now);
	while ((bytes = utcp_output(link_.utcp, frame, now)) > 0)
		if (!random_chance(&link_.random, link_.loss))
			CU_ASSERT(write(link_.tap, frame, bytes) == (ssize_t)bytes);
	utcp_check(link_.utcp);
	poll(&ready, 1, 1);
	return now < link_.deadline_ns;
}

/* Waits for event `bits` of any connection; that connection, or NULL when time is up. */
static struct utcp_conn *await(uint16_t bits, uint16_t *reason_out)
{
	struct utcp_event event;

	do
		while (utcp_events(link_.utcp, &event, 1) > 0)
			if (event.bits & bits) {
				*reason_out = event.reason;
				return event.conn;
			}
	while (move_frames());
	return NULL;
}

static int kernel_socket(int type)
{
	int fd = socket(is_ip6() ? AF_INET6 : AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	CU_ASSERT_FATAL(fd >= 0);
	return fd;
}

static int kernel_connect(uint16_t port)
{
	struct endpoint to = endpoint_of(true, port);
	int fd = kernel_socket(SOCK_STREAM);

	CU_ASSERT(connect(fd, (struct sockaddr *)&to.to, to.bytes) == -1 && errno == EINPROGRESS);
	return fd;
}

static int utcp_calls(uint16_t port, struct utcp_conn **conn)
{
	return utcp_connect(link_.utcp, endpoint_of(false, port).addr, port, clock_monotonic_ns(),
			    conn);
}

static int kernel_listen(void)
{
	struct endpoint at = endpoint_of(false, PORT);
	int fd = kernel_socket(SOCK_STREAM);

	CU_ASSERT_FATAL(bind(fd, (struct sockaddr *)&at.to, at.bytes) == 0 && listen(fd, 8) == 0);
	return fd;
}

/* --- streams both ways ----------------------------------------------------------------------- */

struct exchange {
	int fd;
	struct utcp_conn *conn;
	uint32_t to_kernel; /* bytes written by utcp's side */
	uint32_t to_utcp;
	uint32_t at_kernel; /* bytes read and verified */
	uint32_t at_utcp;
	bool kernel_saw_end;
	bool utcp_saw_end;
	bool closed;
	uint16_t reason;
};

static void kernel_side(struct exchange *x)
{
	ssize_t done = 1;

	while (x->to_utcp < STREAM_BYTES && done > 0) {
		uint32_t bytes = STREAM_BYTES - x->to_utcp;

		bytes = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
		for (uint32_t i = 0; i < bytes; i++)
			buffer[i] = stream_byte(x->to_utcp + i);
		done = send(x->fd, buffer, bytes, MSG_NOSIGNAL);
		x->to_utcp += done > 0 ? (uint32_t)done : 0;
		if (x->to_utcp == STREAM_BYTES)
			shutdown(x->fd, SHUT_WR);
	}
	while ((done = recv(x->fd, buffer, sizeof(buffer), 0)) > 0)
		for (ssize_t i = 0; i < done; i++)
			CU_ASSERT_FATAL(buffer[i] == stream_byte(x->at_kernel++));
	if (done == 0)
		x->kernel_saw_end = true;
}

static void utcp_writes(struct exchange *x)
{
	struct room rooms[2];

	while (x->to_kernel < STREAM_BYTES) {
		uint32_t bytes = STREAM_BYTES - x->to_kernel;
		unsigned count;

		bytes = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
		count = utcp_reserve(link_.utcp, x->conn, bytes, rooms);
		if (count == 0)
			return;
		for (unsigned i = 0; i < count; i++)
			for (size_t j = 0; j < rooms[i].bytes; j++)
				rooms[i].base[j] = stream_byte(x->to_kernel++);
		utcp_commit(link_.utcp, x->conn, bytes);
		if (x->to_kernel == STREAM_BYTES)
			utcp_finish(link_.utcp, x->conn);
	}
}

static void utcp_side(struct exchange *x)
{
	struct utcp_event event;
	struct span spans[2];
	unsigned count;

	if (x->closed)
		return;
	utcp_writes(x);
	count = utcp_peek(link_.utcp, x->conn, spans);
	for (unsigned i = 0; i < count; i++) {
		for (size_t j = 0; j < spans[i].bytes; j++)
			CU_ASSERT_FATAL(spans[i].base[j] == stream_byte(x->at_utcp++));
		utcp_consume(link_.utcp, x->conn, spans[i].bytes);
	}
	while (utcp_events(link_.utcp, &event, 1) > 0) {
		x->utcp_saw_end |= (event.bits & UTCP_FINISHED) != 0;
		x->closed |= (event.bits & UTCP_CLOSED) != 0;
		x->reason = event.reason;
	}
}

static void exchange_streams(int fd, struct utcp_conn *conn)
{
	struct exchange x = {.fd = fd, .conn = conn};

	CU_ASSERT_FATAL(conn != NULL);
	while (!(x.kernel_saw_end && x.closed) && move_frames()) {
		kernel_side(&x);
		utcp_side(&x);
	}
	CU_ASSERT(x.at_kernel == STREAM_BYTES && x.at_utcp == STREAM_BYTES);
	CU_ASSERT(x.kernel_saw_end && x.utcp_saw_end && x.closed && x.reason == UTCP_DONE);
	close(fd);
}

static void kernel_calls(void)
{
	uint16_t reason;
	int fd;

	if (!open_link(0))
		return;
	fd = kernel_connect(PORT);
	exchange_streams(fd, await(UTCP_ACCEPTED, &reason));
	CU_ASSERT(utcp_counters(link_.utcp)->drop_tcp_checksum == 0);
	close_link();
}

static void we_call(unsigned loss)
{
	struct utcp_conn *conn;
	uint16_t reason;
	int listener, fd;

	if (!open_link(loss))
		return;
	listener = kernel_listen();
	CU_ASSERT_FATAL(utcp_calls(PORT, &conn) == 0);
	CU_ASSERT_FATAL(await(UTCP_CONNECTED, &reason) == conn);
	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) < 0 && move_frames())
		;
	CU_ASSERT_FATAL(fd >= 0);
	exchange_streams(fd, conn);
	close(listener);
	close_link();
}

static void we_call_cleanly(void)
{
	we_call(0);
}

static void we_call_with_loss(void)
{
	we_call(10);
}

static void refusals(void)
{
	struct utcp_conn *conn;
	uint16_t reason = 0;
	int fd, error = 0;
	socklen_t size = sizeof(error);

	if (!open_link(0))
		return;
	CU_ASSERT(utcp_calls(9, &conn) == 0);
	CU_ASSERT(await(UTCP_CLOSED, &reason) == conn && reason == UTCP_REFUSED);
	fd = kernel_connect(9);
	for (unsigned i = 0; i < 3000 && error == 0 && move_frames(); i++)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	CU_ASSERT(error == ECONNREFUSED);
	close(fd);
	close_link();
}

static void resets(void)
{
	struct linger linger = {.l_onoff = 1};
	struct utcp_conn *conn;
	uint16_t reason = 0;
	int fd;

	if (!open_link(0))
		return;
	fd = kernel_connect(PORT);
	CU_ASSERT_FATAL(await(UTCP_ACCEPTED, &reason) != NULL);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(fd); /* sends RST */
	CU_ASSERT(await(UTCP_CLOSED, &reason) != NULL && reason == UTCP_RESET);
	fd = kernel_connect(PORT);
	conn = await(UTCP_ACCEPTED, &reason);
	CU_ASSERT_FATAL(conn != NULL);
	utcp_abort(link_.utcp, conn);
	while (recv(fd, buffer, 1, 0) < 0 && errno == EAGAIN && move_frames())
		;
	CU_ASSERT(errno == ECONNRESET);
	close(fd);
	close_link();
}

static bool is_answer_to_ping(ssize_t got)
{
	if (is_ip6())
		return got == 8 && buffer[0] == ICMP6_ECHO_REPLY;
	return got == 28 && buffer[9] == IPPROTO_ICMP && buffer[20] == ICMP_ECHOREPLY;
}

static void pings(void)
{
	struct endpoint to = endpoint_of(true, 0);
	struct icmphdr echo = {.type = is_ip6() ? ICMP6_ECHO_REQUEST : ICMP_ECHO,
			       .checksum = htons(0xf7ff)}; /* of IPv6 the kernel writes it */
	ssize_t got = -1;
	int fd;

	if (!open_link(0))
		return;
	fd = socket(is_ip6() ? AF_INET6 : AF_INET, SOCK_RAW | SOCK_NONBLOCK,
		    is_ip6() ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT(sendto(fd, &echo, sizeof(echo), 0, (struct sockaddr *)&to.to, to.bytes) == 8);
	while (!is_answer_to_ping(got) && move_frames()) /* discovery is heard as well */
		got = recv(fd, buffer, sizeof(buffer), 0);
	CU_ASSERT(is_answer_to_ping(got));
	close(fd);
	close_link();
}

static const struct suite_test tests[] = {
	{"the kernel calls, and both stream 3 MB", kernel_calls},
	{"we call the kernel, and both stream 3 MB", we_call_cleanly},
	{"one frame in a hundred is lost each way, and both stream 3 MB", we_call_with_loss},
	{"each refuses the other's calls to closed ports", refusals},
	{"each resets the other", resets},
	{"the kernel's ping is answered", pings},
};

SUITE_MAIN("kernel", tests)
