#include "tests/interop/rig.h"

#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"
#include "tests/interop/capture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	FRAME_ROOM = 2048,
	MEMORY_BYTES = 1 << 20,
	BURST = 64,
	QUEUE_BYTES = 8 << 20, /* of a packet socket */
};

#define SECOND_NS 1000000000ull

const uint8_t rig_kernel_ip6[16] = {0xfd, 0x77, [15] = 1};
const uint8_t rig_own_ip6[16] = {0xfd, 0x77, [15] = 2};

static void __attribute__((noreturn)) give_up(const char *device)
{
	fprintf(stderr, "interop: %s: %s\n", device, strerror(errno));
	exit(4);
}

static int open_tap(const char *name)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0)
		give_up(name);
	return fd;
}

static int open_packet(const char *name)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL));
	int bytes = QUEUE_BYTES, one = 1;

	at.sll_ifindex = (int)if_nametoindex(name);
	if (fd < 0 || at.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		give_up(name);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	return fd;
}

void rig_open(struct rig *rig, const struct rig_config *asked)
{
	struct utcp_config config = {.mac = {2, 0, 0, 0, 7, 2},
				     .ip = RIG_OWN_IP,
				     .prefix_bits = 24,
				     .ip6 = addr_of_ip6(rig_own_ip6),
				     .prefix6_bits = 64,
				     .mtu = 1500,
				     .conn_max = RIG_CONNS,
				     .recv_bytes = MEMORY_BYTES,
				     .send_bytes = MEMORY_BYTES,
				     .congestion = UTCP_CUBIC,
				     .user_timeout_ns = 20 * SECOND_NS,
				     .secret = {5, 5}};

	const char *capture = getenv("INTEROP_CAPTURE"), *device = asked->device;

	*rig = (struct rig){.ip6 = asked->ip6, .now_ns = clock_monotonic_ns()};
	rig->deadline_ns = rig->now_ns + asked->patience_ns;
	if (strncmp(device, "tap:", 4) == 0)
		rig->device = open_tap(device + 4);
	else
		rig->device = open_packet(strchr(device, ':') ? strchr(device, ':') + 1 : device);
	if (asked->faults)
		rig->wire = wire_create(1, asked->faults);
	if (capture && !(rig->capture = capture_open(capture)))
		give_up(capture);
	CHECK(utcp_create(&config, rig->now_ns, &rig->utcp) == 0);
	CHECK(utcp_listen(rig->utcp, RIG_PORT) == 0);
}

void rig_close(struct rig *rig)
{
	utcp_check(rig->utcp);
	utcp_destroy(rig->utcp);
	if (rig->wire)
		wire_destroy(rig->wire);
	if (rig->capture)
		fclose(rig->capture);
	close(rig->device);
}

int rig_call(struct rig *rig, struct utcp_conn **conn_out)
{
	struct utcp_addr kernel =
		rig->ip6 ? addr_of_ip6(rig_kernel_ip6) : addr_of_ip4(RIG_KERNEL_IP);

	return utcp_connect(rig->utcp, kernel, RIG_PORT, rig->now_ns, conn_out);
}

socklen_t rig_sockaddr(const struct rig *rig, bool kernel, struct sockaddr_storage *to)
{
	struct sockaddr_in ip4 = {.sin_family = AF_INET,
				  .sin_port = htons(RIG_PORT),
				  .sin_addr.s_addr = htonl(kernel ? RIG_KERNEL_IP : RIG_OWN_IP)};
	struct sockaddr_in6 ip6 = {.sin6_family = AF_INET6, .sin6_port = htons(RIG_PORT)};

	memcpy(&ip6.sin6_addr, kernel ? rig_kernel_ip6 : rig_own_ip6, sizeof(ip6.sin6_addr));
	if (rig->ip6)
		memcpy(to, &ip6, sizeof(ip6));
	else
		memcpy(to, &ip4, sizeof(ip4));
	return rig->ip6 ? sizeof(ip6) : sizeof(ip4);
}

static void note(struct rig *rig, const uint8_t *frame, size_t bytes)
{
	if (rig->capture && rig->captured < RIG_CAPTURED) {
		capture_add(rig->capture, frame, bytes, rig->now_ns);
		rig->captured++;
	}
}

/* A frame arrives: at utcp, or at the kernel. */
static void arrive(struct rig *rig, bool at_utcp, const uint8_t *frame, size_t bytes)
{
	if (rig->cut)
		return;
	if (at_utcp)
		note(rig, frame, bytes);
	if (at_utcp)
		utcp_input(rig->utcp, frame, bytes, rig->now_ns);
	else if (write(rig->device, frame, bytes) != (ssize_t)bytes)
		rig->unsent++;
}

/* A frame leaves utcp, or the kernel. */
static void depart(struct rig *rig, bool from_utcp, const uint8_t *frame, size_t bytes)
{
	if (from_utcp)
		note(rig, frame, bytes);
	if (rig->wire)
		wire_send(rig->wire, from_utcp, frame, bytes, rig->now_ns);
	else
		arrive(rig, !from_utcp, frame, bytes);
}

static unsigned take_from_kernel(struct rig *rig)
{
	uint8_t frame[FRAME_ROOM];
	unsigned count = 0;
	ssize_t bytes;

	while (count < BURST && (bytes = read(rig->device, frame, sizeof(frame))) > 0) {
		depart(rig, false, frame, (size_t)bytes);
		count++;
	}
	return count;
}

static unsigned take_from_utcp(struct rig *rig)
{
	uint8_t frame[FRAME_ROOM];
	unsigned count = 0;
	size_t bytes;

	while ((bytes = utcp_output(rig->utcp, frame, rig->now_ns)) > 0) {
		depart(rig, true, frame, bytes);
		count++;
	}
	return count;
}

static unsigned take_from_wire(struct rig *rig)
{
	static uint8_t frame[WIRE_FRAME_MAX];
	unsigned count = 0, end;
	size_t bytes;

	while (rig->wire && (bytes = wire_receive(rig->wire, rig->now_ns, frame, &end)) > 0) {
		arrive(rig, end == 1, frame, bytes);
		count++;
	}
	return count;
}

bool rig_move(struct rig *rig)
{
	struct pollfd ready = {.fd = rig->device, .events = POLLIN};
	unsigned moved;

	rig->now_ns = clock_monotonic_ns();
	moved = take_from_kernel(rig) + take_from_wire(rig);
	utcp_advance(rig->utcp, rig->now_ns);
	moved += take_from_utcp(rig) + take_from_wire(rig);
	if (moved == 0)
		poll(&ready, 1, 1);
	return rig->now_ns < rig->deadline_ns;
}

bool rig_settle(struct rig *rig)
{
	struct utcp_event event;

	rig->deadline_ns = clock_monotonic_ns() + 5 * SECOND_NS;
	while (utcp_conn_count(rig->utcp) > 0 && rig_move(rig))
		while (utcp_events(rig->utcp, &event, 1) > 0)
			;
	utcp_check(rig->utcp);
	return utcp_conn_count(rig->utcp) == 0;
}
