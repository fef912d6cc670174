#include "dataplane/core/span.h"
#include "tests/support/suite.h"

static const uint8_t text[] = "abcdefghij";

/* Cuts the text at two places; pieces may be empty. */
static void cut(struct span spans[3], size_t first, size_t second)
{
	spans[0] = (struct span){text, first};
	spans[1] = (struct span){text + first, second - first};
	spans[2] = (struct span){text + second, 10 - second};
}

static void reads_the_same_however_cut(void)
{
	for (size_t i = 0; i <= 10; i++) {
		for (size_t j = i; j <= 10; j++) {
			struct span spans[3];
			struct span_reader reader;
			uint8_t scratch[8], rest[8];

			cut(spans, i, j);
			reader = span_reader_of(spans, 3);
			CU_ASSERT_EQUAL(reader.left, 10);
			CU_ASSERT_EQUAL(memcmp(span_reader_peek(&reader, scratch, 5), "abcde", 5),
					0);
			CU_ASSERT_EQUAL(reader.left, 10);
			span_reader_skip(&reader, 3);
			span_reader_copy(&reader, rest, 7);
			CU_ASSERT_EQUAL(memcmp(rest, "defghij", 7), 0);
			CU_ASSERT_EQUAL(reader.left, 0);
			CU_ASSERT_EQUAL(span_reader_piece(&reader).bytes, 0);
		}
	}
}

static void peek_lends_in_place_where_it_can(void)
{
	struct span spans[3];
	struct span_reader reader;
	uint8_t scratch[8];

	cut(spans, 4, 7);
	reader = span_reader_of(spans, 3);
	CU_ASSERT_PTR_EQUAL(span_reader_peek(&reader, scratch, 4), text);
	CU_ASSERT_PTR_EQUAL(span_reader_peek(&reader, scratch, 5), scratch);
}

static void writes_the_same_however_cut(void)
{
	for (size_t i = 0; i <= 10; i++) {
		uint8_t memory[10] = {0};
		struct room rooms[2] = {{memory, i}, {memory + i, 10 - i}};
		struct room_writer writer = room_writer_of(rooms, 2);

		room_writer_put(&writer, text, 6);
		room_writer_fill(&writer, 'z', 4);
		CU_ASSERT_EQUAL(writer.left, 0);
		CU_ASSERT_EQUAL(room_writer_piece(&writer).bytes, 0);
		CU_ASSERT_EQUAL(memcmp(memory, "abcdefzzzz", 10), 0);
	}
}

static const struct suite_test tests[] = {
	{"a reader sees the same bytes however they are cut", reads_the_same_however_cut},
	{"peek lends in place where the bytes stand together", peek_lends_in_place_where_it_can},
	{"a writer leaves the same bytes however the room is cut", writes_the_same_however_cut},
};

SUITE_MAIN("span", tests)
