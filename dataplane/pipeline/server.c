#include "dataplane/pipeline/server.h"

#include "dataplane/core/check.h"
#include "dataplane/core/limits.h"
#include "dataplane/core/list.h"
#include "dataplane/core/slab.h"
#include "dataplane/pipeline/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct server {
	struct conn_world world; /* first */
	struct server_counters counters;
	struct list all;
	uint32_t client_max; /* of the transport's connections; the rest is the handlers' */
	struct tp_event events[LIMIT_TURN_EVENTS];
};

/* --- setup --- */

static int judge(const struct server_config *config, struct tp_error *error)
{
	if (config->delivery.threshold_bytes == 0)
		return tp_fail(error, -EINVAL, "the server has no delivery policy");
	if (config->conn_max == 0)
		return tp_fail(error, -EINVAL, "the server may have no connection");
	if (config->route_count == 0 || config->route_count > ROUTES_MAX)
		return tp_fail(error, -EINVAL, "the server has %u routes; 1 to %d are possible",
			       config->route_count, ROUTES_MAX);
	if (!config->create_handler)
		return tp_fail(error, -EINVAL, "the server is told of nobody who makes handlers");
	if (config->http1_limits.head_bytes > LIMIT_HEAD_BYTES ||
	    config->http1_limits.fields > HTTP1_FIELDS_MAX)
		return tp_fail(error, -EINVAL, "a head may have at most %d bytes and %d fields",
			       LIMIT_HEAD_BYTES, HTTP1_FIELDS_MAX);
	return 0;
}

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
	return value ? value : fallback;
}

static void take_config(struct conn_world *world, const struct server_config *config)
{
	const struct http1_limits *limits = &config->http1_limits;
	uint64_t frame_max = or_default(config->frame_max, LIMIT_FRAME_BYTES);

	world->codec = config->codec ? config->codec : &codec_framed;
	world->delivery = config->delivery;
	world->turn_requests = or_default(config->turn_requests, LIMIT_TURN_REQUESTS);
	world->body_max = config->body_max ? config->body_max : LIMIT_BODY_BYTES;
	if (frame_max > world->body_max + FRAME_LENGTH_MIN)
		frame_max = world->body_max + FRAME_LENGTH_MIN;
	world->frame_max = (uint32_t)frame_max;
	world->timeouts = config->timeouts;
	world->parser = config->parser ? config->parser : &http1_parser_views;
	world->http1_limits = (struct http1_limits){
		.line_bytes = or_default(limits->line_bytes, HTTP1_LINE_BYTES),
		.head_bytes = or_default(limits->head_bytes, HTTP1_HEAD_BYTES),
		.fields = or_default(limits->fields, HTTP1_FIELDS_MAX)};
}

/* Makes each route's handler; routes that say the same share one. */
static int make_handlers(struct conn_world *world, const struct server_config *config,
			 struct tp_error *error)
{
	struct handler_config handler_config = {.response_bytes = config->response_bytes,
						.upstream = config->upstream,
						.world = world};
	struct handler *of_routes[ROUTES_MAX];

	for (unsigned i = 0; i < config->route_count; i++) {
		unsigned same = 0;
		int rc;

		while (strcmp(config->routes[same].handler, config->routes[i].handler) != 0)
			same++;
		if (same < i) {
			of_routes[i] = of_routes[same];
			continue;
		}
		rc = config->create_handler(config->routes[i].handler, &handler_config,
					    &of_routes[i], error);
		if (rc < 0)
			return rc;
		world->handlers[world->handler_count++] = of_routes[i];
		if (of_routes[i]->ops->http_only && world->codec == &codec_framed)
			return tp_fail(error, -EINVAL, "the handler '%s' needs HTTP",
				       config->routes[i].handler);
	}
	return route_table_create(config->routes, of_routes, config->route_count, &world->routes,
				  error);
}

/* What is asked of the routes for each request is found out once. */
static void survey_routes(struct conn_world *world)
{
	unsigned code;
	uint32_t methods;

	world->only = route_only(world->routes);
	world->framed = route_find(world->routes, (struct span){(const uint8_t *)"/", 1},
				   HTTP1_POST, &code, &methods);
	if (world->codec == &codec_framed) {
		world->runs = world->framed && world->framed->answers != ANSWERS_ITS_OWN;
		return;
	}
	for (unsigned i = 0; i < world->handler_count; i++)
		world->runs |= world->handlers[i]->answers == ANSWERS_ALIKE;
}

static void survey_upkeep(struct conn_world *world)
{
	for (unsigned i = 0; i < world->handler_count; i++)
		if (world->handlers[i]->ops->upkeep)
			world->upkeep[world->upkeep_count++] = world->handlers[i];
}

/* The transport has so many connections, whoever makes them. */
static uint32_t count_clients(const struct conn_world *world, uint32_t conn_max)
{
	uint64_t kept = 0;

	for (unsigned i = 0; i < world->handler_count; i++)
		kept += world->handlers[i]->conn_max;
	return handler_clients(conn_max, kept);
}

static int make_memory(struct conn_world *world, uint32_t conn_max, struct tp_error *error)
{
	int rc = slab_create(&world->conns, conn_max, sizeof(struct conn));

	if (rc == 0)
		rc = slab_create(&world->heads, conn_max, CODEC_HEAD_BYTES);
	return rc < 0 ? tp_fail(error, rc, "no memory for a server of %u connections", conn_max)
		      : 0;
}

int server_create(const struct server_config *config, struct tp *tp, struct server **server_out,
		  struct tp_error *error)
{
	struct server *server;
	int rc = judge(config, error);

	if (rc < 0)
		return rc;
	server = calloc(1, sizeof(*server));
	if (!server)
		return tp_fail(error, -ENOMEM, "no memory for a server");
	server->world.tp = tp;
	server->world.counters = &server->counters;
	server->world.wake_ns = TIMER_NEVER;
	list_init(&server->all);
	list_init(&server->world.ready);
	list_init(&server->world.woken);
	timer_wheel_init(&server->world.wheel, clock_now_ns());
	date_init(&server->world.date);
	take_config(&server->world, config);
	rc = make_memory(&server->world, config->conn_max, error);
	if (rc == 0)
		rc = make_handlers(&server->world, config, error);
	if (rc < 0) {
		server_destroy(server);
		return rc;
	}
	survey_routes(&server->world);
	survey_upkeep(&server->world);
	server->client_max = count_clients(&server->world, config->conn_max);
	*server_out = server;
	return 0;
}

static void release(struct server *server, struct conn *conn)
{
	conn_closed(conn);
	list_remove(&conn->all);
	list_remove(&conn->ready);
	slab_release(&server->world.conns, conn);
}

void server_destroy(struct server *server)
{
	struct conn_world *world;

	if (!server)
		return;
	world = &server->world;
	while (!list_empty(&server->all))
		release(server, list_member(server->all.next, struct conn, all));
	route_table_destroy(world->routes);
	for (unsigned i = 0; i < world->handler_count; i++)
		world->handlers[i]->ops->destroy(world->handlers[i]);
	slab_destroy(&world->heads);
	slab_destroy(&world->conns);
	free(server);
}

/* --- turn --- */

static void close_conn(struct server *server, struct conn *conn, enum tp_reason reason)
{
	bool within_request = conn->state == CONN_EXCHANGE || conn->state == CONN_DROP;

	server->counters.connections_closed++;
	server->counters.connections_broken += reason != TP_DONE;
	server->counters.cut_short += within_request;
	conn->handle->user = NULL;
	release(server, conn);
}

static void conn_event(struct conn_world *world, struct party *party, const struct tp_event *event)
{
	struct conn *conn = (struct conn *)party;

	if (event->bits == TP_READABLE) { /* as most events */
		conn_visit(conn);
		return;
	}
	if (event->bits & TP_FINISHED)
		conn->peer_finished = true;
	if (event->bits & (TP_READABLE | TP_WRITABLE | TP_FINISHED))
		conn_visit(conn);
	if (event->bits & TP_CLOSED)
		close_conn((struct server *)world, conn, event->reason);
}

static void accept_conn(struct server *server, struct tp_conn *handle)
{
	struct conn_world *world = &server->world;
	bool has_room = !world->draining && world->conns.in_use < server->client_max;
	struct conn *conn = has_room ? slab_acquire(&world->conns) : NULL;

	if (!conn) {
		server->counters.connections_refused++;
		tp_abort(world->tp, handle);
		return;
	}
	conn_init(conn, world, handle);
	conn->party.on_event = conn_event;
	list_push(&server->all, &conn->all);
	handle->user = conn;
	server->counters.connections++;
}

static void handle_event(struct server *server, const struct tp_event *event)
{
	struct party *party;

	if (event->bits & TP_ACCEPTED)
		accept_conn(server, event->conn);
	party = event->conn->user;
	if (party)
		party->on_event(&server->world, party, event);
}

/* Visits those on a list, each once; who comes to be on another meanwhile has to wait for that. */
static void visit_all(struct list *conns)
{
	struct list *link;

	while ((link = list_pop(conns)))
		conn_visit(list_member(link, struct conn, ready));
}

static void visit_woken(struct conn_world *world)
{
	struct list woken;

	if (list_empty(&world->woken))
		return;
	list_init(&woken);
	list_splice(&woken, &world->woken);
	visit_all(&woken);
}

static void run_timers(struct conn_world *world)
{
	struct list due, *link;

	if (world->now_ns < world->wake_ns)
		return;
	list_init(&due);
	timer_advance(&world->wheel, world->now_ns, &due);
	while ((link = list_pop(&due)))
		conn_overdue(list_member(link, struct conn, deadline.timer.link));
	world->wake_ns = timer_next(&world->wheel);
}

/* Lets the handlers look at deadlines of their own; when one of them is next. */
static uint64_t keep_up(struct conn_world *world)
{
	uint64_t next_ns = TIMER_NEVER;

	for (unsigned i = 0; i < world->upkeep_count; i++) {
		struct handler *handler = world->upkeep[i];
		uint64_t at_ns = handler->ops->upkeep(handler, world->now_ns);

		if (at_ns < next_ns)
			next_ns = at_ns;
	}
	return next_ns;
}

/* How long the next poll may sleep: not at all if a visit is due, not beyond a deadline. */
static uint64_t bound_wait(const struct conn_world *world, uint64_t wait_ns)
{
	uint64_t wake_ns = world->wake_ns < world->upkeep_ns ? world->wake_ns : world->upkeep_ns;
	uint64_t left_ns;

	if (wait_ns == 0 || !list_empty(&world->ready) || !list_empty(&world->woken))
		return 0;
	left_ns = wake_ns > world->now_ns ? wake_ns - world->now_ns : 0;
	return left_ns < wait_ns ? left_ns : wait_ns;
}

void server_turn(struct server *server, uint64_t wait_ns)
{
	struct conn_world *world = &server->world;
	struct list yielded;
	struct tp_turn turn;
	unsigned count;

	count = tp_poll(world->tp, server->events, LIMIT_TURN_EVENTS, bound_wait(world, wait_ns),
			&turn);
	world->now_ns = turn.now_ns;
	list_init(&yielded);
	list_splice(&yielded, &world->ready);
	turn.moved |= !list_empty(&yielded);
	for (unsigned i = 0; i < count; i++)
		handle_event(server, &server->events[i]);
	visit_all(&yielded);
	run_timers(world);
	visit_woken(world);
	world->upkeep_ns = keep_up(world); /* after all that may set a deadline */
	busy_account(&server->counters.busy, &turn);
}

void server_drain(struct server *server)
{
	server->world.draining = true;
	for (struct list *link = server->all.next; link != &server->all; link = link->next) {
		struct conn *conn = list_member(link, struct conn, all);

		if (conn->state != CONN_ENDED)
			list_push(&server->world.ready, &conn->ready);
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

void server_check(const struct server *server)
{
	const struct conn_world *world = &server->world;
	const struct server_counters *counters = &server->counters;
	uint32_t conns = 0, heads = 0;

	for (struct list *link = server->all.next; link != &server->all; link = link->next) {
		const struct conn *conn = list_member(link, struct conn, all);

		conn_check(conn);
		conns++;
		heads += conn->head_bytes > 0;
	}
	CHECK(conns == world->conns.in_use && conns <= server->client_max);
	CHECK(conns == counters->connections - counters->connections_closed);
	CHECK(heads == world->heads.in_use);
	for (unsigned i = 0; i < world->handler_count; i++)
		if (world->handlers[i]->ops->check)
			world->handlers[i]->ops->check(world->handlers[i], NULL);
}
