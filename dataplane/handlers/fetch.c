#include "dataplane/handlers/fetch.h"

#include "dataplane/core/check.h"
#include "dataplane/core/limits.h"
#include "dataplane/handlers/cache_rules.h"
#include "dataplane/handlers/proxy_head.h"

#include <string.h>

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

void fetch_set_state(struct asking *asking, enum asking_state to)
{
	ASSERT(transitions[asking->state] & 1 << to);
	asking->state = to;
}

/* --- the fetch: what comes in is kept --- */

void fetch_leave(struct asking *asking)
{
	list_remove(&asking->joined);
	list_remove(&asking->timed);
}

void fetch_hit(struct asking *asking, struct kept *kept)
{
	fetch_set_state(asking, ASKING_HIT);
	asking->kept = kept;
	store_pin(&kept->entry);
}

/* From the upstreams, for itself alone. */
static void fetch_alone(struct asking *asking)
{
	fetch_set_state(asking, ASKING_FETCH);
	asking->cache->world->counters->cache_misses++;
}

/* Sends those that waited on: to the store if it is whole, else to the upstreams. */
static void release_joined(struct kept *kept)
{
	struct list *link;

	while ((link = list_pop(&kept->joined))) {
		struct asking *asking = list_member(link, struct asking, joined);

		fetch_leave(asking);
		if (kept->whole)
			fetch_hit(asking, kept);
		else
			fetch_alone(asking);
		exchange_wake(asking->exchange);
	}
}

void fetch_end(struct asking *asking, bool whole)
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
		fetch_end(asking, false);
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
	uint8_t room[EXCHANGE_FIELDS_BYTES - FETCH_AGE_BYTES];
	struct fields_text fields = {.base = room, .room = sizeof(room)};
	bool ends_by_close = body_bytes == BODY_UNKNOWN && !response->framing.chunked;

	if (asking->changes && response->status < 400)
		forget(asking);
	if (!kept)
		return;
	kept->lifetime_ns = cache_lifetime_ns(response, asking->cache->ttl_ns, &kept->age_seconds);
	proxy_head_fields(response, but, &fields);
	if (kept->lifetime_ns == 0 || ends_by_close || fields.full) {
		fetch_end(asking, false);
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
		fetch_end(asking, whole);
}

const struct proxied_tap fetch_tap = {on_head, on_body, on_end};

/* --- who fetches, and who waits for it --- */

/* Whether the fetch has waited for its client longer than others are to wait for it. */
static bool has_dawdled(const struct kept *kept)
{
	return kept->dawdled_ns >= LIMIT_CACHE_PATIENCE_NS;
}

struct kept *fetch_find(struct cache *cache, struct span key)
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
		fetch_end(kept->leader, false); /* nobody waits for it */
	return NULL;
}

void fetch_lead(struct asking *asking)
{
	struct cache *cache = asking->cache;
	struct kept *kept = NULL;

	fetch_alone(asking);
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
	fetch_end(kept->leader, false);
	while ((link = list_pop(&waiting))) {
		struct asking *asking = list_member(link, struct asking, joined);
		struct kept *next =
			fetch_find(cache, (struct span){asking->key, asking->key_bytes});

		if (next) {
			list_push(&next->joined, &asking->joined);
			continue;
		}
		list_remove(&asking->timed);
		fetch_lead(asking);
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

void fetch_watch_pace(struct asking *asking)
{
	struct cache *cache = asking->cache;

	if (list_linked(&asking->kept->stalled))
		end_stall(asking->kept);
	if (asking->kept && asking->proxied->wants_room) {
		asking->kept->stalled_ns = cache->world->now_ns;
		list_push(&cache->stalled, &asking->kept->stalled);
	}
}

void fetch_join(struct asking *asking, struct kept *kept)
{
	struct cache *cache = asking->cache;

	fetch_set_state(asking, ASKING_JOINED);
	asking->due_ns = cache->world->now_ns + cache->join_ns;
	list_push(&kept->joined, &asking->joined);
	list_push(&cache->waiting, &asking->timed);
	cache->world->counters->cache_joined++;
}

/* Who has waited too long for another's fetch makes its own. */
static uint64_t wake_overdue(struct cache *cache, uint64_t now_ns)
{
	while (!list_empty(&cache->waiting)) {
		struct asking *first = list_member(cache->waiting.next, struct asking, timed);

		if (first->due_ns > now_ns)
			return first->due_ns;
		fetch_leave(first);
		fetch_alone(first);
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

uint64_t fetch_upkeep(struct cache *cache, uint64_t now_ns)
{
	uint64_t joined_ns = wake_overdue(cache, now_ns);
	uint64_t stalled_ns = end_stalls(cache, now_ns);

	return joined_ns < stalled_ns ? joined_ns : stalled_ns;
}

/* --- invariants --- */

/* Those joined stand in line by deadline; those that stall lead a fetch that goes on. */
void fetch_check_all(const struct cache *cache)
{
	const struct list *waiting = &cache->waiting, *stalled = &cache->stalled;
	uint64_t due_ns = 0, stalled_ns = 0;

	for (struct list *link = waiting->next; link != waiting; link = link->next) {
		const struct asking *asking = list_member(link, struct asking, timed);

		CHECK(asking->state == ASKING_JOINED && asking->due_ns >= due_ns);
		due_ns = asking->due_ns;
	}
	for (struct list *link = stalled->next; link != stalled; link = link->next) {
		const struct kept *kept = list_member(link, struct kept, stalled);

		CHECK(!kept->whole && kept->leader->kept == kept);
		CHECK(kept->stalled_ns >= stalled_ns);
		stalled_ns = kept->stalled_ns;
	}
	store_check(&cache->store);
}

void fetch_check(const struct asking *asking)
{
	const struct kept *kept = asking->kept;
	bool is_joined = asking->state == ASKING_JOINED;
	bool has_answer = asking->state == ASKING_HIT || asking->state == ASKING_SEND;

	CHECK(asking->state != ASKING_ASK && asking->state < ASKING_STATE_COUNT);
	CHECK(list_linked(&asking->joined) == is_joined);
	CHECK(list_linked(&asking->timed) == is_joined);
	CHECK(kept || !has_answer);
	CHECK(!kept || (!is_joined && kept->entry.pins > 0 && kept->whole == has_answer));
	CHECK(!kept || has_answer || kept->leader == asking);
	if (asking->state == ASKING_FETCH)
		proxied_check(asking->proxied);
}
