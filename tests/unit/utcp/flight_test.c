#include "stacks/utcp/flight.h"

#include "stacks/utcp/seq.h"
#include "apps/sim/random.h"
#include "tests/support/suite.h"

#include <string.h>

enum { BASE = (int)0xffffff80, SPACE = 100 }; /* across the wrap */

static struct flight_pool pool;
static struct flight flight;

static void open_flight(void)
{
	CU_ASSERT_FATAL(flight_pool_create(&pool, 2) == 0);
	flight_init(&flight);
}

static void close_flight(void)
{
	flight_clear(&pool, &flight);
	CU_ASSERT(pool.runs.in_use == 0 && pool.spare_used == 0);
	flight_pool_destroy(&pool);
}

static uint32_t at(uint32_t offset)
{
	return (uint32_t)BASE + offset;
}

static struct flight_run *first(void)
{
	return flight_at(&pool, flight.first);
}

/* What is true of each byte, the plain way. */
struct byte {
	uint64_t sent_at_ns;
	unsigned times;
	bool sacked;
	bool lost;
};

struct map {
	struct byte bytes[SPACE];
	uint32_t una;
	uint32_t max;
};

static bool agrees(const struct map *map)
{
	uint32_t seq = map->una, sacked = 0, lost = 0, count = 0;

	for (const struct flight_run *run = first(); run; run = flight_at(&pool, run->next)) {
		count++;
		for (; at(seq) != run->end; seq++) {
			const struct byte *byte = &map->bytes[seq];

			if (seq == map->max || run->sacked != byte->sacked ||
			    run->lost != byte->lost)
				return false;
			sacked += byte->sacked;
			lost += byte->lost;
			if (!run->sacked && !run->lost &&
			    (run->sent_at_ns != byte->sent_at_ns ||
			     run->timed != (byte->times == 1) || run->resent != (byte->times > 1)))
				return false;
		}
	}
	return seq == map->max && count == flight.count && sacked == flight.sacked_bytes &&
	       lost == flight.lost_bytes &&
	       flight_pipe(&flight, map->max - map->una) == map->max - map->una - sacked - lost;
}

static void map_push(struct map *map, struct random *random, uint64_t now_ns)
{
	uint32_t bytes = 1 + (uint32_t)random_below(random, 12);

	if (bytes > SPACE - map->max)
		return;
	flight_push(&pool, &flight, at(map->max), at(map->max + bytes), now_ns, 0);
	for (uint32_t i = 0; i < bytes; i++)
		map->bytes[map->max++] = (struct byte){.sent_at_ns = now_ns, .times = 1};
}

static void map_resend(struct map *map, struct random *random, uint64_t now_ns)
{
	const struct flight_run *run = flight_first_lost(&pool, &flight);
	uint32_t begin, bytes;

	if (!run)
		return;
	begin = run->begin;
	bytes = 1 + (uint32_t)random_below(random, run->end - begin);
	flight_resent(&pool, &flight, begin, begin + bytes, now_ns);
	for (uint32_t i = begin - at(0); bytes > 0; i++, bytes--) {
		map->bytes[i].sent_at_ns = now_ns;
		map->bytes[i].times++;
		map->bytes[i].lost = false;
	}
}

static void map_ack(struct map *map, struct random *random, struct flight_news *news)
{
	uint32_t ack = map->una + (uint32_t)random_below(random, map->max - map->una + 1),
		 fresh = 0;

	for (; map->una < ack; map->una++)
		fresh += !map->bytes[map->una].sacked;
	flight_ack(&pool, &flight, at(ack), news);
	CU_ASSERT_FATAL(news->bytes == fresh);
}

static void map_sack(struct map *map, struct random *random, struct flight_news *news)
{
	uint32_t room = map->max - map->una, begin, end, fresh = 0;

	if (room == 0)
		return;
	begin = map->una + (uint32_t)random_below(random, room);
	end = begin + 1 + (uint32_t)random_below(random, map->max - begin);
	flight_sack(&pool, &flight, at(begin), at(end), news);
	for (; begin < end; begin++) {
		fresh += !map->bytes[begin].sacked;
		map->bytes[begin].sacked = true;
		map->bytes[begin].lost = false;
	}
	CU_ASSERT_FATAL(news->bytes == fresh);
}

static void map_lose(struct map *map, struct random *random)
{
	bool all = random_chance(random, 100), changed = false;
	uint32_t bytes = 1 + (uint32_t)random_below(random, 10);

	if (all)
		flight_lose_all(&pool, &flight);
	else
		flight_lose_first(&pool, &flight, bytes);
	for (uint32_t i = map->una; i < map->max && (all || bytes-- > 0); i++) {
		struct byte *byte = &map->bytes[i];

		if (!all && (byte->sacked || byte->lost ||
			     (changed && byte->sent_at_ns != byte[-1].sent_at_ns) ||
			     (changed && (byte->times > 1) != (byte[-1].times > 1))))
			break; /* of one run only */
		byte->sacked = false;
		byte->lost = changed = true;
	}
}

static void agrees_with_a_map(void)
{
	struct random random = {11};

	for (unsigned round = 0; round < 500; round++) {
		struct map map = {0};
		uint64_t now_ns = 1000;

		open_flight();
		for (unsigned i = 0; i < 200; i++) {
			struct flight_news news = {.now_ns = now_ns};

			now_ns += random_below(&random, 3);
			switch (random_below(&random, 6)) {
			case 0:
			case 1:
				map_push(&map, &random, now_ns);
				break;
			case 2:
				map_resend(&map, &random, now_ns);
				break;
			case 3:
				if (random_chance(&random, 200))
					map_ack(&map, &random, &news);
				break;
			case 4:
				map_sack(&map, &random, &news);
				break;
			default:
				map_lose(&map, &random);
			}
			CU_ASSERT_FATAL(agrees(&map));
		}
		close_flight();
	}
}

static void grows_while_one_turn_sends(void)
{
	open_flight();
	flight_push(&pool, &flight, at(0), at(10), 1000, 5);
	flight_push(&pool, &flight, at(10), at(20), 1000, 5);
	flight_push(&pool, &flight, at(20), at(30), 1005, 5);
	CU_ASSERT(flight.count == 1 && first()->end == at(30) && first()->sent_at_ns == 1000);
	flight_push(&pool, &flight, at(30), at(40), 1006, 5);
	CU_ASSERT(flight.count == 2 && pool.spare_used == 1);
	close_flight();
}

/* RFC 6298 3 and RFC 8985 6.2, steps 2 and 3. */
static void tells_what_arrived(void)
{
	struct flight_news news = {.now_ns = 2000, .min_rtt_ns = 500, .forward = at(0)};

	open_flight();
	flight_push(&pool, &flight, at(0), at(10), 1000, 0);
	flight_push(&pool, &flight, at(10), at(20), 1100, 0);
	flight_push(&pool, &flight, at(20), at(30), 1200, 0);
	flight_sack(&pool, &flight, at(10), at(20), &news);
	CU_ASSERT(news.timed && news.timed_at_ns == 1100 && news.newest_at_ns == 1100);
	CU_ASSERT(news.forward == at(20) && !news.reordered && news.bytes == 10);
	flight_sack(&pool, &flight, at(0), at(5), &news);
	CU_ASSERT(news.reordered && news.newest_at_ns == 1100 && news.bytes == 15);
	flight_lose_first(&pool, &flight, 10); /* it was sacked: nothing to lose */
	CU_ASSERT(flight.lost_bytes == 0);
	flight_lose_all(&pool, &flight);
	flight_resent(&pool, &flight, at(0), at(10), 1800);
	news = (struct flight_news){.now_ns = 2000, .min_rtt_ns = 500, .forward = at(20)};
	flight_ack(&pool, &flight, at(10), &news);
	CU_ASSERT(!news.any && !news.timed && !news.reordered && news.bytes == 10);
	close_flight();
}

/* Two sendings at one time are told apart by their numbers. */
static void of_one_time_the_higher_is_newer(void)
{
	struct flight_news news = {.now_ns = 2000, .forward = at(0)};

	open_flight();
	flight_push(&pool, &flight, at(0), at(30), 1000, 0);
	flight_sack(&pool, &flight, at(10), at(20), &news);
	flight_sack(&pool, &flight, at(0), at(5), &news);
	CU_ASSERT(news.newest_at_ns == 1000 && news.newest_end == at(20));
	CU_ASSERT(flight.count == 4 && flight.sacked_bytes == 15);
	close_flight();
}

/* Takes all that the pool has to spare. */
static void exhaust(struct flight other[], unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		flight_init(&other[i]);
		for (uint32_t k = 0; k < FLIGHT_RUNS_MAX; k++)
			flight_push(&pool, &other[i], k, k + 1, k, 0);
		CU_ASSERT(other[i].count <= FLIGHT_RUNS_MAX);
	}
	CU_ASSERT_FATAL(pool.spare_used == pool.spare);
}

static void an_empty_pool_makes_it_coarser(void)
{
	enum { OTHERS = 16 };
	struct flight_news news = {.now_ns = 9000, .forward = at(0)};
	struct flight other[OTHERS];

	CU_ASSERT_FATAL(flight_pool_create(&pool, OTHERS + 1) == 0);
	flight_init(&flight);
	exhaust(other, OTHERS);
	flight_push(&pool, &flight, at(0), at(10), 1000, 0);
	flight_push(&pool, &flight, at(10), at(30), 2000, 0);
	CU_ASSERT(flight.count == 1 && !first()->timed && first()->sent_at_ns == 2000);
	flight_sack(&pool, &flight, at(10), at(20), &news); /* part of a run: not noted */
	CU_ASSERT(flight.sacked_bytes == 0 && news.bytes == 0);
	flight_lose_all(&pool, &flight);
	flight_resent(&pool, &flight, at(0), at(10), 3000);
	CU_ASSERT(flight.count == 1 && flight.lost_bytes == 0);
	flight_ack(&pool, &flight, at(10), &news); /* only those had been sent */
	CU_ASSERT(flight.lost_bytes == 20 && news.bytes == 10 && !news.timed);
	flight_sack(&pool, &flight, at(10), at(30), &news); /* a whole run */
	CU_ASSERT(flight.sacked_bytes == 20 && flight.lost_bytes == 0);
	flight_push(&pool, &flight, at(30), at(40), 4000, 0);
	CU_ASSERT(flight.sacked_bytes == 0 && first()->end == at(40));
	for (unsigned i = 0; i < OTHERS; i++)
		flight_clear(&pool, &other[i]);
	close_flight();
}

static void a_connection_has_its_share(void)
{
	struct flight_news news = {.now_ns = 9000, .forward = at(0)};

	open_flight();
	for (uint32_t i = 0; i < 3 * FLIGHT_RUNS_MAX; i++)
		flight_push(&pool, &flight, at(i), at(i + 1), 1000 + i, 0);
	CU_ASSERT(flight.count == FLIGHT_RUNS_MAX && first()->timed);
	/* A cut makes neighbours share, once, and the cut stands. */
	flight_sack(&pool, &flight, at(200), at(210), &news);
	CU_ASSERT(flight.count <= FLIGHT_RUNS_MAX && flight.sacked_bytes == 10);
	close_flight();
}

static const struct suite_test tests[] = {
	{"runs equal a map of bytes, over the wrap", agrees_with_a_map},
	{"a run grows while one turn sends on", grows_while_one_turn_sends},
	{"an acknowledgement tells what was timed, newest and reordered", tells_what_arrived},
	{"of what was sent at one time the higher number is newer",
	 of_one_time_the_higher_is_newer},
	{"without room for runs knowledge gets coarser, never wrong",
	 an_empty_pool_makes_it_coarser},
	{"a connection has no more than its share of runs", a_connection_has_its_share},
};

SUITE_MAIN("flight", tests)
