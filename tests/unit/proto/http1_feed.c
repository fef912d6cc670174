#include "tests/unit/proto/http1_feed.h"

#include <CUnit/CUnit.h>
#include <string.h>
#include <sys/mman.h>

enum { ROOM_BYTES = 64 * 1024, PAGE_BYTES = 4096 };

const struct http1_limits http1_feed_limits = {HTTP1_LINE_BYTES, HTTP1_HEAD_BYTES,
					       HTTP1_FIELDS_MAX};
const char *const http1_feed_ways[] = {"scalar", "sse4.2", "avx2", NULL};

void http1_feed_request(const uint8_t *bytes, size_t available, const struct http1_limits *limits,
			struct http1_fed *fed)
{
	fed->status = http1_parse_request(bytes, available, limits, &fed->scan, &fed->request,
					  &fed->head_bytes);
}

void http1_feed_response(const uint8_t *bytes, size_t available, const struct http1_limits *limits,
			 struct http1_fed *fed)
{
	fed->status = http1_parse_response(bytes, available, limits, &fed->scan, &fed->response,
					   &fed->head_bytes);
}

const uint8_t *http1_feed_at_border(const void *text, size_t bytes)
{
	static uint8_t *room;
	uint8_t *at;

	if (!room) {
		room = mmap(NULL, ROOM_BYTES + PAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CU_ASSERT_NOT_EQUAL_FATAL(room, MAP_FAILED);
		CU_ASSERT_EQUAL_FATAL(mprotect(room + ROOM_BYTES, PAGE_BYTES, PROT_NONE), 0);
	}
	at = room + ROOM_BYTES - bytes;
	memcpy(at, text, bytes);
	return at;
}

static bool same(const struct http1_fed *one, const struct http1_fed *other)
{
	return one->status == other->status &&
	       (one->status != HTTP1_OK || one->head_bytes == other->head_bytes) &&
	       (one->status > HTTP1_MORE ||
		memcmp(&one->scan, &other->scan, sizeof(one->scan)) == 0);
}

/* Every beginning of the text must come to the same fed whole and fed a byte at a time. */
static void feed_bytes(http1_parse_function *parse, const void *text, size_t bytes,
		       const struct http1_limits *limits)
{
	static struct http1_fed whole, dripped;

	memset(&dripped, 0, sizeof(dripped));
	for (size_t count = 0; count <= bytes; count++) {
		const uint8_t *at = http1_feed_at_border(text, count);

		memset(&whole, 0, sizeof(whole));
		parse(at, count, limits, &whole);
		parse(at, count, limits, &dripped);
		CU_ASSERT(same(&whole, &dripped));
		if (dripped.status != HTTP1_MORE)
			return;
	}
}

static void feed_halves(http1_parse_function *parse, const void *text, size_t bytes,
			const struct http1_limits *limits, const struct http1_fed *whole)
{
	static struct http1_fed halved;

	for (size_t cut = 0; cut < bytes; cut++) {
		memset(&halved, 0, sizeof(halved));
		parse(http1_feed_at_border(text, cut), cut, limits, &halved);
		if (halved.status == HTTP1_MORE)
			parse(http1_feed_at_border(text, bytes), bytes, limits, &halved);
		CU_ASSERT(same(whole, &halved));
	}
}

const struct http1_fed *http1_feed(http1_parse_function *parse, const void *text, size_t bytes,
				   const struct http1_limits *limits)
{
	static struct http1_fed first, whole;

	for (const char *const *way = http1_feed_ways; *way; way++) {
		if (!http1_choose(*way))
			continue;
		memset(&whole, 0, sizeof(whole));
		parse(http1_feed_at_border(text, bytes), bytes, limits, &whole);
		if (way == http1_feed_ways)
			first = whole;
		CU_ASSERT(same(&first, &whole));
		feed_bytes(parse, text, bytes, limits);
		feed_halves(parse, text, bytes, limits, &whole);
	}
	/* Once more, for the views to lie where nothing has been moved since. */
	memset(&whole, 0, sizeof(whole));
	parse(http1_feed_at_border(text, bytes), bytes, limits, &whole);
	return &whole;
}
