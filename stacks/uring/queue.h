/*
 * queue: the pair of rings between us and the kernel.
 *
 * Requests are filled in with ur_queue_sqe, and ur_queue_enter hands them over and lets the kernel
 * post what has completed. A full submission ring is handed over early, which costs a system call
 * of its own. Owned by one thread, which must be the one that opened it.
 *
 * Plane: open and close are setup; the rest is turn.
 */
#ifndef WEIR_STACKS_URING_QUEUE_H
#define WEIR_STACKS_URING_QUEUE_H

#include "dataplane/transport/transport.h"

#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>

/* Younger than liburing 2.3. */
#ifndef IORING_SEND_ZC_REPORT_USAGE
#define IORING_SEND_ZC_REPORT_USAGE (1U << 3)
#endif
#ifndef IORING_NOTIF_USAGE_ZC_COPIED
#define IORING_NOTIF_USAGE_ZC_COPIED (1U << 31)
#endif
#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY (1U << 16)
#endif

/* What the completion of a request carries back that nobody asks about. */
#define UR_NOBODY UINT64_MAX

/* Room for completions, as a multiple of that for requests: multishots post many for one. */
enum { UR_COMPLETIONS_AN_ENTRY = 4 };

struct ur_queue {
	struct io_uring ring;
	bool is_open;
	bool unsettled;		/* the last call did not come to look for work of ours */
	bool registered;	/* the ring's descriptor is, with this thread */
	unsigned expected;	/* completions that a chain queued needs to be worked to its end */
	uint64_t syscalls;	/* made here */
	uint64_t extra_submits; /* hand-overs in the middle of a turn, for want of room */
	uint64_t cq_overflows;	/* times that completions were found waiting for room */
};

/* Reads entries, sqpoll and defer-taskrun. 0, or negative errno with `error` filled. */
int ur_queue_open(struct ur_queue *queue, const struct tp_ops *ops, const struct tp_config *config,
		  struct tp_error *error);

void ur_queue_close(struct ur_queue *queue);

/* Says why a ring could not be made, and what to do; returns `code`. */
int ur_queue_explain(int code, struct tp_error *error);

/* Requests that can be added before the ring is full. */
static inline unsigned ur_queue_room(const struct ur_queue *queue)
{
	return io_uring_sq_space_left(&queue->ring);
}

/* Hands over all requests now, to make room. */
void ur_queue_submit(struct ur_queue *queue);

/* Whether entering would hand something over that is worked on within the call. */
static inline bool ur_queue_has_work(const struct ur_queue *queue)
{
	return !(queue->ring.flags & IORING_SETUP_SQPOLL) && io_uring_sq_ready(&queue->ring) > 0;
}

/*
 * Deferred completions are worked out round by round, and each link of a chain takes a round: so
 * the next enter has to ask for as many completions as `count` requests queued will bring, or the
 * chain would go on by one link a call.
 */
static inline void ur_queue_expect(struct ur_queue *queue, unsigned count)
{
	queue->expected += count;
}

/*
 * A request to fill in; NULL if the kernel cannot take what is queued, which is for the next poll
 * to try again.
 */
static inline struct io_uring_sqe *ur_queue_sqe(struct ur_queue *queue)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&queue->ring);

	if (__builtin_expect(!sqe, 0)) {
		ur_queue_submit(queue);
		sqe = io_uring_get_sqe(&queue->ring);
	}
	return sqe;
}

/*
 * Hands over all requests and lets the kernel do what it has for us, sleeping at most `wait_ns` for
 * a completion. Makes no system call if there is nothing to do and nothing to wait for.
 */
void ur_queue_enter(struct ur_queue *queue, uint64_t wait_ns);

#endif
