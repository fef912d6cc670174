#include "stacks/utcp/options.h"

#include "stacks/utcp/segment.h"
#include "apps/sim/random.h"
#include "tests/support/suite.h"
#include "tests/unit/utcp/peer.h"

#include <string.h>

static enum segment_status parse(uint8_t flags, const void *options, size_t bytes,
				 struct segment *out)
{
	struct peer_segment segment = {.port = 1,
				       .own_port = 2,
				       .flags = flags,
				       .options = options,
				       .options_bytes = bytes};
	uint8_t frame[FRAME_ROOM];
	size_t total = peer_build(&segment, frame);

	return segment_parse(frame, 34, total - 34, out);
}

static void reads_those_of_a_syn(void)
{
	static const uint8_t all[] = {1, 3,  3, 7, 2, 4, 5, 0xb4, 4, 2,
				      8, 10, 1, 2, 3, 4, 5, 6,	  7, 8};
	static const uint8_t unknown[] = {99, 6, 1, 2, 3, 4, 9, 10, 0, 0,
					  0,  0, 0, 0, 0, 0, 2, 4,  2, 0x18};
	static const uint8_t ended[] = {0, 2, 4, 9, 9, 9, 9, 9};
	struct segment s;

	CU_ASSERT(parse(SYN, all, sizeof(all), &s) == SEGMENT_OK);
	CU_ASSERT(s.mss == 1460 && s.scale_given && s.scale == 7 && s.sack_permitted);
	CU_ASSERT(s.has_times && s.times_value == 0x01020304 && s.times_echo == 0x05060708);
	CU_ASSERT(parse(SYN, unknown, sizeof(unknown), &s) == SEGMENT_OK && s.mss == 536);
	CU_ASSERT(!s.scale_given && !s.sack_permitted && !s.has_times && s.times_value == 0);
	CU_ASSERT(parse(SYN, ended, sizeof(ended), &s) == SEGMENT_OK && s.mss == 536);
	CU_ASSERT(parse(SYN, "\3\3\16\1", 4, &s) == SEGMENT_OK && s.scale == 14 && !s.scale_steep);
	CU_ASSERT(parse(SYN, "\3\3\17\1", 4, &s) == SEGMENT_OK && s.scale == 14 && s.scale_steep);
	CU_ASSERT(parse(SYN, "\3\3\xff\1", 4, &s) == SEGMENT_OK && s.scale == 14);
	CU_ASSERT(parse(SYN, NULL, 0, &s) == SEGMENT_OK && s.mss == 536 && !s.scale_given);
}

static void reads_times_anywhere(void)
{
	static const char usual[] = "\1\1\10\12\1\2\3\4\5\6\7\10";
	static const char others[][16] = {
		"\10\12\1\2\3\4\5\6\7\10\1\1\1\1\1",   /* in front */
		"\1\10\12\1\2\3\4\5\6\7\10\0\1\1\1",   /* before the end of options */
		"\2\4\5\xb4\1\10\12\1\2\3\4\5\6\7\10", /* after what has no place here */
	};
	struct segment s;

	CU_ASSERT(parse(ACK, usual, 12, &s) == SEGMENT_OK && s.has_times);
	CU_ASSERT(s.times_value == 0x01020304 && s.times_echo == 0x05060708);
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT(parse(ACK, others[i], 16, &s) == SEGMENT_OK && s.has_times);
		CU_ASSERT(s.times_value == 0x01020304 && s.times_echo == 0x05060708);
	}
	CU_ASSERT(parse(ACK, "\0\1\10\12\1\2\3\4\5\6\7\10", 12, &s) == SEGMENT_OK && !s.has_times);
}

static void reads_sack_blocks(void)
{
	static const char three[] = "\1\1\5\32\xff\xff\xff\xf0\0\0\0\5"
				    "\0\0\0\11\0\0\0\7\0\0\0\0\0\0\0\0";
	uint8_t four[40] = {1, 1, 5, 34};
	struct segment s;

	CU_ASSERT(parse(ACK, three, 28, &s) == SEGMENT_OK && s.sack_count == 3 && !s.has_times);
	CU_ASSERT(s.sacks[0].begin == 0xfffffff0 && s.sacks[0].end == 5); /* over the wrap */
	CU_ASSERT(s.sacks[1].begin == 9 && s.sacks[1].end == 7 && s.sacks[2].end == 0);
	four[35] = 4;
	CU_ASSERT(parse(ACK, four, 36, &s) == SEGMENT_OK && s.sack_count == 4);
	CU_ASSERT(s.sacks[3].end == 4);
	CU_ASSERT(parse(SYN, four, 36, &s) == SEGMENT_OK && s.sack_count == 0);
}

static void the_first_counts(void)
{
	static const char times[] = "\10\12\0\0\0\1\0\0\0\2\10\12\0\0\0\3\0\0\0\4";
	static const char sacks[] = "\5\12\0\0\0\1\0\0\0\2\5\12\0\0\0\3\0\0\0\4";
	struct segment s;

	CU_ASSERT(parse(ACK, times, 20, &s) == SEGMENT_OK && s.times_value == 1);
	CU_ASSERT(s.times_echo == 2);
	CU_ASSERT(parse(ACK, sacks, 20, &s) == SEGMENT_OK && s.sack_count == 1);
	CU_ASSERT(s.sacks[0].begin == 1);
	CU_ASSERT(parse(SYN, "\2\4\1\0\2\4\2\0\3\3\4\3\3\5\1\1", 16, &s) == SEGMENT_OK);
	CU_ASSERT(s.mss == 256 && s.scale == 4);
}

static void refuses_bad_lengths(void)
{
	static const struct {
		uint8_t flags;
		uint8_t options[12];
	} bad[] = {
		{SYN, {5, 0, 1, 1}},  /* length 0 */
		{ACK, {99, 0, 1, 1}}, /* in any segment */
		{SYN, {5, 1, 1, 1}},  /* length 1 */
		{ACK, {99, 1, 1, 1}},
		{SYN, {99, 13, 1, 1}}, /* past the end */
		{ACK, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5, 3}},
		{SYN, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5}}, /* no length */
		{SYN, {2, 3, 1, 1}},			     /* MSS */
		{SYN, {2, 0, 5, 180}},
		{SYN, {3, 4, 1, 1}}, /* scale */
		{SYN, {4, 3, 1, 1}}, /* SACK permitted */
		{ACK, {8, 9, 1, 1}}, /* timestamps */
		{ACK, {1, 8, 11, 1}},
		{SYN, {8, 2, 1, 1}},
		{ACK, {5, 2, 1, 1}}, /* SACK without a block */
		{ACK, {5, 9, 1, 1}}, /* and with half a one */
		{ACK, {5, 11, 1, 1}},
	};
	struct segment s;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT(parse(bad[i].flags, bad[i].options, 12, &s) == SEGMENT_BAD_HEADER);
}

static void survives_random_options(void)
{
	struct random random = {3};
	uint8_t options[40];
	struct segment s;

	for (unsigned round = 0; round < 40000; round++) {
		size_t bytes = 4 * random_below(&random, 11);

		for (size_t i = 0; i < bytes; i++)
			options[i] = (uint8_t)random_below(&random, round & 1 ? 11 : 256);
		CU_ASSERT_FATAL(parse(round & 2 ? SYN : ACK, options, bytes, &s) !=
				SEGMENT_BAD_CHECKSUM);
		CU_ASSERT_FATAL(s.sack_count <= 4);
	}
}

static void reads_what_it_writes(void)
{
	for (unsigned i = 0; i < 8; i++) {
		struct options_syn syn = {.mss = 1000,
					  .scale = i & 1 ? 14 : -1,
					  .sack = i & 2,
					  .times = i & 4,
					  .times_value = 0xfffffff0,
					  .times_echo = 7};
		uint8_t options[OPTIONS_SYN_MAX];
		unsigned bytes = options_put_syn(options, &syn);
		struct segment s;

		CU_ASSERT(bytes % 4 == 0 && bytes <= OPTIONS_SYN_MAX);
		CU_ASSERT(parse(SYN, options, bytes, &s) == SEGMENT_OK && s.mss == 1000);
		CU_ASSERT(s.scale_given == (syn.scale == 14) && s.sack_permitted == syn.sack);
		CU_ASSERT(s.has_times == syn.times);
		CU_ASSERT(s.times_value == (syn.times ? 0xfffffff0 : 0));
		CU_ASSERT(s.times_echo == (syn.times ? 7 : 0));
	}
}

static const struct suite_test tests[] = {
	{"MSS, scale, SACK and timestamps are read, the unknown is skipped, a scale above 14 is 14",
	 reads_those_of_a_syn},
	{"timestamps are read wherever they stand", reads_times_anywhere},
	{"up to four SACK blocks are read, from no SYN", reads_sack_blocks},
	{"of an option that comes twice the first counts", the_first_counts},
	{"options of length 0, 1, past the end, or wrong for their kind are refused",
	 refuses_bad_lengths},
	{"random options end in an answer", survives_random_options},
	{"a SYN's options are read as they were written", reads_what_it_writes},
};

SUITE_MAIN("options", tests)
