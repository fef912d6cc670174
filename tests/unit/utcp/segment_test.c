#include "stacks/utcp/segment.h"

#include "stacks/utcp/checksum.h"
#include "apps/sim/random.h"
#include "tests/unit/utcp/peer.h"

#include "tests/support/suite.h"

#include <string.h>

static void refuses_odd_headers(void)
{
	static const uint8_t odd[] = {SYN | FIN, SYN | RST, SYN | FIN | RST | PSH | ACK | URG};
	struct peer_segment s = {
		.port = 1, .own_port = 2, .flags = ACK, .data = (const uint8_t *)"x", .bytes = 1};
	uint8_t frame[FRAME_ROOM];
	struct segment out;
	size_t bytes = peer_build(&s, frame);

	CU_ASSERT(segment_parse(frame, peer_tcp_at(), bytes - peer_tcp_at(), &out) == SEGMENT_OK &&
		  out.bytes == 1);
	for (size_t cut = 0; cut < 20; cut++)
		CU_ASSERT(segment_parse(frame, peer_tcp_at(), cut, &out) == SEGMENT_BAD_HEADER);
	frame[peer_tcp_at() + 12] = 4 << 4;
	CU_ASSERT(segment_parse(frame, peer_tcp_at(), bytes - peer_tcp_at(), &out) ==
		  SEGMENT_BAD_HEADER);
	frame[peer_tcp_at() + 12] = 6 << 4;
	CU_ASSERT(segment_parse(frame, peer_tcp_at(), bytes - peer_tcp_at(), &out) ==
		  SEGMENT_BAD_HEADER);
	for (unsigned i = 0; i < sizeof(odd); i++) {
		s.flags = odd[i];
		bytes = peer_build(&s, frame);
		CU_ASSERT(segment_parse(frame, peer_tcp_at(), bytes - peer_tcp_at(), &out) ==
			  SEGMENT_BAD_HEADER);
	}
	s.flags = ACK;
	s.port = 0;
	bytes = peer_build(&s, frame);
	CU_ASSERT(segment_parse(frame, peer_tcp_at(), bytes - peer_tcp_at(), &out) ==
		  SEGMENT_BAD_HEADER);
}

static void finds_every_flipped_bit(void)
{
	static const uint8_t data[33] = "thirty-three bytes, an odd count";
	struct peer_segment s = {
		.port = 1, .own_port = 2, .flags = ACK, .data = data, .bytes = sizeof(data)};
	uint8_t frame[FRAME_ROOM];
	size_t bytes = peer_build(&s, frame), addresses = peer_is_ip6() ? 32 : 8;
	struct segment out;

	for (size_t bit = (peer_tcp_at() - addresses) * 8; bit < bytes * 8; bit++) {
		frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CU_ASSERT_FATAL(segment_parse(frame, peer_tcp_at(), bytes - peer_tcp_at(), &out) !=
				SEGMENT_OK);
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
	{"bad data offsets, flags that exclude each other and port 0 are refused",
	 refuses_odd_headers},
	{"any flipped bit of a segment and its addresses is found", finds_every_flipped_bit},
	{"the fast checksum equals the plain one for every length", sums_as_the_plain_way},
};

SUITE_MAIN("segment", tests)
