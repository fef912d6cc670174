#include "stacks/uring/uring.h"

#include "dataplane/core/clock.h"
#include "stacks/uring/files.h"
#include "stacks/uring/instance.h"
#include "stacks/uring/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long close waits for the kernel to answer what it was told to end, nanoseconds. */
#define CLOSE_PATIENCE_NS CLOCK_SECOND_NS

/* --- opening --- */

static bool is_power_of_two(uint32_t value)
{
	return value > 0 && (value & (value - 1)) == 0;
}

static int check_config(const struct tp_config *config, struct tp_error *error)
{
	const struct tp_limits *limits = &config->limits;

	if (limits->conn_max == 0 || limits->conn_max > LIMIT_CONN_MAX)
		return tp_fail(error, -EINVAL,
			       "uring: %u connections asked for; 1 to %d are possible",
			       limits->conn_max, LIMIT_CONN_MAX);
	if (!is_power_of_two(limits->recv_bytes) || !is_power_of_two(limits->send_bytes))
		return tp_fail(error, -EINVAL,
			       "uring: receive and send memory (%u and %u bytes asked for) must be "
			       "powers of two",
			       limits->recv_bytes, limits->send_bytes);
	return ur_pool_check(tp_option_of(&uring_ops, config, UR_BUFFERS), error);
}

static int take_memory(struct ur *ur, struct tp_error *error)
{
	const struct tp_limits *limits = &ur->limits;
	int code = slab_create(&ur->conns, limits->conn_max, sizeof(struct ur_conn));

	if (code == 0)
		code = slab_create(&ur->recv_blocks, limits->conn_max, limits->recv_bytes);
	if (code == 0)
		code = slab_create(&ur->send_blocks, limits->conn_max, limits->send_bytes);
	if (code < 0)
		return tp_fail(error, code,
			       "uring: no memory for %u connections of %u and %u bytes; allow "
			       "fewer",
			       limits->conn_max, limits->recv_bytes, limits->send_bytes);
	return 0;
}

/* Makes what the options ask for and this kernel has. */
static int take_features(struct ur *ur, const struct tp_config *config, struct tp_error *error)
{
	uint32_t buffers = (uint32_t)tp_option_of(&uring_ops, config, UR_BUFFERS);
	uint32_t buffer_bytes = (uint32_t)tp_option_of(&uring_ops, config, UR_BUFFER_BYTES);
	uint64_t zero_copy_bytes = tp_option_of(&uring_ops, config, UR_ZERO_COPY_BYTES);
	bool multishot = tp_option_of(&uring_ops, config, UR_MULTISHOT);
	struct ur_abilities abilities;
	int code = 0;

	ur_abilities_of(&ur->queue, &abilities);
	ur->multishot = multishot && abilities.buffer_rings;
	ur->pooled = multishot && abilities.buffer_rings && abilities.multishot_recv;
	ur->reports_copies = abilities.send_zc_reports;
	ur->zero_copy_bytes = zero_copy_bytes ? (uint32_t)zero_copy_bytes : UINT32_MAX;
	if (zero_copy_bytes && !abilities.send_zc)
		return tp_fail(error, -ENOTSUP,
			       "uring: zero-copy-bytes: this kernel has no zero-copy send, which "
			       "came with 6.0; leave it 0");
	if (ur->pooled)
		code = ur_pool_create(&ur->pool, &ur->queue, buffers, buffer_bytes);
	if (code < 0)
		return tp_fail(error, code,
			       "uring: cannot register %u receive buffers: %s; ask for fewer or "
			       "smaller ones",
			       buffers, strerror(-code));
	if (tp_option_of(&uring_ops, config, UR_REGISTERED_FILES))
		return ur_files_open(ur, error);
	return 0;
}

static struct ur *make_instance(const struct tp_config *config)
{
	struct ur *ur = calloc(1, sizeof(*ur));
	uint64_t entries = tp_option_of(&uring_ops, config, UR_ENTRIES);

	if (!ur)
		return NULL;
	ur->base.ops = &uring_ops;
	ur->settings = socket_settings_of(&uring_ops, config);
	ur->limits = config->limits;
	ur->chain_room = entries < LIMIT_TURN_REQUESTS ? (uint32_t)entries : LIMIT_TURN_REQUESTS;
	list_init(&ur->attend);
	list_init(&ur->lending);
	list_init(&ur->marked);
	list_init(&ur->pending);
	list_init(&ur->released);
	list_init(&ur->live);
	return ur;
}

static int ur_open(const struct tp_config *config, struct tp **tp_out, struct tp_error *error)
{
	int code = socket_check(&uring_ops, config, error);
	struct ur *ur;

	if (code == 0)
		code = check_config(config, error);
	if (code < 0)
		return code;
	ur = make_instance(config);
	if (!ur)
		return tp_fail(error, -ENOMEM, "uring: no memory for an instance");
	code = take_memory(ur, error);
	if (code < 0)
		goto no_memory;
	code = ur_queue_open(&ur->queue, &uring_ops, config, error);
	if (code < 0)
		goto no_memory;
	code = take_features(ur, config, error);
	if (code < 0)
		goto no_features;
	*tp_out = &ur->base;
	return 0;
no_features:
	ur_queue_close(&ur->queue);
	ur_pool_destroy(&ur->pool);
no_memory:
	slab_destroy(&ur->send_blocks);
	slab_destroy(&ur->recv_blocks);
	slab_destroy(&ur->conns);
	free(ur);
	return code;
}

/* --- listening and connecting --- */

/* A request on a non-blocking socket would fail where it should wait. 0 or a negative errno. */
static int let_wait(struct ur *ur, int fd)
{
	ur->counters.syscalls++;
	return fcntl(fd, F_SETFL, 0) < 0 ? -errno : 0;
}

static int ur_listen(struct tp *tp, const struct tp_addr *addr, struct tp_error *error)
{
	struct ur *ur = ur_of(tp);
	int fd, code;

	if (ur->listener_count == SOCKET_LISTENERS)
		return tp_fail(error, -ENOSPC, "uring: an instance listens on at most %d addresses",
			       SOCKET_LISTENERS);
	fd = socket_listen(addr, &ur->settings, &ur->counters.syscalls, error);
	if (fd < 0)
		return fd;
	code = let_wait(ur, fd);
	if (code < 0) {
		socket_unlisten(fd, addr, &ur->settings, &ur->counters.syscalls);
		return tp_fail(error, code, "uring: cannot prepare a listener: %s",
			       strerror(-code));
	}
	ur->listeners[ur->listener_count++] = (struct ur_listener){.fd = fd, .addr = *addr};
	ur->listeners_in_turn += socket_in_turn(addr, &ur->settings);
	return 0;
}

static int ur_connect(struct tp *tp, const struct tp_addr *addr, void *user,
		      struct tp_conn **conn_out, struct tp_error *error)
{
	struct ur *ur = ur_of(tp);
	struct ur_conn *conn;
	int verdict = 0;
	int fd, code;

	if (ur->conns.in_use == ur->limits.conn_max)
		return tp_fail(error, -ENOBUFS, "uring: all %u connections are in use; allow more",
			       ur->limits.conn_max);
	fd = socket_connect(addr, &ur->settings, &verdict, &ur->counters.syscalls, error);
	if (fd < 0)
		return fd;
	code = let_wait(ur, fd);
	if (code < 0) {
		socket_reset(fd, &ur->counters.syscalls);
		return tp_fail(error, code, "uring: cannot prepare a connection: %s",
			       strerror(-code));
	}
	conn = ur_conn_begin(ur, fd, UR_CONNECTING, addr->family != TP_UNIX);
	conn->base.user = user;
	/* what the network refused at once is told like what it refuses later */
	if (verdict)
		ur_conn_retire(ur, conn, socket_reason(verdict));
	*conn_out = &conn->base;
	return 0;
}

/* --- closing --- */

static void stop_accepting(struct ur *ur)
{
	for (unsigned i = 0; i < ur->listener_count; i++) {
		struct io_uring_sqe *sqe;

		if (!ur->listeners[i].accepting)
			continue;
		sqe = ur_queue_sqe(&ur->queue);
		if (!sqe)
			return;
		io_uring_prep_cancel64(sqe, ur_listener_tag(ur, &ur->listeners[i]), 0);
		io_uring_sqe_set_data64(sqe, UR_NOBODY);
	}
}

/*
 * Ends all requests and waits for the answers: until then the kernel may write into our memory, and
 * a listener's address stays taken.
 */
static void end_requests(struct ur *ur)
{
	uint64_t until_ns = clock_now_ns() + CLOSE_PATIENCE_NS;

	stop_accepting(ur);
	do {
		ur_serve_all(ur);
		ur_queue_enter(&ur->queue, CLOCK_MS_NS);
		ur_reap(ur, 0);
	} while ((ur->requests > 0 || !list_empty(&ur->attend)) && clock_now_ns() < until_ns);
}

static void ur_close(struct tp *tp)
{
	struct ur *ur = ur_of(tp);
	struct list *link;

	ur->closing = true;
	for (link = ur->live.next; link != &ur->live; link = link->next) {
		struct ur_conn *conn = list_member(link, struct ur_conn, live);

		if (conn->state != UR_CLOSED)
			ur_conn_retire(ur, conn, TP_ABORTED);
	}
	end_requests(ur);
	ur_queue_close(&ur->queue);
	while (!list_empty(&ur->live))
		ur_conn_release(ur, list_member(ur->live.next, struct ur_conn, live));
	for (unsigned i = 0; i < ur->listener_count; i++)
		socket_unlisten(ur->listeners[i].fd, &ur->listeners[i].addr, &ur->settings,
				&ur->counters.syscalls);
	ur_pool_destroy(&ur->pool);
	slab_destroy(&ur->send_blocks);
	slab_destroy(&ur->recv_blocks);
	slab_destroy(&ur->conns);
	free(ur);
}

/* --- reporting --- */

static void ur_counters(const struct tp *tp, struct tp_counters *counters_out)
{
	const struct ur *ur = (const struct ur *)tp;
	struct tp_counters counters = ur->counters;
	uint64_t *out = (uint64_t *)counters_out;

	counters.syscalls += ur->queue.syscalls;
	for (unsigned i = 0; i < TP_COUNTER_COUNT; i++)
		if (uring_ops.counters_known & 1ull << i)
			out[i] = tp_counter_value(&counters, i);
}

static unsigned ur_details(const struct tp *tp, struct tp_detail *details_out, unsigned room)
{
	const struct ur *ur = (const struct ur *)tp;
	const struct tp_detail details[] = {
#define X(name, meaning) {#name, ur->details.name, TP_DETAIL_COUNT},
		UR_DETAILS(X)
#undef X
#define X(name, meaning) {#name, ur->queue.name, TP_DETAIL_COUNT},
			UR_QUEUE_DETAILS(X)
#undef X
				{"listeners_in_turn", ur->listeners_in_turn, TP_DETAIL_LEVEL},
	};

	return tp_details_copy(details, sizeof(details) / sizeof(details[0]), details_out, room);
}

/* --- the table --- */

static const struct tp_option options[] = {
	SOCKET_OPTIONS,
	[UR_ENTRIES] = {.name = "entries",
			.kind = TP_OPTION_COUNT,
			.initial = 4096,
			.min = 2,
			.max = 32768,
			.about = "requests that one submission can hold"},
	[UR_BUFFERS] = {.name = "buffers",
			.kind = TP_OPTION_COUNT,
			.initial = 256,
			.min = 1,
			.max = UR_POOL_MAX,
			.about = "shared receive buffers, a power of two"},
	[UR_BUFFER_BYTES] = {.name = "buffer-bytes",
			     .kind = TP_OPTION_BYTES,
			     .initial = 16384,
			     .min = 16,
			     .max = 1 << 20,
			     .about = "size of each"},
	[UR_ZERO_COPY_BYTES] = {.name = "zero-copy-bytes",
				.kind = TP_OPTION_BYTES,
				.max = 1 << 30,
				.about = "writes from this size on are sent without a copy; 0: "
					 "none"},
	[UR_SQPOLL] = {.name = "sqpoll",
		       .kind = TP_OPTION_SWITCH,
		       .about = "a thread of the kernel's takes requests in"},
	[UR_SQPOLL_CPU] = {.name = "sqpoll-cpu",
			   .kind = TP_OPTION_COUNT,
			   .initial = UR_SQPOLL_OWN_CPU,
			   .max = UR_SQPOLL_OWN_CPU,
			   .word = "worker",
			   .about = "the CPU that thread is pinned to; worker: the worker's"},
	[UR_SQPOLL_IDLE] = {.name = "sqpoll-idle",
			    .kind = TP_OPTION_DURATION,
			    .initial = 1000 * CLOCK_MS_NS,
			    .min = CLOCK_MS_NS,
			    .max = 60 * CLOCK_SECOND_NS,
			    .about = "how long it spins before it sleeps, whole milliseconds"},
	[UR_DEFER_TASKRUN] = {.name = "defer-taskrun",
			      .kind = TP_OPTION_SWITCH,
			      .initial = 1,
			      .about = "completions are worked out only when poll asks for them"},
	[UR_MULTISHOT] = {.name = "multishot",
			  .kind = TP_OPTION_SWITCH,
			  .initial = 1,
			  .about = "accepts and receives stay in force; off: one request for each, "
				   "into the connection's own memory"},
	[UR_REGISTERED_FILES] = {.name = "registered-files",
				 .kind = TP_OPTION_SWITCH,
				 .about = "sends name connections by the ring's table of files"},
};

_Static_assert(sizeof(options) / sizeof(options[0]) == UR_OPTION_COUNT, "a row for each option");

const struct tp_ops uring_ops = {
	.name = "uring",
	.capabilities = TP_CAN_BLOCK | TP_REFUSAL_IS_KNOWN,
	.families = 1 << TP_IPV4 | 1 << TP_IPV6 | 1 << TP_UNIX,
	.options = options,
	.option_count = UR_OPTION_COUNT,
	/*
	 * copied_bytes stays unknown, as with epoll and for its reason: the kernel's copies are not
	 * ours to count. What we copy ourselves is the detail copied_unread_bytes.
	 */
	.counters_known = TP_KNOWS(polls) | TP_KNOWS(empty_polls) | TP_KNOWS(waits) |
			  TP_KNOWS(wait_ns) | TP_KNOWS(wakeups) | TP_KNOWS(accepted) |
			  TP_KNOWS(accepts_refused) | TP_KNOWS(connected) | TP_KNOWS(closed) |
			  TP_KNOWS(writes) | TP_KNOWS(written_bytes) |
			  TP_KNOWS(largest_write_bytes) | TP_KNOWS(received_bytes) |
			  TP_KNOWS(reserves_refused) | TP_KNOWS(syscalls),
	.probe = ur_probe,
	.open = ur_open,
	.listen = ur_listen,
	.connect = ur_connect,
	.close = ur_close,
	.poll = ur_poll,
	.peek = ur_peek,
	.consume = ur_consume,
	.reserve = ur_reserve,
	.commit = ur_commit,
	.flush = ur_flush,
	.finish = ur_finish,
	.abort = ur_abort,
	.counters = ur_counters,
	.details = ur_details,
};
