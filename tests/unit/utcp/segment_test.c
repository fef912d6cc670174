#include "stacks/utcp/segment.h"

#include "stacks/utcp/checksum.h"
#include "tests/sim/random.h"
#include "tests/unit/utcp/peer.h"

#include "tests/support/suite.h"

#include <string.h>

static enum segment_status parse_options(const uint8_t *options, size_t bytes, struct segment *out)
{
	struct peer_segment syn = {
		.port = 1, .own_port = 2, .flags = SYN, .options = options, .options_bytes = bytes};
	uint8_t frame[FRAME_ROOM];
	size_t total = peer_build(&syn, frame);

	return segment_parse(frame, 34, total - 34, out);
}

static void reads_options(void)
{
	static const uint8_t both[] = {1, 3, 3, 7, 2, 4, 5, 0xb4};
	static const uint8_t unknown[] = {99, 6, 1, 2, 3, 4, 8, 10, 0, 0,
					  0,  0, 0, 0, 0, 0, 2, 4,  2, 0x18};
	static const uint8_t ended[] = {0, 2, 4, 9, 9, 9, 9, 9};
	static const uint8_t steep[] = {3, 3, 255, 1};
	struct segment s;

	CU_ASSERT(parse_options(both, sizeof(both), &s) == SEGMENT_OK);
	CU_ASSERT(s.mss == 1460 && s.scale_given && s.scale == 7);
	CU_ASSERT(parse_options(unknown, sizeof(unknown), &s) == SEGMENT_OK);
	CU_ASSERT(s.mss == 536 && !s.scale_given);
	CU_ASSERT(parse_options(ended, sizeof(ended), &s) == SEGMENT_OK && s.mss == 536);
	CU_ASSERT(parse_options(steep, sizeof(steep), &s) == SEGMENT_OK && s.scale == 14);
	CU_ASSERT(parse_options(NULL, 0, &s) == SEGMENT_OK && s.mss == 536 && !s.scale_given);
}

static void refuses_bad_options(void)
{
	static const uint8_t bad[][4] = {
		{5, 0, 1, 1},	/* length 0 */
		{5, 1, 1, 1},	/* length 1 */
		{1, 1, 5, 3},	/* past the end */
		{1, 1, 1, 5},	/* no length */
		{2, 3, 1, 1},	/* MSS of a wrong length */
		{3, 4, 1, 1},	/* scale of a wrong length */
		{2, 0, 5, 180}, /* MSS of length 0 */
	};
	struct segment s;

	for (unsigned i = 0; i < sizeof(bad) / 4; i++)
		CU_ASSERT(parse_options(bad[i], 4, &s) == SEGMENT_BAD_HEADER);
}

static void survives_random_options(void)
{
	struct random random = {3};
	uint8_t options[40];
	struct segment s;

	for (unsigned round = 0; round < 20000; round++) {
		size_t bytes = 4 * random_below(&random, 11);

		for (size_t i = 0; i < bytes; i++)
			options[i] = (uint8_t)random_below(&random, round & 1 ? 6 : 256);
		CU_ASSERT_FATAL(parse_options(options, bytes, &s) != SEGMENT_BAD_CHECKSUM);
	}
}

static void refuses_odd_headers(void)
{
	static const uint8_t odd[] = {SYN | FIN, SYN | RST, SYN | FIN | RST | PSH | ACK | URG};
	struct peer_segment s = {
		.port = 1, .own_port = 2, .flags = ACK, .data = (const uint8_t *)"x", .bytes = 1};
	uint8_t frame[FRAME_ROOM];
	struct segment out;
	size_t bytes = peer_build(&s, frame);

	CU_ASSERT(segment_parse(frame, 34, bytes - 34, &out) == SEGMENT_OK && out.bytes == 1);
	for (size_t cut = 0; cut < 20; cut++)
		CU_ASSERT(segment_parse(frame, 34, cut, &out) == SEGMENT_BAD_HEADER);
	frame[34 + 12] = 4 << 4;
	CU_ASSERT(segment_parse(frame, 34, bytes - 34, &out) == SEGMENT_BAD_HEADER);
	frame[34 + 12] = 6 << 4;
	CU_ASSERT(segment_parse(frame, 34, bytes - 34, &out) == SEGMENT_BAD_HEADER);
	for (unsigned i = 0; i < sizeof(odd); i++) {
		s.flags = odd[i];
		bytes = peer_build(&s, frame);
		CU_ASSERT(segment_parse(frame, 34, bytes - 34, &out) == SEGMENT_BAD_HEADER);
	}
	s.flags = ACK;
	s.port = 0;
	bytes = peer_build(&s, frame);
	CU_ASSERT(segment_parse(frame, 34, bytes - 34, &out) == SEGMENT_BAD_HEADER);
}

static void finds_every_flipped_bit(void)
{
	static const uint8_t data[33] = "thirty-three bytes, an odd count";
	struct peer_segment s = {
		.port = 1, .own_port = 2, .flags = ACK, .data = data, .bytes = sizeof(data)};
	uint8_t frame[FRAME_ROOM];
	size_t bytes = peer_build(&s, frame);
	struct segment out;

	for (size_t bit = 34 * 8; bit < bytes * 8; bit++) {
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CU_ASSERT_FATAL(segment_parse(frame, 34, bytes - 34, &out) != SEGMENT_OK);
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static void sums_as_the_plain_way(void)
{
	struct random random = {5};
	uint8_t data[1600], folded[2];

	for (unsigned round = 0; round < 3000; round++) {
		size_t bytes = random_below(&random, sizeof(data));
		uint16_t fast;

		for (size_t i = 0; i < bytes; i++)
			data[i] = round % 3 ? (uint8_t)random_next(&random) : 0xff;
		fast = checksum_fold(checksum_add(0, data, bytes));
		memcpy(folded, &fast, 2);
		CU_ASSERT_FATAL((folded[0] << 8 | folded[1]) == peer_checksum(0, data, bytes));
	}
}

static const struct suite_test tests[] = {
	{"MSS and window scale are read, the unknown is skipped, a scale above 14 is 14",
	 reads_options},
	{"options of length 0, 1, or past the end are refused", refuses_bad_options},
	{"random options end in an answer", survives_random_options},
	{"bad data offsets, flags that exclude each other and port 0 are refused",
	 refuses_odd_headers},
	{"any flipped bit of a segment is found", finds_every_flipped_bit},
	{"the fast checksum equals the plain one for every length", sums_as_the_plain_way},
};

SUITE_MAIN("segment", tests)
