/*
 * cache: what the upstreams answered, for as long as it is fresh.
 *
 * An answer that may be kept is written into the store while it is passed on to the client that
 * asked first. Whoever asks for the same meanwhile is joined to that fetch and answered from the
 * store once it is whole; if it turns out not to be kept, or breaks off, each of them fetches for
 * itself. A fetch goes at the pace of its client: one that dawdles is overtaken by the first that
 * waits for it. Only what came whole, its end known by a length or a last chunk, is ever found.
 *
 *	ASK --found--> HIT --> SEND
 *	 | \--being fetched--> JOINED --whole--> HIT
 *	 \--else--> UPSTREAM      \--not kept, overtaken, or waited too long--> UPSTREAM
 */
#include "dataplane/core/check.h"
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "dataplane/handlers/cache_rules.h"
#include "dataplane/handlers/fetch.h"
#include "dataplane/handlers/handlers.h"
#include "dataplane/handlers/produce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE_OF_STORE = 8 }; /* one answer may take so much of it */

struct cache {
	struct handler handler;
	struct proxy proxy;
	struct fetch fetch;
	struct slab askings;
};

static struct cache *cache_of(struct handler *handler)
{
	return (struct cache *)handler;
}

/* --- the answer from the store --- */

static void respond(struct fetch_asking *asking)
{
	struct fetch *fetch = asking->fetch;
	struct fetch_kept *kept = asking->kept;
	uint64_t body_bytes = kept->entry.bytes - kept->fields_bytes;
	uint8_t room[EXCHANGE_FIELDS_BYTES];
	struct room rooms = {room, kept->fields_bytes};
	struct room_writer writer = room_writer_of(&rooms, 1);
	struct fields_text fields = {
		.base = room, .bytes = kept->fields_bytes, .room = sizeof(room)};

	asking->cursor = store_cursor(&fetch->store, &kept->entry, 0, kept->entry.bytes);
	store_copy(&fetch->store, &asking->cursor, &writer, kept->fields_bytes);
	fields_put_text(&fields, "Age: ");
	fields_put_number(&fields, kept->age_seconds + (fetch->world->now_ns - kept->asked_ns) /
							       CLOCK_SECOND_NS);
	fields_put_text(&fields, "\r\n");
	exchange_respond(asking->exchange, &(struct response){.status = 200,
							      .body_bytes = body_bytes,
							      .date = kept->date,
							      .fields = fields_written(&fields)});
	fetch_set_state(asking, FETCH_SEND);
}

static bool produce(struct exchange *exchange, void *source, struct room_writer *writer,
		    size_t bytes)
{
	struct fetch_asking *asking = exchange_state(exchange);

	store_copy(source, &asking->cursor, writer, bytes);
	return true;
}

/* --- the exchange --- */

static void cache_advance(struct handler *handler, struct exchange *exchange)
{
	struct fetch_asking *asking = exchange_state(exchange);

	switch (asking->state) {
	case FETCH_UPSTREAM:
		proxied_advance(asking->proxied);
		if (asking->kept)
			fetch_watch_pace(asking);
		return;
	case FETCH_JOINED:
		return;
	case FETCH_HIT:
		respond(asking);
		break;
	case FETCH_SEND:
	case FETCH_ASK: /* before there is anything to advance */
	case FETCH_STATE_COUNT:
		break;
	}
	exchange_drop(exchange);
	produce_rest(exchange, produce, &asking->fetch->store);
}

static bool changes(enum http1_method method)
{
	return method != HTTP1_GET && method != HTTP1_HEAD && method != HTTP1_OPTIONS &&
	       method != HTTP1_TRACE;
}

/* Decides who answers. */
static void ask(struct cache *cache, struct fetch_asking *asking, const struct request *request)
{
	struct fields_text key = {.base = asking->key, .room = sizeof(asking->key)};
	struct fetch_kept *kept = NULL;
	bool usable = cache_may_answer(request);

	cache_put_key(request, &key);
	usable &= !key.full;
	asking->key_bytes = (uint32_t)key.bytes;
	asking->may_lead = usable && request->method == HTTP1_GET;
	asking->changes = !key.full && changes(request->method);
	if (usable)
		kept = fetch_find(&cache->fetch, fields_written(&key));
	if (kept && kept->whole) {
		fetch_hit(asking, kept);
		cache->fetch.world->counters->cache_hits++;
		return;
	}
	if (kept)
		fetch_join(asking, kept);
	else
		fetch_lead(asking);
	asking->proxied = proxied_begin(&cache->proxy, asking->exchange, request, &asking->tap);
}

static void cache_begin(struct handler *handler, struct exchange *exchange,
			const struct request *request)
{
	struct cache *cache = cache_of(handler);
	struct fetch_asking *asking = slab_acquire(&cache->askings);

	CHECK(asking); /* a connection has one exchange at a time */
	memset(asking, 0, offsetof(struct fetch_asking, key));
	asking->tap = fetch_tap;
	asking->fetch = &cache->fetch;
	asking->exchange = exchange;
	list_init(&asking->joined);
	list_init(&asking->timed);
	exchange_set_state(exchange, asking);
	ask(cache, asking, request);
	cache_advance(handler, exchange);
}

static void cache_end(struct handler *handler, struct exchange *exchange)
{
	struct cache *cache = cache_of(handler);
	struct fetch_asking *asking = exchange_state(exchange);

	fetch_leave(asking);
	if (asking->kept && asking->state != FETCH_UPSTREAM) { /* it was sent from there */
		store_unpin(&cache->fetch.store, &asking->kept->entry);
		asking->kept = NULL;
	}
	if (asking->proxied)
		proxied_end(asking->proxied); /* ends a fetch that is not whole, */
	if (asking->kept)
		fetch_end(asking, false); /* also if it was never begun */
	slab_release(&cache->askings, asking);
}

static uint64_t cache_upkeep(struct handler *handler, uint64_t now_ns)
{
	struct cache *cache = cache_of(handler);
	uint64_t own_ns = fetch_upkeep(&cache->fetch, now_ns);
	uint64_t proxy_ns = proxy_upkeep(&cache->proxy, now_ns);

	return own_ns < proxy_ns ? own_ns : proxy_ns;
}

/* --- setup --- */

static int cache_judge(const char *argument, struct tp_error *error)
{
	struct proxy_config config;

	return proxy_config_parse(argument, true, &config, error);
}

static uint32_t cache_count_conns(const char *argument)
{
	struct proxy_config config;
	struct tp_error ignored;

	return proxy_config_parse(argument, true, &config, &ignored) == 0
		       ? proxy_config_conns(&config)
		       : 0;
}

static int make_memory(struct cache *cache, const struct proxy_config *config,
		       struct tp_error *error)
{
	uint32_t entries = (uint32_t)(config->cache_bytes / LIMIT_CACHE_ENTRY_BYTES);
	int code = store_create(&cache->fetch.store, config->cache_bytes, entries,
				sizeof(struct fetch_kept));

	if (code == 0)
		code = slab_create(&cache->askings, cache->fetch.world->conns.count,
				   sizeof(struct fetch_asking));
	return code < 0 ? tp_fail(error, code, "cache: no memory for it") : 0;
}

static void cache_destroy(struct handler *handler)
{
	struct cache *cache = cache_of(handler);

	proxy_close(&cache->proxy);
	store_destroy(&cache->fetch.store);
	slab_destroy(&cache->askings);
	free(cache);
}

static int cache_create(const char *argument, const struct handler_config *config,
			struct handler **handler_out, struct tp_error *error)
{
	struct proxy_config parsed;
	struct cache *cache;
	int code = proxy_config_parse(argument, true, &parsed, error);

	if (code < 0)
		return code;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return tp_fail(error, -ENOMEM, "cache: no memory");
	cache->handler.ops = &cache_ops;
	cache->fetch.world = config->world;
	cache->fetch.ttl_ns = parsed.cache_ttl_ns;
	cache->fetch.join_ns = parsed.response_ns;
	cache->fetch.answer_bytes = parsed.cache_bytes / SHARE_OF_STORE;
	fetch_init(&cache->fetch);
	code = make_memory(cache, &parsed, error);
	if (code == 0)
		code = proxy_open(&cache->proxy, &parsed, config->world, error);
	if (code < 0) {
		cache_destroy(&cache->handler);
		return code;
	}
	cache->handler.conn_max = proxy_conn_max(&cache->proxy);
	*handler_out = &cache->handler;
	return 0;
}

static void cache_check(const struct handler *handler, const struct exchange *exchange)
{
	const struct cache *cache = (const struct cache *)handler;

	if (exchange) {
		fetch_check(exchange_state(exchange));
		return;
	}
	fetch_check_all(&cache->fetch);
	proxy_check_all(&cache->proxy);
}

const struct handler_ops cache_ops = {
	.name = "cache",
	.argument = "ADDR[,ADDR]",
	.takes_upstream = true,
	.http_only = true,
	.judge = cache_judge,
	.count_conns = cache_count_conns,
	.create = cache_create,
	.destroy = cache_destroy,
	.begin = cache_begin,
	.advance = cache_advance,
	.end = cache_end,
	.upkeep = cache_upkeep,
	.check = cache_check,
};
