#include "dataplane/pipeline/server.h"

#include "dataplane/core/check.h"
#include "dataplane/core/limits.h"
#include "dataplane/core/list.h"
#include "dataplane/core/slab.h"
#include "dataplane/pipeline/conn.h"

#include <errno.h>
#include <stdlib.h>

struct server {
	struct conn_world world;
	struct server_counters counters;
	struct slab conns;
	struct list all;
	struct list ready;     /* used up their share: first thing next turn */
	struct list lingering; /* told of their error, by deadline */
	struct tp_event events[LIMIT_TURN_EVENTS];
};

int server_create(const struct server_config *config, struct tp *tp, struct server **server_out)
{
	struct server *server;
	int status;

	if (config->delivery.threshold_bytes == 0 || config->conn_max == 0)
		return -EINVAL;
	server = calloc(1, sizeof(*server));
	if (!server)
		return -ENOMEM;
	status = slab_create(&server->conns, config->conn_max, sizeof(struct conn));
	if (status < 0) {
		free(server);
		return status;
	}
	list_init(&server->all);
	list_init(&server->ready);
	list_init(&server->lingering);
	server->world =
		(struct conn_world){.tp = tp, .config = *config, .counters = &server->counters};
	if (server->world.config.frame_max == 0)
		server->world.config.frame_max = LIMIT_FRAME_BYTES;
	if (server->world.config.turn_requests == 0)
		server->world.config.turn_requests = LIMIT_TURN_REQUESTS;
	*server_out = server;
	return 0;
}

static void release(struct server *server, struct conn *conn)
{
	list_remove(&conn->all);
	list_remove(&conn->ready);
	list_remove(&conn->lingering);
	slab_release(&server->conns, conn);
}

void server_destroy(struct server *server)
{
	if (!server)
		return;
	while (!list_empty(&server->all))
		release(server, list_member(server->all.next, struct conn, all));
	slab_destroy(&server->conns);
	free(server);
}

static void visit(struct server *server, struct conn *conn)
{
	list_remove(&conn->ready);
	if (conn_serve(&server->world, conn) == CONN_YIELDS)
		list_push(&server->ready, &conn->ready);
	if (conn->linger_until_ns && !list_linked(&conn->lingering))
		list_push(&server->lingering, &conn->lingering);
}

static void accept_conn(struct server *server, struct tp_conn *handle)
{
	struct conn *conn = server->world.draining ? NULL : slab_acquire(&server->conns);

	if (!conn) {
		server->counters.connections_refused++;
		tp_abort(server->world.tp, handle);
		return;
	}
	conn_init(conn, handle);
	list_push(&server->all, &conn->all);
	handle->user = conn;
	server->counters.connections++;
}

static void close_conn(struct server *server, struct conn *conn, enum tp_reason reason)
{
	bool within_request = conn->state == CONN_BODY || conn->state == CONN_RESPOND;

	server->counters.connections_closed++;
	server->counters.connections_broken += reason != TP_DONE;
	server->counters.cut_short += within_request;
	conn->handle->user = NULL;
	release(server, conn);
}

static void handle_event(struct server *server, const struct tp_event *event)
{
	struct conn *conn;

	if (event->bits & TP_ACCEPTED)
		accept_conn(server, event->conn);
	conn = event->conn->user;
	if (!conn)
		return;
	if (event->bits & TP_FINISHED)
		conn->peer_finished = true;
	if (event->bits & (TP_READABLE | TP_WRITABLE | TP_FINISHED))
		visit(server, conn);
	if (event->bits & TP_CLOSED)
		close_conn(server, conn, event->reason);
}

/* Visits those that yielded before this turn, each once. */
static void visit_ready(struct server *server, struct list *yielded)
{
	struct list *link;

	while ((link = list_pop(yielded)))
		visit(server, list_member(link, struct conn, ready));
}

static void reset_overdue(struct server *server)
{
	while (!list_empty(&server->lingering)) {
		struct conn *conn = list_member(server->lingering.next, struct conn, lingering);

		if (conn->linger_until_ns > server->world.now_ns)
			return;
		list_remove(&conn->lingering);
		conn->linger_until_ns = 0;
		if (!conn->aborted)
			conn_abort(&server->world, conn);
	}
}

/* How long the next poll may sleep: not at all if a visit is due, not beyond a deadline. */
static uint64_t bound_wait(const struct server *server, uint64_t wait_ns)
{
	const struct conn *first;
	uint64_t left_ns;

	if (!list_empty(&server->ready))
		return 0;
	if (list_empty(&server->lingering))
		return wait_ns;
	first = list_member(server->lingering.next, struct conn, lingering);
	left_ns = first->linger_until_ns > server->world.now_ns
			  ? first->linger_until_ns - server->world.now_ns
			  : 0;
	return left_ns < wait_ns ? left_ns : wait_ns;
}

void server_turn(struct server *server, uint64_t wait_ns)
{
	struct list yielded;
	struct tp_turn turn;
	unsigned count;

	count = tp_poll(server->world.tp, server->events, LIMIT_TURN_EVENTS,
			bound_wait(server, wait_ns), &turn);
	server->world.now_ns = turn.now_ns;
	list_init(&yielded);
	list_splice(&yielded, &server->ready);
	turn.moved |= !list_empty(&yielded);
	for (unsigned i = 0; i < count; i++)
		handle_event(server, &server->events[i]);
	visit_ready(server, &yielded);
	reset_overdue(server);
	busy_account(&server->counters.busy, &turn);
}

void server_drain(struct server *server)
{
	server->world.draining = true;
	for (struct list *link = server->all.next; link != &server->all; link = link->next) {
		struct conn *conn = list_member(link, struct conn, all);

		if (conn->state != CONN_ENDED)
			list_push(&server->ready, &conn->ready);
	}
}

bool server_idle(const struct server *server)
{
	return list_empty(&server->all);
}

const struct server_counters *server_counters(const struct server *server)
{
	return &server->counters;
}
