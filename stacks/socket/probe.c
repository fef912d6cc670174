/* Which features of kernel sockets this host has. */
#include "stacks/socket/socket.h"
#include "stacks/socket/steer.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket as a worker's listener is, before it is bound. */
static int make_sharing(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	return fd;
}

static bool can_poll_busily(int fd)
{
	int usecs = 1000 * 1000;

	return setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &usecs, sizeof(usecs)) == 0;
}

/* Enters a feature, with the reason if it lacks. */
static void enter(struct tp_feature *feature, const char *name, bool present, const char *absent)
{
	*feature = (struct tp_feature){name, present, present ? NULL : absent};
}

unsigned socket_probe(struct tp_feature *features_out, unsigned room)
{
	struct tp_feature all[SOCKET_FEATURES];
	unsigned count = room < SOCKET_FEATURES ? room : SOCKET_FEATURES;
	int fd = make_sharing();

	enter(&all[0], "reuseport-bpf", fd >= 0 && steer_by_port(fd, 2) == 0,
	      "the kernel takes no program that chooses a listener; steer=port is steer=hash");
	enter(&all[1], "incoming-cpu", fd >= 0 && steer_by_cpu(fd, 0) == 0,
	      "the kernel has no SO_INCOMING_CPU; steer=cpu is steer=hash");
	enter(&all[2], "busy-poll", fd >= 0 && can_poll_busily(fd),
	      "SO_BUSY_POLL needs CAP_NET_ADMIN or net.core.busy_read; busy-poll fails");
	enter(&all[3], "reuseport-ebpf", fd >= 0 && steer_in_turn(fd, 2) == 0,
	      "needs Linux 5.12, CAP_BPF and CAP_NET_ADMIN; steer=turn is steer=port");
	if (fd >= 0)
		close(fd);
	for (unsigned i = 0; i < count; i++)
		features_out[i] = all[i];
	return count;
}
