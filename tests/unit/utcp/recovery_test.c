#include "apps/sim/random.h"
#include "tests/support/suite.h"
#include "tests/unit/utcp/peer.h"

#include <string.h>

enum { MSS = 1460 };

static struct peer peer;
static uint8_t data[65536];
static uint32_t base; /* the number of data[0] */

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static void open_with(const char *options, size_t bytes)
{
	struct utcp_config config = peer_config();

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 13 >> 2);
	config.send_bytes = sizeof(data);
	peer_open(&peer, &config);
	peer_connect(&peer, (const uint8_t *)options, bytes);
	peer.events = 0;
	base = peer.ack;
}

static void acknowledge(uint32_t bytes)
{
	peer.ack += bytes;
	peer_send(&peer, ACK, NULL, 0);
}

/* A peer that permits SACK, 40 ms away. */
static void open_far(void)
{
	open_with("\2\4\5\xb4\1\1\4\2", 8);
	for (unsigned i = 0; i < 50; i++) { /* so that the round trip is known */
		CU_ASSERT(peer_app_write(&peer, data, 100));
		CU_ASSERT(peer_drain(&peer) == 1);
		peer_jump(&peer, 40 * MS);
		acknowledge(100);
	}
	base = peer.ack;
}

static void put32(uint8_t *to, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* An ACK with `count` blocks, each two offsets from what the peer acknowledges. */
static void sack(unsigned count, const int32_t *offsets)
{
	uint8_t options[4 + 8 * 4] = {1, 1, 5, (uint8_t)(2 + 8 * count)};
	struct peer_segment segment = {.seq = peer.seq,
				       .ack = peer.ack,
				       .window = peer.window,
				       .port = peer.port,
				       .own_port = peer.own_port,
				       .flags = ACK,
				       .options = options,
				       .options_bytes = 4 + 8 * count};

	for (unsigned i = 0; i < 2 * count; i++)
		put32(options + 4 + 4 * i, peer.ack + (uint32_t)offsets[i]);
	peer_put(&peer, &segment);
}

static void sack_one(int32_t begin, int32_t end)
{
	sack(1, (int32_t[]){begin, end});
}

/* Whether utcp's next segment begins `offset` behind what the peer acknowledges, and has so many
 * bytes. */
static bool sends(uint32_t offset, uint32_t bytes)
{
	struct peer_segment out;

	return peer_take(&peer, &out) && out.seq == peer.ack + offset && out.bytes == bytes &&
	       memcmp(out.data, data + (out.seq - base), bytes) == 0;
}

static bool sends_nothing(void)
{
	struct peer_segment out;

	return !peer_take(&peer, &out);
}

static void write_ten(void)
{
	CU_ASSERT(peer_app_write(&peer, data, 10 * MSS));
	CU_ASSERT(peer_drain(&peer) == 10);
	peer_jump(&peer, 40 * MS);
}

static void fills_just_the_gaps(void)
{
	open_far();
	write_ten();
	sack(2, (int32_t[]){4 * MSS, 6 * MSS, MSS, 3 * MSS});
	CU_ASSERT(sends(0, MSS) && COUNT(fast_retransmits) == 1);
	sack(2, (int32_t[]){4 * MSS, 10 * MSS, MSS, 3 * MSS});
	CU_ASSERT(sends(3 * MSS, MSS));
	CU_ASSERT(sends_nothing() && COUNT(retransmits) == 2);
	acknowledge(3 * MSS);
	acknowledge(7 * MSS);
	CU_ASSERT(sends_nothing() && COUNT(timeouts) == 0);
	peer_close(&peer);
}

static void waits_for_what_may_be_late(void)
{
	open_far();
	write_ten();
	sack_one(MSS, 2 * MSS);
	CU_ASSERT(sends_nothing());
	peer_jump(&peer, 9 * MS);
	CU_ASSERT(sends_nothing());
	peer_jump(&peer, 2 * MS); /* a quarter of a round trip */
	CU_ASSERT(sends(0, MSS) && COUNT(timeouts) == 0 && COUNT(fast_retransmits) == 1);
	peer_close(&peer);
}

static void the_late_is_not_sent_again(void)
{
	open_far();
	write_ten();
	sack_one(MSS, 2 * MSS);
	peer_jump(&peer, 5 * MS);
	acknowledge(2 * MSS);
	peer_jump(&peer, 20 * MS);
	CU_ASSERT(sends_nothing() && COUNT(fast_retransmits) == 0);
	peer_close(&peer);
}

static void finds_a_lost_resending(void)
{
	open_far();
	write_ten();
	sack_one(MSS, 10 * MSS);
	CU_ASSERT(sends(0, MSS)); /* and is lost */
	CU_ASSERT(peer_app_write(&peer, data + 10 * MSS, 4 * MSS));
	peer_jump(&peer, 1 * MS);
	CU_ASSERT(sends(10 * MSS, MSS));
	peer_jump(&peer, 45 * MS);
	sack_one(MSS, 11 * MSS);
	CU_ASSERT(sends(0, MSS) && COUNT(timeouts) == 0 && COUNT(fast_retransmits) == 1);
	peer_close(&peer);
}

static void probes_the_tail(void)
{
	open_far();
	CU_ASSERT(peer_app_write(&peer, data, 3 * MSS));
	CU_ASSERT(peer_drain(&peer) == 3);
	peer_jump(&peer, 80 * MS);
	CU_ASSERT(sends_nothing());
	peer_jump(&peer, 10 * MS);
	CU_ASSERT(sends(2 * MSS, MSS) && sends_nothing() && COUNT(tail_probes) == 1);
	peer_jump(&peer, 40 * MS);
	sack_one(2 * MSS, 3 * MSS);
	CU_ASSERT(sends(0, MSS) && sends_nothing());
	acknowledge(MSS);
	CU_ASSERT(sends(0, MSS));
	acknowledge(2 * MSS);
	CU_ASSERT(COUNT(timeouts) == 0 && sends_nothing());
	peer_close(&peer);
}

static void a_probe_may_be_new(void)
{
	open_far();
	CU_ASSERT(peer_app_write(&peer, data, 20 * MSS));
	while (!sends_nothing()) /* as much as the window allows */
		;
	peer_jump(&peer, 90 * MS);
	CU_ASSERT(COUNT(tail_probes) == 0 || COUNT(retransmits) == 0);
	CU_ASSERT(peer_drain(&peer) == 1 && COUNT(tail_probes) == 1 && COUNT(retransmits) == 0);
	peer_close(&peer);
}

static void probes_a_fin(void)
{
	struct peer_segment out;

	open_far();
	CU_ASSERT(peer_app_write(&peer, data, 2 * MSS));
	utcp_finish(peer.utcp, peer.conn);
	CU_ASSERT(peer_drain(&peer) == 2);
	peer_jump(&peer, 90 * MS);
	CU_ASSERT(peer_take(&peer, &out) && out.flags & FIN && out.seq == peer.ack + MSS);
	CU_ASSERT(out.bytes == MSS && COUNT(tail_probes) == 1);
	acknowledge(2 * MSS + 1);
	CU_ASSERT(sends_nothing());
	peer_close(&peer);
}

static void an_unanswered_probe_ends_in_a_timeout(void)
{
	open_far();
	CU_ASSERT(peer_app_write(&peer, data, 2 * MSS));
	CU_ASSERT(peer_drain(&peer) == 2);
	peer_wait(&peer, 90 * MS);
	CU_ASSERT(COUNT(tail_probes) == 1 && COUNT(timeouts) == 0);
	peer_jump(&peer, 300 * MS);
	CU_ASSERT(COUNT(timeouts) == 1 && sends(0, MSS) && sends_nothing());
	CU_ASSERT(COUNT(tail_probes) == 1);
	peer_close(&peer);
}

/* How much may leave at once, when nothing is in flight. */
static unsigned burst(void)
{
	CU_ASSERT(peer_app_write(&peer, data, 40 * MSS));
	return peer_drain(&peer);
}

/* RFC 8985 7.4: who sees the last segment repaired has lost one; who hears that it came twice has
 * not. */
static void a_repaired_tail_was_a_loss(void)
{
	for (unsigned twice = 0; twice < 2; twice++) {
		open_far();
		CU_ASSERT(peer_app_write(&peer, data, 8 * MSS));
		CU_ASSERT(peer_drain(&peer) == 8);
		peer_jump(&peer, 90 * MS);
		CU_ASSERT(peer_drain(&peer) == 1 && COUNT(tail_probes) == 1);
		acknowledge(8 * MSS);
		if (twice)
			sack_one(-MSS, 0);
		CU_ASSERT(COUNT(duplicates_told) == twice);
		CU_ASSERT(peer_app_write(&peer, data, 100));
		CU_ASSERT(peer_drain(&peer) == 1);
		acknowledge(100);
		CU_ASSERT(twice ? burst() > 8 : burst() < 8);
		peer_close(&peer);
	}
}

/* RFC 8985 7.4.2, case 2: a peer that does not report duplicates acknowledges the probe without a
 * word. */
static void a_tail_acked_twice_was_no_loss(void)
{
	open_far();
	CU_ASSERT(peer_app_write(&peer, data, 8 * MSS));
	CU_ASSERT(peer_drain(&peer) == 8);
	peer_jump(&peer, 90 * MS);
	CU_ASSERT(peer_drain(&peer) == 1 && COUNT(tail_probes) == 1);
	acknowledge(8 * MSS);
	acknowledge(0);
	CU_ASSERT(peer_app_write(&peer, data, 100));
	CU_ASSERT(peer_drain(&peer) == 1);
	acknowledge(100);
	CU_ASSERT(burst() > 8);
	peer_close(&peer);
}

/* What is cut is the flight in which the loss was, not the small one that tells of it. */
static void a_repaired_tail_cuts_its_own_flight(void)
{
	open_far();
	CU_ASSERT(peer_app_write(&peer, data, 10 * MSS));
	CU_ASSERT(peer_drain(&peer) == 10);
	peer_jump(&peer, 40 * MS);
	acknowledge(9 * MSS);
	for (unsigned i = 0; i < 300 && COUNT(tail_probes) == 0; i++) {
		peer_jump(&peer, MS);
		peer_drain(&peer);
	}
	CU_ASSERT(COUNT(tail_probes) == 1 && COUNT(timeouts) == 0);
	peer_jump(&peer, 40 * MS);
	acknowledge(MSS);
	CU_ASSERT(peer_app_write(&peer, data, 100));
	CU_ASSERT(peer_drain(&peer) == 1);
	acknowledge(100);
	CU_ASSERT(burst() == 5); /* half of ten, by NewReno */
	peer_close(&peer);
}

/* RFC 2018 8: the peer may give up what it reported. */
static void the_peer_may_renege(void)
{
	open_far();
	write_ten();
	sack_one(MSS, 10 * MSS);
	CU_ASSERT(sends(0, MSS));
	acknowledge(MSS);
	CU_ASSERT(sends_nothing());
	peer_jump(&peer, 1000 * MS); /* what it reported it does not acknowledge */
	CU_ASSERT(COUNT(timeouts) == 1);
	CU_ASSERT(sends(0, MSS));
	acknowledge(MSS);
	CU_ASSERT(peer_drain(&peer) >= 1);
	acknowledge(8 * MSS);
	CU_ASSERT(sends_nothing());
	peer_close(&peer);
}

static void refuses_odd_blocks(void)
{
	static const int32_t odd[][2] = {{2 * MSS, MSS},     {MSS, MSS},
					 {MSS, 11 * MSS},    {-5 * MSS, MSS},
					 {0, MSS},	     {10 * MSS, 20 * MSS},
					 {1 << 30, 3 << 29}, {INT32_MIN, INT32_MIN + 5}};
	unsigned count = sizeof(odd) / sizeof(odd[0]);

	open_far();
	write_ten();
	for (unsigned i = 0; i < count; i++)
		sack(1, odd[i]);
	CU_ASSERT(COUNT(sacks_refused) == count && COUNT(duplicates_told) == 0);
	CU_ASSERT(sends_nothing());
	sack(4, (int32_t[]){MSS, 11 * MSS, MSS, 2 * MSS, 5, 2, 3 * MSS, 5 * MSS});
	CU_ASSERT(COUNT(sacks_refused) == count + 2 && sends(0, MSS)); /* the others count */
	peer_close(&peer);
}

static void tells_duplicates(void)
{
	open_far();
	write_ten();
	sack_one(-100, 0);
	CU_ASSERT(COUNT(duplicates_told) == 1);
	sack(2, (int32_t[]){2 * MSS, 3 * MSS, 2 * MSS, 4 * MSS});
	CU_ASSERT(COUNT(duplicates_told) == 2 && COUNT(sacks_refused) == 0);
	peer_close(&peer);
}

/* T20: the least segments, and blocks at random and at will. */
static void survives_a_flood_of_blocks(void)
{
	struct random random = {20};

	open_with("\2\4\0\60\1\1\4\2", 8); /* an MSS of 48 */
	for (unsigned i = 0; i < 100000; i++) {
		int32_t offsets[8];

		for (unsigned k = 0; k < 8; k++)
			offsets[k] = (int32_t)random_below(&random, 5000) - 1000;
		peer_app_write(&peer, data, 64);
		sack(1 + (unsigned)random_below(&random, 4), offsets);
		if (i % 16 == 0) {
			peer_jump(&peer, 1 * MS);
			peer_drain(&peer);
		}
	}
	CU_ASSERT(COUNT(sacks_refused) > 1000 && COUNT(duplicates_told) > 1000);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0);
	peer_close(&peer);
}

/* RFC 3042, for a peer without SACK. */
static void duplicates_let_new_data_out(void)
{
	open_with(NULL, 0);
	CU_ASSERT(peer_app_write(&peer, data, 14 * MSS));
	CU_ASSERT(peer_drain(&peer) == 10);
	peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(sends(10 * MSS, MSS) && sends_nothing());
	peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(sends(11 * MSS, MSS) && sends_nothing());
	peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(sends(0, MSS) && sends_nothing());
	peer_close(&peer);
}

/* T21: duplicates that nothing caused make a recovery, and gain no more than what was out. */
static void spoofed_duplicates_gain_nothing(void)
{
	unsigned sent;

	open_with(NULL, 0);
	CU_ASSERT(peer_app_write(&peer, data, 40 * MSS));
	CU_ASSERT(peer_drain(&peer) == 10);
	for (unsigned i = 0; i < 1000; i++)
		peer_send(&peer, ACK, NULL, 0);
	sent = peer_drain(&peer);
	CU_ASSERT(sent <= 10 && COUNT(fast_retransmits) == 1);
	peer_close(&peer);
}

/* T21, RFC 3465: bytes count, and not ACKs. What has left after ten segments were acknowledged in
 * so many pieces each. */
static unsigned sent_after(unsigned pieces)
{
	unsigned sent;

	open_with(NULL, 0);
	CU_ASSERT(peer_app_write(&peer, data, 40 * MSS));
	sent = peer_drain(&peer);
	CU_ASSERT(sent == 10);
	for (unsigned i = 0; i < 10 * pieces; i++)
		acknowledge(MSS / pieces);
	sent = peer_drain(&peer);
	peer_close(&peer);
	return sent;
}

static void divided_acks_gain_nothing(void)
{
	CU_ASSERT(sent_after(1) == 20);
	CU_ASSERT(sent_after(10) == 20 && sent_after(146) == 20 && sent_after(1460) == 20);
}

/* T21: who acknowledges what has not left learns nothing but where we are. */
static void optimistic_acks_gain_nothing(void)
{
	struct peer_segment out;

	open_with(NULL, 0);
	CU_ASSERT(peer_app_write(&peer, data, 40 * MSS));
	CU_ASSERT(peer_drain(&peer) == 10);
	for (uint32_t i = 0; i < 100; i++) {
		peer.ack += 11 * MSS + i;
		peer_send(&peer, ACK, NULL, 0);
		peer.ack -= 11 * MSS + i;
	}
	while (peer_take(&peer, &out))
		CU_ASSERT(out.bytes == 0);
	acknowledge(10 * MSS);
	CU_ASSERT(peer_drain(&peer) == 11); /* one ACK is one segment of slow start */
	peer_close(&peer);
}

/* T21: nor do duplicates without blocks, from who speaks SACK, say that anything is lost. */
static void duplicates_without_blocks_say_nothing(void)
{
	open_far();
	write_ten();
	CU_ASSERT(peer_app_write(&peer, data + 10 * MSS, 10 * MSS));
	for (unsigned i = 0; i < 1000; i++)
		peer_send(&peer, ACK, NULL, 0);
	CU_ASSERT(sends_nothing() && COUNT(fast_retransmits) == 0);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"just the gaps that blocks leave are filled", fills_just_the_gaps},
	{"a gap that little has passed is given a quarter of a round trip",
	 waits_for_what_may_be_late},
	{"what was only late is not sent again", the_late_is_not_sent_again},
	{"what was sent again and lost is found without a timeout", finds_a_lost_resending},
	{"a tail without news is probed after two round trips", probes_the_tail},
	{"a probe is new data where there is some", a_probe_may_be_new},
	{"a probe repeats the last segment with its FIN", probes_a_fin},
	{"a probe that nobody answers ends in a timeout", an_unanswered_probe_ends_in_a_timeout},
	{"a tail that the probe repaired was a loss, unless it came twice",
	 a_repaired_tail_was_a_loss},
	{"a tail acknowledged twice was no loss, though no duplicate is reported",
	 a_tail_acked_twice_was_no_loss},
	{"a tail that the probe repaired cuts the flight of which it was lost",
	 a_repaired_tail_cuts_its_own_flight},
	{"what the peer reported and gave up is sent again after a timeout", the_peer_may_renege},
	{"blocks that are inverted, or not within the flight, are refused", refuses_odd_blocks},
	{"a first block that was acknowledged or is within the second reports a duplicate",
	 tells_duplicates},
	{"a flood of random blocks breaks no invariant", survives_a_flood_of_blocks},
	{"without SACK the first two duplicates let new data out", duplicates_let_new_data_out},
	{"a thousand spoofed duplicates gain no more than a window",
	 spoofed_duplicates_gain_nothing},
	{"an ACK in pieces, however many, lets no more out than whole", divided_acks_gain_nothing},
	{"a hundred ACKs of what has not left let nothing out", optimistic_acks_gain_nothing},
	{"with SACK a thousand duplicates without blocks say nothing",
	 duplicates_without_blocks_say_nothing},
};

SUITE_MAIN("recovery", tests)
