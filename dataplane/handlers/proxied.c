#include "dataplane/handlers/proxied.h"

#include "dataplane/core/check.h"
#include "dataplane/core/limits.h"
#include "dataplane/handlers/path.h"
#include "dataplane/handlers/proxied_body.h"
#include "dataplane/handlers/proxy_head.h"

#include <errno.h>
#include <string.h>

static const struct http1_limits response_limits = {
	.line_bytes = HTTP1_LINE_BYTES, .head_bytes = HTTP1_HEAD_BYTES, .fields = HTTP1_FIELDS_MAX};

/* So many interim responses come before the final one, and no more. */
enum { INTERIMS_MAX = 16 };

/* --- states --- */

/* Legal transitions: bit (1 << to) in the row of `from`. */
static const uint8_t transitions[PROXIED_STATE_COUNT] = {
	[PROXIED_TAKE] = 1 << PROXIED_CONNECT | 1 << PROXIED_REFUSE,
	[PROXIED_CONNECT] = 1 << PROXIED_HEAD | 1 << PROXIED_TAKE | 1 << PROXIED_REFUSE,
	[PROXIED_HEAD] = 1 << PROXIED_BODY | 1 << PROXIED_TAKE | 1 << PROXIED_REFUSE,
	[PROXIED_BODY] = 1 << PROXIED_FINISH | 1 << PROXIED_BROKEN,
};

static void set_state(struct proxied *proxied, enum proxied_state to)
{
	ASSERT(transitions[proxied->state] & 1 << to);
	proxied->state = to;
}

/* The upstream has so long from now on. */
static void set_deadline(struct proxied *proxied, struct list *list, uint64_t time_ns)
{
	proxied->due_ns = proxied->proxy->world->now_ns + time_ns;
	proxied->overdue = false;
	list_push(list, &proxied->timed);
}

static void tell_end(struct proxied *proxied, bool whole)
{
	struct proxied_tap *tap = proxied->tap;

	proxied->tap = NULL;
	if (tap)
		tap->on_end(tap, whole);
}

static void drop_conn(struct proxied *proxied)
{
	if (proxied->conn)
		upstream_drop(proxied->conn);
	proxied->conn = NULL;
	list_remove(&proxied->timed);
}

static void refuse(struct proxied *proxied, unsigned code)
{
	drop_conn(proxied);
	upstream_leave(&proxied->proxy->upstreams, &proxied->user);
	proxied->refusal = code;
	set_state(proxied, PROXIED_REFUSE);
	tell_end(proxied, false);
}

/* The upstream failed before anything of its response came: `code`, unless another may be asked. */
static void fail(struct proxied *proxied, unsigned code)
{
	struct server_counters *counters = proxied->proxy->world->counters;
	bool stale = proxied->conn->reused && code == 502;
	bool again =
		!proxied->begun && !proxied->body_taken && (!proxied->sent || proxied->idempotent);

	if (!stale)
		upstream_failed(proxied->conn);
	counters->upstream_failures += !stale || !again;
	if (!again) {
		refuse(proxied, code);
		return;
	}
	drop_conn(proxied);
	proxied->again = true;
	proxied->refusal = code;
	set_state(proxied, PROXIED_TAKE);
}

/* --- steps: each returns whether another may follow --- */

static bool step_take(struct proxied *proxied)
{
	struct proxy *proxy = proxied->proxy;

	switch (upstream_take(&proxy->upstreams, &proxied->user, &proxied->conn)) {
	case UPSTREAM_TAKEN:
		break;
	case UPSTREAM_WAIT:
		if (!list_linked(&proxied->timed))
			set_deadline(proxied, &proxy->connecting, proxy->connect_ns);
		return false;
	case UPSTREAM_NONE:
		refuse(proxied, proxied->refusal);
		return true;
	case UPSTREAM_LACK:
		refuse(proxied, 503);
		return true;
	}
	proxy->world->counters->upstream_retries += proxied->again;
	proxied->sent = proxied->request_done = false;
	proxied->scan = (struct http1_scan){0};
	set_deadline(proxied, &proxy->connecting, proxy->connect_ns);
	set_state(proxied, PROXIED_CONNECT);
	return true;
}

/* What the upstream says is no answer to the request. */
static void refuse_nonsense(struct proxied *proxied)
{
	proxied->proxy->world->counters->upstream_failures++;
	refuse(proxied, 502);
}

static bool step_connect(struct proxied *proxied)
{
	if (proxied->conn->closed) {
		fail(proxied, 502);
		return true;
	}
	if (!proxied->conn->connected)
		return false;
	if (upstream_speaks(proxied->conn)) { /* before it was asked */
		refuse_nonsense(proxied);
		return true;
	}
	set_deadline(proxied, &proxied->proxy->responding, proxied->proxy->response_ns);
	proxied->proxy->world->counters->upstream_requests++;
	set_state(proxied, PROXIED_HEAD);
	return true;
}

/* RFC 9112 section 6.3. */
static enum proxied_body body_of(const struct proxied *proxied,
				 const struct http1_response *response)
{
	if (proxied->is_head || response->status == 204 || response->status == 304)
		return BODY_NONE;
	if (response->framing.chunked)
		return BODY_CHUNKED;
	return response->framing.has_length ? BODY_LENGTH : BODY_UNTIL_CLOSE;
}

/* Passes the head on; false if its fields are more than anybody may pass on. */
static bool respond(struct proxied *proxied, const struct http1_response *response)
{
	static const char *const but[] = {"date", NULL};
	uint8_t room[EXCHANGE_FIELDS_BYTES];
	struct fields_text fields = {.base = room, .room = sizeof(room)};
	bool has_length = response->framing.has_length && !response->framing.chunked;
	uint64_t body_bytes = has_length ? response->framing.length_bytes : BODY_UNKNOWN;

	proxy_head_fields(response, but, &fields);
	if (fields.full)
		return false;
	proxied->body = body_of(proxied, response);
	proxied->left = response->framing.length_bytes;
	proxied->chunks = (struct http1_chunks){0};
	proxied->keep_alive = response->framing.keep_alive && proxied->body != BODY_UNTIL_CLOSE;
	if (proxied->body == BODY_NONE && !has_length && !proxied->is_head)
		body_bytes = 0;
	exchange_respond(proxied->exchange,
			 &(struct response){.status = response->status,
					    .body_bytes = body_bytes,
					    .relayed = true,
					    .date = proxy_head_date(response, NULL),
					    .fields = fields_written(&fields)});
	if (proxied->tap)
		proxied->tap->on_head(proxied->tap, response, body_bytes);
	return true;
}

/* What came of looking for the response's head. */
enum found { FOUND_NOTHING, FOUND_HEAD, FOUND_INTERIM, FOUND_NONSENSE };

static enum found read_head(struct proxied *proxied)
{
	struct conn_world *world = proxied->proxy->world;
	struct upstream_conn *conn = proxied->conn;
	struct span spans[LIMIT_SPANS];
	unsigned count = tp_peek(world->tp, conn->handle, spans, LIMIT_SPANS);
	struct span_reader reader = span_reader_of(spans, count);
	size_t bytes = reader.left < HTTP1_HEAD_BYTES ? reader.left : HTTP1_HEAD_BYTES;
	struct http1_response response;
	enum http1_status status;
	size_t head_bytes;
	enum found found = FOUND_HEAD;

	if (bytes == 0)
		return FOUND_NOTHING;
	proxied->begun = true;
	status = http1_parse_response(span_reader_peek(&reader, world->gather, bytes), bytes,
				      &response_limits, &proxied->scan, &response, &head_bytes);
	if (status != HTTP1_OK)
		return status == HTTP1_MORE && bytes < HTTP1_HEAD_BYTES ? FOUND_NOTHING
									: FOUND_NONSENSE;
	if (response.status < 200)
		found = response.status == 101 || ++proxied->interims > INTERIMS_MAX
				? FOUND_NONSENSE
				: FOUND_INTERIM;
	else if (!respond(proxied, &response))
		found = FOUND_NONSENSE;
	tp_consume(world->tp, conn->handle, head_bytes);
	proxied->moved = true;
	return found;
}

static bool step_head(struct proxied *proxied)
{
	struct upstream_conn *conn = proxied->conn;

	if (!conn->closed)
		proxied_send(proxied);
	switch (read_head(proxied)) {
	case FOUND_HEAD:
		upstream_worked(conn);
		set_state(proxied, PROXIED_BODY);
		return true;
	case FOUND_INTERIM:
		return true;
	case FOUND_NONSENSE:
		refuse_nonsense(proxied);
		return true;
	case FOUND_NOTHING: /* or not all of it */
		break;
	}
	if (!conn->closed && !conn->finished)
		return false;
	fail(proxied, 502);
	return true;
}

static void break_off(struct proxied *proxied)
{
	proxied->proxy->world->counters->upstream_failures++;
	drop_conn(proxied);
	set_state(proxied, PROXIED_BROKEN);
	tell_end(proxied, false);
}

/* The response is whole. */
static void leave_conn(struct proxied *proxied)
{
	struct upstream_conn *conn = proxied->conn;

	if (conn->closed || !proxied->request_done)
		upstream_drop(conn);
	else if (conn->finished)
		upstream_end(conn);
	else if (proxied->keep_alive)
		upstream_keep(conn);
	else
		upstream_drop(conn);
	proxied->conn = NULL;
	list_remove(&proxied->timed);
}

static bool step_body(struct proxied *proxied)
{
	if (!proxied->request_done && !proxied->conn->closed && !proxied->conn->finished)
		proxied_send(proxied);
	switch (proxied_pass(proxied)) {
	case PASS_WAIT:
		return false;
	case PASS_BROKEN:
		break_off(proxied);
		return true;
	case PASS_WHOLE:
		break;
	}
	leave_conn(proxied);
	set_state(proxied, PROXIED_FINISH);
	tell_end(proxied, true);
	return true;
}

static bool take_step(struct proxied *proxied)
{
	switch (proxied->state) {
	case PROXIED_TAKE:
		return step_take(proxied);
	case PROXIED_CONNECT:
		return step_connect(proxied);
	case PROXIED_HEAD:
		return step_head(proxied);
	case PROXIED_BODY:
		return step_body(proxied);
	case PROXIED_FINISH:
		exchange_finish(proxied->exchange);
		return false;
	case PROXIED_REFUSE:
		exchange_refuse(proxied->exchange, proxied->refusal,
				http1_reason(proxied->refusal));
		return false;
	case PROXIED_BROKEN:
		exchange_break(proxied->exchange);
		break;
	case PROXIED_STATE_COUNT:
		break;
	}
	return false;
}

/* What was waited for did not come in time. */
static void run_over(struct proxied *proxied)
{
	proxied->overdue = false;
	switch (proxied->state) {
	case PROXIED_TAKE:
		refuse(proxied, 503);
		break;
	case PROXIED_CONNECT:
		fail(proxied, 504);
		break;
	case PROXIED_HEAD:
		proxied->proxy->world->counters->upstream_failures++;
		upstream_failed(proxied->conn);
		refuse(proxied, 504);
		break;
	case PROXIED_BODY:
		break_off(proxied);
		break;
	case PROXIED_FINISH:
	case PROXIED_REFUSE:
	case PROXIED_BROKEN:
	case PROXIED_STATE_COUNT:
		break;
	}
}

/* The response's deadline moves with what moves, and is off while the client is waited for. */
static void renew_deadline(struct proxied *proxied)
{
	if (proxied->state != PROXIED_HEAD && proxied->state != PROXIED_BODY)
		return;
	if (proxied->wants_body || proxied->wants_room)
		list_remove(&proxied->timed);
	else if (proxied->moved || !list_linked(&proxied->timed))
		set_deadline(proxied, &proxied->proxy->responding, proxied->proxy->response_ns);
}

void proxied_advance(struct proxied *proxied)
{
	proxied->moved = false;
	if (proxied->overdue)
		run_over(proxied);
	do
		proxied->wants_body = proxied->wants_room = false;
	while (take_step(proxied));
	renew_deadline(proxied);
}

/* --- beginning and end --- */

static bool is_idempotent(enum http1_method method)
{
	return method != HTTP1_POST && method != HTTP1_PATCH && method != HTTP1_CONNECT;
}

struct proxied *proxied_begin(struct proxy *proxy, struct exchange *exchange,
			      const struct request *request, struct proxied_tap *tap)
{
	struct proxied *proxied = slab_acquire(&proxy->exchanges);
	struct fields_text head;

	CHECK(proxied); /* a connection has one exchange at a time */
	memset(proxied, 0, offsetof(struct proxied, head));
	upstream_user_init(&proxied->user, exchange);
	list_init(&proxied->timed);
	proxied->proxy = proxy;
	proxied->exchange = exchange;
	proxied->tap = tap;
	proxied->refusal = 503;
	proxied->is_head = request->method == HTTP1_HEAD;
	proxied->idempotent = is_idempotent(request->method);
	proxied->chunked = request->body_bytes == BODY_UNKNOWN;
	head = (struct fields_text){.base = proxied->head, .room = sizeof(proxied->head)};
	proxy_head_request(request, &head);
	proxied->head_bytes = (uint32_t)head.bytes;
	if (head.full)
		refuse(proxied, 431);
	else if (path_has_dots(request->path))
		refuse(proxied, 400);
	else if (request->method == HTTP1_CONNECT || request->method == HTTP1_TRACE)
		refuse(proxied, 501);
	return proxied;
}

void proxied_end(struct proxied *proxied)
{
	struct proxy *proxy = proxied->proxy;

	tell_end(proxied, false);
	drop_conn(proxied);
	upstream_leave(&proxy->upstreams, &proxied->user);
	slab_release(&proxy->exchanges, proxied);
}

/* Wakes those of a list that are overdue; when the next one is. */
static uint64_t wake_overdue(struct list *list, uint64_t now_ns)
{
	while (!list_empty(list)) {
		struct proxied *first = list_member(list->next, struct proxied, timed);

		if (first->due_ns > now_ns)
			return first->due_ns;
		list_remove(&first->timed);
		first->overdue = true;
		exchange_wake(first->exchange);
	}
	return TIMER_NEVER;
}

uint64_t proxy_upkeep(struct proxy *proxy, uint64_t now_ns)
{
	uint64_t connect_ns = wake_overdue(&proxy->connecting, now_ns);
	uint64_t response_ns = wake_overdue(&proxy->responding, now_ns);
	uint64_t ending_ns = upstreams_upkeep(&proxy->upstreams, now_ns);
	uint64_t next_ns = connect_ns < response_ns ? connect_ns : response_ns;

	return next_ns < ending_ns ? next_ns : ending_ns;
}

static int check_families(const struct proxy_config *config, const struct tp_ops *ops,
			  struct tp_error *error)
{
	int code = 0;

	for (unsigned i = 0; i < config->upstream_count && code == 0; i++)
		code = tp_family_check(ops, &config->upstreams[i], error);
	return code;
}

int proxy_open(struct proxy *proxy, const struct proxy_config *config, struct conn_world *world,
	       struct tp_error *error)
{
	struct proxy made = {.world = world,
			     .connect_ns = config->connect_ns,
			     .response_ns = config->response_ns};
	int code = check_families(config, world->tp->ops, error);

	if (code < 0)
		return code;
	code = slab_create(&made.exchanges, world->conns.count, sizeof(struct proxied));
	if (code < 0)
		return tp_fail(error, code, "proxy: no memory for %u exchanges",
			       world->conns.count);
	*proxy = made;
	list_init(&proxy->connecting);
	list_init(&proxy->responding);
	code = upstreams_create(&proxy->upstreams, config, world);
	if (code < 0) {
		slab_destroy(&proxy->exchanges);
		return tp_fail(error, code, "proxy: no memory for connections to upstreams");
	}
	return 0;
}

uint32_t proxy_conn_max(const struct proxy *proxy)
{
	return proxy->upstreams.conns.count;
}

void proxy_close(struct proxy *proxy)
{
	upstreams_destroy(&proxy->upstreams);
	slab_destroy(&proxy->exchanges);
}

/* --- invariants --- */

static void check_by_deadline(const struct list *list)
{
	uint64_t due_ns = 0;

	for (struct list *link = list->next; link != list; link = link->next) {
		const struct proxied *proxied = list_member(link, struct proxied, timed);

		CHECK(!proxied->overdue && proxied->due_ns >= due_ns);
		due_ns = proxied->due_ns;
	}
}

void proxy_check_all(const struct proxy *proxy)
{
	check_by_deadline(&proxy->connecting);
	check_by_deadline(&proxy->responding);
	upstreams_check(&proxy->upstreams);
}

/* Whoever waits for an upstream has a deadline, which may have just passed; nobody else has. */
void proxied_check(const struct proxied *proxied)
{
	bool waits = list_linked(&proxied->user.waiting);
	bool timed = list_linked(&proxied->timed) || proxied->overdue;
	bool for_client = proxied->wants_body || proxied->wants_room;

	switch (proxied->state) {
	case PROXIED_TAKE:
		CHECK(!proxied->conn && timed == waits);
		return;
	case PROXIED_CONNECT:
		CHECK(timed);
		break;
	case PROXIED_HEAD:
	case PROXIED_BODY:
		CHECK(timed != for_client);
		break;
	case PROXIED_FINISH:
	case PROXIED_REFUSE:
	case PROXIED_BROKEN:
		CHECK(!proxied->conn && !waits && !timed && !proxied->tap);
		return;
	case PROXIED_STATE_COUNT:
		CHECK(false);
	}
	CHECK(!waits && proxied->conn && proxied->conn->user == &proxied->user);
}
