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
 *	 \--else--> FETCH         \--not kept, overtaken, or waited too long--> FETCH
 */
#include "dataplane/core/check.h"
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
	uint64_t age_seconds; /* when it was sent to us */
	uint64_t asked_ns;    /* when its fetch began; it is no younger than that */
	char date[HTTP1_DATE_BYTES];

	/* Until it is whole. */
	struct asking *leader; /* whose fetch it is */
	struct list joined;    /* those that wait for it */
	struct list stalled;   /* in the cache's list while its client takes nothing */
	uint64_t stalled_ns;   /* since then, */
	uint64_t dawdled_ns;   /* and for so long in all before */
};

enum asking_state {
	ASKING_ASK,    /* who answers is to be decided */
	ASKING_FETCH,  /* of the upstreams */
	ASKING_JOINED, /* waits for another's fetch */
	ASKING_HIT,    /* is to be answered from the store */
	ASKING_SEND,   /* is being answered from it */
	ASKING_STATE_COUNT,
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
	bool may_lead; /* others may wait for its fetch */
	bool changes;  /* the method is not safe: what is kept may be wrong behind it */
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
	struct list stalled; /* of struct kept, by time */
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

/* Legal transitions: bit (1 << to) in the row of `from`. */
static const uint8_t transitions[ASKING_STATE_COUNT] = {
	[ASKING_ASK] = 1 << ASKING_FETCH | 1 << ASKING_JOINED | 1 << ASKING_HIT,
	[ASKING_JOINED] = 1 << ASKING_FETCH | 1 << ASKING_HIT,
	[ASKING_HIT] = 1 << ASKING_SEND,
};

static void set_state(struct asking *asking, enum asking_state to)
{
	ASSERT(transitions[asking->state] & 1 << to);
	asking->state = to;
}

/* --- the fetch: what comes in is kept --- */

static void leave_join(struct asking *asking)
{
	list_remove(&asking->joined);
	list_remove(&asking->timed);
}

static void hit(struct asking *asking, struct kept *kept)
{
	set_state(asking, ASKING_HIT);
	asking->kept = kept;
	store_pin(&kept->entry);
}

/* From the upstreams, for itself alone. */
static void fetch(struct asking *asking)
{
	set_state(asking, ASKING_FETCH);
	asking->cache->world->counters->cache_misses++;
}

/* Sends those that waited on: to the store if it is whole, else to the upstreams. */
static void release_joined(struct kept *kept)
{
	struct list *link;

	while ((link = list_pop(&kept->joined))) {
		struct asking *asking = list_member(link, struct asking, joined);

		leave_join(asking);
		if (kept->whole)
			hit(asking, kept);
		else
			fetch(asking);
		exchange_wake(asking->exchange);
	}
}

static void end_fetch(struct asking *asking, bool whole)
{
	struct kept *kept = asking->kept;
	struct store *store = &asking->cache->store;

	asking->kept = NULL;
	kept->whole = whole;
	list_remove(&kept->stalled);
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

/* RFC 9111 section 4.4; other workers' caches are not told. */
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
	struct conn_world *world = ((struct asking *)tap)->cache->world;
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
	memcpy(kept->date, proxy_head_date(response, date_text(&world->date, world->now_ns)),
	       HTTP1_DATE_BYTES);
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
	fields_put_number(&fields, kept->age_seconds + (cache->world->now_ns - kept->asked_ns) /
							       CLOCK_SECOND_NS);
	fields_put_text(&fields, "\r\n");
	exchange_respond(asking->exchange, &(struct response){.status = 200,
							      .body_bytes = body_bytes,
							      .date = kept->date,
							      .fields = fields_written(&fields)});
	set_state(asking, ASKING_SEND);
}

static bool produce(struct exchange *exchange, void *source, struct room_writer *writer,
		    size_t bytes)
{
	struct asking *asking = exchange_state(exchange);

	store_copy(source, &asking->cursor, writer, bytes);
	return true;
}

/* --- who fetches, and who waits for it --- */

/* Whether the fetch has waited for its client longer than others are to wait for it. */
static bool has_dawdled(const struct kept *kept)
{
	return kept->dawdled_ns >= LIMIT_CACHE_PATIENCE_NS;
}

/* What is kept under the key, if it is still fresh or being fetched at some pace. */
static struct kept *find_kept(struct cache *cache, struct span key)
{
	struct kept *kept = (struct kept *)store_find(&cache->store, key);
	uint64_t now_ns = cache->world->now_ns;

	if (!kept)
		return NULL;
	if (kept->whole ? now_ns - kept->asked_ns < kept->lifetime_ns : !has_dawdled(kept))
		return kept;
	if (kept->whole)
		store_drop(&cache->store, &kept->entry);
	else
		end_fetch(kept->leader, false); /* nobody waits for it */
	return NULL;
}

/* Fetches, if it may for all that ask for the same until it has come. */
static void lead(struct asking *asking)
{
	struct cache *cache = asking->cache;
	struct kept *kept = NULL;

	fetch(asking);
	if (asking->may_lead)
		kept = (struct kept *)store_add(&cache->store,
						(struct span){asking->key, asking->key_bytes});
	count_evicted(cache);
	if (!kept)
		return;
	kept->whole = false;
	kept->fields_bytes = 0;
	kept->asked_ns = cache->world->now_ns;
	kept->leader = asking;
	kept->dawdled_ns = 0;
	list_init(&kept->joined);
	list_init(&kept->stalled);
	asking->kept = kept;
}

/* Gives the fetch up for others: the first that waits for it fetches anew, the rest wait on. */
static void overtake(struct kept *kept)
{
	struct cache *cache = kept->leader->cache;
	struct list waiting, *link;

	list_init(&waiting);
	list_splice(&waiting, &kept->joined);
	end_fetch(kept->leader, false);
	while ((link = list_pop(&waiting))) {
		struct asking *asking = list_member(link, struct asking, joined);
		struct kept *next = find_kept(cache, (struct span){asking->key, asking->key_bytes});

		if (next) {
			list_push(&next->joined, &asking->joined);
			continue;
		}
		list_remove(&asking->timed);
		lead(asking);
		exchange_wake(asking->exchange);
	}
}

/* A stall of the fetch's client is over, or as long as anybody waits. */
static void end_stall(struct kept *kept)
{
	kept->dawdled_ns += kept->leader->cache->world->now_ns - kept->stalled_ns;
	list_remove(&kept->stalled);
	if (has_dawdled(kept) && !list_empty(&kept->joined))
		overtake(kept);
}

/* Notes whether the fetch waits for its client. */
static void watch_pace(struct asking *asking)
{
	struct cache *cache = asking->cache;

	if (list_linked(&asking->kept->stalled))
		end_stall(asking->kept);
	if (asking->kept && asking->proxied->wants_room) {
		asking->kept->stalled_ns = cache->world->now_ns;
		list_push(&cache->stalled, &asking->kept->stalled);
	}
}

/* --- the exchange --- */

static void cache_advance(struct handler *handler, struct exchange *exchange)
{
	struct asking *asking = exchange_state(exchange);

	switch (asking->state) {
	case ASKING_FETCH:
		proxied_advance(asking->proxied);
		if (asking->kept)
			watch_pace(asking);
		return;
	case ASKING_JOINED:
		return;
	case ASKING_HIT:
		respond(asking);
		break;
	case ASKING_SEND:
	case ASKING_ASK: /* before there is anything to advance */
	case ASKING_STATE_COUNT:
		break;
	}
	exchange_drop(exchange);
	produce_rest(exchange, produce, &asking->cache->store);
}

static void join(struct asking *asking, struct kept *kept)
{
	struct cache *cache = asking->cache;

	set_state(asking, ASKING_JOINED);
	asking->due_ns = cache->world->now_ns + cache->join_ns;
	list_push(&kept->joined, &asking->joined);
	list_push(&cache->waiting, &asking->timed);
	cache->world->counters->cache_joined++;
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
	asking->may_lead = usable && request->method == HTTP1_GET;
	asking->changes = !key.full && changes(request->method);
	if (usable)
		kept = find_kept(cache, fields_written(&key));
	if (kept && kept->whole) {
		hit(asking, kept);
		cache->world->counters->cache_hits++;
		return;
	}
	if (kept)
		join(asking, kept);
	else
		lead(asking);
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
		proxied_end(asking->proxied); /* ends a fetch that is not whole, */
	if (asking->kept)
		end_fetch(asking, false); /* also if it was never begun */
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
		fetch(first);
		exchange_wake(first->exchange);
	}
	return TIMER_NEVER;
}

/* Others wait for nobody's client longer than that. */
static uint64_t end_stalls(struct cache *cache, uint64_t now_ns)
{
	while (!list_empty(&cache->stalled)) {
		struct kept *first = list_member(cache->stalled.next, struct kept, stalled);
		uint64_t due_ns = first->stalled_ns + LIMIT_CACHE_PATIENCE_NS;

		if (due_ns > now_ns)
			return due_ns;
		end_stall(first);
	}
	return TIMER_NEVER;
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

static uint64_t cache_upkeep(struct handler *handler, uint64_t now_ns)
{
	struct cache *cache = cache_of(handler);
	uint64_t own_ns = earlier(wake_overdue(cache, now_ns), end_stalls(cache, now_ns));

	return earlier(own_ns, proxy_upkeep(&cache->proxy, now_ns));
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
	list_init(&cache->stalled);
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
