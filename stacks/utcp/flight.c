#include "stacks/utcp/flight.h"

#include "dataplane/core/check.h"
#include "stacks/utcp/seq.h"

enum {
	BLOCK_CUTS = 8, /* two for each of at most 4 blocks */
	SPARE_PER_CONN = 4,
	SPARE_MIN = 8 * FLIGHT_RUNS_MAX,
};

int flight_pool_create(struct flight_pool *pool, uint32_t conn_max)
{
	pool->spare = conn_max * SPARE_PER_CONN;
	if (pool->spare < SPARE_MIN)
		pool->spare = SPARE_MIN;
	return slab_create(&pool->runs, conn_max + pool->spare, sizeof(struct flight_run));
}

void flight_pool_destroy(struct flight_pool *pool)
{
	slab_destroy(&pool->runs);
}

void flight_init(struct flight *flight)
{
	*flight = (struct flight){.first = SLAB_NONE, .last = SLAB_NONE};
}

/* --- the list -------------------------------------------------------------------------------- */

static uint32_t length(const struct flight_run *run)
{
	return run->end - run->begin;
}

/* Whether it counts as under way. */
static bool is_out(const struct flight_run *run)
{
	return !run->sacked && !run->lost;
}

/* Whether this connection has less than its share, and one is left. */
static bool has_room(const struct flight_pool *pool, const struct flight *flight)
{
	return flight->count == 0 ||
	       (flight->count < FLIGHT_RUNS_MAX && pool->spare_used < pool->spare);
}

/* A run behind `after`, or the first; NULL if there is no room. */
static struct flight_run *insert(struct flight_pool *pool, struct flight *flight,
				 struct flight_run *after)
{
	uint32_t index, next = after ? after->next : flight->first;
	struct flight_run *run;

	if (!has_room(pool, flight))
		return NULL;
	pool->spare_used += flight->count > 0;
	run = slab_acquire(&pool->runs);
	CHECK(run != NULL);
	index = slab_index(&pool->runs, run);
	*run = (struct flight_run){.next = next,
				   .prev = after ? slab_index(&pool->runs, after) : SLAB_NONE};
	flight->count++;
	*(after ? &after->next : &flight->first) = index;
	*(next == SLAB_NONE ? &flight->last : &flight_at(pool, next)->prev) = index;
	return run;
}

static void take_out(struct flight_pool *pool, struct flight *flight, struct flight_run *run)
{
	struct flight_run *prev = flight_at(pool, run->prev), *next = flight_at(pool, run->next);

	*(prev ? &prev->next : &flight->first) = run->next;
	*(next ? &next->prev : &flight->last) = run->prev;
	if (--flight->count > 0)
		pool->spare_used--;
	slab_release(&pool->runs, run);
}

void flight_clear(struct flight_pool *pool, struct flight *flight)
{
	while (flight->first != SLAB_NONE)
		take_out(pool, flight, flight_at(pool, flight->first));
	flight->sacked_bytes = flight->lost_bytes = 0;
}

/* A run takes in the next. */
static void swallow(struct flight_pool *pool, struct flight *flight, struct flight_run *run)
{
	struct flight_run *next = flight_at(pool, run->next);

	run->end = next->end;
	run->resent |= next->resent;
	run->partly |= next->partly;
	take_out(pool, flight, next);
}

static bool are_alike(const struct flight_run *a, const struct flight_run *b)
{
	if (a->sacked != b->sacked || a->lost != b->lost)
		return false;
	if (!is_out(a)) /* when they were sent does not matter any more */
		return true;
	return a->sent_at_ns == b->sent_at_ns && a->timed == b->timed && a->resent == b->resent &&
	       !a->partly && !b->partly;
}

/* Joins a run to its neighbours if it can be; what has become of it. */
static struct flight_run *join(struct flight_pool *pool, struct flight *flight,
			       struct flight_run *run)
{
	struct flight_run *prev = flight_at(pool, run->prev), *next = flight_at(pool, run->next);

	if (next && are_alike(run, next))
		swallow(pool, flight, run);
	if (!prev || !are_alike(prev, run))
		return run;
	swallow(pool, flight, prev);
	return prev;
}

void flight_join(struct flight_pool *pool, struct flight *flight)
{
	struct flight_run *run = flight_at(pool, flight->first), *next;

	for (; run; run = next) {
		next = flight_at(pool, run->next);
		if (next && are_alike(run, next)) {
			swallow(pool, flight, run);
			next = run;
		}
	}
}

/* Makes two neighbours under way share a run, so that one is free, and others, until there are
 * `wanted` or no more. `keep` stays as it is. */
static void make_room(struct flight_pool *pool, struct flight *flight,
		      const struct flight_run *keep, unsigned wanted)
{
	struct flight_run *run = flight_at(pool, flight->first), *next;

	for (; run && wanted > 0; run = next) {
		next = flight_at(pool, run->next);
		if (!next || run == keep || next == keep || !is_out(run) || !is_out(next))
			continue;
		if (run->sent_at_ns < next->sent_at_ns)
			run->sent_at_ns = next->sent_at_ns;
		run->timed = false;
		swallow(pool, flight, run);
		next = flight_at(pool, run->next);
		wanted--;
	}
}

/* Cuts a run in two at `at`, within it; false if there is no room. */
static bool cut(struct flight_pool *pool, struct flight *flight, struct flight_run *run,
		uint32_t at)
{
	struct flight_run *rest = insert(pool, flight, run);
	uint32_t next, prev;

	if (!rest)
		return false;
	next = rest->next;
	prev = rest->prev;
	*rest = *run;
	rest->next = next;
	rest->prev = prev;
	rest->begin = at;
	run->end = at;
	return true;
}

/* The same, where room is made if there is none. */
static bool split(struct flight_pool *pool, struct flight *flight, struct flight_run *run,
		  uint32_t at)
{
	if (!has_room(pool, flight))
		make_room(pool, flight, run, 1);
	return cut(pool, flight, run, at);
}

/* The same for a block: the first that finds no room makes it for all of its acknowledgement. */
static bool split_for_block(struct flight_pool *pool, struct flight *flight, struct flight_run *run,
			    uint32_t at, struct flight_news *news)
{
	if (!has_room(pool, flight) && !news->made_room) {
		make_room(pool, flight, run, BLOCK_CUTS);
		news->made_room = true;
	}
	return cut(pool, flight, run, at);
}

/* --- sending --------------------------------------------------------------------------------- */

/* Takes a run for sent, all of it. */
static void renew(struct flight *flight, struct flight_run *run, uint64_t now_ns)
{
	if (run->lost)
		flight->lost_bytes -= length(run);
	if (run->sacked)
		flight->sacked_bytes -= length(run);
	run->lost = run->sacked = run->timed = run->partly = false;
	run->sent_at_ns = now_ns;
}

void flight_push(struct flight_pool *pool, struct flight *flight, uint32_t begin, uint32_t end,
		 uint64_t now_ns, uint64_t grain_ns)
{
	struct flight_run *last = flight_at(pool, flight->last), *run;

	ASSERT(!last || last->end == begin);
	if (last && last->timed && is_out(last) && now_ns - last->sent_at_ns <= grain_ns) {
		last->end = end;
		return;
	}
	run = insert(pool, flight, last);
	if (!run) { /* it joins the last, whatever that was */
		renew(flight, last, now_ns);
		last->end = end;
		return;
	}
	run->begin = begin;
	run->end = end;
	run->sent_at_ns = now_ns;
	run->timed = true;
}

static struct flight_run *find(const struct flight_pool *pool, const struct flight *flight,
			       uint32_t seq)
{
	struct flight_run *run = flight_at(pool, flight->last);

	if (seq_before(seq, run->begin)) /* mostly the last, or one of the first */
		run = flight_at(pool, flight->first);
	while (!seq_after(run->end, seq))
		run = flight_at(pool, run->next);
	return run;
}

/* The beginning of a lost run up to `end` was sent, but there is no run for the rest: moves the
 * border to the run before, if that is under way, or counts all as sent. */
static void resend_coarsely(struct flight_pool *pool, struct flight *flight, struct flight_run *run,
			    uint32_t end, uint64_t now_ns)
{
	struct flight_run *prev = flight_at(pool, run->prev);

	if (!run->lost || !prev || !is_out(prev)) {
		renew(flight, run, now_ns);
		run->partly = run->resent = true;
		return;
	}
	flight->lost_bytes -= end - run->begin;
	run->begin = prev->end = end;
	renew(flight, prev, now_ns);
	prev->resent = true;
}

void flight_resent(struct flight_pool *pool, struct flight *flight, uint32_t begin, uint32_t end,
		   uint64_t now_ns)
{
	struct flight_run *run = find(pool, flight, begin);

	if (seq_before(run->begin, begin) && split(pool, flight, run, begin))
		run = flight_at(pool, run->next);
	if (seq_after(run->end, end) && !split(pool, flight, run, end)) {
		resend_coarsely(pool, flight, run, end, now_ns);
		return;
	}
	renew(flight, run, now_ns);
	run->resent = true;
	join(pool, flight, run);
}

/* --- acknowledgements ------------------------------------------------------------------------ */

/*
 * Bytes of a run, up to `end`, arrived, and were not known to have. Of two sendings the later is
 * told by time, then by number (RFC 8985 6.2 step 2); what arrived sooner than a round trip takes
 * was an earlier sending. What arrives behind a later number was reordered (step 3).
 */
static void note_delivered(const struct flight_run *run, uint32_t end, uint32_t bytes,
			   struct flight_news *news)
{
	news->bytes += bytes;
	if (seq_after(end, news->forward))
		news->forward = end;
	else if (seq_before(end, news->forward) && !run->resent)
		news->reordered = true;
	if (run->timed && !news->timed) {
		news->timed = true;
		news->timed_at_ns = run->sent_at_ns;
	}
	if (run->resent && news->now_ns - run->sent_at_ns < news->min_rtt_ns)
		return;
	if (news->any &&
	    (run->sent_at_ns < news->newest_at_ns ||
	     (run->sent_at_ns == news->newest_at_ns && !seq_after(end, news->newest_end))))
		return;
	news->any = true;
	news->newest_at_ns = run->sent_at_ns;
	news->newest_end = end;
	news->newest_resent = run->resent;
}

/* The first bytes of the first run, up to `end`, are acknowledged. */
static void acknowledge(struct flight *flight, const struct flight_run *run, uint32_t end,
			struct flight_news *news)
{
	uint32_t bytes = end - run->begin;

	if (run->sacked) {
		flight->sacked_bytes -= bytes;
		return;
	}
	if (run->lost)
		flight->lost_bytes -= bytes;
	note_delivered(run, end, bytes, news);
}

void flight_ack(struct flight_pool *pool, struct flight *flight, uint32_t ack,
		struct flight_news *news)
{
	struct flight_run *run;

	while ((run = flight_at(pool, flight->first)) && !seq_after(run->end, ack)) {
		acknowledge(flight, run, run->end, news);
		take_out(pool, flight, run);
	}
	if (!run || !seq_after(ack, run->begin))
		return;
	acknowledge(flight, run, ack, news);
	run->begin = ack;
	if (run->partly && is_out(run)) {
		flight_lose(flight, run);
		join(pool, flight, run);
	}
}

void flight_sack(struct flight_pool *pool, struct flight *flight, uint32_t begin, uint32_t end,
		 struct flight_news *news)
{
	struct flight_run *run = flight_at(pool, flight->first);

	for (; run && seq_before(run->begin, end); run = flight_at(pool, run->next)) {
		if (run->sacked || !seq_after(run->end, begin))
			continue;
		if (seq_before(run->begin, begin)) {
			split_for_block(pool, flight, run, begin, news);
			continue; /* the rest comes next, if there was room for it */
		}
		if (seq_after(run->end, end) && !split_for_block(pool, flight, run, end, news))
			break;
		note_delivered(run, run->end, length(run), news);
		if (run->lost)
			flight->lost_bytes -= length(run);
		flight->sacked_bytes += length(run);
		run->lost = run->partly = false;
		run->sacked = true;
		run = join(pool, flight, run);
	}
}

/* --- losses ---------------------------------------------------------------------------------- */

void flight_lose(struct flight *flight, struct flight_run *run)
{
	ASSERT(is_out(run));
	run->lost = true;
	run->partly = false;
	flight->lost_bytes += length(run);
}

void flight_lose_first(struct flight_pool *pool, struct flight *flight, uint32_t bytes)
{
	struct flight_run *run = flight_at(pool, flight->first);

	if (!run || !is_out(run))
		return;
	if (length(run) > bytes)
		split(pool, flight, run, run->begin + bytes); /* or all of it is */
	flight_lose(flight, run);
	join(pool, flight, run);
}

void flight_lose_all(struct flight_pool *pool, struct flight *flight)
{
	for (struct flight_run *run = flight_at(pool, flight->first); run;
	     run = flight_at(pool, run->next)) {
		run->sacked = false;
		if (!run->lost)
			flight_lose(flight, run);
	}
	flight->sacked_bytes = 0;
	flight_join(pool, flight);
}

void flight_forgive(struct flight_pool *pool, struct flight *flight)
{
	if (flight->lost_bytes == 0)
		return;
	for (struct flight_run *run = flight_at(pool, flight->first); run;
	     run = flight_at(pool, run->next))
		run->lost = false;
	flight->lost_bytes = 0;
}

const struct flight_run *flight_first_lost(const struct flight_pool *pool,
					   const struct flight *flight)
{
	const struct flight_run *run = NULL;

	if (flight->lost_bytes == 0)
		return NULL;
	for (run = flight_at(pool, flight->first); !run->lost; run = flight_at(pool, run->next))
		;
	return run;
}
