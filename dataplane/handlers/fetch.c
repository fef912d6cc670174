#include "dataplane/handlers/fetch.h"

#include "dataplane/core/check.h"
#include "dataplane/core/limits.h"
#include "dataplane/handlers/cache_rules.h"
#include "dataplane/handlers/proxy_head.h"

#include <string.h>

static void count_evicted(struct fetch *fetch)
{
	fetch->world->counters->cache_evicted += fetch->store.evicted - fetch->evicted;
	fetch->evicted = fetch->store.evicted;
}

/* Legal transitions: bit (1 << to) in the row of `from`. */
static const uint8_t transitions[FETCH_STATE_COUNT] = {
	[FETCH_ASK] = 1 << FETCH_UPSTREAM | 1 << FETCH_JOINED | 1 << FETCH_HIT,
	[FETCH_JOINED] = 1 << FETCH_UPSTREAM | 1 << FETCH_HIT,
	[FETCH_HIT] = 1 << FETCH_SEND,
};

void fetch_set_state(struct fetch_asking *asking, enum fetch_state to)
{
	ASSERT(transitions[asking->state] & 1 << to);
	asking->state = to;
}

void fetch_init(struct fetch *fetch)
{
	fetch->evicted = 0;
	list_init(&fetch->waiting);
	list_init(&fetch->stalled);
}

/* --- the fetch: what comes in is kept --- */

void fetch_leave(struct fetch_asking *asking)
{
	list_remove(&asking->joined);
	list_remove(&asking->timed);
}

void fetch_hit(struct fetch_asking *asking, struct fetch_kept *kept)
{
	fetch_set_state(asking, FETCH_HIT);
	asking->kept = kept;
	store_pin(&kept->entry);
}

/* From the upstreams, for itself alone. */
static void fetch_alone(struct fetch_asking *asking)
{
	fetch_set_state(asking, FETCH_UPSTREAM);
	asking->fetch->world->counters->cache_misses++;
}

/* Sends those that waited on: to the store if it is whole, else to the upstreams. */
static void release_joined(struct fetch_kept *kept)
{
	struct list *link;

	while ((link = list_pop(&kept->joined))) {
		struct fetch_asking *asking = list_member(link, struct fetch_asking, joined);

		fetch_leave(asking);
		if (kept->whole)
			fetch_hit(asking, kept);
		else
			fetch_alone(asking);
		exchange_wake(asking->exchange);
	}
}

void fetch_end(struct fetch_asking *asking, bool whole)
{
	struct fetch_kept *kept = asking->kept;
	struct store *store = &asking->fetch->store;

	asking->kept = NULL;
	kept->whole = whole;
	list_remove(&kept->stalled);
	release_joined(kept);
	if (!whole)
		store_drop(store, &kept->entry);
	store_unpin(store, &kept->entry);
}

/* Appends to what is kept; what does not fit is not kept at all. */
static void keep(struct fetch_asking *asking, struct span bytes)
{
	struct fetch *fetch = asking->fetch;
	struct store_entry *entry = &asking->kept->entry;

	if (entry->bytes + bytes.bytes > fetch->answer_bytes ||
	    !store_append(&fetch->store, entry, bytes))
		fetch_end(asking, false);
	count_evicted(fetch);
}

/* RFC 9111 section 4.4; other workers' caches are not told. */
static void forget(struct fetch_asking *asking)
{
	struct store *store = &asking->fetch->store;
	struct store_entry *entry =
		store_find(store, (struct span){asking->key, asking->key_bytes});

	if (entry)
		store_drop(store, entry);
}

static void on_head(struct proxied_tap *tap, const struct http1_response *response,
		    uint64_t body_bytes)
{
	static const char *const but[] = {"date", "age", NULL};
	struct conn_world *world = ((struct fetch_asking *)tap)->fetch->world;
	struct fetch_asking *asking = (struct fetch_asking *)tap;
	struct fetch_kept *kept = asking->kept;
	uint8_t room[EXCHANGE_FIELDS_BYTES - FETCH_AGE_BYTES];
	struct fields_text fields = {.base = room, .room = sizeof(room)};
	bool ends_by_close = body_bytes == BODY_UNKNOWN && !response->framing.chunked;

	if (asking->changes && response->status < 400)
		forget(asking);
	if (!kept)
		return;
	kept->lifetime_ns = cache_lifetime_ns(response, asking->fetch->ttl_ns, &kept->age_seconds);
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
	struct fetch_asking *asking = (struct fetch_asking *)tap;

	if (asking->kept)
		keep(asking, piece);
}

static void on_end(struct proxied_tap *tap, bool whole)
{
	struct fetch_asking *asking = (struct fetch_asking *)tap;

	if (asking->kept)
		fetch_end(asking, whole);
}

const struct proxied_tap fetch_tap = {on_head, on_body, on_end};

/* --- who fetches, and who waits for it --- */

/* Whether the fetch has waited for its client longer than others are to wait for it. */
static bool has_dawdled(const struct fetch_kept *kept)
{
	return kept->dawdled_ns >= LIMIT_CACHE_PATIENCE_NS;
}

struct fetch_kept *fetch_find(struct fetch *fetch, struct span key)
{
	struct fetch_kept *kept = (struct fetch_kept *)store_find(&fetch->store, key);
	uint64_t now_ns = fetch->world->now_ns;

	if (!kept)
		return NULL;
	if (kept->whole ? now_ns - kept->asked_ns < kept->lifetime_ns : !has_dawdled(kept))
		return kept;
	if (kept->whole)
		store_drop(&fetch->store, &kept->entry);
	else
		fetch_end(kept->leader, false); /* nobody waits for it */
	return NULL;
}

void fetch_lead(struct fetch_asking *asking)
{
	struct fetch *fetch = asking->fetch;
	struct fetch_kept *kept = NULL;

	fetch_alone(asking);
	if (asking->may_lead)
		kept = (struct fetch_kept *)store_add(
			&fetch->store, (struct span){asking->key, asking->key_bytes});
	count_evicted(fetch);
	if (!kept)
		return;
	kept->whole = false;
	kept->fields_bytes = 0;
	kept->asked_ns = fetch->world->now_ns;
	kept->leader = asking;
	kept->dawdled_ns = 0;
	list_init(&kept->joined);
	list_init(&kept->stalled);
	asking->kept = kept;
}

/* Gives the fetch up for others: the first that waits for it fetches anew, the rest wait on. */
static void overtake(struct fetch_kept *kept)
{
	struct fetch *fetch = kept->leader->fetch;
	struct list waiting, *link;

	list_init(&waiting);
	list_splice(&waiting, &kept->joined);
	fetch_end(kept->leader, false);
	while ((link = list_pop(&waiting))) {
		struct fetch_asking *asking = list_member(link, struct fetch_asking, joined);
		struct fetch_kept *next =
			fetch_find(fetch, (struct span){asking->key, asking->key_bytes});

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
static void end_stall(struct fetch_kept *kept)
{
	kept->dawdled_ns += kept->leader->fetch->world->now_ns - kept->stalled_ns;
	list_remove(&kept->stalled);
	if (has_dawdled(kept) && !list_empty(&kept->joined))
		overtake(kept);
}

void fetch_watch_pace(struct fetch_asking *asking)
{
	struct fetch *fetch = asking->fetch;

	if (list_linked(&asking->kept->stalled))
		end_stall(asking->kept);
	if (asking->kept && asking->proxied->wants_room) {
		asking->kept->stalled_ns = fetch->world->now_ns;
		list_push(&fetch->stalled, &asking->kept->stalled);
	}
}

void fetch_join(struct fetch_asking *asking, struct fetch_kept *kept)
{
	struct fetch *fetch = asking->fetch;

	fetch_set_state(asking, FETCH_JOINED);
	asking->due_ns = fetch->world->now_ns + fetch->join_ns;
	list_push(&kept->joined, &asking->joined);
	list_push(&fetch->waiting, &asking->timed);
	fetch->world->counters->cache_joined++;
}

/* Who has waited too long for another's fetch makes its own. */
static uint64_t wake_overdue(struct fetch *fetch, uint64_t now_ns)
{
	while (!list_empty(&fetch->waiting)) {
		struct fetch_asking *first =
			list_member(fetch->waiting.next, struct fetch_asking, timed);

		if (first->due_ns > now_ns)
			return first->due_ns;
		fetch_leave(first);
		fetch_alone(first);
		exchange_wake(first->exchange);
	}
	return TIMER_NEVER;
}

/* Others wait for nobody's client longer than that. */
static uint64_t end_stalls(struct fetch *fetch, uint64_t now_ns)
{
	while (!list_empty(&fetch->stalled)) {
		struct fetch_kept *first =
			list_member(fetch->stalled.next, struct fetch_kept, stalled);
		uint64_t due_ns = first->stalled_ns + LIMIT_CACHE_PATIENCE_NS;

		if (due_ns > now_ns)
			return due_ns;
		end_stall(first);
	}
	return TIMER_NEVER;
}

uint64_t fetch_upkeep(struct fetch *fetch, uint64_t now_ns)
{
	uint64_t joined_ns = wake_overdue(fetch, now_ns);
	uint64_t stalled_ns = end_stalls(fetch, now_ns);

	return joined_ns < stalled_ns ? joined_ns : stalled_ns;
}

/* --- invariants --- */

/* Those joined stand in line by deadline; those that stall lead a fetch that goes on. */
void fetch_check_all(const struct fetch *fetch)
{
	const struct list *waiting = &fetch->waiting, *stalled = &fetch->stalled;
	uint64_t due_ns = 0, stalled_ns = 0;

	for (struct list *link = waiting->next; link != waiting; link = link->next) {
		const struct fetch_asking *asking = list_member(link, struct fetch_asking, timed);

		CHECK(asking->state == FETCH_JOINED && asking->due_ns >= due_ns);
		due_ns = asking->due_ns;
	}
	for (struct list *link = stalled->next; link != stalled; link = link->next) {
		const struct fetch_kept *kept = list_member(link, struct fetch_kept, stalled);

		CHECK(!kept->whole && kept->leader->kept == kept);
		CHECK(kept->stalled_ns >= stalled_ns);
		stalled_ns = kept->stalled_ns;
	}
	store_check(&fetch->store);
}

void fetch_check(const struct fetch_asking *asking)
{
	const struct fetch_kept *kept = asking->kept;
	bool is_joined = asking->state == FETCH_JOINED;
	bool has_answer = asking->state == FETCH_HIT || asking->state == FETCH_SEND;

	CHECK(asking->state != FETCH_ASK && asking->state < FETCH_STATE_COUNT);
	CHECK(list_linked(&asking->joined) == is_joined);
	CHECK(list_linked(&asking->timed) == is_joined);
	CHECK(kept || !has_answer);
	CHECK(!kept || (!is_joined && kept->entry.pins > 0 && kept->whole == has_answer));
	CHECK(!kept || has_answer || kept->leader == asking);
	if (asking->state == FETCH_UPSTREAM)
		proxied_check(asking->proxied);
}
