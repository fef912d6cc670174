#include "dataplane/handlers/upstream.h"

#include "dataplane/core/check.h"
#include "dataplane/core/limits.h"

#include <errno.h>

enum { BACK_OFF_SHIFT_MAX = 6 };

int upstreams_create(struct upstreams *upstreams, const struct proxy_config *config,
		     struct conn_world *world)
{
	*upstreams = (struct upstreams){.world = world,
					.count = config->upstream_count,
					.connections = (uint32_t)config->connections};
	list_init(&upstreams->waiting);
	list_init(&upstreams->ending);
	for (unsigned i = 0; i < upstreams->count; i++) {
		upstreams->all[i].addr = config->upstreams[i];
		list_init(&upstreams->all[i].idle);
	}
	return slab_create(&upstreams->conns, proxy_config_conns(config),
			   sizeof(struct upstream_conn));
}

void upstreams_destroy(struct upstreams *upstreams)
{
	upstreams->conns.in_use = 0; /* what is open ends with the transport */
	slab_destroy(&upstreams->conns);
}

void upstream_user_init(struct upstream_user *user, struct exchange *exchange)
{
	*user = (struct upstream_user){.exchange = exchange};
	list_init(&user->waiting);
}

/* The first in line stays there until it has taken a connection: nobody goes before it. */
static void call_next(struct upstreams *upstreams)
{
	if (!list_empty(&upstreams->waiting))
		exchange_wake(list_member(upstreams->waiting.next, struct upstream_user, waiting)
				      ->exchange);
}

void upstream_leave(struct upstreams *upstreams, struct upstream_user *user)
{
	if (!list_linked(&user->waiting))
		return;
	list_remove(&user->waiting);
	call_next(upstreams);
}

static void release(struct upstream_conn *conn)
{
	struct upstreams *upstreams = conn->upstreams;

	conn->upstream->open--;
	list_remove(&conn->idle);
	list_remove(&conn->ending);
	slab_release(&upstreams->conns, conn);
	call_next(upstreams);
}

void upstream_drop(struct upstream_conn *conn)
{
	conn->user = NULL;
	list_remove(&conn->idle);
	list_remove(&conn->ending);
	if (conn->closed)
		release(conn);
	else
		tp_abort(conn->upstreams->world->tp, conn->handle);
}

void upstream_end(struct upstream_conn *conn)
{
	struct upstreams *upstreams = conn->upstreams;

	conn->user = NULL;
	list_remove(&conn->idle);
	conn->due_ns = upstreams->world->now_ns + LIMIT_LINGER_NS;
	list_push(&upstreams->ending, &conn->ending);
	tp_finish(upstreams->world->tp, conn->handle);
}

uint64_t upstreams_upkeep(struct upstreams *upstreams, uint64_t now_ns)
{
	while (!list_empty(&upstreams->ending)) {
		struct upstream_conn *first =
			list_member(upstreams->ending.next, struct upstream_conn, ending);

		if (first->due_ns > now_ns)
			return first->due_ns;
		upstream_drop(first);
	}
	return TIMER_NEVER;
}

bool upstream_speaks(const struct upstream_conn *conn)
{
	struct span spans[1];

	return tp_peek(conn->upstreams->world->tp, conn->handle, spans, 1) > 0;
}

void upstream_keep(struct upstream_conn *conn)
{
	conn->user = NULL;
	conn->reused = true;
	list_push(&conn->upstream->idle, &conn->idle);
	call_next(conn->upstreams);
}

/* What happens to a connection that nobody uses can only be its end, or nonsense. */
static void on_event_unused(struct upstream_conn *conn)
{
	if (conn->closed)
		release(conn);
	else if (list_linked(&conn->idle) && conn->finished && !upstream_speaks(conn))
		upstream_end(conn);
	else if (list_linked(&conn->idle))
		upstream_drop(conn);
}

static void on_event(struct conn_world *world, struct party *party, const struct tp_event *event)
{
	struct upstream_conn *conn = (struct upstream_conn *)party;

	conn->connected |= (event->bits & TP_CONNECTED) != 0;
	conn->finished |= (event->bits & TP_FINISHED) != 0;
	if (event->bits & TP_CLOSED) {
		conn->closed = true;
		conn->handle->user = NULL;
	}
	if (conn->user)
		exchange_wake(conn->user->exchange);
	else
		on_event_unused(conn);
}

static void mark_down(struct upstreams *upstreams, struct upstream *upstream)
{
	unsigned shift =
		upstream->failures < BACK_OFF_SHIFT_MAX ? upstream->failures : BACK_OFF_SHIFT_MAX;

	upstream->failures++;
	upstream->failed_ns = upstreams->world->now_ns;
	upstream->down_until_ns = upstreams->world->now_ns + (LIMIT_UPSTREAM_DOWN_NS << shift);
}

void upstream_failed(struct upstream_conn *conn)
{
	conn->user->tried |= 1u << (conn->upstream - conn->upstreams->all);
	if (conn->taken_ns > conn->upstream->failed_ns)
		mark_down(conn->upstreams, conn->upstream);
}

void upstream_worked(struct upstream_conn *conn)
{
	conn->upstream->failures = 0;
	conn->upstream->down_until_ns = 0;
}

/* Begins a new connection. */
static enum upstream_answer connect_to(struct upstreams *upstreams, struct upstream *upstream,
				       struct upstream_conn **conn_out)
{
	struct upstream_conn *conn = slab_acquire(&upstreams->conns);
	struct tp *tp = upstreams->world->tp;
	struct tp_error error;
	int code;

	CHECK(conn); /* there are as many as all upstreams may have */
	*conn = (struct upstream_conn){
		.party = {on_event}, .upstreams = upstreams, .upstream = upstream};
	list_init(&conn->idle);
	list_init(&conn->ending);
	code = tp->ops->connect(tp, &upstream->addr, conn, &conn->handle, &error);
	if (code < 0) {
		slab_release(&upstreams->conns, conn);
		return code == -ENOBUFS || code == -ENOMEM || code == -EMFILE ? UPSTREAM_LACK
									      : UPSTREAM_NONE;
	}
	upstream->open++;
	upstreams->world->counters->upstream_connections++;
	*conn_out = conn;
	return UPSTREAM_TAKEN;
}

/* The idle connection used last of which nothing is known that speaks against it, or NULL. */
static struct upstream_conn *take_idle(struct upstream *upstream)
{
	while (!list_empty(&upstream->idle)) {
		struct upstream_conn *conn =
			list_member(upstream->idle.prev, struct upstream_conn, idle);

		/* its own event may be still to be handled in this turn */
		if (upstream_speaks(conn)) {
			upstream_drop(conn);
			continue;
		}
		list_remove(&conn->idle);
		return conn;
	}
	return NULL;
}

static enum upstream_answer take_of(struct upstreams *upstreams, struct upstream *upstream,
				    struct upstream_conn **conn_out)
{
	struct upstream_conn *idle = take_idle(upstream);
	enum upstream_answer answer;

	if (idle) {
		*conn_out = idle;
		return UPSTREAM_TAKEN;
	}
	if (upstream->open == upstreams->connections)
		return UPSTREAM_WAIT;
	answer = connect_to(upstreams, upstream, conn_out);
	if (answer == UPSTREAM_NONE)
		mark_down(upstreams, upstream);
	return answer;
}

/* Asks each upstream that is up and not tried, from the next in turn on. */
static enum upstream_answer take_any(struct upstreams *upstreams, uint32_t tried,
				     struct upstream_conn **conn_out)
{
	enum upstream_answer least = UPSTREAM_NONE;

	for (unsigned i = 0; i < upstreams->count; i++) {
		unsigned index = (upstreams->next + i) % upstreams->count;
		struct upstream *upstream = &upstreams->all[index];
		enum upstream_answer answer;

		if (tried & 1u << index || upstream->down_until_ns > upstreams->world->now_ns)
			continue;
		answer = take_of(upstreams, upstream, conn_out);
		if (answer == UPSTREAM_TAKEN) {
			upstreams->next = (index + 1) % upstreams->count;
			return answer;
		}
		if (answer != UPSTREAM_NONE && least != UPSTREAM_WAIT)
			least = answer;
	}
	return least;
}

enum upstream_answer upstream_take(struct upstreams *upstreams, struct upstream_user *user,
				   struct upstream_conn **conn_out)
{
	bool first = upstreams->waiting.next == &user->waiting;
	enum upstream_answer answer = UPSTREAM_WAIT;

	if (first || list_empty(&upstreams->waiting))
		answer = take_any(upstreams, user->tried, conn_out);
	if (answer == UPSTREAM_WAIT) {
		if (!list_linked(&user->waiting))
			list_push(&upstreams->waiting, &user->waiting);
		return answer;
	}
	if (answer == UPSTREAM_TAKEN) {
		(*conn_out)->user = user;
		(*conn_out)->taken_ns = upstreams->world->now_ns;
	}
	upstream_leave(upstreams, user);
	return answer;
}

/* Its idle connections are nobody's, alive, and among those that are open. */
static void check_upstream(const struct upstreams *upstreams, const struct upstream *upstream)
{
	uint32_t idle = 0;

	for (struct list *link = upstream->idle.next; link != &upstream->idle; link = link->next) {
		const struct upstream_conn *conn = list_member(link, struct upstream_conn, idle);

		CHECK(conn->upstream == upstream && conn->reused);
		CHECK(!conn->user && !conn->closed && !list_linked(&conn->ending));
		idle++;
	}
	CHECK(idle <= upstream->open && upstream->open <= upstreams->connections);
}

void upstreams_check(const struct upstreams *upstreams)
{
	const struct list *ending = &upstreams->ending;
	uint32_t open = 0;
	uint64_t due_ns = 0;

	for (unsigned i = 0; i < upstreams->count; i++) {
		check_upstream(upstreams, &upstreams->all[i]);
		open += upstreams->all[i].open;
	}
	CHECK(open == upstreams->conns.in_use);
	for (struct list *link = ending->next; link != ending; link = link->next) {
		const struct upstream_conn *conn = list_member(link, struct upstream_conn, ending);

		CHECK(!conn->user && !list_linked(&conn->idle) && conn->due_ns >= due_ns);
		due_ns = conn->due_ns;
	}
}
