#include "tests/unit/utcp/peer.h"

#include "tests/support/suite.h"

static struct peer peer;

#define COUNT(name) (utcp_counters(peer.utcp)->name)

enum {
	CROWD = 200, /* connections: together more than any limit of the instance */
	PERIODS = 12,
};

static uint32_t crowd_seq[CROWD];

static void open_connected(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
}

static void open_crowd(uint8_t secret)
{
	struct utcp_config config = peer_config();

	config.conn_max = CROWD;
	config.secret[7] = secret;
	config.recv_bytes = config.send_bytes = 1024;
	peer_open(&peer, &config);
	for (unsigned i = 0; i < CROWD; i++) {
		peer.port = (uint16_t)(PEER_PORT + i);
		peer_connect(&peer, NULL, 0);
		crowd_seq[i] = peer.seq;
	}
}

/* Sends `count` segments that must be challenged at one of the crowd; how many were. */
static unsigned provoke(unsigned who, unsigned count)
{
	unsigned answers = 0;

	peer.port = (uint16_t)(PEER_PORT + who);
	for (unsigned i = 0; i < count; i++) {
		peer_send_at(&peer, crowd_seq[who] + 1, i & 1 ? RST : SYN, NULL, 0);
		answers += peer_drain(&peer);
	}
	return answers;
}

static void one_connection_is_bounded(void)
{
	unsigned answers = 0;

	open_connected();
	for (unsigned i = 0; i < 1000; i++) {
		peer_send_at(&peer, peer.seq + 1, i & 1 ? RST : SYN, NULL, 0);
		answers += peer_drain(&peer);
	}
	CU_ASSERT(answers == 10 && COUNT(challenge_acks) == 10 &&
		  COUNT(challenges_withheld) == 990);
	peer_jump(&peer, 1100 * MS);
	peer_send_at(&peer, peer.seq + 1, RST, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 1);
	peer_close(&peer);
}

static void one_flood_leaves_others_theirs(void)
{
	open_crowd(0);
	CU_ASSERT(provoke(0, 100000) == 10);
	for (unsigned i = 1; i < 40; i++)
		CU_ASSERT(provoke(i, 10) == 10);
	peer_close(&peer);
}

/* CVE-2016-5696: who counts answers cannot know how many there were to be had. */
static void all_together_are_bounded_by_chance(void)
{
	unsigned limits[PERIODS], low = 0, high = 0, same = 0;

	open_crowd(0);
	for (unsigned period = 0; period < PERIODS; period++) {
		limits[period] = 0;
		for (unsigned i = 0; i < CROWD; i++)
			limits[period] += provoke(i, 10);
		CU_ASSERT(limits[period] >= 500 && limits[period] < 1500);
		CU_ASSERT(provoke(CROWD - 1, 5) == 0);
		low += limits[period] < 900;
		high += limits[period] > 1100;
		for (unsigned i = 0; i < period; i++)
			same += limits[i] == limits[period];
		peer_jump(&peer, 1001 * MS);
	}
	CU_ASSERT(low > 0 && high > 0 && same <= 1);
	peer_close(&peer);
}

static void another_secret_draws_otherwise(void)
{
	unsigned answers[2] = {0};

	for (uint8_t secret = 0; secret < 2; secret++) {
		open_crowd(secret);
		for (unsigned i = 0; i < CROWD; i++)
			answers[secret] += provoke(i, 10);
		peer_close(&peer);
	}
	CU_ASSERT(answers[0] != answers[1]);
}

/* --- RFC 5961 3.2, 4.2 and 5.2 in every state ------------------------------------------------ */

enum stage {
	SYN_SENT,
	SYN_RECEIVED,
	ESTABLISHED,
	FIN_WAIT_1,
	FIN_WAIT_2,
	CLOSE_WAIT,
	CLOSING,
	LAST_ACK,
	TIME_WAIT,
	STAGES,
};

static void finish_and_take(void)
{
	struct peer_segment out;

	utcp_finish(peer.utcp, peer.conn);
	CU_ASSERT_FATAL(peer_take(&peer, &out) && (out.flags & FIN));
}

/* Brings a fresh connection to a stage. The peer has acknowledged our FIN only where it must. */
static void open_at(enum stage stage)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	if (stage <= SYN_RECEIVED) { /* the latter by simultaneous open: it has an application */
		peer_be_called(&peer);
		if (stage == SYN_RECEIVED)
			peer_send(&peer, SYN, NULL, 0);
		peer_drain(&peer);
		return;
	}
	peer_connect(&peer, NULL, 0);
	if (stage == CLOSE_WAIT || stage == LAST_ACK)
		peer_send(&peer, FIN | ACK, NULL, 0);
	if (stage == FIN_WAIT_1 || stage == FIN_WAIT_2 || stage == CLOSING || stage == LAST_ACK ||
	    stage == TIME_WAIT)
		finish_and_take();
	if (stage == FIN_WAIT_2 || stage == TIME_WAIT)
		peer.ack++;
	if (stage == FIN_WAIT_2)
		peer_send(&peer, ACK, NULL, 0);
	if (stage == CLOSING || stage == TIME_WAIT)
		peer_send(&peer, FIN | ACK, NULL, 0);
	peer_drain(&peer);
	peer_poll(&peer);
	utcp_advance(peer.utcp, peer.now_ns);
}

static void resets_judged_in_every_state(void)
{
	for (enum stage stage = SYN_RECEIVED; stage < STAGES; stage++) {
		bool waits = stage == TIME_WAIT;
		unsigned count;

		open_at(stage);
		count = utcp_conn_count(peer.utcp);
		CU_ASSERT(count == 1);
		peer_send_at(&peer, peer.seq - 1, RST, NULL, 0);
		peer_send_at(&peer, peer.seq + 20000, RST, NULL, 0);
		peer_send_at(&peer, peer.seq + 0x80000000u, RST, NULL, 0);
		CU_ASSERT(peer_drain(&peer) == 0 && COUNT(old_segments) == 3);
		peer_send_at(&peer, peer.seq + 1, RST, NULL, 0);
		CU_ASSERT(COUNT(challenge_acks) == !waits && peer_drain(&peer) == !waits);
		CU_ASSERT(utcp_conn_count(peer.utcp) == 1);
		peer_send_at(&peer, peer.seq, RST, NULL, 0);
		CU_ASSERT(peer_drain(&peer) == 0);
		peer_poll(&peer);
		utcp_advance(peer.utcp, peer.now_ns);
		CU_ASSERT(utcp_conn_count(peer.utcp) == waits && peer.closed == 1); /* RFC 1337 */
		peer_close(&peer);
	}
}

/* RFC 9293 3.10.7.3: in SYN-SENT the ACK, not the number, proves a RST. */
static void resets_of_a_call_need_its_number(void)
{
	open_at(SYN_SENT);
	peer_send_at(&peer, peer.seq, RST, NULL, 0);
	peer.ack++;
	peer_send_at(&peer, peer.seq, RST | ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 0 && peer_drain(&peer) == 0 && COUNT(challenge_acks) == 0);
	peer.ack--;
	peer_send_at(&peer, peer.seq + 77, RST | ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_REFUSED);
	peer_close(&peer);
}

static void syns_challenged_in_every_state(void)
{
	struct peer_segment out;

	for (enum stage stage = ESTABLISHED; stage < TIME_WAIT; stage++) {
		open_at(stage);
		peer_send_at(&peer, peer.seq, SYN, NULL, 0);
		CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq);
		peer_send_at(&peer, peer.seq - 1000, SYN, NULL, 0);
		CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq);
		peer_send_at(&peer, peer.seq + 40000, SYN, NULL, 0);
		CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq);
		CU_ASSERT(utcp_conn_count(peer.utcp) == 1 && peer.closed == 0);
		peer_close(&peer);
	}
}

static void forged_acks_challenged_in_every_state(void)
{
	struct peer_segment out;

	for (enum stage stage = ESTABLISHED; stage <= FIN_WAIT_2; stage++) {
		uint32_t right;

		open_at(stage);
		right = peer.ack;
		peer.ack = right + 2;
		peer_send_at(&peer, peer.seq, ACK, "forged", 6);
		CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq);
		peer.ack = right - 100000;
		peer_send_at(&peer, peer.seq, ACK, "forged", 6);
		CU_ASSERT(peer_take(&peer, &out) && out.flags == ACK && out.ack == peer.seq);
		CU_ASSERT(COUNT(challenge_acks) == 2 && COUNT(in_bytes) == 0);
		peer_close(&peer);
	}
}

/* --- draft-gont-tcpm-tcp-seq-validation ------------------------------------------------------ */

/* Whoever answers each of our segments with one that we must find wrong gets ten of us, then
 * silence. */
static void expect_no_war(uint32_t seq, uint8_t flags)
{
	unsigned answers = 0;

	for (unsigned i = 0; i < 1000; i++) {
		peer_send_at(&peer, seq, flags, NULL, 0);
		answers += peer_drain(&peer);
	}
	CU_ASSERT(answers <= 10 && utcp_conn_count(peer.utcp) == 1);
}

static void no_war_after_simultaneous_open(void)
{
	open_at(SYN_RECEIVED);
	expect_no_war(peer.seq + 20000, ACK);
	peer_jump(&peer, 1100 * MS);
	peer_drain(&peer);
	peer_send_at(&peer, peer.seq - 1, SYN | ACK, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 1);
	peer_poll(&peer);
	CU_ASSERT(peer.events == UTCP_CONNECTED);
	expect_no_war(peer.seq - 1, SYN | ACK);
	peer_close(&peer);
}

/* A call to ourselves is refused, and what claims to come from ourselves never reaches TCP. */
static void no_war_with_ourselves(void)
{
	struct peer_segment self = {
		.seq = 1, .window = 1000, .port = OWN_PORT, .own_port = OWN_PORT, .flags = SYN};
	uint8_t frame[FRAME_ROOM];
	struct utcp_conn *conn;
	size_t bytes;

	open_connected();
	CU_ASSERT(utcp_connect(peer.utcp, peer_addr_of(OWN_IP & 0xff), OWN_PORT, peer.now_ns,
			       &conn) < 0);
	bytes = peer_build(&self, frame);
	peer_set_source(frame, peer_addr_of(OWN_IP & 0xff));
	peer_put_frame(&peer, frame, bytes);
	CU_ASSERT(COUNT(drop_ip_address) == 1 && peer_drain(&peer) == 0 &&
		  utcp_conn_count(peer.utcp) == 1);
	peer_close(&peer);
}

static void no_war_after_simultaneous_close(void)
{
	open_at(CLOSING);
	expect_no_war(peer.seq - 1, ACK); /* the ACK of one that has not seen our FIN */
	peer_jump(&peer, 1100 * MS);
	CU_ASSERT(peer_drain(&peer) == 1); /* our FIN again, and it is not answered */
	peer.ack++;
	peer_send(&peer, ACK, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_DONE);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"one connection's challenges are bounded", one_connection_is_bounded},
	{"a flood at one connection leaves the others their challenges",
	 one_flood_leaves_others_theirs},
	{"all connections' challenges are bounded, by a number that nobody can know",
	 all_together_are_bounded_by_chance},
	{"another secret draws other bounds", another_secret_draws_otherwise},
	{"in every state a RST resets, is challenged, or is dropped by its number",
	 resets_judged_in_every_state},
	{"a RST of a call needs the number of our SYN", resets_of_a_call_need_its_number},
	{"in every synchronized state a SYN is challenged", syns_challenged_in_every_state},
	{"in every receiving state forged ACKs are challenged and their data dropped",
	 forged_acks_challenged_in_every_state},
	{"simultaneous opens make no war of ACKs", no_war_after_simultaneous_open},
	{"calls to ourselves make no war of ACKs", no_war_with_ourselves},
	{"simultaneous closes make no war of ACKs", no_war_after_simultaneous_close},
};

SUITE_MAIN("challenge", tests)
