#include "dataplane/proto/length.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t big[] = {0, 0, 1, 2, 'x'}, little[] = {2, 1, 0, 0, 'x'};

static void encodes_in_either_order(void)
{
	uint8_t bytes[LENGTH_PREFIX_BYTES];

	length_encode(bytes, LENGTH_BIG_ENDIAN, 0x0102);
	CU_ASSERT_EQUAL(memcmp(bytes, big, sizeof(bytes)), 0);
	length_encode(bytes, LENGTH_LITTLE_ENDIAN, 0x0102);
	CU_ASSERT_EQUAL(memcmp(bytes, little, sizeof(bytes)), 0);
}

/* Decodes from the first `bytes` of `from`, cut at `at`; checks that all or nothing is taken. */
static enum length_status decode_cut(const uint8_t *from, size_t bytes, size_t at,
				     enum length_order order, uint32_t max, uint32_t *payload_bytes)
{
	struct span spans[2] = {{from, at}, {from + at, bytes - at}};
	struct span_reader reader = span_reader_of(spans, 2);
	enum length_status status = length_decode(&reader, order, max, payload_bytes);

	CU_ASSERT_EQUAL(reader.left, status == LENGTH_OK ? bytes - LENGTH_PREFIX_BYTES : bytes);
	return status;
}

static void decodes_the_same_at_every_split(void)
{
	for (size_t bytes = 0; bytes <= sizeof(big); bytes++) {
		for (size_t at = 0; at <= bytes; at++) {
			enum length_status wanted =
				bytes < LENGTH_PREFIX_BYTES ? LENGTH_MORE : LENGTH_OK;
			uint32_t one = 99, other = 99;

			CU_ASSERT_EQUAL(decode_cut(big, bytes, at, LENGTH_BIG_ENDIAN, 1000, &one),
					wanted);
			CU_ASSERT_EQUAL(
				decode_cut(little, bytes, at, LENGTH_LITTLE_ENDIAN, 1000, &other),
				wanted);
			CU_ASSERT_EQUAL(one, wanted == LENGTH_OK ? 0x0102 : 99);
			CU_ASSERT_EQUAL(other, one);
		}
	}
}

static void refuses_what_is_too_long(void)
{
	static const struct {
		uint32_t length, max;
		enum length_status status;
	} cases[] = {
		{0, 0, LENGTH_OK},
		{1, 0, LENGTH_TOO_LONG},
		{1000, 1000, LENGTH_OK},
		{1001, 1000, LENGTH_TOO_LONG},
		{UINT32_MAX, 1000, LENGTH_TOO_LONG},
		{UINT32_MAX, UINT32_MAX, LENGTH_OK},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int order = LENGTH_BIG_ENDIAN; order <= LENGTH_LITTLE_ENDIAN; order++) {
			uint8_t bytes[LENGTH_PREFIX_BYTES];
			uint32_t got;

			length_encode(bytes, (enum length_order)order, cases[i].length);
			CU_ASSERT_EQUAL(decode_cut(bytes, sizeof(bytes), 2,
						   (enum length_order)order, cases[i].max, &got),
					cases[i].status);
		}
	}
}

/* Whole is what decoding accepts and whose payload is there too, in the same piece. */
static void lends_a_whole_payload(void)
{
	uint8_t bytes[40] = {0};

	for (uint32_t length = 0; length < 40; length++) {
		for (size_t at = 0; at <= sizeof(bytes); at++) {
			struct span spans[2] = {{bytes, at}, {bytes + at, sizeof(bytes) - at}};
			struct span_reader reader = span_reader_of(spans, at ? 2 : 1);
			size_t whole = LENGTH_PREFIX_BYTES + length, piece = at ? at : 0;
			struct span payload;

			length_encode(bytes, LENGTH_BIG_ENDIAN, length);
			payload = length_whole(&reader, LENGTH_BIG_ENDIAN, 30);
			if (length > 30 || whole > piece) {
				CU_ASSERT_PTR_NULL(payload.base);
				CU_ASSERT_EQUAL(reader.left, at ? sizeof(bytes) : 0);
				continue;
			}
			CU_ASSERT_PTR_EQUAL(payload.base, bytes + LENGTH_PREFIX_BYTES);
			CU_ASSERT_EQUAL(payload.bytes, length);
			CU_ASSERT_EQUAL(reader.left, sizeof(bytes) - whole);
		}
	}
}

static void never_overflows(void)
{
	static const uint8_t bytes[] = {0xFF, 0xFF, 0xFF, 0xFF, 0};
	struct span span = {bytes, sizeof(bytes)};
	struct span_reader reader = span_reader_of(&span, 1);

	CU_ASSERT_PTR_NULL(length_whole(&reader, LENGTH_BIG_ENDIAN, UINT32_MAX).base);
	CU_ASSERT_EQUAL(reader.left, sizeof(bytes));
}

static const struct suite_test tests[] = {
	{"a length is encoded in either order", encodes_in_either_order},
	{"a length decodes the same at every split and takes 4 bytes or nothing",
	 decodes_the_same_at_every_split},
	{"a length over the limit is refused by its four bytes", refuses_what_is_too_long},
	{"a payload that is there in one piece is lent", lends_a_whole_payload},
	{"the greatest length is no trouble", never_overflows},
};

SUITE_MAIN("length", tests)
