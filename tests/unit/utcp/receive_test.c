#include "tests/unit/utcp/peer.h"

#include "apps/sim/random.h"
#include "tests/support/suite.h"

#include <string.h>

static struct peer peer;
static uint8_t got[65536];

static void open_connected(uint32_t recv_bytes)
{
	struct utcp_config config = peer_config();

	config.recv_bytes = recv_bytes;
	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
}

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static bool app_reads(const char *expected)
{
	size_t bytes = peer_app_read(&peer, got, sizeof(got));

	return bytes == strlen(expected) && memcmp(got, expected, bytes) == 0;
}

static void reads_in_order(void)
{
	open_connected(16384);
	peer_send(&peer, ACK | PSH, "hello ", 6);
	peer_send(&peer, ACK | PSH, "world", 5);
	peer_poll(&peer);
	CU_ASSERT(peer.events == UTCP_READABLE && app_reads("hello world"));
	CU_ASSERT(COUNT(in_bytes) == 11);
	peer_close(&peer);
}

static void delays_acks(void)
{
	static const uint8_t full[1460];
	struct peer_segment answer;

	open_connected(16384);
	peer_send(&peer, ACK, "x", 1);
	CU_ASSERT(!peer_take(&peer, &answer));
	peer_jump(&peer, 900000);
	CU_ASSERT(!peer_take(&peer, &answer));
	peer_jump(&peer, 200000); /* 1.1 ms: the delay and a tick */
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == ACK && answer.ack == peer.seq);
	peer_send(&peer, ACK, full, sizeof(full));
	CU_ASSERT(!peer_take(&peer, &answer));
	peer_send(&peer, ACK, full, sizeof(full)); /* every second full segment at once */
	CU_ASSERT(peer_take(&peer, &answer) && answer.ack == peer.seq &&
		  !peer_take(&peer, &answer));
	peer_close(&peer);
}

/* How many ACKs leave at once for so many segments, in order and with these flags. */
static unsigned acks_of(unsigned segments, uint8_t flags, size_t bytes)
{
	unsigned acks = 0;

	for (unsigned i = 0; i < segments; i++) {
		peer_send(&peer, flags, got, bytes);
		acks += peer_drain(&peer);
	}
	return acks;
}

/* RFC 5681 4.2: segments are full by the peer's measure, be it less than ours or more. */
static void acks_every_second_of_the_peers_size(void)
{
	static const uint8_t mss[] = {2, 4, 0, 100};
	struct utcp_config config = peer_config();

	open_connected(65536);
	CU_ASSERT(acks_of(20, ACK, 536) == 10);
	CU_ASSERT(acks_of(20, ACK, 300) == 10); /* its path became narrower */
	CU_ASSERT(acks_of(20, ACK, 1460) == 10);
	CU_ASSERT(acks_of(10, ACK | PSH, 100) == 0); /* small ones in a row wait as ever */
	peer_close(&peer);
	config.recv_bytes = 65536;
	peer_open(&peer, &config);
	peer_connect(&peer, mss, sizeof(mss)); /* it takes 100, and sends what we take */
	CU_ASSERT(acks_of(20, ACK, 1460) == 10);
	peer_close(&peer);
}

static void acks_ride_on_data(void)
{
	struct peer_segment answer;
	uint8_t frame[FRAME_ROOM];

	open_connected(16384);
	peer_send(&peer, ACK | PSH, "ask", 3);
	CU_ASSERT(app_reads("ask") && peer_app_write(&peer, "answer", 6));
	CU_ASSERT(utcp_conn_output(peer.utcp, peer.conn, frame, peer.now_ns) ==
		  peer_tcp_at() + 20 + 6);
	CU_ASSERT(frame[peer_tcp_at() + 11] == (uint8_t)peer.seq &&
		  frame[peer_tcp_at() + 13] == (ACK | PSH));
	CU_ASSERT(utcp_conn_output(peer.utcp, peer.conn, frame, peer.now_ns) == 0);
	CU_ASSERT(!peer_take(&peer, &answer)); /* nothing is left to be said */
	peer_jump(&peer, 5 * MS);
	CU_ASSERT(!peer_take(&peer, &answer) && COUNT(out_acks) == 0);
	peer_close(&peer);
}

/* Calls `visit` with every order of 0 to 4. */
static void permute(unsigned order[5], unsigned at, void (*visit)(const unsigned order[5]))
{
	if (at == 5) {
		visit(order);
		return;
	}
	for (unsigned i = at; i < 5; i++) {
		unsigned other = order[i];

		order[i] = order[at];
		order[at] = other;
		permute(order, at + 1, visit);
		order[at] = order[i];
		order[i] = other;
	}
}

static unsigned orders;

static void try_order(const unsigned order[5])
{
	static const char text[] = "aaaabbbbccccddddeeee";
	uint32_t first;

	open_connected(256);
	first = peer.seq;
	for (unsigned i = 0; i < 5; i++)
		peer_send_at(&peer, first + 4 * order[i], ACK | (order[i] == 4 ? FIN : 0),
			     text + 4 * order[i], 4);
	peer_poll(&peer);
	CU_ASSERT_FATAL(app_reads(text) && peer.events == (UTCP_READABLE | UTCP_FINISHED));
	CU_ASSERT(COUNT(in_bytes) == 20);
	peer_close(&peer);
	orders++;
}

static void all_orders(void)
{
	unsigned order[5] = {0, 1, 2, 3, 4};

	orders = 0;
	permute(order, 0, try_order);
	CU_ASSERT(orders == 120);
}

/* Segments of random places and lengths over each other, duplicates too; the stream is what it is.
 */
static void overlaps(void)
{
	struct random random = {1};
	uint8_t stream[200];

	for (unsigned i = 0; i < sizeof(stream); i++)
		stream[i] = (uint8_t)(i * 7 + 1);
	for (unsigned round = 0; round < 300; round++) {
		uint32_t first;
		size_t have = 0;

		open_connected(256);
		first = peer.seq;
		for (unsigned i = 0; i < 400 && have < sizeof(stream); i++) {
			uint32_t at = (uint32_t)random_below(&random, sizeof(stream));
			size_t bytes = 1 + random_below(&random, sizeof(stream) - at);

			if (i > 300)
				at = 0, bytes = sizeof(stream);
			peer_send_at(&peer, first + at, ACK, stream + at,
				     bytes < 60 || i > 300 ? bytes : 60);
			peer_drain(&peer);
			if (random_chance(&random, 300))
				have += peer_app_read(&peer, got + have, sizeof(got) - have);
		}
		have += peer_app_read(&peer, got + have, sizeof(got) - have);
		CU_ASSERT_FATAL(have == sizeof(stream) && memcmp(got, stream, have) == 0);
		peer_close(&peer);
	}
}

static void delivers_only_the_new_tail(void)
{
	open_connected(256);
	peer_send(&peer, ACK, "abcd", 4);
	peer_send_at(&peer, peer.seq - 4, ACK, "XXXXefgh",
		     8); /* same numbers, other bytes: the first stand */
	peer.seq += 4;
	CU_ASSERT(app_reads("abcdefgh"));
	peer_send_at(&peer, peer.seq - 2, ACK, "gh", 2);
	CU_ASSERT(app_reads("") && COUNT(old_segments) == 1);
	peer_close(&peer);
}

static void later_bytes_win_out_of_order(void)
{
	open_connected(256);
	peer_send_at(&peer, peer.seq + 4, ACK, "1111", 4);
	peer_send_at(&peer, peer.seq + 4, ACK, "22", 2);
	peer_send(&peer, ACK, "0000", 4);
	CU_ASSERT(app_reads("00002211"));
	peer_close(&peer);
}

static void one_byte_flood_is_bounded(void)
{
	struct peer_segment answer;

	open_connected(16384);
	for (uint32_t i = 0; i < 100000; i++)
		peer_send_at(&peer, peer.seq + 1 + 2 * (i % 8000), ACK, "x", 1);
	CU_ASSERT(COUNT(ooo_dropped) > 90000);
	CU_ASSERT(peer_drain(&peer) <= 64);
	peer_send(&peer, ACK, "begin", 5);
	peer_poll(&peer);
	CU_ASSERT(peer.events == UTCP_READABLE && peer_take(&peer, &answer));
	CU_ASSERT(answer.flags == ACK && answer.ack == peer.seq + 1);
	peer_close(&peer);
}

static void gaps_are_told_at_once(void)
{
	struct peer_segment answer;

	open_connected(16384);
	for (unsigned i = 1; i <= 3; i++) /* within one turn, and yet the peer can count three */
		peer_send_at(&peer, peer.seq + 10 * i, ACK, "0123456789", 10);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT(peer_take(&peer, &answer) && answer.flags == ACK &&
			  answer.ack == peer.seq);
	CU_ASSERT(!peer_take(&peer, &answer));
	peer_send(&peer, ACK, "0123456789", 10);
	CU_ASSERT(peer_take(&peer, &answer) && answer.ack == peer.seq + 30);
	peer_close(&peer);
}

/* A write that has nothing to send must not take the ACKs with it. */
static void a_write_keeps_pending_acks(void)
{
	struct peer_segment answer;
	uint8_t frame[FRAME_ROOM];

	open_connected(16384);
	peer_send_at(&peer, peer.seq + 10, ACK, "ahead", 5);
	CU_ASSERT(utcp_conn_output(peer.utcp, peer.conn, frame, peer.now_ns) == 0);
	CU_ASSERT(peer_take(&peer, &answer) && answer.flags == ACK && answer.ack == peer.seq);
	peer_close(&peer);
}

static void never_promises_what_it_has_not(void)
{
	static uint8_t data[4096];
	struct peer_segment answer;

	open_connected(1024);
	peer_send(&peer, ACK, data, 1024);
	peer_jump(&peer, 2 * MS);
	CU_ASSERT(peer_take(&peer, &answer) && answer.window == 0);
	peer_send_at(&peer, peer.seq, ACK, data, 1); /* a probe */
	CU_ASSERT(peer_take(&peer, &answer) && answer.ack == peer.seq && answer.window == 0);
	CU_ASSERT(peer_app_read(&peer, got, 100) == 100); /* too little to be worth a word */
	CU_ASSERT(!peer_take(&peer, &answer));
	peer_send_at(&peer, peer.seq - 1, ACK, data, 1); /* nor worth a silly window when asked */
	CU_ASSERT(peer_take(&peer, &answer) && answer.window == 0);
	CU_ASSERT(peer_app_read(&peer, got, 500) == 500);
	CU_ASSERT(peer_take(&peer, &answer) && answer.window == 600);
	peer_send(&peer, ACK, data, 600);
	peer_send_at(&peer, peer.seq, ACK, data, 600); /* beyond the window */
	peer_poll(&peer);
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 1024);
	peer_close(&peer);
}

/* A peer that hears nothing while our window is shut would give us up. */
static void answers_what_it_cannot_take(void)
{
	static const uint8_t data[256];
	struct peer_segment answer;

	open_connected(256);
	peer_send(&peer, ACK, data, sizeof(data));
	peer_drain(&peer);
	peer_send_at(&peer, peer.seq - 10, ACK, data, 20);
	CU_ASSERT(peer_take(&peer, &answer) && answer.ack == peer.seq && answer.window == 0);
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 256);
	peer_close(&peer);
}

static void cuts_at_the_window(void)
{
	static uint8_t data[1460];

	open_connected(512);
	peer_send_at(&peer, peer.seq, ACK | FIN, data, 1000);
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 512);
	peer_poll(&peer);
	CU_ASSERT(!(peer.events & UTCP_FINISHED)); /* its FIN lies beyond what was taken */
	CU_ASSERT(peer_drain(&peer) == 1);	   /* the window is open again once that was said */
	peer.seq += 512;
	peer_send(&peer, ACK | FIN, data, 488);
	peer_poll(&peer);
	CU_ASSERT(peer_app_read(&peer, got, sizeof(got)) == 488 && (peer.events & UTCP_FINISHED));
	peer_close(&peer);
}

/* A FIN takes room in the window only by its number: behind the last byte that was let in it may
 * come, and what comes then is still judged by a window, of none. */
static void a_fin_may_follow_a_full_window(void)
{
	static uint8_t data[256];

	open_connected(256);
	peer_send(&peer, ACK | FIN, data, sizeof(data));
	peer_poll(&peer);
	CU_ASSERT(peer.events & UTCP_FINISHED);
	peer_send_at(&peer, peer.seq + 100000, ACK, NULL, 0);
	CU_ASSERT(utcp_counters(peer.utcp)->old_segments == 1);
	peer_close(&peer);
}

static void urgent_is_ignored(void)
{
	static const uint16_t pointers[] = {0, 1, 5, 6, 65535};

	open_connected(256);
	for (unsigned i = 0; i < 5; i++) {
		struct peer_segment s = {.seq = peer.seq,
					 .ack = peer.ack,
					 .window = 1000,
					 .port = PEER_PORT,
					 .own_port = OWN_PORT,
					 .flags = ACK | URG | PSH,
					 .urgent = pointers[i],
					 .data = (const uint8_t *)"hello",
					 .bytes = 5};

		peer_put(&peer, &s);
		peer.seq += 5;
		CU_ASSERT(app_reads("hello"));
	}
	peer_close(&peer);
}

static void random_reads_over_the_edge(void)
{
	struct random random = {9};
	uint32_t sent = 0, read = 0, edge;
	struct peer_segment answer;
	uint8_t data[300];

	open_connected(512); /* the ring's edge is met again and again */
	edge = peer.seq + 512;
	while (read < 50000) {
		uint32_t bytes = (uint32_t)random_below(&random, 300), had;

		if (edge - peer.seq >= bytes) {
			for (uint32_t i = 0; i < bytes; i++)
				data[i] = (uint8_t)((sent + i) * 31 >> 3);
			if (bytes > 10 && random_chance(&random, 300)) { /* the tail first */
				peer_send_at(&peer, peer.seq + 5, ACK, data + 5, bytes - 5);
				peer_send_at(&peer, peer.seq, ACK, data, 5);
				peer.seq += bytes;
			} else {
				peer_send(&peer, ACK, data, bytes);
			}
			sent += bytes;
		}
		had = (uint32_t)peer_app_read(&peer, got, random_below(&random, 400));
		for (uint32_t i = 0; i < had; i++)
			CU_ASSERT_FATAL(got[i] == (uint8_t)((read + i) * 31 >> 3));
		read += had;
		while (peer_take(&peer, &answer))
			edge = answer.ack + answer.window;
	}
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"in-order data is readable at once", reads_in_order},
	{"an ACK waits a while, or for the second full segment", delays_acks},
	{"segments are full by the measure of the peer that sends them",
	 acks_every_second_of_the_peers_size},
	{"an ACK rides on data, and none follows", acks_ride_on_data},
	{"all 120 orders of five segments give one stream", all_orders},
	{"segments that overlap in any way give one stream", overlaps},
	{"of a segment partly received only the tail is new", delivers_only_the_new_tail},
	{"out of order the later bytes win", later_bytes_win_out_of_order},
	{"a flood of one-byte segments out of order is bounded", one_byte_flood_is_bounded},
	{"each segment behind a gap gets its own ACK", gaps_are_told_at_once},
	{"a write with nothing to send keeps pending ACKs", a_write_keeps_pending_acks},
	{"the window closes, stays closed for little, and is never exceeded",
	 never_promises_what_it_has_not},
	{"data of which a shut window lets nothing in is answered", answers_what_it_cannot_take},
	{"what lies beyond the window is cut off, its FIN too", cuts_at_the_window},
	{"a FIN may follow a full window, and nothing after it", a_fin_may_follow_a_full_window},
	{"the urgent pointer changes nothing", urgent_is_ignored},
	{"reads of any size over the ring's edge keep the stream", random_reads_over_the_edge},
};

SUITE_MAIN("receive", tests)
