#include "stacks/dpdk/doze.h"

#include "dataplane/core/clock.h"
#include "stacks/dpdk/descriptor.h"
#include "stacks/dpdk/xdp.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <rte_ethdev.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

/* Whether `fd` is a packet socket of the interface whose index is `wanted`. */
static bool is_packet_socket(int fd, const void *wanted)
{
	struct sockaddr_ll bound = {0};
	socklen_t bytes = sizeof(bound);

	return getsockname(fd, (struct sockaddr *)&bound, &bytes) == 0 &&
	       bound.sll_family == AF_PACKET && bound.sll_ifindex == *(const int *)wanted;
}

/* The packet socket that the driver has of the interface `name`; -1 if none is found. */
static int find_packet_socket(const char *name)
{
	int interface = (int)if_nametoindex(name);
	int fd;

	descriptor_find(is_packet_socket, &interface, &fd);
	return fd;
}

void doze_init(struct doze *doze, const struct device *device, uint16_t port)
{
	if (device_traits[device->kind].interrupts)
		doze->fd = rte_eth_dev_rx_intr_ctl_q_get_fd(port, 0);
	else if (device->kind == DEVICE_AF_PACKET)
		doze->fd = find_packet_socket(device->target);
	else if (device->kind == DEVICE_AF_XDP)
		doze->fd = xdp_find_socket();
	else
		doze->fd = -1;
	prctl(PR_SET_TIMERSLACK, 1);
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / CLOCK_SECOND_NS),
				 .tv_nsec = (long)(ns % CLOCK_SECOND_NS)};
}

static void nap(struct doze *doze, uint64_t bound_ns)
{
	struct timespec time = timespec_of(bound_ns < doze->nap_ns ? bound_ns : doze->nap_ns);

	doze->naps++;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

void doze_sleep(struct doze *doze, uint64_t bound_ns, bool only_nap)
{
	struct pollfd watch = {.fd = doze->fd, .events = POLLIN};
	struct timespec time = timespec_of(bound_ns);

	if (only_nap || doze->fd < 0) {
		nap(doze, bound_ns);
		return;
	}
	doze->descriptor_sleeps++;
	/* an interface that is gone is no reason to run in circles until that is noticed */
	if (ppoll(&watch, 1, &time, NULL) > 0 && !(watch.revents & POLLIN))
		nap(doze, bound_ns);
}
