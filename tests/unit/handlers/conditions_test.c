#include "dataplane/handlers/conditions.h"

#include "tests/support/suite.h"

#include <string.h>

static struct http1_request request;

static struct span span_of(const char *text)
{
	return (struct span){(const uint8_t *)text, strlen(text)};
}

static void ask(void)
{
	memset(&request, 0, sizeof(request));
	request.method = HTTP1_GET;
}

static void add(const char *name, const char *value)
{
	request.fields[request.field_count++] = (struct http1_field){span_of(name), span_of(value)};
}

static unsigned judge(const char *name, const char *value)
{
	struct validators validators = {.tag = span_of("\"v1\""), .modified_seconds = 784111777};

	ask();
	add(name, value);
	return conditions_judge(&request, &validators);
}

static void tags_decide(void)
{
	CU_ASSERT_EQUAL(judge("If-None-Match", "\"v1\""), 304);
	CU_ASSERT_EQUAL(judge("If-None-Match", "W/\"v1\""), 304);
	CU_ASSERT_EQUAL(judge("If-None-Match", "*"), 304);
	CU_ASSERT_EQUAL(judge("If-None-Match", "\"a,b\", \"v1\""), 304);
	CU_ASSERT_EQUAL(judge("If-None-Match", "\"v2\""), 0);
	CU_ASSERT_EQUAL(judge("If-None-Match", "v1"), 0);
	CU_ASSERT_EQUAL(judge("If-Match", "\"v1\""), 0);
	CU_ASSERT_EQUAL(judge("If-Match", "*"), 0);
	CU_ASSERT_EQUAL(judge("If-Match", "W/\"v1\""), 412);
	CU_ASSERT_EQUAL(judge("If-Match", "\"v2\""), 412);
}

static void dates_decide(void)
{
	CU_ASSERT_EQUAL(judge("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"), 304);
	CU_ASSERT_EQUAL(judge("If-Modified-Since", "Sun, 06 Nov 1994 08:49:38 GMT"), 304);
	CU_ASSERT_EQUAL(judge("If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT"), 0);
	CU_ASSERT_EQUAL(judge("If-Modified-Since", "yesterday"), 0);
	CU_ASSERT_EQUAL(judge("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"), 0);
	CU_ASSERT_EQUAL(judge("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:36 GMT"), 412);
}

static void tags_go_before_dates(void)
{
	struct validators validators = {.tag = span_of("\"v1\""), .modified_seconds = 784111777};

	ask();
	add("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT");
	add("If-None-Match", "\"v2\"");
	CU_ASSERT_EQUAL(conditions_judge(&request, &validators), 0);
	add("If-None-Match", "\"v1\"");
	CU_ASSERT_EQUAL(conditions_judge(&request, &validators), 304);
}

static struct range range(const char *value, uint64_t bytes)
{
	struct validators validators = {.tag = span_of("\"v1\""), .modified_seconds = 784111777};

	ask();
	add("Range", value);
	return conditions_range(&request, &validators, bytes, 784111778);
}

static bool is_part(const char *value, uint64_t bytes, uint64_t first, uint64_t count)
{
	struct range part = range(value, bytes);

	return part.kind == RANGE_PART && part.first == first && part.bytes == count;
}

static void one_range_is_a_part(void)
{
	CU_ASSERT_TRUE(is_part("bytes=0-0", 100, 0, 1));
	CU_ASSERT_TRUE(is_part("bytes=0-99", 100, 0, 100));
	CU_ASSERT_TRUE(is_part("Bytes=10-19", 100, 10, 10));
	CU_ASSERT_TRUE(is_part("bytes=99-", 100, 99, 1));
	CU_ASSERT_TRUE(is_part("bytes=50-1000", 100, 50, 50));
	CU_ASSERT_TRUE(is_part("bytes=50-18446744073709551615", 100, 50, 50));
	CU_ASSERT_TRUE(is_part("bytes=-1", 100, 99, 1));
	CU_ASSERT_TRUE(is_part("bytes=-1000", 100, 0, 100));
}

static void what_lies_behind_the_end_is_unsatisfiable(void)
{
	CU_ASSERT_EQUAL(range("bytes=100-", 100).kind, RANGE_UNSATISFIABLE);
	CU_ASSERT_EQUAL(range("bytes=100-200", 100).kind, RANGE_UNSATISFIABLE);
	CU_ASSERT_EQUAL(range("bytes=-0", 100).kind, RANGE_UNSATISFIABLE);
	CU_ASSERT_EQUAL(range("bytes=0-0", 0).kind, RANGE_UNSATISFIABLE);
	CU_ASSERT_EQUAL(range("bytes=-5", 0).kind, RANGE_UNSATISFIABLE);
}

static void any_other_range_gets_the_whole(void)
{
	static const char *const others[] = {"bytes=0-1,3-4",
					     "bytes=",
					     "bytes=-",
					     "bytes=a-b",
					     "bytes=5-4",
					     "lines=0-1",
					     "bytes=1",
					     "bytes= 0-1",
					     "0-1",
					     "bytes=0-1x",
					     "bytes=18446744073709551616-"};

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CU_ASSERT_EQUAL(range(others[i], 100).kind, RANGE_WHOLE);
	(void)range("bytes=0-1", 100);
	request.method = HTTP1_HEAD;
	CU_ASSERT_EQUAL(conditions_range(&request, &(struct validators){0}, 100, 0).kind,
			RANGE_WHOLE);
}

static enum range_kind range_if(const char *condition, int64_t now_seconds)
{
	struct validators validators = {.tag = span_of("\"v1\""), .modified_seconds = 784111777};

	ask();
	add("Range", "bytes=0-1");
	add("If-Range", condition);
	return conditions_range(&request, &validators, 100, now_seconds).kind;
}

static void if_range_needs_just_what_we_have(void)
{
	static const char date[] = "Sun, 06 Nov 1994 08:49:37 GMT";

	CU_ASSERT_EQUAL(range_if("\"v1\"", 0), RANGE_PART);
	CU_ASSERT_EQUAL(range_if("W/\"v1\"", 0), RANGE_WHOLE);
	CU_ASSERT_EQUAL(range_if("\"v2\"", 0), RANGE_WHOLE);
	CU_ASSERT_EQUAL(range_if(date, 784111778), RANGE_PART);
	CU_ASSERT_EQUAL(range_if(date, 784111777), RANGE_WHOLE);
	CU_ASSERT_EQUAL(range_if("Sun, 06 Nov 1994 08:49:38 GMT", 784111790), RANGE_WHOLE);
}

static const struct suite_test tests[] = {
	{"tags decide", tags_decide},
	{"dates decide", dates_decide},
	{"tags go before dates", tags_go_before_dates},
	{"one range is a part", one_range_is_a_part},
	{"what lies behind the end is unsatisfiable", what_lies_behind_the_end_is_unsatisfiable},
	{"any other range gets the whole", any_other_range_gets_the_whole},
	{"if-range needs just what we have", if_range_needs_just_what_we_have},
};

SUITE_MAIN("conditions", tests)
