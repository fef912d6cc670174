#include "stacks/uring/queue.h"

#include "dataplane/core/clock.h"
#include "stacks/uring/options.h"

#include <errno.h>
#include <string.h>

static int too_old(int code, struct tp_error *error)
{
	return tp_fail(error, code,
		       "uring: this kernel's io_uring is too old; use 5.19 or newer, or the stack "
		       "'epoll'");
}

int ur_queue_explain(int code, struct tp_error *error)
{
	const char *advice = "";

	/* a ring's flags that the kernel does not know yet */
	if (code == -EINVAL)
		return too_old(code, error);

	if (code == -EPERM)
		advice = ": the host forbids io_uring; allow it with `sysctl "
			 "kernel.io_uring_disabled=0`, or lift the filter of system calls of this "
			 "container";
	else if (code == -ENOSYS)
		advice = ": this kernel has no io_uring; use 5.19 or newer, or the stack 'epoll'";
	else if (code == -ENOMEM)
		advice = ": no memory for the rings; ask for fewer entries, or raise the limit of "
			 "locked memory (ulimit -l)";
	else if (code == -EMFILE || code == -ENFILE)
		advice = ": raise the limit of open files (ulimit -n)";
	return tp_fail(error, code, "uring: cannot set up io_uring: %s%s", strerror(-code), advice);
}

/* --- making --- */

/*
 * Ways in which the kernel runs our completions, the best first: only when we ask, at any system
 * call, or by interrupting us.
 */
static const unsigned modes[] = {
	IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_TASKRUN_FLAG,
	IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
	0,
};

/* The kernel's own thread runs completions itself, so that no mode applies. */
static int open_polled(struct ur_queue *queue, const struct tp_ops *ops,
		       const struct tp_config *config, struct io_uring_params params)
{
	uint64_t cpu = tp_option_of(ops, config, UR_SQPOLL_CPU);

	params.flags |= IORING_SETUP_SQPOLL;
	params.sq_thread_idle = (unsigned)(tp_option_of(ops, config, UR_SQPOLL_IDLE) / CLOCK_MS_NS);
	if (cpu == UR_SQPOLL_OWN_CPU)
		cpu = config->cpu < 0 ? UR_SQPOLL_OWN_CPU : (uint64_t)config->cpu;
	if (cpu != UR_SQPOLL_OWN_CPU) {
		params.flags |= IORING_SETUP_SQ_AFF;
		params.sq_thread_cpu = (unsigned)cpu;
	}
	return io_uring_queue_init_params((unsigned)tp_option_of(ops, config, UR_ENTRIES),
					  &queue->ring, &params);
}

static int open_best(struct ur_queue *queue, const struct tp_ops *ops,
		     const struct tp_config *config)
{
	unsigned entries = (unsigned)tp_option_of(ops, config, UR_ENTRIES);
	struct io_uring_params params = {
		.flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP | IORING_SETUP_SUBMIT_ALL,
		.cq_entries = entries * UR_COMPLETIONS_AN_ENTRY,
	};
	unsigned mode = tp_option_of(ops, config, UR_DEFER_TASKRUN) ? 0 : 1;
	int code = -EINVAL;

	if (tp_option_of(ops, config, UR_SQPOLL))
		return open_polled(queue, ops, config, params);
	for (; code == -EINVAL && mode < sizeof(modes) / sizeof(modes[0]); mode++) {
		struct io_uring_params attempt = params;

		attempt.flags |= modes[mode];
		code = io_uring_queue_init_params(entries, &queue->ring, &attempt);
	}
	return code;
}

/* What says how the kernel's thread polls means nothing without one. */
static int check_options(const struct tp_ops *ops, const struct tp_config *config,
			 struct tp_error *error)
{
	static const enum uring_option polled[] = {UR_SQPOLL_CPU, UR_SQPOLL_IDLE};
	char text[TP_OPTION_TEXT];

	if (tp_option_of(ops, config, UR_SQPOLL))
		return 0;
	for (unsigned i = 0; i < sizeof(polled) / sizeof(polled[0]); i++) {
		const struct tp_option *option = &ops->options[polled[i]];
		uint64_t value = tp_option_of(ops, config, polled[i]);

		if (value != option->initial)
			return tp_fail(error, -EINVAL,
				       "uring: %s=%s is for the kernel's polling thread, and "
				       "there is none: add sqpoll=on, or leave it out",
				       option->name, tp_option_print(option, value, text));
	}
	return 0;
}

int ur_queue_open(struct ur_queue *queue, const struct tp_ops *ops, const struct tp_config *config,
		  struct tp_error *error)
{
	const unsigned needed = IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP | IORING_FEAT_FAST_POLL;
	int code;

	*queue = (struct ur_queue){0};
	code = check_options(ops, config, error);
	if (code < 0)
		return code;
	code = open_best(queue, ops, config);
	queue->syscalls++;
	if (code == -EINVAL && tp_option_of(ops, config, UR_SQPOLL))
		return tp_fail(error, code,
			       "uring: the kernel refuses sqpoll=on here: is the CPU of sqpoll-cpu "
			       "there and allowed for this process?");
	if (code < 0)
		return ur_queue_explain(code, error);
	if ((queue->ring.features & needed) != needed) {
		io_uring_queue_exit(&queue->ring);
		return too_old(-ENOTSUP, error);
	}
	/*
	 * Spares a look-up of the descriptor in each call; where the host lacks it, nothing else
	 * changes.
	 */
	queue->is_open = true;
	queue->registered = io_uring_register_ring_fd(&queue->ring) == 1;
	queue->syscalls++;
	return 0;
}

void ur_queue_close(struct ur_queue *queue)
{
	io_uring_queue_exit(&queue->ring);
}

/* --- the turn --- */

/*
 * Shows the kernel the requests filled in so far; how many it has not taken yet. They stand in the
 * order in which they are handed over, so that a ring without the array that could change it, which
 * younger libraries ask for, needs nothing but the new end.
 */
static unsigned publish(struct io_uring *ring)
{
	bool has_array = !(ring->flags & IORING_SETUP_NO_SQARRAY);
	struct io_uring_sq *sq = &ring->sq;
	unsigned tail = *sq->ktail;

	for (; sq->sqe_head != sq->sqe_tail; sq->sqe_head++, tail++)
		if (has_array)
			sq->array[tail & sq->ring_mask] = sq->sqe_head & sq->ring_mask;
	io_uring_smp_store_release(sq->ktail, tail);
	return tail - io_uring_smp_load_acquire(sq->khead);
}

static void enter(struct ur_queue *queue, unsigned submit, unsigned complete, unsigned flags,
		  struct __kernel_timespec *timeout)
{
	int result;

	struct io_uring_getevents_arg argument = {.ts = (uint64_t)(uintptr_t)timeout};
	struct io_uring *ring = &queue->ring;

	if (queue->registered)
		flags |= IORING_ENTER_REGISTERED_RING;
	queue->syscalls++;
	/*
	 * Whatever it answers (time is up, a signal, no memory now, completions to collect first)
	 * leads to the same: look at the completions, and hand over the rest next time.
	 */
	result = io_uring_enter2((unsigned)ring->enter_ring_fd, submit, complete,
				 flags | IORING_ENTER_EXT_ARG, (sigset_t *)(void *)&argument,
				 sizeof(argument));
	queue->unsettled = result < 0 ? result != -ETIME : (unsigned)result != submit;
}

/* What a call has to do for requests that wait: with SQPOLL only wake the kernel's thread. */
static unsigned submit_flags(const struct io_uring *ring, unsigned waiting, unsigned *submit_out)
{
	*submit_out = waiting;
	if (!(ring->flags & IORING_SETUP_SQPOLL))
		return 0;
	*submit_out = 0;
	io_uring_smp_mb(); /* our tail is out before we see whether the thread sleeps */
	if (waiting && IO_URING_READ_ONCE(*ring->sq.kflags) & IORING_SQ_NEED_WAKEUP)
		return IORING_ENTER_SQ_WAKEUP;
	return 0;
}

void ur_queue_submit(struct ur_queue *queue)
{
	unsigned submit, flags;

	flags = submit_flags(&queue->ring, publish(&queue->ring), &submit);
	queue->extra_submits++;
	if (queue->ring.flags & IORING_SETUP_SQPOLL)
		flags |= IORING_ENTER_SQ_WAIT;
	enter(queue, submit, 0, flags, NULL);
}

/*
 * The kernel says that it has work of ours, and takes that back when it begins to do it; what the
 * work itself adds, the next link of a chain, is said again and done in the same go, and then the
 * word stands although nothing is left. So it is taken back here, before the call that does all
 * that was there by now; what comes later is said anew.
 */
static void clear_taskrun(struct io_uring *ring, unsigned state)
{
	if (state & IORING_SQ_TASKRUN)
		__atomic_and_fetch(ring->sq.kflags, ~IORING_SQ_TASKRUN, __ATOMIC_SEQ_CST);
}

void ur_queue_enter(struct ur_queue *queue, uint64_t wait_ns)
{
	struct __kernel_timespec timeout = {
		.tv_sec = (long long)(wait_ns / CLOCK_SECOND_NS),
		.tv_nsec = (long long)(wait_ns % CLOCK_SECOND_NS),
	};
	unsigned complete = wait_ns > 0;
	unsigned submit, flags, state;

	flags = submit_flags(&queue->ring, publish(&queue->ring), &submit);
	state = IO_URING_READ_ONCE(*queue->ring.sq.kflags);
	queue->cq_overflows += (state & IORING_SQ_CQ_OVERFLOW) != 0;
	if (wait_ns == 0 && submit == 0 && flags == 0 && !queue->unsettled &&
	    !(state & (IORING_SQ_CQ_OVERFLOW | IORING_SQ_TASKRUN)))
		return;
	clear_taskrun(&queue->ring, state);
	/* with no time to wait, so that a link that cannot go on is left to itself */
	if (wait_ns == 0 && queue->ring.flags & IORING_SETUP_DEFER_TASKRUN)
		complete = queue->expected;
	queue->expected = 0;
	enter(queue, submit, complete, flags | IORING_ENTER_GETEVENTS,
	      wait_ns == TP_WAIT_FOREVER ? NULL : &timeout);
}
