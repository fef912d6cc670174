#include "stacks/utcp/rack.h"

#include "stacks/utcp/seq.h"

enum {
	WINDOWS_MAX = UINT8_MAX,
	PERSIST_RECOVERIES = 16, /* RFC 8985 6.2 step 4 */
};

static uint32_t micros(uint64_t ns)
{
	uint64_t us = ns / 1000;

	return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX - 1;
}

void rack_time_path(struct rack_path *path, const struct flight_news *news)
{
	uint32_t rtt_us = micros(news->now_ns - news->newest_at_ns);

	if (news->any && !news->newest_resent &&
	    (path->min_rtt_us == 0 || rtt_us < path->min_rtt_us))
		path->min_rtt_us = rtt_us;
}

void rack_take(struct rack *rack, struct rack_path *path, const struct flight_news *news)
{
	rack->forward = news->forward;
	path->reordering |= news->reordered;
	if (!news->any || news->newest_at_ns < rack->newest_at_ns ||
	    (news->newest_at_ns == rack->newest_at_ns &&
	     !seq_after(news->newest_end, rack->newest_end)))
		return;
	rack->rtt_us = micros(news->now_ns - news->newest_at_ns);
	rack->newest_at_ns = news->newest_at_ns;
	rack->newest_end = news->newest_end;
}

void rack_take_duplicate(struct rack_path *path)
{
	if (path->persist < PERSIST_RECOVERIES && path->windows < WINDOWS_MAX)
		path->windows++;
	path->persist = PERSIST_RECOVERIES;
}

void rack_recovered(struct rack_path *path)
{
	if (path->persist > 0 && --path->persist == 0)
		path->windows = 1;
}

uint64_t rack_window_ns(const struct rack_path *path, uint64_t smoothed_ns, bool sure)
{
	uint64_t window_ns = path->min_rtt_us * 250ull * path->windows;

	if (!path->reordering && sure)
		return 0;
	return window_ns < smoothed_ns ? window_ns : smoothed_ns;
}

/* Whether what arrived was sent after a run. */
static bool is_behind(const struct rack *rack, const struct flight_run *run)
{
	return run->sent_at_ns < rack->newest_at_ns ||
	       (run->sent_at_ns == rack->newest_at_ns && seq_before(run->end, rack->newest_end));
}

uint64_t rack_detect(const struct rack *rack, struct flight_pool *pool, struct flight *flight,
		     uint64_t window_ns, uint64_t now_ns)
{
	struct flight_run *run = flight_at(pool, flight->first);
	uint64_t patience_ns = rack->rtt_us * 1000ull + window_ns, next_ns = 0;

	for (; run; run = flight_at(pool, run->next)) {
		uint64_t due_ns = run->sent_at_ns + patience_ns;

		if (run->sacked || run->lost || !is_behind(rack, run))
			continue;
		if (due_ns <= now_ns)
			flight_lose(flight, run);
		else if (next_ns == 0 || due_ns < next_ns)
			next_ns = due_ns;
	}
	flight_join(pool, flight);
	return next_ns;
}

void rack_time_out(struct flight_pool *pool, struct flight *flight, uint16_t mss,
		   uint64_t patience_ns, uint64_t now_ns)
{
	struct flight_run *run;

	flight_lose_first(pool, flight, mss);
	for (run = flight_at(pool, flight->first); run; run = flight_at(pool, run->next))
		if (!run->sacked && !run->lost && run->sent_at_ns + patience_ns <= now_ns)
			flight_lose(flight, run);
	flight_join(pool, flight);
}
