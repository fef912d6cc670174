/*
 * The bare echo over epoll. One receive and one send buffer serve all connections, so both stay in
 * the nearest cache; a connection keeps no more than how far into a request it is, and the
 * beginning of that request if it came in pieces. The send buffer holds answers from the start, and
 * only what they repeat is written. What the kernel does not take of them stays in a block of
 * memory that the connection has until then, and meanwhile nothing is received from it.
 */
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "dataplane/core/slab.h"
#include "stacks/epoll/epoll.h"
#include "stacks/socket/socket.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BUFFER_BYTES = 64 * 1024, /* of each direction */
	EVENTS = EPOLLIN | EPOLLRDHUP,
};

struct bare_conn {
	int fd;		      /* -1 once closed */
	uint32_t begun_bytes; /* of a request that is not whole yet */
	uint8_t begun[BARE_REPEATED_END];
	uint32_t rest_bytes; /* of answers that the kernel has not taken */
	uint8_t *rest;	     /* where those are: the end of a block; NULL if there are none */
};

struct bare {
	int epoll_fd;
	int listen_fd;
	bool moved;	    /* in this turn */
	uint64_t resume_ns; /* accepting rests until then for want of descriptors; 0: it does not */
	uint32_t request_bytes;
	uint32_t response_bytes;
	struct bare_repeat repeat;
	uint32_t receive_bytes; /* the answers to so many received bytes fit the send buffer */
	struct slab conns;
	struct slab rests; /* a block for each connection; memory is touched by those in use */
	struct socket_settings settings;
	struct tp_addr listen;
	struct bare_counts counts;
	struct tp_counters counters;
	struct epoll_event events[LIMIT_TURN_EVENTS];
	uint8_t received[BUFFER_BYTES];
	uint8_t answers[BUFFER_BYTES];
};

/* --- connections --- */

static void release_rest(struct bare *bare, struct bare_conn *conn)
{
	if (!conn->rest)
		return;
	conn->rest += conn->rest_bytes; /* the block's end */
	slab_release(&bare->rests, conn->rest - BUFFER_BYTES);
	conn->rest = NULL;
	conn->rest_bytes = 0;
}

static void close_conn(struct bare *bare, struct bare_conn *conn)
{
	release_rest(bare, conn);
	socket_shut(conn->fd, &bare->counters.syscalls);
	conn->fd = -1;
	bare->counters.closed++;
	slab_release(&bare->conns, conn);
}

static int watch(struct bare *bare, int fd, uint32_t events, void *tag)
{
	struct epoll_event event = {.events = events | EPOLLET, .data.ptr = tag};

	bare->counters.syscalls++;
	return epoll_ctl(bare->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Asks for other events; those that stand already are reported anew. */
static bool rewatch(struct bare *bare, struct bare_conn *conn, uint32_t events)
{
	struct epoll_event event = {.events = events | EPOLLET, .data.ptr = conn};

	bare->counters.syscalls++;
	return epoll_ctl(bare->epoll_fd, EPOLL_CTL_MOD, conn->fd, &event) == 0;
}

static void take_accepted(struct bare *bare, int fd)
{
	struct bare_conn *conn = slab_acquire(&bare->conns);

	if (!conn) {
		socket_reset(fd, &bare->counters.syscalls);
		bare->counters.accepts_refused++;
		return;
	}
	*conn = (struct bare_conn){.fd = fd};
	socket_adopt(fd, &bare->listen, &bare->settings, &bare->counters.syscalls);
	bare->counters.accepted++;
	bare->counts.connections++;
	if (watch(bare, fd, EVENTS, conn) < 0)
		close_conn(bare, conn);
}

/* What is left in the queue for want of descriptors is reported no more: it is asked for again. */
static void accept_all(struct bare *bare, uint64_t now_ns)
{
	enum socket_accept verdict = SOCKET_ACCEPT_NEXT;

	while (verdict == SOCKET_ACCEPT_NEXT) {
		int fd = accept4(bare->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		bare->counters.syscalls++;
		bare->moved |= fd >= 0;
		if (fd >= 0)
			take_accepted(bare, fd);
		else
			verdict = socket_accept_verdict(errno);
	}
	bare->resume_ns = verdict == SOCKET_ACCEPT_PAUSE ? now_ns + SOCKET_ACCEPT_PAUSE_NS : 0;
}

/* --- requests and answers --- */

static void answer(struct bare *bare, uint32_t index, const uint8_t *request)
{
	bare_repeat(&bare->repeat, bare->answers + (size_t)index * bare->response_bytes, request);
}

/* Keeps the beginning of a request, as far as an answer needs it. */
static void keep(struct bare_conn *conn, const uint8_t *bytes, uint32_t count)
{
	if (conn->begun_bytes < BARE_REPEATED_END) {
		uint32_t room = BARE_REPEATED_END - conn->begun_bytes;

		memcpy(conn->begun + conn->begun_bytes, bytes, count < room ? count : room);
	}
	conn->begun_bytes += count;
}

/* Writes an answer for each request that the received bytes complete; their number. */
static uint32_t answer_all(struct bare *bare, struct bare_conn *conn, uint32_t bytes)
{
	const uint8_t *at = bare->received, *end = at + bytes;
	uint32_t size = bare->request_bytes, count = 0;

	if (conn->begun_bytes > 0) {
		uint32_t lacking = size - conn->begun_bytes;
		uint32_t taken = bytes < lacking ? bytes : lacking;

		keep(conn, at, taken);
		at += taken;
		if (conn->begun_bytes == size) {
			answer(bare, count++, conn->begun);
			conn->begun_bytes = 0;
		}
	}
	for (; (size_t)(end - at) >= size; at += size)
		answer(bare, count++, at);
	if (at < end)
		keep(conn, at, (uint32_t)(end - at));
	return count;
}

/* How many bytes the kernel took; -1 if the connection is broken. */
static ssize_t send_bytes(struct bare *bare, const struct bare_conn *conn, const uint8_t *from,
			  uint32_t bytes)
{
	ssize_t sent = send(conn->fd, from, bytes, MSG_NOSIGNAL);

	bare->counters.syscalls++;
	return sent < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : sent;
}

/* Keeps the last `bytes` of the answers to be sent when there is room. */
static bool keep_rest(struct bare *bare, struct bare_conn *conn, const uint8_t *from,
		      uint32_t bytes)
{
	uint8_t *block = slab_acquire(&bare->rests);

	if (!block)
		return false;
	conn->rest = block + BUFFER_BYTES - bytes;
	conn->rest_bytes = bytes;
	memcpy(conn->rest, from, bytes);
	return rewatch(bare, conn, EVENTS | EPOLLOUT);
}

/* Sends the rest; once it is gone, events tell of what has come meanwhile. False if broken. */
static bool send_rest(struct bare *bare, struct bare_conn *conn)
{
	ssize_t sent = send_bytes(bare, conn, conn->rest, conn->rest_bytes);

	if (sent < 0)
		return false;
	bare->moved |= sent > 0;
	conn->rest += sent;
	conn->rest_bytes -= (uint32_t)sent;
	if (conn->rest_bytes > 0)
		return true;
	release_rest(bare, conn);
	return rewatch(bare, conn, EVENTS);
}

/* Sends answers, or keeps what the kernel does not take; false if the connection is broken. */
static bool send_answers(struct bare *bare, struct bare_conn *conn, uint32_t count)
{
	uint32_t bytes = count * bare->response_bytes;
	ssize_t sent = send_bytes(bare, conn, bare->answers, bytes);

	bare->counters.writes++;
	bare->counters.written_bytes += bytes;
	if (bytes > bare->counters.largest_write_bytes)
		bare->counters.largest_write_bytes = bytes;
	if (sent < 0 || sent == (ssize_t)bytes)
		return sent >= 0;
	return keep_rest(bare, conn, bare->answers + sent, bytes - (uint32_t)sent);
}

/* Receives once and answers. Whether more may be there to receive. */
static bool serve_once(struct bare *bare, struct bare_conn *conn, bool ending)
{
	ssize_t bytes = recv(conn->fd, bare->received, bare->receive_bytes, 0);
	uint32_t count;

	bare->counters.syscalls++;
	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return errno == EINTR;
	bare->moved = true;
	if (bytes <= 0) {
		close_conn(bare, conn);
		return false;
	}
	bare->counters.received_bytes += (uint64_t)bytes;
	count = answer_all(bare, conn, (uint32_t)bytes);
	bare->counts.requests += count;
	if (count > 0 && !send_answers(bare, conn, count)) {
		close_conn(bare, conn);
		return false;
	}
	return !conn->rest && (ending || (uint32_t)bytes == bare->receive_bytes);
}

/* Less than asked for is all there is, unless the peer's end stands behind it. */
static void serve(struct bare *bare, struct bare_conn *conn, uint32_t events)
{
	bool ending = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;

	if (conn->rest) {
		if (!send_rest(bare, conn))
			close_conn(bare, conn);
		return;
	}
	while (serve_once(bare, conn, ending))
		;
}

/* --- the turn --- */

static int call_kernel(struct bare *bare, int timeout_ms)
{
	bare->counters.syscalls++;
	return epoll_wait(bare->epoll_fd, bare->events, LIMIT_TURN_EVENTS, timeout_ms);
}

/*
 * Asks the kernel, and sleeps if it has nothing: whole milliseconds, rounded down to keep within
 * the bound. A call that finds something is no wait, so the two are apart.
 */
static unsigned ask_kernel(struct bare *bare, uint64_t wait_ns, struct tp_turn *turn)
{
	uint64_t longest_ns = bare->resume_ns ? SOCKET_ACCEPT_PAUSE_NS : INT_MAX * CLOCK_MS_NS;
	uint64_t wait_ms = (wait_ns < longest_ns ? wait_ns : longest_ns) / CLOCK_MS_NS;
	int count = call_kernel(bare, 0);
	uint64_t before_ns = clock_now_ns();

	turn->now_ns = before_ns;
	if (count == 0 && wait_ms > 0) {
		count = call_kernel(bare, (int)wait_ms);
		turn->now_ns = clock_now_ns();
		turn->waited_ns = turn->now_ns - before_ns;
		bare->counters.waits++;
		bare->counters.wait_ns += turn->waited_ns;
		bare->counters.wakeups += count > 0;
	}
	return count < 0 ? 0 : (unsigned)count;
}

static void bare_turn(struct bare *bare, uint64_t wait_ns, struct tp_turn *turn_out)
{
	struct tp_turn turn = {0};
	unsigned count = ask_kernel(bare, wait_ns, &turn);

	bare->moved = false;
	for (unsigned i = 0; i < count; i++) {
		struct bare_conn *conn = bare->events[i].data.ptr;

		if (conn)
			serve(bare, conn, bare->events[i].events);
		else
			accept_all(bare, turn.now_ns);
	}
	if (bare->resume_ns && bare->resume_ns <= turn.now_ns)
		accept_all(bare, turn.now_ns);
	turn.moved = bare->moved;
	bare->counters.polls++;
	bare->counters.empty_polls += !turn.moved;
	*turn_out = turn;
}

/* --- setup and report --- */

/* The send buffer full of answers, whole but for what they repeat. */
static void write_answers(struct bare *bare, const uint8_t *answer)
{
	for (uint32_t at = 0; at + bare->response_bytes <= BUFFER_BYTES; at += bare->response_bytes)
		memcpy(bare->answers + at, answer, bare->response_bytes);
}

static void fill(struct bare *bare, const struct bare_config *config)
{
	uint32_t fitting = BUFFER_BYTES / config->response_bytes;

	bare->epoll_fd = bare->listen_fd = -1;
	bare->request_bytes = config->request_bytes;
	bare->response_bytes = config->response_bytes;
	bare->repeat = config->repeat;
	/* whatever part of a request came before, so many bytes complete no more than fit */
	bare->receive_bytes =
		fitting < BUFFER_BYTES / config->request_bytes
			? fitting * config->request_bytes
			: BUFFER_BYTES / config->request_bytes * config->request_bytes;
	bare->settings = socket_settings_of(&epoll_ops, config->transport);
	bare->listen = *config->listen;
	write_answers(bare, config->response);
}

static int begin(struct bare *bare, uint32_t conn_max, struct tp_error *error)
{
	int code = slab_create(&bare->conns, conn_max, sizeof(struct bare_conn));

	if (code < 0)
		return tp_fail(error, code, "epoll: no memory for %u connections", conn_max);
	code = slab_create(&bare->rests, conn_max, BUFFER_BYTES);
	if (code < 0)
		return tp_fail(error, code, "epoll: no memory for %u connections' answers",
			       conn_max);
	bare->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	bare->counters.syscalls++;
	if (bare->epoll_fd < 0)
		return tp_fail(error, -errno, "epoll: cannot make an epoll descriptor: %s",
			       strerror(errno));
	code = socket_listen(&bare->listen, &bare->settings, &bare->counters.syscalls, error);
	if (code < 0)
		return code;
	bare->listen_fd = code;
	code = watch(bare, bare->listen_fd, EPOLLIN, NULL);
	if (code < 0)
		return tp_fail(error, code, "epoll: cannot watch a listener: %s", strerror(-code));
	return 0;
}

static void bare_close(struct bare *bare)
{
	uint64_t *calls = &bare->counters.syscalls;

	for (uint32_t i = 0; i < bare->conns.fresh; i++) {
		struct bare_conn *conn = slab_at(&bare->conns, i);

		if (conn->fd < 0)
			continue;
		release_rest(bare, conn);
		socket_reset(conn->fd, calls);
		slab_release(&bare->conns, conn);
	}
	if (bare->listen_fd >= 0)
		socket_unlisten(bare->listen_fd, &bare->listen, &bare->settings, calls);
	if (bare->epoll_fd >= 0)
		socket_shut(bare->epoll_fd, calls);
	slab_destroy(&bare->rests);
	slab_destroy(&bare->conns);
	free(bare);
}

static int bare_open(const struct bare_config *config, struct bare **bare_out,
		     struct tp_error *error)
{
	int code = socket_check(&epoll_ops, config->transport, error);
	struct bare *bare;

	if (code == 0)
		code = bare_check_sizes(config, "epoll", error);
	if (code < 0)
		return code;
	bare = calloc(1, sizeof(*bare));
	if (!bare)
		return tp_fail(error, -ENOMEM, "epoll: no memory for a bare echo");
	fill(bare, config);
	code = begin(bare, config->transport->limits.conn_max, error);
	if (code < 0) {
		bare_close(bare);
		return code;
	}
	*bare_out = bare;
	return 0;
}

static void bare_counts(const struct bare *bare, struct bare_counts *counts_out,
			struct tp_counters *transport_out)
{
	*counts_out = bare->counts;
	*transport_out = bare->counters;
}

const struct bare_ops epoll_bare_ops = {
	.open = bare_open,
	.turn = bare_turn,
	.counts = bare_counts,
	.close = bare_close,
};
