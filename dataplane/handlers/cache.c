/*
 * cache: what the upstreams answered, for as long as it is fresh.
 *
 * An answer that may be kept is written into the store while it is passed on to the client that
 * asked first. Whoever asks for the same meanwhile is joined to that fetch and answered from the
 * store once it is whole; if it turns out not to be kept, or breaks off, each of them fetches for
 * itself. Only what came whole, its end known by a length or a last chunk, is ever found.
 */
#include "dataplane/core/clock.h"
#include "dataplane/core/limits.h"
#include "dataplane/handlers/cache_rules.h"
#include "dataplane/handlers/handlers.h"
#include "dataplane/handlers/produce.h"
#include "dataplane/handlers/proxied.h"
#include "dataplane/handlers/proxy_head.h"
#include "dataplane/handlers/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_BYTES = 2048,   /* a longer one is passed on */
	AGE_BYTES = 32,	    /* "Age: N" and its end */
	SHARE_OF_STORE = 8, /* one answer may take so much of it */
};

/* An answer in the store: its fields, then its body. */
struct kept {
	struct store_entry entry;
	bool whole;
	uint32_t fields_bytes;
	uint64_t lifetime_ns;
	uint64_t age_seconds; /* when it came */
	uint64_t came_ns;
	struct list joined; /* those that wait for it */
};

enum asking_state {
	ASKING_FETCH,  /* of the upstreams */
	ASKING_JOINED, /* waits for another's fetch */
	ASKING_HIT,    /* is to be answered from the store */
	ASKING_SEND,   /* is being answered from it */
};

/* An exchange's state. */
struct asking {
	struct proxied_tap tap; /* first */
	struct cache *cache;
	struct exchange *exchange;
	enum asking_state state;
	struct proxied *proxied; /* FETCH, JOINED */
	struct kept *kept;	 /* pinned: FETCH: being filled, or NULL; HIT, SEND: answers */
	struct store_cursor cursor;
	struct list joined; /* in the kept's list, or none */
	struct list timed;  /* JOINED: in the cache's list, by deadline */
	uint64_t due_ns;
	bool changes; /* the method is not safe: what is kept may be wrong behind it */
	uint32_t key_bytes;
	uint8_t key[KEY_BYTES];
};

struct cache {
	struct handler handler;
	struct conn_world *world;
	struct proxy proxy;
	struct store store;
	uint64_t evicted; /* of the store's, already counted */
	uint64_t ttl_ns;
	uint64_t join_ns;      /* so long anybody waits for another's fetch */
	uint64_t answer_bytes; /* the largest that is kept */
	struct slab askings;
	struct list waiting; /* of those joined */
};

static struct cache *cache_of(struct handler *handler)
{
	return (struct cache *)handler;
}

static void count_evicted(struct cache *cache)
{
	cache->world->counters->cache_evicted += cache->store.evicted - cache->evicted;
	cache->evicted = cache->store.evicted;
}

/* --- the fetch: what comes in is kept --- */

static void leave_join(struct asking *asking)
{
	list_remove(&asking->joined);
	list_remove(&asking->timed);
}

/* Sends those that waited on: to the store if it is whole, else to the upstreams. */
static void release_joined(struct kept *kept)
{
	struct list *link;

	while ((link = list_pop(&kept->joined))) {
		struct asking *asking = list_member(link, struct asking, joined);

		leave_join(asking);
		asking->state = kept->whole ? ASKING_HIT : ASKING_FETCH;
		if (kept->whole) {
			asking->kept = kept;
			store_pin(&kept->entry);
		}
		exchange_wake(asking->exchange);
	}
}

static void end_fetch(struct asking *asking, bool whole)
{
	struct kept *kept = asking->kept;
	struct store *store = &asking->cache->store;

	asking->kept = NULL;
	kept->whole = whole;
	kept->came_ns = asking->cache->world->now_ns;
	release_joined(kept);
	if (!whole)
		store_drop(store, &kept->entry);
	store_unpin(store, &kept->entry);
}

/* Appends to what is kept; what does not fit is not kept at all. */
static void keep(struct asking *asking, struct span bytes)
{
	struct cache *cache = asking->cache;
	struct store_entry *entry = &asking->kept->entry;

	if (entry->bytes + bytes.bytes > cache->answer_bytes ||
	    !store_append(&cache->store, entry, bytes))
		end_fetch(asking, false);
	count_evicted(cache);
}

/* RFC 9111 section 4.4. */
static void forget(struct asking *asking)
{
	struct store *store = &asking->cache->store;
	struct store_entry *entry =
		store_find(store, (struct span){asking->key, asking->key_bytes});

	if (entry)
		store_drop(store, entry);
}

static void on_head(struct proxied_tap *tap, const struct http1_response *response,
		    uint64_t body_bytes)
{
	static const char *const but[] = {"date", "age", NULL};
	struct asking *asking = (struct asking *)tap;
	struct kept *kept = asking->kept;
	uint8_t room[EXCHANGE_FIELDS_BYTES - AGE_BYTES];
	struct fields_text fields = {.base = room, .room = sizeof(room)};
	bool ends_by_close = body_bytes == BODY_UNKNOWN && !response->framing.chunked;

	if (asking->changes && response->status < 400)
		forget(asking);
	if (!kept)
		return;
	kept->lifetime_ns = cache_lifetime_ns(response, asking->cache->ttl_ns, &kept->age_seconds);
	proxy_head_fields(response, but, &fields);
	if (kept->lifetime_ns == 0 || ends_by_close || fields.full) {
		end_fetch(asking, false);
		return;
	}
	kept->fields_bytes = (uint32_t)fields.bytes;
	keep(asking, fields_written(&fields));
}

static void on_body(struct proxied_tap *tap, struct span piece)
{
	struct asking *asking = (struct asking *)tap;

	if (asking->kept)
		keep(asking, piece);
}

static void on_end(struct proxied_tap *tap, bool whole)
{
	struct asking *asking = (struct asking *)tap;

	if (asking->kept)
		end_fetch(asking, whole);
}

/* --- the answer from the store --- */

static void respond(struct asking *asking)
{
	struct cache *cache = asking->cache;
	struct kept *kept = asking->kept;
	uint64_t body_bytes = kept->entry.bytes - kept->fields_bytes;
	uint8_t room[EXCHANGE_FIELDS_BYTES];
	struct room rooms = {room, kept->fields_bytes};
	struct room_writer writer = room_writer_of(&rooms, 1);
	struct fields_text fields = {
		.base = room, .bytes = kept->fields_bytes, .room = sizeof(room)};

	asking->cursor = store_cursor(&cache->store, &kept->entry, 0, kept->entry.bytes);
	store_copy(&cache->store, &asking->cursor, &writer, kept->fields_bytes);
	fields_put_text(&fields, "Age: ");
	fields_put_number(&fields, kept->age_seconds + (cache->world->now_ns - kept->came_ns) /
							       CLOCK_SECOND_NS);
	fields_put_text(&fields, "\r\n");
	exchange_respond(asking->exchange, &(struct response){.status = 200,
							      .body_bytes = body_bytes,
							      .fields = fields_written(&fields)});
	asking->state = ASKING_SEND;
}

static bool produce(struct exchange *exchange, void *source, struct room_writer *writer,
		    size_t bytes)
{
	struct asking *asking = exchange_state(exchange);

	store_copy(source, &asking->cursor, writer, bytes);
	return true;
}

/* --- the exchange --- */

static void cache_advance(struct handler *handler, struct exchange *exchange)
{
	struct asking *asking = exchange_state(exchange);

	switch (asking->state) {
	case ASKING_FETCH:
		proxied_advance(asking->proxied);
		return;
	case ASKING_JOINED:
		return;
	case ASKING_HIT:
		respond(asking);
		break;
	case ASKING_SEND:
		break;
	}
	exchange_drop(exchange);
	produce_rest(exchange, produce, &asking->cache->store);
}

/* What is kept under the key, if it is still fresh or just being fetched. */
static struct kept *find_kept(struct cache *cache, struct span key)
{
	struct kept *kept = (struct kept *)store_find(&cache->store, key);

	if (!kept || !kept->whole || cache->world->now_ns - kept->came_ns < kept->lifetime_ns)
		return kept;
	store_drop(&cache->store, &kept->entry);
	return NULL;
}

static void join(struct cache *cache, struct asking *asking, struct kept *kept)
{
	asking->state = ASKING_JOINED;
	asking->due_ns = cache->world->now_ns + cache->join_ns;
	list_push(&kept->joined, &asking->joined);
	list_push(&cache->waiting, &asking->timed);
	cache->world->counters->cache_joined++;
}

/* Fetches for all that ask for the same until it has come. */
static void lead(struct cache *cache, struct asking *asking, struct span key)
{
	struct kept *kept = (struct kept *)store_add(&cache->store, key);

	count_evicted(cache);
	if (!kept)
		return;
	kept->whole = false;
	kept->fields_bytes = 0;
	list_init(&kept->joined);
	asking->kept = kept;
}

static bool changes(enum http1_method method)
{
	return method != HTTP1_GET && method != HTTP1_HEAD && method != HTTP1_OPTIONS &&
	       method != HTTP1_TRACE;
}

/* Decides who answers. */
static void ask(struct cache *cache, struct asking *asking, const struct request *request)
{
	struct fields_text key = {.base = asking->key, .room = sizeof(asking->key)};
	struct kept *kept = NULL;
	bool usable = cache_may_answer(request);

	cache_put_key(request, &key);
	usable &= !key.full;
	asking->key_bytes = (uint32_t)key.bytes;
	asking->changes = !key.full && changes(request->method);
	if (usable)
		kept = find_kept(cache, fields_written(&key));
	if (kept && kept->whole) {
		asking->state = ASKING_HIT;
		asking->kept = kept;
		store_pin(&kept->entry);
		cache->world->counters->cache_hits++;
		return;
	}
	if (kept) {
		join(cache, asking, kept);
	} else {
		cache->world->counters->cache_misses++;
		if (usable && request->method == HTTP1_GET)
			lead(cache, asking, fields_written(&key));
	}
	asking->proxied = proxied_begin(&cache->proxy, asking->exchange, request, &asking->tap);
}

static void cache_begin(struct handler *handler, struct exchange *exchange,
			const struct request *request)
{
	struct cache *cache = cache_of(handler);
	struct asking *asking = slab_acquire(&cache->askings);

	CHECK(asking); /* a connection has one exchange at a time */
	memset(asking, 0, offsetof(struct asking, key));
	asking->tap = (struct proxied_tap){on_head, on_body, on_end};
	asking->cache = cache;
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
	struct asking *asking = exchange_state(exchange);

	leave_join(asking);
	if (asking->kept && asking->state != ASKING_FETCH) { /* it was sent from there */
		store_unpin(&cache->store, &asking->kept->entry);
		asking->kept = NULL;
	}
	if (asking->proxied)
		proxied_end(asking->proxied); /* ends a fetch that is not whole */
	slab_release(&cache->askings, asking);
}

/* Who has waited too long for another's fetch makes its own. */
static uint64_t wake_overdue(struct cache *cache, uint64_t now_ns)
{
	while (!list_empty(&cache->waiting)) {
		struct asking *first = list_member(cache->waiting.next, struct asking, timed);

		if (first->due_ns > now_ns)
			return first->due_ns;
		leave_join(first);
		first->state = ASKING_FETCH;
		exchange_wake(first->exchange);
	}
	return TIMER_NEVER;
}

static uint64_t cache_upkeep(struct handler *handler, uint64_t now_ns)
{
	struct cache *cache = cache_of(handler);
	uint64_t joined_ns = wake_overdue(cache, now_ns);
	uint64_t proxied_ns = proxy_upkeep(&cache->proxy, now_ns);

	return joined_ns < proxied_ns ? joined_ns : proxied_ns;
}

/* --- setup --- */

static int cache_check(const char *argument, struct tp_error *error)
{
	struct proxy_config config;

	return proxy_config_parse(argument, true, &config, error);
}

static int make_memory(struct cache *cache, const struct proxy_config *config,
		       struct tp_error *error)
{
	uint32_t entries = (uint32_t)(config->cache_bytes / LIMIT_CACHE_ENTRY_BYTES);
	int code = store_create(&cache->store, config->cache_bytes, entries, sizeof(struct kept));

	if (code == 0)
		code = slab_create(&cache->askings, cache->world->conns.count,
				   sizeof(struct asking));
	return code < 0 ? tp_fail(error, code, "cache: no memory for it") : 0;
}

static void cache_destroy(struct handler *handler)
{
	struct cache *cache = cache_of(handler);

	proxy_close(&cache->proxy);
	store_destroy(&cache->store);
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
	cache->world = config->world;
	cache->ttl_ns = parsed.cache_ttl_ns;
	cache->join_ns = parsed.response_ns;
	cache->answer_bytes = parsed.cache_bytes / SHARE_OF_STORE;
	list_init(&cache->waiting);
	code = make_memory(cache, &parsed, error);
	if (code == 0)
		code = proxy_open(&cache->proxy, &parsed, config->world, error);
	if (code < 0) {
		cache_destroy(&cache->handler);
		return code;
	}
	*handler_out = &cache->handler;
	return 0;
}

const struct handler_ops cache_ops = {
	.name = "cache",
	.argument = "ADDR[,ADDR]",
	.takes_upstream = true,
	.http_only = true,
	.check = cache_check,
	.create = cache_create,
	.destroy = cache_destroy,
	.begin = cache_begin,
	.advance = cache_advance,
	.end = cache_end,
	.upkeep = cache_upkeep,
};
