#include "apps/common/json.h"
#include "apps/load/load.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 244 KiB: not for the stack. */
static struct record interval;

/* The line that the interval becomes; a new reference. */
static json_t *line_of_interval(void)
{
	char path[] = "/tmp/weir-progress-XXXXXX";
	struct progress progress;
	struct tp_error error;
	json_t *lines = NULL;
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	CU_ASSERT_FATAL(progress_open(&progress, path, &error) == 0);
	interval.begin_ns = 0;
	interval.end_ns = 500000000;
	progress_show(&progress, LOAD_MEASURE, &interval);
	CU_ASSERT_EQUAL(progress_close(&progress, &error), 0);
	CU_ASSERT_EQUAL(json_read_lines(path, 1 << 20, NULL, &lines, &error), 0);
	unlink(path);
	return lines;
}

static void expect_service(const char *expected)
{
	json_t *lines = line_of_interval();
	char *text =
		json_dumps(json_object_get(json_array_get(lines, 0), "service_ns"), JSON_COMPACT);

	CU_ASSERT_STRING_EQUAL(text, expected);
	free(text);
	json_decref(lines);
}

static void service_times_are_in_coarse_buckets(void)
{
	static const uint64_t times_ns[] = {0, 1, 15, 16, 17, 18, 1023, 1024, 1151, 1152, 1152};

	record_reset(&interval);
	for (unsigned i = sizeof(times_ns) / sizeof(times_ns[0]); i-- > 0;)
		histogram_record(&interval.service, times_ns[i]);
	expect_service("[[0,1],[1,1],[15,1],[17,2],[19,1],[1023,1],[1151,2],[1279,2]]");
	/* Where the fine buckets are wide themselves, and above what they tell apart. */
	record_reset(&interval);
	histogram_record(&interval.service, (1ull << 30) - 1);
	histogram_record(&interval.service, 1ull << 30);
	histogram_record(&interval.service, 10 * HISTOGRAM_MAX_NS);
	expect_service("[[1073741823,1],[1207959551,1],[103079215103,1]]");
}

static void an_empty_interval_has_none(void)
{
	record_reset(&interval);
	expect_service("[]");
}

static void a_line_is_bounded(void)
{
	json_t *lines, *pairs, *pair;
	uint64_t before_ns = 0, total = 0;
	size_t index;

	record_reset(&interval);
	for (uint64_t time_ns = 1; time_ns < HISTOGRAM_MAX_NS; time_ns += time_ns / 64 + 1)
		histogram_record(&interval.service, time_ns);
	lines = line_of_interval();
	pairs = json_object_get(json_array_get(lines, 0), "service_ns");
	CU_ASSERT(json_array_size(pairs) > 200);
	CU_ASSERT(json_array_size(pairs) <= 8 * 34 + 8);
	json_array_foreach(pairs, index, pair)
	{
		uint64_t end_ns = (uint64_t)json_integer_value(json_array_get(pair, 0));

		CU_ASSERT(end_ns > before_ns);
		before_ns = end_ns;
		total += (uint64_t)json_integer_value(json_array_get(pair, 1));
	}
	CU_ASSERT_EQUAL(total, interval.service.count);
	json_decref(lines);
}

static const struct suite_test tests[] = {
	{"service times are counted in buckets of an eighth of an octave, by their largest value",
	 service_times_are_in_coarse_buckets},
	{"an interval without answers has no service times", an_empty_interval_has_none},
	{"a line of metrics is bounded, ascending and counts every answer", a_line_is_bounded},
};

SUITE_MAIN("load progress", tests)
