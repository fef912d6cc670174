#include "tests/unit/utcp/peer.h"

#include "apps/sim/random.h"
#include "tests/support/suite.h"

#include <string.h>

static struct peer peer;

static void open_connected(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
}

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static bool still_works(void)
{
	struct span spans[2];

	peer_drain(&peer);
	peer_send(&peer, ACK, "works", 5);
	return utcp_peek(peer.utcp, peer.conn, spans) == 1 && spans[0].bytes == 5;
}

static void exact_rst_resets(void)
{
	open_connected();
	peer_send_at(&peer, peer.seq, RST, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_RESET && peer_drain(&peer) == 0);
	utcp_advance(peer.utcp, peer.now_ns);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

static void near_rst_is_challenged(void)
{
	struct peer_segment out;

	open_connected();
	peer_send_at(&peer, peer.seq + 1, RST, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq);
	peer_send_at(&peer, peer.seq + 16383, RST, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && COUNT(challenge_acks) == 2);
	CU_ASSERT(still_works());
	peer_close(&peer);
}

static void far_rst_is_dropped(void)
{
	open_connected();
	peer_send_at(&peer, peer.seq - 1, RST, NULL, 0);
	peer_send_at(&peer, peer.seq + 16384, RST, NULL, 0);
	peer_send_at(&peer, peer.seq + 0x80000000u, RST, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 0 && COUNT(challenge_acks) == 0 && COUNT(old_segments) == 3);
	CU_ASSERT(still_works());
	peer_close(&peer);
}

static void syn_is_challenged(void)
{
	struct peer_segment out;

	open_connected();
	peer_send_at(&peer, peer.seq, SYN, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq);
	peer_send_at(&peer, peer.seq + 5, SYN | ACK, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK);
	peer_send_at(&peer, peer.seq - 1000, SYN, NULL, 0);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK);
	CU_ASSERT(COUNT(challenge_acks) == 2 && still_works());
	peer_close(&peer);
}

/* RFC 5961 5.2. */
static void forged_acks_are_challenged(void)
{
	struct peer_segment out;
	uint32_t right;

	open_connected();
	right = peer.ack;
	peer.ack = right + 1; /* what we never sent */
	peer_send_at(&peer, peer.seq, ACK, "forged", 6);
	CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq);
	peer.ack = right - 100000; /* older than any window */
	peer_send_at(&peer, peer.seq, ACK, "forged", 6);
	CU_ASSERT(peer_take(&peer, &out) && out.ack == peer.seq);
	peer.ack = right - 1; /* merely old: its data is good */
	peer_send(&peer, ACK, "good", 4);
	peer_jump(&peer, 2 * MS);
	CU_ASSERT(peer_take(&peer, &out) && out.ack == peer.seq);
	peer_poll(&peer);
	CU_ASSERT(peer.events == UTCP_READABLE && COUNT(in_bytes) == 4 &&
		  COUNT(challenge_acks) == 2);
	peer_close(&peer);
}

static void segments_without_ack_are_dropped(void)
{
	open_connected();
	peer_send_at(&peer, peer.seq, 0, "none", 4);
	peer_send_at(&peer, peer.seq, FIN, NULL, 0);
	peer_send_at(&peer, peer.seq, FIN | PSH | URG, "xmas", 4);
	peer_poll(&peer);
	CU_ASSERT(peer.events == 0 && COUNT(in_bytes) == 0 && still_works());
	peer_close(&peer);
}

/* draft-gont-tcpm-tcp-seq-validation: two ends that find each other wrong must fall silent. */
static void acks_do_not_make_war(void)
{
	unsigned answers = 0;

	open_connected();
	for (unsigned i = 0; i < 1000; i++) {
		peer_send_at(&peer, peer.seq - 50, ACK, NULL, 0);
		answers += peer_drain(&peer);
	}
	CU_ASSERT(answers == 10 && still_works());
	peer_close(&peer);
}

static void optimistic_acks_gain_nothing(void)
{
	static uint8_t data[16384];
	unsigned sent;

	open_connected();
	peer_app_write(&peer, data, sizeof(data));
	sent = peer_drain(&peer);
	peer.ack += 20000;
	peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(sent == 10 && peer_drain(&peer) == 1); /* the challenge, no data */
	peer_close(&peer);
}

static void bad_checksums_are_dropped(void)
{
	struct peer_segment s = {.window = 1000,
				 .port = PEER_PORT,
				 .own_port = OWN_PORT,
				 .flags = ACK,
				 .data = (const uint8_t *)"data",
				 .bytes = 4};
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_connected();
	s.seq = peer.seq;
	s.ack = peer.ack;
	bytes = peer_build(&s, frame);
	for (size_t at = peer_tcp_at(); at < bytes; at++) {
		frame[at] ^= 0x10;
		peer_put_frame(&peer, frame, bytes);
		frame[at] ^= 0x10;
	}
	CU_ASSERT(COUNT(drop_tcp_checksum) + COUNT(drop_tcp_header) == bytes - peer_tcp_at());
	CU_ASSERT(COUNT(in_bytes) == 0 && still_works());
	peer_close(&peer);
}

static void answers_are_bounded(void)
{
	open_connected();
	peer.own_port = 1;
	for (unsigned i = 0; i < 1000; i++)
		peer_send_at(&peer, i, ACK, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 64 && COUNT(out_lost) == 1000 - 64 &&
		  COUNT(no_listener) == 1000);
	peer.own_port = OWN_PORT;
	CU_ASSERT(still_works());
	peer_close(&peer);
}

static void follows_a_moved_peer(void)
{
	struct peer_segment s, out;
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	open_connected();
	peer_app_write(&peer, "hello", 5);
	CU_ASSERT(peer_take(&peer, &out));
	peer_jump(&peer, 1100 * MS); /* unanswered */
	peer_drain(&peer);
	s = (struct peer_segment){.seq = peer.seq,
				  .ack = peer.ack,
				  .window = 60000,
				  .port = PEER_PORT,
				  .own_port = OWN_PORT,
				  .flags = ACK};
	bytes = peer_build(&s, frame);
	frame[11] = 9; /* another hardware address */
	peer_put_frame(&peer, frame, bytes);
	peer_jump(&peer, 3 * SECOND);
	CU_ASSERT(peer_take_frame(&peer) > 0 && peer.frame[5] == 9);
	peer_close(&peer);
}

static const uint32_t memories[] = {1 << 10, 1 << 14, 1 << 16, 1 << 18};

static void open_with(uint32_t recv_bytes)
{
	struct utcp_config config = peer_config();

	config.recv_bytes = recv_bytes;
	peer_open(&peer, &config);
}

/* Of a SYN that may come again, and of ACKs at each edge that a window may have, nothing comes but
 * a connection that the application holds, or nothing. */
static void survives_any_handshake(void)
{
	static const uint32_t edges[] = {0, 65535, 65536, 1 << 18};
	struct random random = {19};

	for (unsigned round = 0; round < 400; round++) {
		open_with(memories[round & 3]);
		peer_send_at(&peer, peer.seq, SYN, NULL, 0);
		for (unsigned i = 0; i < 12; i++) {
			struct peer_segment s = {.seq = peer.seq,
						 .window = (uint16_t)random_next(&random),
						 .port = PEER_PORT,
						 .own_port = OWN_PORT,
						 .flags = SYN};

			if (random_chance(&random, 500)) {
				s.flags = (uint8_t)(ACK | (random_next(&random) & (FIN | PSH)));
				s.seq += edges[random_below(&random, 4)] - 1 +
					 (uint32_t)random_below(&random, 4);
				s.ack = (uint32_t)OWN_ISN + !random_chance(&random, 250);
			}
			peer_put(&peer, &s);
			if (random_chance(&random, 500))
				peer_drain(&peer);
			if (random_chance(&random, 250))
				peer_jump(&peer, random_below(&random, 2000) * MS);
		}
		peer_poll(&peer);
		CU_ASSERT(utcp_conn_count(peer.utcp) == peer.accepted);
		peer_close(&peer);
	}
}

/* Random flags, numbers near and far, sizes: no invariant breaks, whatever state they lead to. */
static void survives_any_segment(void)
{
	struct random random = {17};
	uint8_t data[64] = {0};

	for (unsigned round = 0; round < 600; round++) {
		open_with(memories[round & 3]);
		peer_connect(&peer, NULL, 0);
		for (unsigned i = 0; i < 60; i++) {
			struct peer_segment s = {
				.seq = peer.seq + (uint32_t)random_below(&random, 40) - 10,
				.ack = peer.ack + (uint32_t)random_below(&random, 30) - 10,
				.window = (uint16_t)random_next(&random),
				.port = (uint16_t)(PEER_PORT + random_chance(&random, 100)),
				.own_port = OWN_PORT,
				.flags = (uint8_t)(random_next(&random) &
						   (random_chance(&random, 100) ? 0xff
										: ~(RST | SYN))),
				.data = data,
				.bytes = random_below(&random, 30)};

			if (random_chance(&random, 20))
				s.seq = (uint32_t)random_next(&random);
			peer_put(&peer, &s);
			peer_poll(&peer);
			if (peer.closed)
				break;
			if (random_chance(&random, 100))
				peer_app_write(&peer, data, 1 + random_below(&random, 20));
			if (random_chance(&random, 20))
				utcp_finish(peer.utcp, peer.conn);
			if (random_chance(&random, 200))
				peer_app_read(&peer, data, sizeof(data));
			peer_drain(&peer);
			peer_jump(&peer, random_below(&random, 300) * MS);
		}
		peer_close(&peer);
	}
}

static const struct suite_test tests[] = {
	{"a RST at exactly the next number resets", exact_rst_resets},
	{"a RST elsewhere in the window is challenged", near_rst_is_challenged},
	{"a RST outside the window is dropped", far_rst_is_dropped},
	{"a SYN on an established connection is challenged, in and out of the window",
	 syn_is_challenged},
	{"ACKs of what was never sent or long gone are challenged, their data dropped",
	 forged_acks_are_challenged},
	{"segments without ACK are dropped", segments_without_ack_are_dropped},
	{"two ends that disagree fall silent", acks_do_not_make_war},
	{"an ACK of what was not yet sent gains nothing", optimistic_acks_gain_nothing},
	{"a segment damaged anywhere is dropped", bad_checksums_are_dropped},
	{"a flood to closed ports gets a bounded number of RSTs a turn", answers_are_bounded},
	{"a peer that moved to another hardware address is followed", follows_a_moved_peer},
	{"random handshakes end in a connection or in nothing", survives_any_handshake},
	{"random segments break no invariant", survives_any_segment},
};

SUITE_MAIN("robust", tests)
