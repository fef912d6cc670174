#include "stacks/dpdk/xdp.h"

#include "stacks/dpdk/descriptor.h"

#include <dlfcn.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES = 16384 }; /* of what the kernel says about one interface */

/* Calls `name`(NULL) in a library that the driver has loaded: its printer is to be none. */
static void silence(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
	void *(*set_print)(void *) = NULL;

	if (!handle)
		return;
	*(void **)&set_print = dlsym(handle, name);
	if (set_print)
		set_print(NULL);
	dlclose(handle);
}

void xdp_prepare(void)
{
	silence("libbpf.so.1", "libbpf_set_print");
	silence("libxdp.so.1", "libxdp_set_print");
	setenv("LIBXDP_SKIP_DISPATCHER", "1", 0);
}

static bool is_xdp_socket(int fd, const void *wanted)
{
	int domain = 0;
	socklen_t bytes = sizeof(domain);

	(void)wanted;
	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_XDP;
}

int xdp_find_socket(void)
{
	int fd;

	return descriptor_find(is_xdp_socket, NULL, &fd) == 1 ? fd : -1;
}

/* The attribute `type` among `bytes` of them; NULL if it is not there. */
static const struct rtattr *find_attribute(const struct rtattr *first, int bytes, unsigned type)
{
	for (const struct rtattr *at = first; RTA_OK(at, bytes); at = RTA_NEXT(at, bytes))
		if ((at->rta_type & NLA_TYPE_MASK) == type)
			return at;
	return NULL;
}

/* The number of the program that an answer about an interface names; 0 if it names none. */
static uint32_t program_of(const struct nlmsghdr *answer)
{
	const struct ifinfomsg *about = NLMSG_DATA(answer);
	const struct rtattr *xdp, *number = NULL;
	uint32_t program = 0;

	xdp = find_attribute(IFLA_RTA(about), (int)IFLA_PAYLOAD(answer), IFLA_XDP);
	if (xdp)
		number = find_attribute(RTA_DATA(xdp), (int)RTA_PAYLOAD(xdp), IFLA_XDP_PROG_ID);
	if (number && RTA_PAYLOAD(number) >= sizeof(program))
		memcpy(&program, RTA_DATA(number), sizeof(program));
	return program;
}

/* Asks which program is attached; whether the kernel said it. */
static bool ask(const struct xdp_watch *watch, uint32_t *program_out)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg about;
	} request = {
		.head = {.nlmsg_len = sizeof(request),
			 .nlmsg_type = RTM_GETLINK,
			 .nlmsg_flags = NLM_F_REQUEST},
		.about = {.ifi_family = AF_UNSPEC, .ifi_index = watch->interface},
	};
	union {
		struct nlmsghdr head;
		char bytes[ANSWER_BYTES];
	} answer;
	ssize_t bytes;

	if (send(watch->fd, &request, sizeof(request), 0) < 0)
		return false;
	/* the kernel answers within the send */
	bytes = recv(watch->fd, &answer, sizeof(answer), MSG_DONTWAIT);
	if (bytes < 0 || !NLMSG_OK(&answer.head, (size_t)bytes) ||
	    answer.head.nlmsg_type != RTM_NEWLINK ||
	    answer.head.nlmsg_len < NLMSG_LENGTH(sizeof(struct ifinfomsg)))
		return false;
	*program_out = program_of(&answer.head);
	return true;
}

void xdp_watch_open(struct xdp_watch *watch, int interface)
{
	*watch = (struct xdp_watch){.interface = interface};
	watch->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (watch->fd < 0 || (ask(watch, &watch->program) && watch->program != 0))
		return;
	xdp_watch_close(watch);
}

void xdp_watch_close(struct xdp_watch *watch)
{
	if (watch->fd >= 0)
		close(watch->fd);
	watch->fd = -1;
}

bool xdp_watch_holds(const struct xdp_watch *watch)
{
	uint32_t program;

	return watch->fd < 0 || !ask(watch, &program) || program == watch->program;
}

struct xdp_losses xdp_losses_of(int fd)
{
	struct xdp_statistics statistics = {0};
	socklen_t bytes = sizeof(statistics);

	if (fd < 0 || getsockopt(fd, SOL_XDP, XDP_STATISTICS, &statistics, &bytes) < 0)
		return (struct xdp_losses){0};
	return (struct xdp_losses){.frames = statistics.rx_dropped + statistics.rx_ring_full,
				   .fill_empty = statistics.rx_fill_ring_empty_descs};
}
