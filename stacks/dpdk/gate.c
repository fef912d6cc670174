#include "stacks/dpdk/gate.h"

#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_interrupts.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct gate gate;

static int call_fd = -1; /* readable: the interrupt thread is asked in */
static int go_fd = -1;	 /* readable: it may go on */

static void signal_fd(int fd)
{
	uint64_t one = 1;

	CHECK(write(fd, &one, sizeof(one)) == sizeof(one));
}

/* Waits on the interrupt thread, within its callback, until gate_lift. */
static void hold(void *argument)
{
	uint64_t count;
	unsigned asking;

	if (read(call_fd, &count, sizeof(count)) != sizeof(count))
		return;
	asking = atomic_load(&gate.wanted);
	atomic_store(&gate.held, asking);
	/* lifted may be ahead by more than this asking; both wrap */
	while ((int)(atomic_load(&gate.lifted) - asking) < 0)
		if (read(go_fd, &count, sizeof(count)) < 0 && errno != EINTR)
			return;
}

static int register_hold(void)
{
	struct rte_intr_handle *handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	int failure;

	if (!handle)
		return -ENOMEM;
	rte_intr_fd_set(handle, call_fd);
	rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT);
	failure = rte_intr_callback_register(handle, hold, NULL);
	/* the EAL made a copy */
	rte_intr_instance_free(handle);
	return failure;
}

int gate_start(void)
{
	int failure;

	if (call_fd >= 0)
		return 0;
	go_fd = eventfd(0, EFD_CLOEXEC);
	call_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	failure = go_fd < 0 || call_fd < 0 ? -errno : register_hold();
	if (!failure)
		return 0;
	if (go_fd >= 0)
		close(go_fd);
	if (call_fd >= 0)
		close(call_fd);
	call_fd = go_fd = -1;
	return failure;
}

void gate_shut(void)
{
	if (gate.asked)
		return;
	gate.asked = true;
	atomic_fetch_add(&gate.wanted, 1);
	signal_fd(call_fd);
}

void gate_lift(void)
{
	if (!gate.asked)
		return;
	gate.asked = false;
	atomic_store(&gate.lifted, atomic_load(&gate.wanted));
	signal_fd(go_fd);
}

/* Has the interrupt thread come in and go again. */
static bool pass_once(void)
{
	const struct timespec pause = {.tv_nsec = 20 * 1000};
	uint64_t deadline_ns = clock_now_ns() + CLOCK_SECOND_NS;
	bool came;

	gate_shut();
	while (!(came = gate_is_shut()) && clock_now_ns() < deadline_ns)
		nanosleep(&pause, NULL);
	gate_lift();
	return came;
}

bool gate_pass(void)
{
	gate_lift();
	/* the first may come in the middle of a batch, the second only behind it */
	return pass_once() && pass_once();
}
