#include "tests/support/suite.h"
#include "tests/unit/utcp/peer.h"

static struct peer peer;

#define COUNT(name) (utcp_counters(peer.utcp)->name)

static void put(uint8_t flags, uint32_t seq, uint32_t ack, const void *data, size_t bytes)
{
	struct peer_segment s = {.seq = seq,
				 .ack = ack,
				 .window = peer.window,
				 .port = peer.port,
				 .own_port = peer.own_port,
				 .flags = flags,
				 .data = data,
				 .bytes = bytes};

	peer_put(&peer, &s);
}

/* --- handshakes ------------------------------------------------------------------------------ */

/* What a SYN-ACK lets in is 65535 at most, however much memory there is. */
static void far_ack_makes_no_connection(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment out;

	config.recv_bytes = 1 << 18;
	peer_open(&peer, &config);
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT_FATAL(peer_take(&peer, &out) && out.flags == (SYN | ACK));
	put(ACK, peer.seq + 1 + 100000, out.seq + 1, NULL, 0);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_wait(&peer, 200 * SECOND);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

/* The window of a SYN-ACK ends one byte before 64 KiB of memory do. */
static void ack_just_beyond_the_window_makes_none(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment out;

	config.recv_bytes = 1 << 16;
	peer_open(&peer, &config);
	put(SYN, peer.seq, 0, NULL, 0);
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT_FATAL(peer_take(&peer, &out) && out.flags == (SYN | ACK) && out.window == 65535);
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 1);
	put(ACK, peer.seq + 1 + 65535, out.seq + 1, NULL, 0);
	CU_ASSERT(peer_drain(&peer) == 1 && COUNT(challenge_acks) == 1);
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	put(ACK, peer.seq + 65535, out.seq + 1, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 1 && utcp_conn_count(peer.utcp) == 1);
	peer_close(&peer);
}

/* A cookie left, and then the same SYN found a place: either answer may come back. */
static void cookie_is_good_beside_a_call(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment cookie, out;

	config.syn_max = 1;
	config.isn_fixed = false;
	peer_open(&peer, &config);
	peer.port = 1000;
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT_FATAL(peer_take(&peer, &out));
	peer.port = PEER_PORT;
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT_FATAL(peer_take(&peer, &cookie) && COUNT(cookies_sent) == 1);
	peer.port = 1000;
	put(RST, peer.seq + 1, 0, NULL, 0); /* there is a place again */
	peer.port = PEER_PORT;
	peer_jump(&peer, 10 * MS);
	put(SYN, peer.seq, 0, NULL, 0);
	CU_ASSERT_FATAL(peer_take(&peer, &out) && COUNT(calls_kept) == 2);
	put(ACK, peer.seq + 1, cookie.seq + 1, NULL, 0);
	CU_ASSERT(!(peer_take(&peer, &out) && out.flags & RST));
	peer_poll(&peer);
	CU_ASSERT(peer.accepted == 1);
	peer_wait(&peer, 100 * SECOND);
	peer_close(&peer);
}

/* A place is kept for 63 s, however often the SYN comes again. */
static void repeated_syns_do_not_keep_a_place(void)
{
	struct utcp_config config = peer_config();
	unsigned seconds = 0, answers = 0;

	config.isn_fixed = false; /* it would be the same again */
	peer_open(&peer, &config);
	for (; seconds < 200 && COUNT(calls_expired) == 0; seconds++) {
		put(SYN, peer.seq, 0, NULL, 0);
		answers += peer_drain(&peer) > 0;
		peer_jump(&peer, 400 * MS);
		put(SYN, peer.seq, 0, NULL, 0);
		peer_drain(&peer);
		peer_jump(&peer, 600 * MS);
	}
	CU_ASSERT(answers == seconds && seconds >= 63 && seconds <= 64);
	peer_close(&peer);
}

/* A peer that calls as we do, again and again, does not keep our call waiting for ever. */
static void repeated_syns_do_not_pin_a_call(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer_be_called(&peer);
	for (unsigned i = 0; i < 1000 && peer.closed == 0; i++) {
		put(SYN, peer.seq, 0, NULL, 0);
		peer_drain(&peer);
		peer_wait(&peer, 500 * MS);
		peer_poll(&peer);
	}
	CU_ASSERT(peer.closed == 1 && peer.reason == UTCP_TIMEOUT);
	peer_jump(&peer, 0);
	peer_close(&peer);
}

/* A SYN-ACK for a SYN that has not left: whoever guesses our number gains nothing. */
static void unsent_syn_is_not_acknowledged(void)
{
	struct utcp_config config = peer_config();
	struct peer twin; /* chooses the same port, and tells it */

	peer_open(&twin, &config);
	peer_be_called(&twin);
	peer_close(&twin);
	peer_open(&peer, &config);
	CU_ASSERT_FATAL(utcp_connect(peer.utcp, peer_addr(), PEER_PORT, peer.now_ns, &peer.conn) ==
			0);
	peer.own_port = twin.own_port;
	put(SYN, peer.seq, 0, NULL, 0);
	put(SYN | ACK, peer.seq, (uint32_t)OWN_ISN + 1, NULL, 0);
	peer_poll(&peer);
	CU_ASSERT(!(peer.events & UTCP_CONNECTED));
	peer_close(&peer);
}

/* --- options --------------------------------------------------------------------------------- */

/* In a recovery without SACK, data with blocks are no partial ACKs. */
static void blocks_without_agreement_resend_nothing(void)
{
	static const uint8_t blocks[12] = {1, 1, 5, 10}, zeros[14600];
	struct utcp_config config = peer_config();
	uint64_t before;

	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
	CU_ASSERT_FATAL(peer_app_write(&peer, zeros, sizeof(zeros)));
	peer_drain(&peer);
	for (unsigned i = 0; i < 3; i++)
		peer_send(&peer, ACK, NULL, 0);
	peer_drain(&peer);
	before = COUNT(retransmits);
	CU_ASSERT(before == 1);
	for (unsigned i = 0; i < 20; i++) {
		struct peer_segment s = {.seq = peer.seq++,
					 .ack = peer.ack,
					 .window = peer.window,
					 .port = peer.port,
					 .own_port = peer.own_port,
					 .flags = ACK,
					 .data = zeros,
					 .bytes = 1,
					 .options = blocks,
					 .options_bytes = sizeof(blocks)};

		peer_put(&peer, &s);
		peer_drain(&peer);
	}
	CU_ASSERT(COUNT(retransmits) == before && COUNT(in_bytes) == 20);
	peer_close(&peer);
}

/* --- others' share --------------------------------------------------------------------------- */

enum { CROWD = 200 };

/* Who uses up the challenges of all must not let the others' peers think that we are gone. */
static void keep_alives_are_answered_in_a_flood(void)
{
	struct utcp_config config = peer_config();
	uint32_t seqs[CROWD];
	struct peer_segment out;

	config.conn_max = CROWD;
	config.recv_bytes = config.send_bytes = 1024;
	peer_open(&peer, &config);
	for (unsigned i = 0; i < CROWD; i++) {
		peer.port = (uint16_t)(PEER_PORT + i);
		peer_connect(&peer, NULL, 0);
		seqs[i] = peer.seq;
	}
	for (unsigned i = 1; i < CROWD; i++)
		for (unsigned j = 0; j < 10; j++) {
			peer.port = (uint16_t)(PEER_PORT + i);
			peer_send_at(&peer, seqs[i] + 1, RST, NULL, 0);
			peer_drain(&peer);
		}
	peer.port = PEER_PORT;
	peer_send_at(&peer, seqs[0] - 1, ACK, NULL, 0); /* as the first keep-alive of its peer */
	CU_ASSERT(peer_take(&peer, &out) && out.ack == seqs[0]);
	peer_close(&peer);
}

/* A segment that cannot be the peer's does not lead our segments astray. */
static void forged_source_is_not_followed(void)
{
	struct utcp_config config = peer_config();
	struct peer_segment out, s;
	uint8_t frame[FRAME_ROOM];
	size_t bytes;

	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
	peer_app_write(&peer, "hello", 5);
	CU_ASSERT(peer_take(&peer, &out));
	peer_jump(&peer, 1100 * MS); /* unanswered */
	peer_drain(&peer);
	s = (struct peer_segment){.seq = peer.seq + 1000,
				  .ack = peer.ack + 0x10000000,
				  .port = PEER_PORT,
				  .own_port = OWN_PORT,
				  .flags = ACK};
	for (unsigned i = 0; i < 3; i++) {
		s.flags = (uint8_t[]){ACK, RST, SYN}[i];
		bytes = peer_build(&s, frame);
		frame[11] = 9;
		peer_put_frame(&peer, frame, bytes);
	}
	peer_drain(&peer);
	peer_jump(&peer, 3 * SECOND);
	CU_ASSERT(peer_take_frame(&peer) > 0 && peer.frame[5] != 9);
	peer_close(&peer);
}

/* --- ends ------------------------------------------------------------------------------------ */

/* Only the FIN that was lost begins TIME-WAIT anew (RFC 9293 3.10.7.4, eighth step). */
static void forged_fins_do_not_keep_time_wait(void)
{
	struct utcp_config config = peer_config();

	peer_open(&peer, &config);
	peer_connect(&peer, NULL, 0);
	utcp_finish(peer.utcp, peer.conn);
	peer_drain(&peer);
	peer.ack++;
	peer_send(&peer, FIN | ACK, NULL, 0);
	peer_drain(&peer);
	peer_poll(&peer);
	for (unsigned i = 0; i < 10; i++) {
		peer_wait(&peer, 500 * MS);
		put(FIN, peer.seq + 0x40000000 + i, 0, NULL, 0);
		peer_drain(&peer);
	}
	CU_ASSERT(utcp_conn_count(peer.utcp) == 0);
	peer_close(&peer);
}

/* --- questions ------------------------------------------------------------------------------- */

/* However many answers a flood asks for, our own question where a host is finds room. */
static void questions_leave_in_a_flood(void)
{
	struct utcp_config config = peer_config();
	unsigned questions = 0;

	peer_open(&peer, &config);
	peer.own_port = 1; /* each is refused */
	CU_ASSERT_FATAL(utcp_connect(peer.utcp, peer_addr(), PEER_PORT, peer.now_ns, &peer.conn) ==
			0);
	for (unsigned turn = 0; turn < 5; turn++) {
		for (unsigned i = 0; i < 128; i++)
			put(ACK, i, 1, NULL, 0);
		utcp_advance(peer.utcp, peer.now_ns);
		while (peer_take_frame(&peer) > 0)
			questions += peer_is_question(&peer);
		peer.now_ns += SECOND;
	}
	CU_ASSERT(questions == 3);
	peer_close(&peer);
}

static void put32(uint8_t *to, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* Answers the last question, of ARP, from another hardware address. */
static void answer_from_elsewhere(void)
{
	uint8_t arp[42];

	memcpy(arp, peer.frame, sizeof(arp));
	memcpy(arp, "\2\0\0\0\0\1", 6);
	memcpy(arp + 6, "\2\0\0\0\0\11", 6);
	arp[21] = 2; /* a reply */
	memcpy(arp + 22, "\2\0\0\0\0\11", 6);
	put32(arp + 28, PEER_IP);
	memcpy(arp + 32, "\2\0\0\0\0\1", 6);
	put32(arp + 38, OWN_IP);
	peer_put_frame(&peer, arp, sizeof(arp));
}

/* What one call found out is good for the next that gets no answer. */
static void each_call_hears_that_a_host_moved(void)
{
	struct utcp_config config = peer_config();
	struct utcp_conn *second;

	if (peer_is_ip6())
		return;
	peer_open(&peer, &config);
	peer_be_called(&peer);
	peer_jump(&peer, 500 * MS);
	CU_ASSERT_FATAL(utcp_connect(peer.utcp, peer_addr(), PEER_PORT, peer.now_ns, &second) == 0);
	CU_ASSERT(peer_drain(&peer) == 1);
	peer_jump(&peer, 600 * MS);
	CU_ASSERT_FATAL(peer_take_frame(&peer) > 0 && peer_is_question(&peer));
	answer_from_elsewhere();
	CU_ASSERT(peer_take_frame(&peer) > 0 && peer.frame[5] == 9);
	peer_jump(&peer, 500 * MS);
	CU_ASSERT(peer_take_frame(&peer) > 0 && peer.frame[5] == 9);
	peer_close(&peer);
}

static const struct suite_test tests[] = {
	{"an ACK beyond the SYN-ACK's window makes no connection", far_ack_makes_no_connection},
	{"an ACK just beyond it makes none", ack_just_beyond_the_window_makes_none},
	{"a cookie is good though its SYN found a place later", cookie_is_good_beside_a_call},
	{"SYNs sent again do not keep a call's place", repeated_syns_do_not_keep_a_place},
	{"blocks without agreement send nothing again", blocks_without_agreement_resend_nothing},
	{"SYNs sent again do not keep our call for ever", repeated_syns_do_not_pin_a_call},
	{"a SYN that has not left is not acknowledged", unsent_syn_is_not_acknowledged},
	{"keep-alives are answered while others use up the challenges",
	 keep_alives_are_answered_in_a_flood},
	{"a segment that cannot be the peer's moves it nowhere", forged_source_is_not_followed},
	{"FINs that nobody sent do not keep TIME-WAIT", forged_fins_do_not_keep_time_wait},
	{"each call without an answer hears that its host moved",
	 each_call_hears_that_a_host_moved},
	{"our questions leave though a flood fills the answers", questions_leave_in_a_flood},
};

SUITE_MAIN("attack", tests)
