/*
 * utcp: an instance's life, and what the application does to a connection.
 */
#include "stacks/utcp/instance.h"

#include <errno.h>
#include <stdlib.h>

enum {
	MTU_MIN = 576,
	MTU_MAX = 9000,
	CONN_MAX = 1 << 20,
	SYN_MAX = 1024,
	MEMORY_MIN = 256,     /* receive or send bytes */
	MEMORY_MAX = 1 << 30, /* a window fits half the sequence space */
};

#define RTO_MIN_NS (200ull * 1000 * 1000)
#define ACK_DELAY_NS (1000ull * 1000)
#define TIME_WAIT_NS (1000ull * 1000 * 1000)

static bool memory_is_fine(uint32_t bytes)
{
	return bytes >= MEMORY_MIN && bytes <= MEMORY_MAX && (bytes & (bytes - 1)) == 0;
}

/* One address at least, and each can be a host's. */
static bool addresses_are_fine(const struct utcp_config *config)
{
	if (addr_is_none(&config->ip6))
		return config->ip != 0 && config->prefix_bits <= 32;
	return config->prefix_bits <= 32 && ip6_can_be_own(&config->ip6) &&
	       config->prefix6_bits > 0 && config->prefix6_bits <= IP6_PREFIX_MAX &&
	       config->mtu >= IP6_MTU_MIN;
}

static bool config_is_fine(const struct utcp_config *config)
{
	return config->mtu >= MTU_MIN && config->mtu <= MTU_MAX && config->conn_max > 0 &&
	       config->conn_max <= CONN_MAX && config->syn_max <= CONN_MAX &&
	       memory_is_fine(config->recv_bytes) && memory_is_fine(config->send_bytes) &&
	       addresses_are_fine(config) && config->congestion < UTCP_CONGESTION_COUNT &&
	       !(config->mac[0] & 1);
}

static void take_config(struct utcp *utcp, const struct utcp_config *config)
{
	utcp->config = *config;
	if (config->rto_min_ns == 0)
		utcp->config.rto_min_ns = RTO_MIN_NS;
	if (config->ack_delay_ns == 0)
		utcp->config.ack_delay_ns = ACK_DELAY_NS;
	if (config->time_wait_ns == 0)
		utcp->config.time_wait_ns = TIME_WAIT_NS;
	if (config->syn_max == 0)
		utcp->config.syn_max = SYN_MAX;
	if (config->congestion == UTCP_DCTCP) /* it lives on marks (RFC 8257 3) */
		utcp->config.ecn = true;
	utcp->key = siphash_key_of(config->secret);
	ip6_init(&utcp->ip6, config);
	if (config->ip == 0)
		utcp->config.prefix_bits = 32; /* no host is in that subnet */
}

static int take_memory(struct utcp *utcp)
{
	const struct utcp_config *config = &utcp->config;
	size_t rings_bytes = (size_t)config->recv_bytes + config->send_bytes + CONN_STAGGER_BYTES;
	int error = slab_create(&utcp->conns, config->conn_max, sizeof(struct utcp_conn));

	if (!error)
		error = slab_create(&utcp->rings, config->conn_max, rings_bytes);
	if (!error)
		error = flight_pool_create(&utcp->flights, config->conn_max);
	if (!error)
		error = slab_create(&utcp->recoveries, config->conn_max, sizeof(struct recovery));
	if (!error)
		error = gaps_create(&utcp->gaps, config->conn_max, &utcp->counters.gaps_withdrawn);
	if (!error)
		error = tuples_init(&utcp->tuples, config->conn_max, config->secret);
	if (!error)
		error = calls_create(&utcp->calls, config->syn_max);
	if (!error)
		error = time_waits_create(&utcp->time_waits, config->conn_max);
	if (!error)
		error = answers_init(&utcp->answers, utcp_frame_max(utcp));
	return error;
}

int utcp_create(const struct utcp_config *config, uint64_t now_ns, struct utcp **utcp_out)
{
	struct utcp *utcp;
	int error;

	if (!config_is_fine(config))
		return -EINVAL;
	utcp = calloc(1, sizeof(*utcp));
	if (!utcp)
		return -ENOMEM;
	take_config(utcp, config);
	timer_wheel_init(&utcp->wheel, now_ns);
	neighbours_init(&utcp->neighbours);
	list_init(&utcp->events);
	list_init(&utcp->told);
	list_init(&utcp->out);
	error = take_memory(utcp);
	if (error) {
		utcp_destroy(utcp);
		return error;
	}
	*utcp_out = utcp;
	return 0;
}

void utcp_destroy(struct utcp *utcp)
{
	if (!utcp)
		return;
	for (uint32_t i = 0; i < utcp->conns.fresh; i++) {
		struct utcp_conn *conn = slab_at(&utcp->conns, i);

		if (!conn_alive(conn))
			continue;
		conn->handle = HANDLE_NONE;
		conn->reset_due = false;
		list_remove(&conn->event_link);
		list_remove(&conn->out_link);
		if (conn->state == CONN_CLOSED)
			close_release(utcp, conn);
		else
			close_conn(utcp, conn, UTCP_ABORTED);
	}
	slab_destroy(&utcp->conns);
	slab_destroy(&utcp->rings);
	flight_pool_destroy(&utcp->flights);
	slab_destroy(&utcp->recoveries);
	gaps_destroy(&utcp->gaps);
	calls_destroy(&utcp->calls);
	time_waits_destroy(&utcp->time_waits);
	tuples_fini(&utcp->tuples);
	answers_fini(&utcp->answers);
	free(utcp);
}

bool utcp_listens(const struct utcp *utcp, uint16_t port)
{
	for (unsigned i = 0; i < utcp->listen_count; i++)
		if (utcp->listen_ports[i] == port)
			return true;
	return false;
}

int utcp_listen(struct utcp *utcp, uint16_t port)
{
	if (port == 0)
		return -EINVAL;
	if (utcp_listens(utcp, port))
		return -EADDRINUSE;
	if (utcp->listen_count == UTCP_LISTEN_MAX)
		return -ENOSPC;
	utcp->listen_ports[utcp->listen_count++] = port;
	return 0;
}

void utcp_settle_told(struct utcp *utcp)
{
	struct list *link;

	while ((link = list_pop(&utcp->told))) {
		struct utcp_conn *conn = list_member(link, struct utcp_conn, event_link);

		conn->handle = HANDLE_GONE;
		close_release(utcp, conn);
	}
}

unsigned utcp_events(struct utcp *utcp, struct utcp_event *events, unsigned room)
{
	unsigned count = 0;
	struct list *link;

	while (count < room && (link = list_pop(&utcp->events))) {
		struct utcp_conn *conn = list_member(link, struct utcp_conn, event_link);

		events[count++] = (struct utcp_event){conn, conn->events, conn->reason};
		if (conn->events & UTCP_CLOSED) {
			conn->handle = HANDLE_TOLD;
			list_push(&utcp->told, link);
		}
		conn->events = 0;
	}
	return count;
}

unsigned utcp_peek(struct utcp *utcp, struct utcp_conn *conn, struct span spans[2])
{
	return ring_spans(&conn->recv, 0, ring_used(&conn->recv), spans);
}

void utcp_consume(struct utcp *utcp, struct utcp_conn *conn, size_t bytes)
{
	uint32_t opened, worth;

	CHECK(bytes <= ring_used(&conn->recv));
	if (conn->gaps == SLAB_NONE)
		ring_consume(&conn->recv, (uint32_t)bytes);
	else /* not rewound: later bytes already have their places */
		conn->recv.head += (uint32_t)bytes;
	if (!conn_receiving(conn)) {
		close_after_consume(utcp, conn);
		return;
	}
	/* Only a window that opened by something is news (RFC 9293 3.8.6.2.2). */
	opened = conn->rcv_nxt + ring_free(&conn->recv) - conn->rcv_edge;
	worth = conn->recv.capacity / 2;
	if (opened >= (2u * conn->mss < worth ? 2u * conn->mss : worth))
		tcp_ack_soon(utcp, conn);
}

unsigned utcp_reserve(struct utcp *utcp, struct utcp_conn *conn, size_t bytes, struct room rooms[2])
{
	ASSERT(bytes > 0 && bytes <= conn->send.capacity);
	if (conn->handle != HANDLE_HELD || conn->fin_queued || bytes > conn->send.capacity)
		return 0;
	if (bytes > ring_free(&conn->send)) {
		conn->send_wanted = (uint32_t)bytes;
		utcp->counters.reserves_refused++;
		return 0;
	}
	conn->send_wanted = 0;
	return ring_rooms(&conn->send, (uint32_t)bytes, rooms);
}

bool utcp_commit(struct utcp *utcp, struct utcp_conn *conn, size_t bytes)
{
	if (conn->handle != HANDLE_HELD || conn->fin_queued)
		return false;
	CHECK(bytes <= ring_free(&conn->send));
	ring_commit(&conn->send, (uint32_t)bytes);
	utcp_mark(utcp, conn);
	return true;
}

void utcp_finish(struct utcp *utcp, struct utcp_conn *conn)
{
	if (conn->handle != HANDLE_HELD || conn->fin_queued)
		return;
	conn->fin_queued = true;
	/* RFC 9293 3.10.4. Before ESTABLISHED it waits in the queue, as does data. */
	if (conn->state == CONN_ESTABLISHED)
		conn_set_state(conn, CONN_FIN_WAIT_1);
	else if (conn->state == CONN_CLOSE_WAIT)
		conn_set_state(conn, CONN_LAST_ACK);
	utcp_mark(utcp, conn);
}

void utcp_abort(struct utcp *utcp, struct utcp_conn *conn)
{
	if (conn->handle == HANDLE_CLOSING && !(conn->events & UTCP_CLOSED)) {
		conn->reason = UTCP_ABORTED; /* done, but its last bytes stay unread */
		utcp_post(utcp, conn, UTCP_CLOSED);
	}
	if (conn->handle != HANDLE_HELD)
		return;
	/* RFC 9293 3.10.5; in CLOSING and LAST-ACK too, which we enter before the data and the FIN
	 * have left. */
	conn->reset_due = conn->state != CONN_SYN_SENT && conn->state != CONN_CLOSED;
	close_conn(utcp, conn, UTCP_ABORTED);
	if (conn->reset_due)
		utcp_mark(utcp, conn);
}

uint64_t utcp_deadline(const struct utcp *utcp)
{
	uint64_t next = timer_next(&utcp->wheel), calls = calls_deadline(&utcp->calls);
	uint64_t time_waits = time_waits_deadline(&utcp->time_waits);

	if (calls < next)
		next = calls;
	if (time_waits < next)
		next = time_waits;
	return next < utcp->neighbours.next_ns ? next : utcp->neighbours.next_ns;
}

size_t utcp_frame_max(const struct utcp *utcp)
{
	return (size_t)ETH_BYTES + utcp->config.mtu;
}

uint32_t utcp_conn_index(const struct utcp *utcp, const struct utcp_conn *conn)
{
	return slab_index(&utcp->conns, conn);
}

const struct utcp_counters *utcp_counters(const struct utcp *utcp)
{
	return &utcp->counters;
}

uint32_t utcp_conn_count(const struct utcp *utcp)
{
	return utcp->conns.in_use + utcp->time_waits.table.slab.in_use;
}
