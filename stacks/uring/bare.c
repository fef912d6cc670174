/*
 * The bare echo over io_uring: accept and receive by multishot, an answer for each request as it is
 * found in the shared buffer, one send for each connection and turn. While a send is outstanding,
 * the next answers gather in a second memory.
 */
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "dataplane/core/list.h"
#include "dataplane/core/slab.h"
#include "dataplane/proto/frame.h"
#include "stacks/uring/options.h"
#include "stacks/uring/pool.h"
#include "stacks/uring/probe.h"
#include "stacks/uring/uring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { ACCEPT = 1, RECV, SEND, CLOSE, CANCEL };

struct bare_conn {
	int fd;		       /* -1: closed, or about to be */
	uint32_t requests;     /* with the kernel or queued */
	uint32_t got;	       /* bytes of a request that came in pieces */
	uint32_t answer_bytes; /* gathered */
	uint32_t flight_bytes; /* being sent */
	uint32_t flight_sent;  /* of those, in earlier attempts */
	uint8_t gathering;     /* which half of its memory */
	bool receiving;
	bool sending; /* a send is with the kernel */
	bool ending;
	uint8_t cancelled; /* kinds of requests that were looked through for its end */
	uint8_t kept[BARE_REPEATED_END]; /* the beginning of that request */
	struct list dirty; /* it has answers to send, or wants to receive, or to be closed */
};

struct bare {
	struct ur_queue queue;
	struct ur_pool pool;
	struct socket_settings settings;
	struct tp_addr addr;
	int listener;
	bool accepting;
	bool closing;
	uint64_t resume_ns;
	uint32_t request_bytes;
	uint32_t response_bytes;
	struct bare_repeat repeat;
	uint32_t half_bytes; /* room for answers, of which a connection has two */
	bool moved;
	struct list dirty;
	struct slab conns;
	struct slab memory; /* two halves a connection, by its index */
	struct bare_counts counts;
	struct tp_counters counters; /* without the queue's system calls */
	uint8_t answer[LIMIT_CHUNK_BYTES];
};

static uint64_t tag_of(const struct bare *bare, const struct bare_conn *conn, enum kind kind)
{
	return (uint64_t)kind << 56 | slab_index(&bare->conns, conn);
}

static uint8_t *half_of(const struct bare *bare, const struct bare_conn *conn, unsigned half)
{
	uint8_t *memory = slab_at(&bare->memory, slab_index(&bare->conns, conn));

	return memory + (size_t)half * bare->half_bytes;
}

static void make_dirty(struct bare *bare, struct bare_conn *conn)
{
	if (!list_linked(&conn->dirty))
		list_push(&bare->dirty, &conn->dirty);
}

/* --- what connections have for the kernel --- */

static bool queue_request(struct bare *bare, struct bare_conn *conn, struct io_uring_sqe *sqe,
			  enum kind kind)
{
	io_uring_sqe_set_data64(sqe, tag_of(bare, conn, kind));
	conn->requests++;
	return true;
}

static bool ask_receive(struct bare *bare, struct bare_conn *conn)
{
	struct io_uring_sqe *sqe = ur_queue_sqe(&bare->queue);

	if (!sqe)
		return false;
	io_uring_prep_recv_multishot(sqe, conn->fd, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = UR_POOL_GROUP;
	conn->receiving = true;
	return queue_request(bare, conn, sqe, RECV);
}

/* The gathered answers become those being sent, or the rest of those does. */
static bool send_answers(struct bare *bare, struct bare_conn *conn)
{
	struct io_uring_sqe *sqe = ur_queue_sqe(&bare->queue);
	uint32_t sent = conn->flight_sent;

	if (!sqe)
		return false;
	if (conn->flight_bytes == 0) {
		conn->flight_bytes = conn->answer_bytes;
		conn->answer_bytes = 0;
		conn->gathering ^= 1;
		bare->counters.writes++;
		bare->counters.written_bytes += conn->flight_bytes;
		if (conn->flight_bytes > bare->counters.largest_write_bytes)
			bare->counters.largest_write_bytes = conn->flight_bytes;
	}
	io_uring_prep_send(sqe, conn->fd, half_of(bare, conn, conn->gathering ^ 1) + sent,
			   conn->flight_bytes - sent, MSG_NOSIGNAL | MSG_WAITALL);
	conn->sending = true;
	return queue_request(bare, conn, sqe, SEND);
}

static bool cancel(struct bare *bare, struct bare_conn *conn, enum kind kind)
{
	struct io_uring_sqe *sqe = ur_queue_sqe(&bare->queue);

	if (!sqe)
		return false;
	io_uring_prep_cancel64(sqe, tag_of(bare, conn, kind), 0);
	return queue_request(bare, conn, sqe, CANCEL);
}

/*
 * Ends what is in force, then the descriptor; the place is free when all is answered. Each step is
 * for itself, as the smallest ring has not room for all of them, and none is done twice.
 */
static bool close_descriptor(struct bare *bare, struct bare_conn *conn)
{
	const bool in_force[] = {conn->receiving, conn->sending};
	static const enum kind kinds[] = {RECV, SEND};
	struct io_uring_sqe *sqe;

	for (; conn->cancelled < 2; conn->cancelled++)
		if (in_force[conn->cancelled] && !cancel(bare, conn, kinds[conn->cancelled]))
			return false;
	sqe = ur_queue_sqe(&bare->queue);
	if (!sqe)
		return false;
	io_uring_prep_close(sqe, conn->fd);
	conn->fd = -1;
	bare->counters.closed++;
	return queue_request(bare, conn, sqe, CLOSE);
}

static void end(struct bare *bare, struct bare_conn *conn)
{
	conn->ending = true;
	make_dirty(bare, conn);
}

static bool serve(struct bare *bare, struct bare_conn *conn)
{
	if (conn->fd < 0)
		return true;
	if (conn->ending)
		return close_descriptor(bare, conn);
	if (!conn->receiving && !ask_receive(bare, conn))
		return false;
	return conn->sending || conn->answer_bytes + conn->flight_bytes == 0 ||
	       send_answers(bare, conn);
}

static void serve_dirty(struct bare *bare)
{
	struct list batch, *link;

	list_init(&batch);
	list_splice(&batch, &bare->dirty);
	while ((link = list_pop(&batch))) {
		struct bare_conn *conn = list_member(link, struct bare_conn, dirty);

		if (!serve(bare, conn)) {
			make_dirty(bare, conn);
			break;
		}
	}
	list_splice(&bare->dirty, &batch);
}

/* --- what completed --- */

/* Answers the request at `request`. What finds no room comes from a peer that does not read. */
static void answer(struct bare *bare, struct bare_conn *conn, const uint8_t *request)
{
	uint8_t *to = half_of(bare, conn, conn->gathering) + conn->answer_bytes;

	if (bare->half_bytes - conn->answer_bytes < bare->response_bytes) {
		end(bare, conn);
		return;
	}
	memcpy(to, bare->answer, bare->response_bytes);
	bare_repeat(&bare->repeat, to, request);
	conn->answer_bytes += bare->response_bytes;
	bare->counts.requests++;
}

/* The next bytes of a request that does not stand whole in one buffer; how many were its own. */
static uint32_t gather(struct bare *bare, struct bare_conn *conn, const uint8_t *from,
		       uint32_t bytes)
{
	uint32_t left = bare->request_bytes - conn->got;
	uint32_t take = bytes < left ? bytes : left;

	if (conn->got < BARE_REPEATED_END) {
		uint32_t lacking = BARE_REPEATED_END - conn->got;

		memcpy(conn->kept + conn->got, from, take < lacking ? take : lacking);
	}
	conn->got += take;
	if (conn->got == bare->request_bytes) {
		conn->got = 0;
		answer(bare, conn, conn->kept);
	}
	return take;
}

static void take_bytes(struct bare *bare, struct bare_conn *conn, const uint8_t *from,
		       uint32_t bytes)
{
	uint32_t request_bytes = bare->request_bytes;

	bare->counters.received_bytes += bytes;
	if (conn->got > 0) {
		uint32_t took = gather(bare, conn, from, bytes);

		from += took;
		bytes -= took;
	}
	for (; bytes >= request_bytes; bytes -= request_bytes, from += request_bytes)
		answer(bare, conn, from);
	if (bytes > 0)
		gather(bare, conn, from, bytes);
	make_dirty(bare, conn);
}

static void receive_done(struct bare *bare, struct bare_conn *conn, const struct io_uring_cqe *cqe)
{
	uint16_t id;

	conn->receiving = (cqe->flags & IORING_CQE_F_MORE) != 0;
	if (cqe->flags & IORING_CQE_F_BUFFER) {
		id = ur_pool_take(&bare->pool, cqe);
		if (cqe->res > 0 && !conn->ending)
			take_bytes(bare, conn, ur_pool_at(&bare->pool, id), (uint32_t)cqe->res);
		ur_pool_give(&bare->pool, id);
		bare->moved = true;
	}
	if (cqe->res == 0 || (cqe->res < 0 && cqe->res != -ENOBUFS && cqe->res != -EINTR))
		end(bare, conn);
	else if (!conn->receiving)
		make_dirty(bare, conn);
}

static void send_done(struct bare *bare, struct bare_conn *conn, int result)
{
	conn->sending = false;
	bare->moved = true;
	if (result < 0 && result != -EINTR) {
		end(bare, conn);
		return;
	}
	conn->flight_sent += result > 0 ? (uint32_t)result : 0;
	if (conn->flight_sent == conn->flight_bytes)
		conn->flight_sent = conn->flight_bytes = 0;
	if (conn->answer_bytes + conn->flight_bytes > 0)
		make_dirty(bare, conn);
}

static void take_accepted(struct bare *bare, int fd)
{
	struct bare_conn *conn = bare->closing ? NULL : slab_acquire(&bare->conns);

	bare->moved = true;
	if (!conn) {
		socket_reset(fd, &bare->counters.syscalls);
		bare->counters.accepts_refused++;
		return;
	}
	*conn = (struct bare_conn){.fd = fd};
	list_init(&conn->dirty);
	make_dirty(bare, conn);
	socket_adopt(fd, &bare->addr, &bare->settings, &bare->counters.syscalls);
	bare->counters.accepted++;
	bare->counts.connections++;
}

static void accept_done(struct bare *bare, const struct io_uring_cqe *cqe, uint64_t now_ns)
{
	bare->accepting = (cqe->flags & IORING_CQE_F_MORE) != 0;
	if (cqe->res >= 0)
		take_accepted(bare, cqe->res);
	else if (socket_accept_verdict(-cqe->res) == SOCKET_ACCEPT_PAUSE)
		bare->resume_ns = now_ns + SOCKET_ACCEPT_PAUSE_NS;
}

static void dispatch(struct bare *bare, const struct io_uring_cqe *cqe, uint64_t now_ns)
{
	enum kind kind = (enum kind)(cqe->user_data >> 56);
	struct bare_conn *conn;

	if (cqe->user_data == UR_NOBODY)
		return;
	if (kind == ACCEPT) {
		accept_done(bare, cqe, now_ns);
		return;
	}
	conn = slab_at(&bare->conns, (uint32_t)cqe->user_data);
	if (kind == RECV)
		receive_done(bare, conn, cqe);
	else if (kind == SEND)
		send_done(bare, conn, cqe->res);
	conn->requests -= !(cqe->flags & IORING_CQE_F_MORE);
	if (conn->requests == 0 && conn->fd < 0) {
		list_remove(&conn->dirty);
		slab_release(&bare->conns, conn);
	}
}

/* --- the turn --- */

static void serve_listener(struct bare *bare)
{
	struct io_uring_sqe *sqe;

	if (bare->accepting || bare->closing ||
	    (bare->resume_ns > 0 && bare->resume_ns > clock_now_ns()))
		return;
	sqe = ur_queue_sqe(&bare->queue);
	if (!sqe)
		return;
	io_uring_prep_multishot_accept(sqe, bare->listener, NULL, NULL, SOCK_CLOEXEC);
	io_uring_sqe_set_data64(sqe, (uint64_t)ACCEPT << 56);
	bare->accepting = true;
	bare->resume_ns = 0;
}

static void ask_kernel(struct bare *bare, uint64_t wait_ns, struct tp_turn *turn)
{
	uint64_t before_ns;

	if (bare->resume_ns > 0 && wait_ns > SOCKET_ACCEPT_PAUSE_NS)
		wait_ns = SOCKET_ACCEPT_PAUSE_NS;
	if (wait_ns == 0 || ur_queue_has_work(&bare->queue) || !list_empty(&bare->dirty) ||
	    io_uring_cq_ready(&bare->queue.ring) > 0) {
		ur_queue_enter(&bare->queue, 0);
		turn->now_ns = clock_now_ns();
		return;
	}
	before_ns = clock_now_ns();
	ur_queue_enter(&bare->queue, wait_ns);
	turn->now_ns = clock_now_ns();
	turn->waited_ns = turn->now_ns - before_ns;
	bare->counters.waits++;
	bare->counters.wait_ns += turn->waited_ns;
	bare->counters.wakeups += io_uring_cq_ready(&bare->queue.ring) > 0;
}

static void bare_turn(struct bare *bare, uint64_t wait_ns, struct tp_turn *turn_out)
{
	struct io_uring *ring = &bare->queue.ring;
	struct tp_turn turn = {0};
	unsigned count, head;

	bare->moved = false;
	ur_pool_publish(&bare->pool);
	serve_dirty(bare);
	serve_listener(bare);
	ask_kernel(bare, wait_ns, &turn);
	count = io_uring_cq_ready(ring);
	head = *ring->cq.khead;
	for (unsigned i = 0; i < count; i++)
		dispatch(bare, &ring->cq.cqes[(head + i) & ring->cq.ring_mask], turn.now_ns);
	io_uring_cq_advance(ring, count);
	turn.moved = bare->moved;
	bare->counters.polls++;
	bare->counters.empty_polls += !turn.moved;
	*turn_out = turn;
}

/* --- opening and closing --- */

static int check_config(const struct bare_config *config, struct tp_error *error)
{
	int code = socket_check(&uring_ops, config->transport, error);

	if (code == 0)
		code = ur_pool_check(tp_option_of(&uring_ops, config->transport, UR_BUFFERS),
				     error);
	return code < 0 ? code : bare_check_sizes(config, "uring", error);
}

static int require_multishot(struct bare *bare, struct tp_error *error)
{
	struct ur_abilities abilities;

	ur_abilities_of(&bare->queue, &abilities);
	if (abilities.buffer_rings && abilities.multishot_recv)
		return 0;
	return tp_fail(error, -ENOTSUP,
		       "uring: a bare echo receives by multishot into shared buffers, which this "
		       "kernel lacks; use 6.0 or newer");
}

static int take_memory(struct bare *bare, const struct tp_config *config, struct tp_error *error)
{
	uint32_t buffers = (uint32_t)tp_option_of(&uring_ops, config, UR_BUFFERS);
	uint32_t bytes = (uint32_t)tp_option_of(&uring_ops, config, UR_BUFFER_BYTES);
	int code = slab_create(&bare->conns, config->limits.conn_max, sizeof(struct bare_conn));

	if (code == 0)
		code = slab_create(&bare->memory, config->limits.conn_max,
				   2 * (size_t)bare->half_bytes);
	if (code == 0)
		code = ur_pool_create(&bare->pool, &bare->queue, buffers, bytes);
	if (code < 0)
		return tp_fail(error, code,
			       "uring: no memory for a bare echo of %u connections and %u "
			       "buffers",
			       config->limits.conn_max, buffers);
	return 0;
}

static int start_listening(struct bare *bare, struct tp_error *error)
{
	int fd = socket_listen(&bare->addr, &bare->settings, &bare->counters.syscalls, error);

	if (fd < 0)
		return fd;
	bare->counters.syscalls++;
	bare->listener = fd;
	if (fcntl(fd, F_SETFL, 0) == 0)
		return 0;
	return tp_fail(error, -errno, "uring: cannot prepare a listener: %s", strerror(errno));
}

static void give_back(struct bare *bare)
{
	if (bare->queue.is_open)
		ur_queue_close(&bare->queue);
	if (bare->listener >= 0)
		socket_unlisten(bare->listener, &bare->addr, &bare->settings,
				&bare->counters.syscalls);
	ur_pool_destroy(&bare->pool);
	slab_destroy(&bare->memory);
	slab_destroy(&bare->conns);
	free(bare);
}

static int bare_open(const struct bare_config *config, struct bare **bare_out,
		     struct tp_error *error)
{
	int code = check_config(config, error);
	struct bare *bare = code == 0 ? calloc(1, sizeof(*bare)) : NULL;

	if (code < 0)
		return code;
	if (!bare)
		return tp_fail(error, -ENOMEM, "uring: no memory for a bare echo");
	bare->settings = socket_settings_of(&uring_ops, config->transport);
	bare->addr = *config->listen;
	bare->listener = -1;
	bare->request_bytes = config->request_bytes;
	bare->response_bytes = config->response_bytes;
	bare->repeat = config->repeat;
	bare->half_bytes = LIMIT_DEPTH_MAX * config->response_bytes;
	list_init(&bare->dirty);
	memcpy(bare->answer, config->response, config->response_bytes);
	code = ur_queue_open(&bare->queue, &uring_ops, config->transport, error);
	if (code == 0)
		code = require_multishot(bare, error);
	if (code == 0)
		code = take_memory(bare, config->transport, error);
	if (code == 0)
		code = start_listening(bare, error);
	if (code < 0)
		give_back(bare);
	else
		*bare_out = bare;
	return code;
}

static void bare_counts(const struct bare *bare, struct bare_counts *counts_out,
			struct tp_counters *transport_out)
{
	struct tp_counters counters = bare->counters;
	uint64_t *out = (uint64_t *)transport_out;

	counters.syscalls += bare->queue.syscalls;
	for (unsigned i = 0; i < TP_COUNTER_COUNT; i++)
		if (uring_ops.counters_known & 1ull << i)
			out[i] = tp_counter_value(&counters, i);
	*counts_out = bare->counts;
}

/* Resets each connection, then lets the kernel answer what it was told to end. */
static void bare_close(struct bare *bare)
{
	uint64_t until_ns = clock_now_ns() + CLOCK_SECOND_NS;
	struct linger at_once = {.l_onoff = 1};
	struct io_uring_sqe *sqe = ur_queue_sqe(&bare->queue);
	struct tp_turn turn;

	if (sqe) {
		io_uring_prep_cancel64(sqe, (uint64_t)ACCEPT << 56, 0);
		io_uring_sqe_set_data64(sqe, UR_NOBODY);
	}
	for (uint32_t i = 0; i < bare->conns.fresh; i++) {
		struct bare_conn *conn = slab_at(&bare->conns, i);

		if (conn->fd < 0)
			continue;
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		end(bare, conn);
	}
	bare->closing = true;
	while ((bare->accepting || bare->conns.in_use > 0) && clock_now_ns() < until_ns)
		bare_turn(bare, CLOCK_MS_NS, &turn);
	give_back(bare);
}

const struct bare_ops uring_bare_ops = {
	.open = bare_open,
	.turn = bare_turn,
	.counts = bare_counts,
	.close = bare_close,
};
