#include "stacks/utcp/rack.h"

#include "tests/support/suite.h"

enum { BASE = (int)0xfffffff0 };

#define MS 1000000ull

static struct flight_pool pool;
static struct flight flight;
static struct rack rack;
static struct rack_path path;

static uint32_t at(uint32_t offset)
{
	return (uint32_t)BASE + offset;
}

/* Four runs of ten, sent a millisecond apart from 1 s on. */
static void open_four(void)
{
	CU_ASSERT_FATAL(flight_pool_create(&pool, 1) == 0);
	flight_init(&flight);
	rack = rack_of_new(at(0));
	path = rack_path_of_new();
	for (uint32_t i = 0; i < 4; i++)
		flight_push(&pool, &flight, at(10 * i), at(10 * i + 10), 1000 * MS + i * MS, 0);
}

static void close_four(void)
{
	flight_clear(&pool, &flight);
	flight_pool_destroy(&pool);
}

static void sack(uint32_t begin, uint32_t end, uint64_t now_ns)
{
	struct flight_news news = {
		.now_ns = now_ns, .min_rtt_ns = path.min_rtt_us * 1000ull, .forward = rack.forward};

	flight_sack(&pool, &flight, at(begin), at(end), &news);
	rack_time_path(&path, &news);
	rack_take(&rack, &path, &news);
}

static void loses_by_time(void)
{
	uint64_t now_ns = 1022 * MS, due_ns;

	open_four();
	sack(20, 30, now_ns); /* sent at 1002: a round trip of 20 ms */
	CU_ASSERT(path.min_rtt_us == 20000);
	due_ns = rack_detect(&rack, &pool, &flight, 5 * MS, now_ns);
	CU_ASSERT(flight.lost_bytes == 0 && due_ns >= 1025 * MS && due_ns <= 1026 * MS);
	due_ns = rack_detect(&rack, &pool, &flight, 5 * MS, due_ns);
	CU_ASSERT(flight.lost_bytes == 10 && due_ns >= 1026 * MS && due_ns <= 1027 * MS);
	due_ns = rack_detect(&rack, &pool, &flight, 5 * MS, due_ns);
	CU_ASSERT(flight.lost_bytes == 20 && due_ns == 0); /* what was sent later is not judged */
	close_four();
}

static void loses_what_was_sent_again(void)
{
	open_four();
	sack(20, 30, 1022 * MS);
	rack_detect(&rack, &pool, &flight, 0, 1030 * MS);
	CU_ASSERT(flight.lost_bytes == 20);
	flight_resent(&pool, &flight, at(0), at(10), 1030 * MS);
	flight_resent(&pool, &flight, at(10), at(20), 1031 * MS);
	sack(10, 20, 1051 * MS); /* the second came, the first did not */
	rack_detect(&rack, &pool, &flight, 0, 1052 * MS);
	CU_ASSERT(flight.lost_bytes == 20); /* it, and what was sent first of all */
	close_four();
}

static void windows(void)
{
	open_four();
	sack(20, 30, 1022 * MS);
	CU_ASSERT(rack_window_ns(&path, 100 * MS, false) == 5 * MS);
	CU_ASSERT(rack_window_ns(&path, 100 * MS, true) == 0);
	CU_ASSERT(rack_window_ns(&path, 3 * MS, false) == 3 * MS); /* a round trip at most */
	sack(0, 10, 1023 * MS); /* behind a later number: the path reorders */
	CU_ASSERT(path.reordering && rack_window_ns(&path, 100 * MS, true) == 5 * MS);
	close_four();
}

static void windows_follow_duplicates(void)
{
	open_four();
	sack(20, 30, 1022 * MS);
	rack_take_duplicate(&path);
	rack_take_duplicate(&path); /* once between two recoveries */
	CU_ASSERT(rack_window_ns(&path, 100 * MS, false) == 10 * MS);
	rack_recovered(&path);
	rack_take_duplicate(&path);
	CU_ASSERT(rack_window_ns(&path, 100 * MS, false) == 15 * MS);
	for (unsigned i = 0; i < 15; i++)
		rack_recovered(&path);
	CU_ASSERT(rack_window_ns(&path, 100 * MS, false) == 15 * MS);
	rack_recovered(&path);
	CU_ASSERT(rack_window_ns(&path, 100 * MS, false) == 5 * MS);
	for (unsigned i = 0; i < 1000; i++) {
		rack_take_duplicate(&path);
		rack_recovered(&path);
	}
	CU_ASSERT(path.windows == UINT8_MAX && rack_window_ns(&path, 100 * MS, false) == 100 * MS);
	close_four();
}

static void times_out(void)
{
	open_four();
	sack(10, 20, 1021 * MS);
	rack_time_out(&pool, &flight, 4, 20 * MS, 1022 * MS + MS / 2);
	CU_ASSERT(flight.lost_bytes == 20 && flight.sacked_bytes == 10);
	close_four();
}

static const struct suite_test tests[] = {
	{"what was sent before something that arrived is lost after a round trip and the window",
	 loses_by_time},
	{"what was sent again is lost again by the same rule", loses_what_was_sent_again},
	{"the window is a quarter of a round trip, and none if we are sure", windows},
	{"the window grows with reported duplicates, and forgets", windows_follow_duplicates},
	{"a timeout loses the first segment and what is old", times_out},
};

SUITE_MAIN("rack", tests)
