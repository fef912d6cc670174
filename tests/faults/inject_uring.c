/*
 * Requests to io_uring, changed between the stack and the kernel. One that is to fail becomes a
 * no-op whose result is given; one that is to do less is asked for less.
 */
#include "tests/faults/inject.h"

#include <errno.h>
#include <liburing.h>
#include <stddef.h>

/* The kernel's own, younger than some headers. */
enum { NOP_INJECT_RESULT = 1, SETUP_NO_SQARRAY = 1 << 16 };

int __real_io_uring_queue_init_params(unsigned, struct io_uring *, struct io_uring_params *);
int __wrap_io_uring_queue_init_params(unsigned, struct io_uring *, struct io_uring_params *);
void __real_io_uring_queue_exit(struct io_uring *);
void __wrap_io_uring_queue_exit(struct io_uring *);
int __real_io_uring_register_buf_ring(struct io_uring *, struct io_uring_buf_reg *, unsigned);
int __wrap_io_uring_register_buf_ring(struct io_uring *, struct io_uring_buf_reg *, unsigned);
int __real_io_uring_enter2(unsigned, unsigned, unsigned, unsigned, sigset_t *, size_t);
int __wrap_io_uring_enter2(unsigned, unsigned, unsigned, unsigned, sigset_t *, size_t);

enum { RINGS_MAX = 8 };

/* A ring that is set up, and up to where its requests were looked at. */
static struct {
	struct io_uring *ring;
	unsigned looked_at;
} rings[RINGS_MAX];

int __wrap_io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
				      struct io_uring_params *params)
{
	int code;

	if (inject_strikes(INJECT_ring_setup))
		return -inject_error();
	code = __real_io_uring_queue_init_params(entries, ring, params);
	for (unsigned i = 0; code == 0 && i < RINGS_MAX; i++) {
		if (rings[i].ring)
			continue;
		rings[i].ring = ring;
		rings[i].looked_at = 0;
		break;
	}
	return code;
}

void __wrap_io_uring_queue_exit(struct io_uring *ring)
{
	for (unsigned i = 0; i < RINGS_MAX; i++)
		if (rings[i].ring == ring)
			rings[i].ring = NULL;
	__real_io_uring_queue_exit(ring);
}

int __wrap_io_uring_register_buf_ring(struct io_uring *ring, struct io_uring_buf_reg *registration,
				      unsigned flags)
{
	if (inject_strikes(INJECT_ring_buffers))
		return -inject_error();
	return __real_io_uring_register_buf_ring(ring, registration, flags);
}

/* --- requests --- */

static enum inject_call call_of(uint8_t operation)
{
	switch (operation) {
	case IORING_OP_ACCEPT:
		return INJECT_ring_accept;
	case IORING_OP_RECV:
	case IORING_OP_RECVMSG:
		return INJECT_ring_recv;
	case IORING_OP_SEND:
	case IORING_OP_SENDMSG:
	case IORING_OP_SEND_ZC:
		return INJECT_ring_send;
	case IORING_OP_POLL_ADD:
		return INJECT_ring_poll;
	case IORING_OP_ASYNC_CANCEL:
		return INJECT_ring_cancel;
	default:
		return INJECT_CALL_COUNT;
	}
}

static void make_fail(struct io_uring_sqe *sqe, int error)
{
	uint64_t user_data = sqe->user_data;
	uint8_t link = sqe->flags & IOSQE_IO_LINK;

	io_uring_prep_nop(sqe);
	sqe->flags = link;
	sqe->rw_flags = NOP_INJECT_RESULT;
	sqe->len = (uint32_t)-error;
	sqe->user_data = user_data;
}

/* Less than was asked for; whether that breaks a chain. */
static bool make_short(struct io_uring_sqe *sqe)
{
	struct msghdr *message = (struct msghdr *)(uintptr_t)sqe->addr;

	switch (sqe->opcode) {
	case IORING_OP_RECV:
		if (sqe->ioprio == 0)
			sqe->len = 1;
		/* fall through */
	case IORING_OP_ACCEPT:
		sqe->ioprio = 0; /* one, where many were asked for */
		return false;
	case IORING_OP_SENDMSG:
		message->msg_iovlen = 1;
		message->msg_iov[0].iov_len = 1;
		return true;
	case IORING_OP_SEND:
	case IORING_OP_SEND_ZC:
		sqe->len = 1;
		return true;
	default:
		return false;
	}
}

/* Looks at a request; whether it breaks the chain behind it. */
static bool treat(struct io_uring_sqe *sqe)
{
	enum inject_call call = call_of(sqe->opcode);
	bool linked = sqe->flags & IOSQE_IO_LINK;

	if (call == INJECT_CALL_COUNT || !inject_strikes(call))
		return false;
	if (inject_error()) {
		if (sqe->opcode != IORING_OP_ACCEPT)
			inject_harm(sqe->fd);
		make_fail(sqe, inject_error());
		return false;
	}
	if (!make_short(sqe))
		return false;
	sqe->flags &= (uint8_t)~IOSQE_IO_LINK;
	return linked;
}

static void treat_all(unsigned index)
{
	bool has_array = !(rings[index].ring->flags & SETUP_NO_SQARRAY);
	struct io_uring_sq *sq = &rings[index].ring->sq;
	unsigned tail = *sq->ktail;
	bool broken = false;

	/* what went to the kernel by another way is over */
	if ((int)(*sq->khead - rings[index].looked_at) > 0)
		rings[index].looked_at = *sq->khead;
	while (rings[index].looked_at != tail) {
		unsigned place = rings[index].looked_at++ & sq->ring_mask;
		struct io_uring_sqe *sqe = &sq->sqes[has_array ? sq->array[place] : place];
		bool linked = sqe->flags & IOSQE_IO_LINK;

		if (broken) {
			make_fail(sqe, ECANCELED);
			sqe->flags = 0;
			broken = linked;
		} else {
			broken = treat(sqe);
		}
	}
}

int __wrap_io_uring_enter2(unsigned fd, unsigned submit, unsigned complete, unsigned flags,
			   sigset_t *signals, size_t bytes)
{
	for (unsigned i = 0; i < RINGS_MAX; i++)
		if (rings[i].ring && (unsigned)rings[i].ring->enter_ring_fd == fd)
			treat_all(i);
	if (inject_strikes(INJECT_ring_enter))
		return -inject_error();
	return __real_io_uring_enter2(fd, submit, complete, flags, signals, bytes);
}

bool inject_rings_work(void)
{
	struct io_uring_params params = {0};
	struct io_uring_cqe *cqe;
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	bool works;

	if (__real_io_uring_queue_init_params(2, &ring, &params) < 0)
		return false;
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_recv(sqe, -1, NULL, 0, 0);
	make_fail(sqe, ENOTUNIQ);
	works = io_uring_submit_and_wait(&ring, 1) == 1 && io_uring_peek_cqe(&ring, &cqe) == 0 &&
		cqe->res == -ENOTUNIQ;
	__real_io_uring_queue_exit(&ring);
	return works;
}
