/*
 * inject: the n-th system call of one kind fails.
 *
 * The linker's --wrap leads the calls of everything linked into the test program through here; the
 * stacks are static libraries, so theirs too. Calls are counted while a fault is armed. One that is
 * chosen fails as the kernel would make it fail: an error that says the connection is dead comes
 * with the connection's death, a short count with the bytes that were not asked for still there,
 * and EAGAIN with a new edge for whoever watches the descriptor by epoll. With io_uring, a request
 * is changed on its way to the kernel, so that its completion is the kernel's own.
 *
 * Not thread-safe; one stack at a time.
 */
#ifndef WEIR_TESTS_INJECT_H
#define WEIR_TESTS_INJECT_H

#include <stdbool.h>
#include <stdint.h>

/* X(name, meaning) */
#define INJECT_CALLS(X)                                                   \
	X(accept, "accept4")                                              \
	X(recv, "recv and readv")                                         \
	X(send, "send and sendmsg")                                       \
	X(epoll_create, "epoll_create1")                                  \
	X(epoll_ctl, "epoll_ctl")                                         \
	X(epoll_wait, "epoll_wait")                                       \
	X(epoll_pwait2, "epoll_pwait2")                                   \
	X(socket, "socket")                                               \
	X(connect, "connect")                                             \
	X(setsockopt, "setsockopt, but for SO_LINGER, which cannot fail") \
	X(shutdown, "shutdown")                                           \
	X(close, "close")                                                 \
	X(ring_setup, "io_uring_queue_init_params")                       \
	X(ring_buffers, "io_uring_register_buf_ring")                     \
	X(ring_enter, "io_uring_enter2")                                  \
	X(ring_accept, "requests to accept")                              \
	X(ring_recv, "requests to receive")                               \
	X(ring_send, "requests to send, chained or without a copy too")   \
	X(ring_poll, "requests to tell of readiness")                     \
	X(ring_cancel, "requests to end a request")

enum inject_call {
#define X(name, meaning) INJECT_##name,
	INJECT_CALLS(X)
#undef X
		INJECT_CALL_COUNT,
};

/* Which calls fail, and how. */
struct inject_fault {
	enum inject_call call;
	int error;	/* errno; 0: not an error but less than was asked for */
	uint64_t nth;	/* the first that fails, from 1 on; 0: none */
	uint64_t every; /* after it each so-many-th; 0: no other */
};

/* Begins to count and to fail. */
void inject_arm(const struct inject_fault *fault);

/* Ends it; how many calls were made to fail. */
uint64_t inject_disarm(void);

/* Counts one call; whether it is to fail. */
bool inject_strikes(enum inject_call call);

/* The errno of the armed fault; 0: a short count. */
int inject_error(void);

/* Does to the descriptor what the armed errno says has happened to it. */
void inject_harm(int fd);

/* Whether a request to io_uring can be made to fail on this host. */
bool inject_rings_work(void);

/* The name of a kind, "recv", and the kind of a name; INJECT_CALL_COUNT if there is none. */
const char *inject_call_name(enum inject_call call);
enum inject_call inject_call_of(const char *name);

#endif
