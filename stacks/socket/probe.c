/* Which features of kernel sockets this host has. */
#include "stacks/socket/socket.h"
#include "stacks/socket/steer.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	TRIALS = 16,	 /* connections: a kernel that hashes leads all right by rare chance */
	TRIAL_MS = 1000, /* until one has arrived, at the latest */
};

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

/* --- whether the CPU chooses in a group of listeners --- */

/*
 * Two listeners of one group on loopback, on a port that the kernel chooses: the first is told
 * `cpu`, the second another one. Whether they stand; either is -1 or to be closed.
 */
static bool make_group(int listeners_out[2], struct sockaddr_in *address_out, int cpu)
{
	socklen_t bytes = sizeof(*address_out);

	*address_out = (struct sockaddr_in){.sin_family = AF_INET,
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	for (int i = 0; i < 2; i++) {
		struct sockaddr *address = (struct sockaddr *)address_out;
		int fd = listeners_out[i] = make_sharing();

		if (fd < 0 || bind(fd, address, bytes) < 0 || listen(fd, TRIALS) < 0 ||
		    getsockname(fd, address, &bytes) < 0 || steer_by_cpu(fd, cpu + i) < 0)
			return false;
	}
	return true;
}

/* Whether a connection begun on this CPU comes to the first listener. */
static bool is_led(const int listeners[2], const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pollfd watched[2] = {{.fd = listeners[0], .events = POLLIN},
				    {.fd = listeners[1], .events = POLLIN}};
	uint64_t calls = 0;
	bool led = false;
	int accepted;

	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 &&
	    poll(watched, 2, TRIAL_MS) == 1 && watched[0].revents == POLLIN) {
		accepted = accept4(listeners[0], NULL, NULL, SOCK_CLOEXEC);
		led = accepted >= 0;
		if (led)
			socket_reset(accepted, &calls);
	}
	socket_reset(fd, &calls);
	return led;
}

/* Tries it out, for kernels before Linux 6.2 take the option and pass it over in a group. */
static bool try_group(int cpu)
{
	int listeners[2] = {-1, -1};
	struct sockaddr_in address;
	bool led = make_group(listeners, &address, cpu);

	for (unsigned i = 0; led && i < TRIALS; i++)
		led = is_led(listeners, &address);
	for (unsigned i = 0; i < 2; i++)
		if (listeners[i] >= 0)
			close(listeners[i]);
	return led;
}

/* Keeps this thread on its CPU meanwhile: on loopback that is the one which takes packets in. */
static bool can_lead_by_cpu(void)
{
	int cpu = sched_getcpu();
	cpu_set_t before, one;
	bool led;

	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(before), &before) < 0)
		return false;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		return false;
	led = try_group(cpu);
	sched_setaffinity(0, sizeof(before), &before);
	return led;
}

/* --- all of them --- */

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
	enter(&all[1], "incoming-cpu", can_lead_by_cpu(),
	      "SO_INCOMING_CPU does not choose in a group here (Linux before 6.2 passes it over, "
	      "or "
	      "loopback is down, where it is tried); steer=cpu is steer=hash");
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
