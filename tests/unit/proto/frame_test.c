#include "dataplane/proto/frame.h"
#include "dataplane/core/bytes.h"
#include "tests/support/suite.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct frame_head sample = {.id = 0x0102030405060708,
					 .opcode = 0x1112131415161718,
					 .flags = FRAME_START | FRAME_END,
					 .body_bytes = 5};

/* The reference framed protocol, written down by hand. */
static const uint8_t sample_bytes[] = {
	25,   0,    0,	  0,	8,    7, 6, 5, 4, 3,   2,   1,	 0x18, 0x17, 0x16,
	0x15, 0x14, 0x13, 0x12, 0x11, 3, 0, 0, 0, 'h', 'e', 'l', 'l',  'o',
};

static void encodes_the_wire_format(void)
{
	uint8_t bytes[FRAME_HEAD_BYTES];

	frame_encode(bytes, &sample);
	CU_ASSERT_EQUAL(memcmp(bytes, sample_bytes, sizeof(bytes)), 0);
}

/* Decodes from the first `bytes` of `from`, cut at `at`; checks that all or nothing is taken. */
static enum frame_status decode_cut(const uint8_t *from, size_t bytes, size_t at, uint32_t max,
				    struct frame_head *head)
{
	struct span spans[2] = {{from, at}, {from + at, bytes - at}};
	struct span_reader reader = span_reader_of(spans, 2);
	enum frame_status status = frame_decode(&reader, max, head);

	CU_ASSERT_EQUAL(reader.left, status == FRAME_OK ? bytes - FRAME_HEAD_BYTES : bytes);
	return status;
}

static void decodes_the_same_at_every_split(void)
{
	for (size_t bytes = 0; bytes <= sizeof(sample_bytes); bytes++) {
		for (size_t at = 0; at <= bytes; at++) {
			struct frame_head head = {.id = 99};
			enum frame_status status = decode_cut(sample_bytes, bytes, at, 1000, &head);

			CU_ASSERT_EQUAL(status,
					bytes < FRAME_HEAD_BYTES ? FRAME_NEED_MORE : FRAME_OK);
			if (status == FRAME_OK)
				CU_ASSERT_EQUAL(memcmp(&head, &sample, sizeof(head)), 0);
			if (status != FRAME_OK)
				CU_ASSERT_EQUAL(head.id, 99);
		}
	}
}

static void rejects_lengths_by_four_bytes(void)
{
	static const struct {
		uint32_t length, max;
		enum frame_status status;
	} cases[] = {
		{0, 1000, FRAME_TOO_SHORT},
		{1, 1000, FRAME_TOO_SHORT},
		{19, 1000, FRAME_TOO_SHORT},
		{20, 1000, FRAME_NEED_MORE},
		{1000, 1000, FRAME_NEED_MORE},
		{1001, 1000, FRAME_TOO_LONG},
		{UINT32_MAX, 1000, FRAME_TOO_LONG},
		{UINT32_MAX, UINT32_MAX, FRAME_NEED_MORE},
		{16 << 20, 16 << 20, FRAME_NEED_MORE},
		{(16 << 20) + 1, 16 << 20, FRAME_TOO_LONG},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct frame_head head;
		uint8_t bytes[4];

		bytes_put_le32(bytes, cases[i].length);
		CU_ASSERT_EQUAL(decode_cut(bytes, 4, 2, cases[i].max, &head), cases[i].status);
		CU_ASSERT_EQUAL(decode_cut(bytes, 3, 1, cases[i].max, &head), FRAME_NEED_MORE);
	}
}

static void survives_random_bytes(void)
{
	uint8_t bytes[64];

	srand(1);
	for (int i = 0; i < 200000; i++) {
		struct frame_head head;
		size_t count = (size_t)rand() % sizeof(bytes);

		for (size_t j = 0; j < count; j++)
			bytes[j] = (uint8_t)rand();
		if (i % 2 && count > 3)
			bytes[2] = bytes[3] = 0; /* half of the lengths are plausible */
		decode_cut(bytes, count, count / 2, 16 << 20, &head);
	}
}

static void round_trips_any_head(void)
{
	srand(2);
	for (int i = 0; i < 10000; i++) {
		struct frame_head in = {.id = (uint64_t)rand() << 32 | (uint64_t)rand(),
					.opcode = (uint64_t)rand(),
					.flags = (uint32_t)rand(),
					.body_bytes = (uint32_t)rand() % 100000};
		struct frame_head out;
		uint8_t bytes[FRAME_HEAD_BYTES];

		frame_encode(bytes, &in);
		CU_ASSERT_EQUAL(decode_cut(bytes, sizeof(bytes), (size_t)i % 25, 200000, &out),
				FRAME_OK);
		CU_ASSERT_EQUAL(memcmp(&in, &out, sizeof(in)), 0);
	}
}

/* Whole is what decoding accepts and whose body is there too. */
static void knows_a_whole_frame(void)
{
	uint8_t bytes[64] = {0};
	struct frame_head head;

	for (uint32_t frame_len = 0; frame_len < 70; frame_len++) {
		for (size_t count = 0; count <= sizeof(bytes); count++) {
			bool decodes, there = frame_len + FRAME_LENGTH_BYTES <= count;

			bytes_put_le32(bytes, frame_len);
			decodes = decode_cut(bytes, count, count / 2, 50, &head) == FRAME_OK;
			CU_ASSERT_EQUAL(frame_whole(bytes, count, 50),
					decodes && there ? frame_len + FRAME_LENGTH_BYTES : 0);
		}
	}
	bytes_put_le32(bytes, UINT32_MAX);
	CU_ASSERT_EQUAL(frame_whole(bytes, sizeof(bytes), UINT32_MAX), 0);
}

static void answers_like_encoding(void)
{
	const struct frame_head request = {.id = 0x1122334455667788,
					   .opcode = 0x99AABBCCDDEEFF00,
					   .flags = FRAME_START,
					   .body_bytes = 7};
	struct frame_head answer = request;
	uint8_t asked[FRAME_HEAD_BYTES], wanted[FRAME_HEAD_BYTES], got[FRAME_HEAD_BYTES];

	answer.flags = FRAME_START | FRAME_END;
	answer.body_bytes = 64;
	frame_encode(asked, &request);
	frame_encode(wanted, &answer);
	frame_encode_answer(got, asked, 64);
	CU_ASSERT_EQUAL(memcmp(got, wanted, sizeof(got)), 0);
}

static const struct suite_test tests[] = {
	{"a head is encoded in the wire format of the seed", encodes_the_wire_format},
	{"a head decodes the same at every split and takes 24 bytes or nothing",
	 decodes_the_same_at_every_split},
	{"a length that cannot be right is rejected as soon as its four bytes are there",
	 rejects_lengths_by_four_bytes},
	{"a frame is whole if decoding takes it and its body is there", knows_a_whole_frame},
	{"an answer's head is that of its request, encoded anew", answers_like_encoding},
	{"random bytes never do harm", survives_random_bytes},
	{"any head survives encoding and decoding", round_trips_any_head},
};

SUITE_MAIN("frame", tests)
