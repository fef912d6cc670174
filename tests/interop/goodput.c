/*
 * goodput: how much utcp brings over a path with losses, beside the Linux kernel.
 *
 *	goodput [SECONDS]
 *
 * Both use CUBIC and the same path (path.h), one at a time: utcp between two instances and in
 * virtual time, the kernel between two TAP devices, each in a network namespace of its own, and in
 * real time, which wants a host that can keep up. One connection sends as much as it can; what its
 * peer has got by the end counts. Prints a table for docs; needs root and /dev/net/tun.
 */
#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"
#include "stacks/utcp/utcp.h"
#include "tests/interop/path.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PORT = 7878,
	IP_FIRST = 0x0a4e0001,
	ENDS = 2,
	MEMORY_BYTES = 4 << 20,
	PIECE_BYTES = 65536,
	SEEDS = 3,
};

#define SECOND_NS 1000000000ull
#define MS_NS 1000000ull
#define RATE 100000000ull

static uint8_t piece[PIECE_BYTES];

/* --- utcp, in virtual time ------------------------------------------------------------------- */

static struct utcp *open_host(unsigned index, uint64_t now_ns)
{
	struct utcp_config config = {.mac = {2, 0, 0, 0, 8, (uint8_t)(index + 1)},
				     .ip = IP_FIRST + index,
				     .prefix_bits = 24,
				     .mtu = 1500,
				     .conn_max = 4,
				     .recv_bytes = MEMORY_BYTES,
				     .send_bytes = MEMORY_BYTES,
				     .congestion = UTCP_CUBIC,
				     .secret = {(uint8_t)(index + 1)}};
	struct utcp *utcp;

	CHECK(utcp_create(&config, now_ns, &utcp) == 0 && utcp_listen(utcp, PORT) == 0);
	return utcp;
}

static void write_all(struct utcp *utcp, struct utcp_conn *conn)
{
	struct room rooms[2];

	while (utcp_reserve(utcp, conn, PIECE_BYTES, rooms) > 0)
		utcp_commit(utcp, conn, PIECE_BYTES);
}

static uint64_t read_all(struct utcp *utcp, struct utcp_conn *conn)
{
	struct span spans[2];
	unsigned count = utcp_peek(utcp, conn, spans);
	uint64_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += spans[i].bytes;
	utcp_consume(utcp, conn, bytes);
	return bytes;
}

/* What the application of either end does with an event; the bytes that it read. */
static uint64_t take_events(struct utcp *utcp)
{
	struct utcp_event event;
	uint64_t bytes = 0;

	while (utcp_events(utcp, &event, 1) > 0) {
		CHECK(!(event.bits & UTCP_CLOSED));
		if (event.bits & (UTCP_CONNECTED | UTCP_WRITABLE))
			write_all(utcp, event.conn);
		if (event.bits & UTCP_READABLE)
			bytes += read_all(utcp, event.conn);
	}
	return bytes;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One turn of both hosts; the bytes that arrived. */
static uint64_t turn(struct utcp *const hosts[ENDS], struct path *path, uint64_t now_ns)
{
	static uint8_t frame[WIRE_FRAME_MAX];
	uint64_t arrived = 0;
	unsigned end;
	size_t bytes;

	while ((bytes = path_receive(path, now_ns, frame, &end)) > 0)
		utcp_input(hosts[end], frame, bytes, now_ns);
	for (unsigned i = 0; i < ENDS; i++) {
		utcp_advance(hosts[i], now_ns);
		arrived += take_events(hosts[i]);
		while ((bytes = utcp_output(hosts[i], frame, now_ns)) > 0)
			path_send(path, i, frame, bytes, now_ns);
	}
	return arrived;
}

/* Megabits a second. */
static double measure_utcp(const struct path_config *config, uint64_t lasts_ns)
{
	uint64_t now_ns = SECOND_NS, end_ns = now_ns + lasts_ns, bytes = 0;
	struct utcp *hosts[ENDS] = {open_host(0, now_ns), open_host(1, now_ns)};
	struct path *path = path_create(config);
	struct utcp_conn *conn;

	CHECK(utcp_connect(hosts[0], addr_of_ip4(IP_FIRST + 1), PORT, now_ns, &conn) == 0);
	while (now_ns < end_ns) {
		uint64_t next;

		bytes += turn(hosts, path, now_ns);
		next = sooner(path_next(path),
			      sooner(utcp_deadline(hosts[0]), utcp_deadline(hosts[1])));
		now_ns = next > now_ns ? next : now_ns;
	}
	path_destroy(path);
	for (unsigned i = 0; i < ENDS; i++)
		utcp_destroy(hosts[i]);
	return (double)bytes * 8e3 / (double)lasts_ns;
}

/* --- the kernel, in real time ---------------------------------------------------------------- */

struct host {
	int tap;
	int socket; /* of its namespace, which it keeps alive */
};

static void must(bool done, const char *what)
{
	if (done)
		return;
	fprintf(stderr, "goodput: %s: %s\n", what, strerror(errno));
	exit(4);
}

static void set_address(const char *name, unsigned index)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(IP_FIRST + index)};
	int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {0};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	memcpy(&request.ifr_addr, &address, sizeof(address));
	must(ioctl(control, SIOCSIFADDR, &request) == 0, "address");
	address.sin_addr.s_addr = htonl(0xffffff00);
	memcpy(&request.ifr_netmask, &address, sizeof(address));
	must(ioctl(control, SIOCSIFNETMASK, &request) == 0, "netmask");
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	must(ioctl(control, SIOCSIFFLAGS, &request) == 0, "up");
	close(control);
}

/* A namespace with a TAP and a TCP socket in it; the process stays in it. */
static struct host make_host(unsigned index)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI, .ifr_name = "goodput0"};
	struct host host;

	must(unshare(CLONE_NEWNET) == 0, "network namespace (root?)");
	host.tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	must(host.tap >= 0 && ioctl(host.tap, TUNSETIFF, &request) == 0, "TAP");
	set_address("goodput0", index);
	host.socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	must(host.socket >= 0 &&
		     setsockopt(host.socket, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) == 0,
	     "CUBIC");
	return host;
}

static bool move_frames(const struct host hosts[ENDS], struct path *path)
{
	static uint8_t frame[WIRE_FRAME_MAX];
	bool moved = false;
	ssize_t got;
	size_t bytes;
	unsigned end;

	for (unsigned i = 0; i < ENDS; i++)
		for (unsigned j = 0; j < 16 && (got = read(hosts[i].tap, frame, 2048)) > 0; j++) {
			path_send(path, i, frame, (size_t)got, clock_monotonic_ns());
			moved = true;
		}
	while ((bytes = path_receive(path, clock_monotonic_ns(), frame, &end)) > 0) {
		must(write(hosts[end].tap, frame, bytes) == (ssize_t)bytes, "TAP write");
		moved = true;
	}
	return moved;
}

/* Lets frames move, and sleeps no longer than until the next arrives. */
static void step(const struct host hosts[ENDS], struct path *path)
{
	struct pollfd ready[ENDS] = {{hosts[0].tap, POLLIN, 0}, {hosts[1].tap, POLLIN, 0}};
	struct timespec wait = {.tv_nsec = (long)MS_NS / 5};
	uint64_t now_ns, next;

	if (move_frames(hosts, path))
		return;
	now_ns = clock_monotonic_ns();
	next = path_next(path);
	if (next < now_ns + MS_NS / 5)
		wait.tv_nsec = next > now_ns ? (long)(next - now_ns) : 0;
	ppoll(ready, ENDS, &wait, NULL);
}

/* Connects the second host's socket to the first's; the accepted one. */
static int meet(const struct host hosts[ENDS], struct path *path)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(IP_FIRST)};
	int fd;

	must(bind(hosts[0].socket, (struct sockaddr *)&at, sizeof(at)) == 0 &&
		     listen(hosts[0].socket, 1) == 0,
	     "listen");
	must(connect(hosts[1].socket, (struct sockaddr *)&at, sizeof(at)) == 0 ||
		     errno == EINPROGRESS,
	     "connect");
	while ((fd = accept4(hosts[0].socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) < 0)
		step(hosts, path);
	return fd;
}

static double measure_kernel(const struct path_config *config, uint64_t lasts_ns)
{
	struct host hosts[ENDS] = {make_host(0), make_host(1)};
	struct path *path = path_create(config);
	uint64_t end_ns = clock_monotonic_ns() + lasts_ns, bytes = 0;
	int fd = meet(hosts, path);
	ssize_t got;

	while (clock_monotonic_ns() < end_ns) {
		while (send(hosts[1].socket, piece, sizeof(piece), MSG_NOSIGNAL) > 0)
			;
		step(hosts, path);
		while ((got = recv(fd, piece, sizeof(piece), 0)) > 0)
			bytes += (uint64_t)got;
	}
	close(fd);
	for (unsigned i = 0; i < ENDS; i++) {
		close(hosts[i].socket);
		close(hosts[i].tap);
	}
	path_destroy(path);
	return (double)bytes * 8e3 / (double)lasts_ns;
}

/* --- the table ------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* The median over the seeds. */
static double median(double (*measure)(const struct path_config *, uint64_t),
		     struct path_config config, uint64_t lasts_ns)
{
	double results[SEEDS];

	for (unsigned i = 0; i < SEEDS; i++) {
		config.seed = i + 1;
		results[i] = measure(&config, lasts_ns);
	}
	qsort(results, SEEDS, sizeof(results[0]), compare);
	return results[SEEDS / 2];
}

int main(int argc, char **argv)
{
	static const unsigned losses[] = {10, 100, 1000, 3000}; /* in 100,000 */
	static const uint64_t rtts_ms[] = {1, 20};
	uint64_t lasts_ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * SECOND_NS;

	printf("| round trip | loss | Linux, Mbit/s | utcp, Mbit/s | utcp / Linux |\n"
	       "|---|---|---|---|---|\n");
	for (unsigned i = 0; i < 2; i++)
		for (unsigned j = 0; j < 4; j++) {
			struct path_config config = {.bits_per_s = RATE,
						     .rtt_ns = rtts_ms[i] * MS_NS,
						     .queue_ns = 20 * MS_NS,
						     .loss_per_100k = losses[j]};
			double theirs = median(measure_kernel, config, lasts_ns);
			double ours = median(measure_utcp, config, lasts_ns);

			printf("| %llu ms | %g %% | %.1f | %.1f | %.0f %% |\n",
			       (unsigned long long)rtts_ms[i], losses[j] / 1000.0, theirs, ours,
			       100 * ours / theirs);
			fflush(stdout);
		}
	return 0;
}
