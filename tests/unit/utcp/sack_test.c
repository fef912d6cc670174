#include "tests/support/suite.h"
#include "tests/unit/utcp/peer.h"

#include <string.h>

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static struct peer peer;
static uint8_t got[16384];

static void open_with(const char *options, size_t bytes)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer_connect(&peer, (const uint8_t *)options, bytes);
}

static void open_with_sack(void)
{
	open_with("\2\4\5\xb4\1\1\4\2", 8);
}

static void put_ahead(uint32_t offset, uint32_t bytes)
{
	static const uint8_t data[1460];

	peer_send_at(&peer, peer.seq + offset, ACK, data, bytes);
}

static uint32_t number(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* The blocks of a segment, relative to the peer's next number; how many. */
static unsigned blocks_of(const struct peer_segment *segment, uint32_t blocks[8])
{
	const uint8_t *option = peer_option(segment, 5);
	unsigned count = option ? (option[1] - 2u) / 8 : 0;

	for (unsigned i = 0; i < 2 * count; i++)
		blocks[i] = number(option + 2 + 4 * i) - peer.seq;
	return count;
}

/* Whether utcp's next segment is an ACK of what is in order, with these blocks and no more. */
static bool answers(unsigned count, const uint32_t *expected)
{
	struct peer_segment segment;
	uint32_t blocks[8];

	return peer_take(&peer, &segment) && segment.flags == ACK && segment.ack == peer.seq &&
	       blocks_of(&segment, blocks) == count &&
	       (count == 0 || memcmp(blocks, expected, 8 * count) == 0);
}

static void only_if_agreed(void)
{
	open_with(NULL, 0);
	put_ahead(10, 5);
	CU_ASSERT(answers(0, NULL) && COUNT(sacks_sent) == 0);
	peer_close(&peer);
	open_with_sack();
	put_ahead(10, 5);
	CU_ASSERT(answers(1, (uint32_t[]){10, 15}) && COUNT(sacks_sent) == 1);
	peer_close(&peer);
}

/* RFC 2018 4: the first block has what came last, the next what was reported before. */
static void latest_first(void)
{
	open_with_sack();
	put_ahead(10, 5);
	CU_ASSERT(answers(1, (uint32_t[]){10, 15}));
	put_ahead(40, 5);
	CU_ASSERT(answers(2, (uint32_t[]){40, 45, 10, 15}));
	put_ahead(20, 5);
	CU_ASSERT(answers(3, (uint32_t[]){20, 25, 40, 45, 10, 15}));
	put_ahead(45, 5);
	CU_ASSERT(answers(3, (uint32_t[]){40, 50, 20, 25, 10, 15}));
	put_ahead(60, 5);
	CU_ASSERT(answers(4, (uint32_t[]){60, 65, 40, 50, 20, 25, 10, 15}));
	put_ahead(70, 5);
	CU_ASSERT(answers(4, (uint32_t[]){70, 75, 60, 65, 40, 50, 20, 25}));
	put_ahead(15, 5); /* joins two */
	CU_ASSERT(answers(4, (uint32_t[]){10, 25, 70, 75, 60, 65, 40, 50}));
	peer_close(&peer);
}

static void until_the_gap_is_filled(void)
{
	open_with_sack();
	put_ahead(10, 5);
	put_ahead(20, 5);
	peer_drain(&peer);
	peer_send(&peer, ACK, got, 10); /* leaves one gap */
	peer.seq += 5;
	CU_ASSERT(answers(1, (uint32_t[]){5, 10}));
	peer_send(&peer, ACK, got, 5);
	peer.seq += 5;
	CU_ASSERT(answers(0, NULL));
	peer_close(&peer);
}

/* Neither in answer to a call, nor afterwards, nor in our own. */
static void may_be_off(void)
{
	static const uint8_t offer[] = {2, 4, 5, 0xb4, 1, 1, 4, 2};
	struct utcp_config config = peer_config();
	struct peer_segment out;

	config.sack_off = true;
	peer_open(&peer, &config);
	peer_put(&peer, &(struct peer_segment){.seq = 5,
					       .port = 7,
					       .own_port = OWN_PORT,
					       .flags = SYN,
					       .options = offer,
					       .options_bytes = sizeof(offer)});
	CU_ASSERT(peer_take(&peer, &out) && out.flags == (SYN | ACK) && !peer_option(&out, 4));
	peer_connect(&peer, offer, sizeof(offer));
	put_ahead(10, 5);
	CU_ASSERT(answers(0, NULL));
	peer_close(&peer);
	peer_open(&peer, &config);
	peer_call(&peer);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == SYN && !peer_option(&out, 4));
	peer_close(&peer);
}

static void three_beside_times(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer.times = true;
	peer_connect(&peer, NULL, 0);
	for (uint32_t i = 1; i <= 5; i++)
		put_ahead(10 * i, 5);
	for (uint32_t i = 1; i <= 4; i++)
		CU_ASSERT(answers(3, (uint32_t[]){50, 55, 40, 45, 30, 35}));
	peer_close(&peer);
}

static void beside_data_that_leaves_room(void)
{
	static const uint8_t data[3000];
	uint32_t blocks[8];
	struct peer_segment out;

	open_with_sack();
	put_ahead(10, 5);
	peer_drain(&peer);
	peer_app_write(&peer, data, 1460 + 1450);
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 1460 && blocks_of(&out, blocks) == 0);
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 1450 && blocks_of(&out, blocks) == 0);
	peer_app_write(&peer, data, 1448);
	CU_ASSERT(peer_take(&peer, &out) && out.bytes == 1448 && blocks_of(&out, blocks) == 1);
	CU_ASSERT(blocks[0] == 10 && blocks[1] == 15 &&
		  peer.frame_bytes == peer_tcp_at() + 20 + 1460);
	peer_close(&peer);
}

/* RFC 2883 4.1: once, and before all else. */
static void what_came_twice(void)
{
	open_with_sack();
	peer_send(&peer, ACK, got, 20);
	peer_jump(&peer, 5 * MS);
	CU_ASSERT(answers(0, NULL) && COUNT(dsacks_sent) == 0);
	put_ahead((uint32_t)-15, 5);
	CU_ASSERT(answers(1, (uint32_t[]){(uint32_t)-15, (uint32_t)-10}));
	put_ahead((uint32_t)-3, 3);
	CU_ASSERT(answers(1, (uint32_t[]){(uint32_t)-3, 0}) && COUNT(dsacks_sent) == 2);
	put_ahead(10, 5);
	CU_ASSERT(answers(1, (uint32_t[]){10, 15}));
	put_ahead((uint32_t)-20, 20);
	CU_ASSERT(answers(2, (uint32_t[]){(uint32_t)-20, 0, 10, 15}));
	put_ahead(20, 5);
	CU_ASSERT(answers(2, (uint32_t[]){20, 25, 10, 15}));
	peer_close(&peer);
}

static void what_came_twice_in_part(void)
{
	open_with_sack();
	peer_send(&peer, ACK, got, 20);
	peer_send_at(&peer, peer.seq - 5, ACK, got, 10);
	peer.seq += 5;
	peer_jump(&peer, 5 * MS);
	CU_ASSERT(answers(1, (uint32_t[]){(uint32_t)-10, (uint32_t)-5}));
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 25);
	peer_close(&peer);
}

/* RFC 2883 4.2: the block after it is that in which it lies. */
static void what_came_twice_ahead(void)
{
	open_with_sack();
	put_ahead(10, 10);
	put_ahead(30, 10);
	peer_drain(&peer);
	put_ahead(12, 4);
	CU_ASSERT(answers(3, (uint32_t[]){12, 16, 10, 20, 30, 40}));
	put_ahead(18, 6); /* in part: the new bytes make the block longer */
	CU_ASSERT(answers(3, (uint32_t[]){18, 20, 10, 24, 30, 40}));
	put_ahead(8, 40); /* over both: the first of the two is reported */
	CU_ASSERT(answers(2, (uint32_t[]){10, 24, 8, 48}));
	peer_close(&peer);
}

static void runs_that_came_twice(void)
{
	open_with_sack();
	peer_send(&peer, ACK, got, 30);
	peer_drain(&peer);
	put_ahead((uint32_t)-30, 10);
	put_ahead((uint32_t)-20, 10);
	CU_ASSERT(answers(1, (uint32_t[]){(uint32_t)-30, (uint32_t)-10}));
	put_ahead((uint32_t)-30, 10);
	put_ahead((uint32_t)-10, 10); /* apart: the latest */
	CU_ASSERT(answers(1, (uint32_t[]){(uint32_t)-10, 0}));
	peer_close(&peer);
}

static void not_taken_by_full_data(void)
{
	static const uint8_t data[1460];
	uint8_t frame[FRAME_ROOM];

	open_with_sack();
	peer_send(&peer, ACK, got, 30);
	put_ahead((uint32_t)-30, 10);
	peer_app_write(&peer, data, sizeof(data));
	CU_ASSERT(utcp_conn_output(peer.utcp, peer.conn, frame, peer.now_ns) ==
		  peer_tcp_at() + 20 + 1460);
	CU_ASSERT(utcp_conn_output(peer.utcp, peer.conn, frame, peer.now_ns) == 0);
	CU_ASSERT(answers(1, (uint32_t[]){(uint32_t)-30, (uint32_t)-20}));
	CU_ASSERT(peer_take_frame(&peer) == 0);
	peer_close(&peer);
}

static void nothing_without_agreement(void)
{
	open_with(NULL, 0);
	peer_send(&peer, ACK, got, 20);
	put_ahead((uint32_t)-20, 20);
	CU_ASSERT(answers(0, NULL));
	put_ahead(10, 5);
	put_ahead(10, 5);
	CU_ASSERT(answers(0, NULL) && answers(0, NULL) && COUNT(dsacks_sent) == 0);
	peer_close(&peer);
}

static void after_the_end(void)
{
	open_with_sack();
	peer_send(&peer, ACK | FIN, got, 20);
	peer_drain(&peer);
	put_ahead((uint32_t)-21, 20);
	CU_ASSERT(answers(1, (uint32_t[]){(uint32_t)-21, (uint32_t)-1}));
	peer_close(&peer);
}

/* Whoever knows no number finds no place of ours to fill. */
static void not_what_is_ages_old(void)
{
	open_with_sack();
	put_ahead((uint32_t)-16384, 10);
	CU_ASSERT(answers(1, (uint32_t[]){(uint32_t)-16384, (uint32_t)-16374}));
	put_ahead((uint32_t)-16385, 10);
	CU_ASSERT(answers(0, NULL) && COUNT(dsacks_sent) == 1);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"what came out of order is reported if both sides offered SACK", only_if_agreed},
	{"the block that came last is first, then those reported before", latest_first},
	{"blocks are reported until their gap is filled", until_the_gap_is_filled},
	{"beside timestamps three blocks fit", three_beside_times},
	{"data carries blocks where it leaves room", beside_data_that_leaves_room},
	{"what came twice is reported once, as the first block", what_came_twice},
	{"of a segment that came twice in part that part is reported", what_came_twice_in_part},
	{"what came twice out of order is followed by the block that has it",
	 what_came_twice_ahead},
	{"neighbours that came twice are one report, of others the last", runs_that_came_twice},
	{"a report that full data has no room for leaves in an ACK", not_taken_by_full_data},
	{"without SACK nothing is reported", nothing_without_agreement},
	{"an instance may be told to leave SACK out", may_be_off},
	{"what comes twice after the peer's FIN is reported, too", after_the_end},
	{"what lies more than a window back is not reported", not_what_is_ages_old},
};

SUITE_MAIN("sack", tests)
