#include "stacks/dpdk/link.h"

#include "dataplane/core/clock.h"
#include "stacks/dpdk/pair.h"

#include <errno.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <rte_ethdev.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

enum {
	LINK_PERIOD_NS = 1000 * 1000,
	INTERFACE_PERIOD_NS = 200 * 1000 * 1000,
	LINK_FD_MAX = 1024, /* file descriptors among which the driver's are sought */
};

static bool device_is_up(const struct link *link)
{
	struct rte_eth_link state = {0};

	if (link->device->kind == DEVICE_RING)
		return pair_is_complete();
	return rte_eth_link_get_nowait(link->port, &state) == 0 &&
	       state.link_status == RTE_ETH_LINK_UP;
}

/* Whether `fd` is a client's end of a connection to the memif at `path`. */
static bool is_client_socket(int fd, const char *path)
{
	struct sockaddr_un peer = {0};
	socklen_t bytes = sizeof(peer) - 1;

	return getpeername(fd, (struct sockaddr *)&peer, &bytes) == 0 &&
	       peer.sun_family == AF_UNIX && strcmp(peer.sun_path, path) == 0;
}

/*
 * Whether `fd` is a socket of the memif at `path`: its listener, or one end of a connection to it.
 */
static bool is_control_socket(int fd, const char *path)
{
	struct sockaddr_un name = {0};
	socklen_t name_bytes = sizeof(name) - 1;

	if (getsockname(fd, (struct sockaddr *)&name, &name_bytes) < 0 ||
	    name.sun_family != AF_UNIX)
		return false;
	return strcmp(name.sun_path, path) == 0 || is_client_socket(fd, path);
}

/* Finds the driver's control sockets, which it keeps to itself, by their address. */
static void find_sockets(struct link *link)
{
	link->watch_count = 0;
	for (int fd = 0; fd < LINK_FD_MAX && link->watch_count < LINK_WATCH_MAX; fd++)
		if (is_control_socket(fd, link->device->target))
			link->watch[link->watch_count++] =
				(struct pollfd){.fd = fd, .events = POLLIN};
}

/* Whether the interrupt thread has something to do for this link. */
static bool sockets_are_ready(struct link *link)
{
	return poll(link->watch, link->watch_count, 0) > 0;
}

/* Lets the interrupt thread do what is ready and asks it back at once. */
static void let_interrupts_run(struct link *link)
{
	gate_lift();
	gate_shut();
}

static void come_up(struct link *link)
{
	link->state = LINK_UP;
	link->ups += !link->counted_up;
	link->counted_up = true;
}

static void go_down(struct link *link)
{
	link->state = LINK_DOWN;
	link->downs += link->counted_up;
	link->counted_up = false;
}

static void turn_down(struct link *link)
{
	if (!device_is_up(link)) {
		if (!link->gated || !gate.asked)
			return;
		/* another link keeps the gate shut */
		find_sockets(link);
		if (sockets_are_ready(link))
			let_interrupts_run(link);
		return;
	}
	if (link->gated) {
		link->state = LINK_JOINING;
		gate_shut();
		return;
	}
	come_up(link);
}

static void turn_joining(struct link *link)
{
	gate_shut();
	if (!gate_is_shut())
		return;
	if (device_is_up(link)) {
		find_sockets(link);
		come_up(link);
		return;
	}
	go_down(link);
	gate_lift();
}

static void turn_up(struct link *link)
{
	if (link->gated) {
		if (!gate_is_shut() || !sockets_are_ready(link))
			return;
		link->state = LINK_JOINING;
		let_interrupts_run(link);
	} else if (!device_is_up(link)) {
		go_down(link);
	}
}

/* A descriptor that the tap driver has of the interface `name`; -1 if none is found. */
static int find_tun(const char *name)
{
	for (int fd = 0; fd < LINK_FD_MAX; fd++) {
		struct ifreq about = {0};

		if (ioctl(fd, TUNGETIFF, &about) == 0 && strcmp(about.ifr_name, name) == 0)
			return fd;
	}
	return -1;
}

/*
 * Whether the interface is still there, wherever it may be: a tap is asked by its descriptor, since
 * it works on under another name or in another network namespace; a packet socket does not outlive
 * the interface's stay in its namespace.
 */
static bool interface_is_there(const struct link *link)
{
	char name[IF_NAMESIZE];
	struct ifreq about = {0};

	if (link->tun_fd >= 0)
		return ioctl(link->tun_fd, TUNGETIFF, &about) == 0 || errno != EBADFD;
	return if_indextoname(link->interface, name) || errno != ENXIO;
}

static void watch_interface(struct link *link, uint64_t now_ns)
{
	link->next_ns = now_ns + INTERFACE_PERIOD_NS;
	if (!interface_is_there(link))
		link->gone = "interface";
	else if (!xdp_watch_holds(&link->xdp))
		link->gone = "XDP program";
	else
		return;
	link->next_ns = UINT64_MAX;
	go_down(link);
}

/* Begins to watch the interface; one that cannot be watched is taken as there. */
static void init_interface(struct link *link)
{
	if (link->device->kind == DEVICE_TAP)
		link->tun_fd = find_tun(link->device->target);
	else
		link->interface = if_nametoindex(link->device->target);
	if (link->device->kind == DEVICE_AF_XDP)
		xdp_watch_open(&link->xdp, (int)link->interface);
	link->counted_up = true;
	if (link->tun_fd < 0 && link->interface == 0)
		link->next_ns = UINT64_MAX;
}

void link_init(struct link *link, const struct device *device, uint16_t port)
{
	const struct device_traits *traits = &device_traits[device->kind];

	*link = (struct link){.device = device,
			      .port = port,
			      .gated = traits->has_gate,
			      .tun_fd = -1,
			      .xdp.fd = -1};
	link->state = traits->has_link ? LINK_DOWN : LINK_UP;
	if (!traits->has_link)
		init_interface(link);
}

void link_fini(struct link *link)
{
	if (link->gated)
		gate_lift();
	xdp_watch_close(&link->xdp);
	link->state = LINK_DOWN;
}

void link_turn(struct link *link, uint64_t now_ns)
{
	if (link->state == LINK_UP && link->gated && !gate_is_shut())
		link->state = LINK_JOINING;
	if (link->state == LINK_JOINING) {
		turn_joining(link);
		return;
	}
	if (now_ns < link->next_ns)
		return;
	if (link->tun_fd >= 0 || link->interface) {
		watch_interface(link, now_ns);
		return;
	}
	link->next_ns = now_ns + LINK_PERIOD_NS;
	if (link->state == LINK_DOWN)
		turn_down(link);
	else
		turn_up(link);
}

bool link_wait(struct link *link, uint64_t wait_ns)
{
	const struct timespec pause = {.tv_nsec = 50 * 1000};
	uint64_t deadline_ns = clock_now_ns() + wait_ns;

	for (;;) {
		uint64_t now_ns = clock_now_ns();

		link_turn(link, now_ns);
		if (link_usable(link) || now_ns >= deadline_ns)
			return link_usable(link);
		nanosleep(&pause, NULL);
	}
}

bool link_was_turned_away(const struct link *link)
{
	for (int fd = 0; fd < LINK_FD_MAX; fd++)
		if (is_client_socket(fd, link->device->target))
			return false;
	return true;
}
