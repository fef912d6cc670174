/*
 * bench: one instance over kernel sockets, of epoll or uring, against plain sockets.
 *
 * The peer is a socket of the test's own, so that it can do what no stack of ours would: end in the
 * middle, send urgent data, keep a copy of a descriptor. Turning polls once and adds up what was
 * reported of each connection.
 */
#ifndef WEIR_TESTS_BENCH_H
#define WEIR_TESTS_BENCH_H

#include "dataplane/transport/transport.h"
#ifdef BENCH_URING
#include "stacks/uring/uring.h"
#define BENCH_OPS uring_ops
#else
#include "stacks/epoll/epoll.h"
#define BENCH_OPS epoll_ops
#endif
#ifndef BENCH_OPTIONS
#define BENCH_OPTIONS ""
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_CONNS = 16, BENCH_EVENTS = 256 };

/* What was seen of one connection, in the order of acceptance. */
struct bench_conn {
	struct tp_conn *conn;
	unsigned bits;	 /* all that came */
	unsigned closed; /* how often CLOSED came */
	enum tp_reason reason;
};

struct bench {
	struct tp *tp;
	struct tp_addr addr;
	int peer_buffer_bytes; /* of sockets that dial from now on; 0: as the kernel likes */
	struct tp_turn turn;   /* of the last poll */
	struct bench_conn conns[BENCH_CONNS];
	unsigned conn_count;
};

/*
 * Opens an instance for `conn_max` connections of small rings (4 KiB) and listens; false (and a
 * failed assertion) if not. It is told what the build says (BENCH_OPTIONS).
 */
bool bench_open(struct bench *bench, uint32_t conn_max);

/* The same, told `options` as they are written behind a stack's name. */
bool bench_open_with(struct bench *bench, uint32_t conn_max, const char *options);

/* Opens for 4 connections and joins one; false (and a failed assertion) if not. */
bool bench_open_joined(struct bench *bench, struct bench_conn **conn_out, int *fd_out);

void bench_close(struct bench *bench);

/* Polls once; the number of events. */
unsigned bench_turn(struct bench *bench, uint64_t wait_ns);

/* Turns for some milliseconds in which nothing is expected. */
void bench_idle(struct bench *bench);

/*
 * A connected blocking socket of the test's own, the peer of the next connection accepted; -1 if
 * that fails.
 */
int bench_dial(const struct bench *bench);

/*
 * Dials and turns until that is accepted: the peer in `fd_out`, our end returned; NULL (and a
 * failed assertion) if not.
 */
struct bench_conn *bench_join(struct bench *bench, int *fd_out);

/* Turns until the connection has had all of `bits`; whether it has. */
bool bench_until(struct bench *bench, const struct bench_conn *conn, unsigned bits);

/* Turns until the connection has ended; asserts that it does, and why. */
void bench_expect_closed(struct bench *bench, const struct bench_conn *conn, enum tp_reason reason);

/* Reads and consumes what is there, at most `bytes`; how many there were. */
size_t bench_read(struct bench *bench, struct bench_conn *conn, uint8_t *to, size_t bytes);

/* Commits and flushes `bytes`; whether they could be reserved. */
bool bench_write(struct bench *bench, struct bench_conn *conn, const void *from, size_t bytes);

/* Closes a peer in such a way that it resets. */
void bench_reset(int fd);

/* Fills with bytes that differ from place to place. */
void bench_fill(uint8_t *to, size_t bytes);

/* The descriptor on our side whose peer is `fd`; -1 if there is none. */
int bench_fd_of(int fd);

/* Descriptors that this process has open. */
unsigned bench_fds_open(void);

/* One of the stack's details by name. */
uint64_t bench_detail(const struct bench *bench, const char *name);

struct tp_counters bench_counters(const struct bench *bench);

#endif
